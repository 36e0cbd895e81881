// `npm run samples`: writes the samples in docs/behaviour.md, as the compiled code writes them.
import { readFileSync, writeFileSync } from 'node:fs'
import { withSamples } from '../build/__tests__/support/samples.js'

const PAGE = 'docs/behaviour.md'

writeFileSync(PAGE, withSamples(readFileSync(PAGE, 'utf8')))
