// `npm run samples`: puts the samples into the README, as the compiled code writes them.
import { readFileSync, writeFileSync } from 'node:fs'
import { withSamples } from '../build/__tests__/support/readme-samples.js'

writeFileSync('README.md', withSamples(readFileSync('README.md', 'utf8')))
