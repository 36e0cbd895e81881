// `npm run samples`: writes the sample in docs/behaviour.md, as the compiled code writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import { withSample } from '../build/__tests__/support/samples.js'

const PAGE = 'docs/behaviour.md'

writeFileSync(PAGE, withSample(readFileSync(PAGE, 'utf8')))
