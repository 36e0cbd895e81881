// `npm run samples`: writes what other files say already: the samples in docs/behaviour.md, as the compiled code writes
// them, the parts of docs-job.yml that repeat action.yml, and run/action.yml, which docs-job.yml uses.
import { readFileSync, writeFileSync } from 'node:fs'
import { withBlocks } from '../build/__tests__/support/docs-job.js'
import { withSamples } from '../build/__tests__/support/samples.js'

const read = (file) => readFileSync(file, 'utf8')
const PAGE = 'docs/behaviour.md'
const WORKFLOW = '.github/workflows/docs-job.yml'

writeFileSync(PAGE, withSamples(read(PAGE)))
writeFileSync('run/action.yml', read('action.yml').replace('main: dist/', 'main: ../dist/'))
writeFileSync(WORKFLOW, withBlocks(read(WORKFLOW), read('action.yml')))
