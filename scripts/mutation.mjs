/**
 * `npm run mutation -- src/run/poll.ts`: changes the code in many small ways with Stryker, and shows the changes that no
 * test notices. Takes files of the pure core, also with a range of lines as in `src/run/poll.ts:40-60`; without
 * arguments, all of them. See docs/development/mutation.md.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { EQUIVALENT } from './mutation-equivalent.mjs'

/** In percent, of all mutants that are not equivalent. */
const MINIMUM = 93

/** The pure core, and the tests in `__tests__/` that hold each file. */
const TESTS = {
  'src/agent/job.ts': ['unit/job'],
  'src/agent/problems.ts': ['unit/problems'],
  'src/agent/verdict.ts': ['unit/verdict', 'unit/problems'],
  'src/escape.ts': ['unit/escape'],
  'src/event/event.ts': ['unit/event', 'unit/trigger'],
  'src/event/facts.ts': ['unit/trigger', 'unit/event'],
  'src/event/payload.ts': ['unit/event', 'unit/trigger'],
  'src/event/skip-authors.ts': ['unit/skip-authors'],
  'src/event/who-may-start.ts': ['unit/who-may-start'],
  'src/format.ts': ['unit/format'],
  'src/github/marker.ts': ['unit/marker', 'unit/previous-run'],
  'src/inputs/inputs.ts': ['unit/inputs'],
  'src/inputs/path-patterns.ts': ['unit/path-patterns'],
  'src/inputs/prompt-file.ts': ['unit/prompt-file'],
  'src/inputs/values.ts': ['unit/inputs'],
  'src/net/backoff.ts': ['unit/backoff'],
  'src/net/deadline.ts': ['unit/deadline'],
  'src/net/proxy.ts': ['unit/proxy'],
  'src/prompt/budget.ts': ['unit/compose'],
  'src/prompt/changed-files.ts': ['unit/compose', 'unit/trigger'],
  'src/prompt/compose.ts': ['unit/compose'],
  'src/prompt/diffs.ts': ['unit/compose'],
  'src/prompt/fence.ts': ['unit/compose', 'unit/trigger'],
  'src/prompt/trigger.ts': ['unit/trigger'],
  'src/report/check.ts': ['unit/check'],
  'src/report/messages.ts': ['unit/messages'],
  'src/report/summary.ts': ['unit/summary', 'unit/check'],
  'src/run/apply-changes.ts': ['unit/apply-changes'],
  'src/run/poll.ts': ['unit/poll', 'unit/run'],
  'src/run/previous-run.ts': ['unit/previous-run'],
  'src/run/progress.ts': ['unit/progress'],
  'src/run/run.ts': ['unit/run'],
  'src/run/send.ts': ['unit/send'],
  'src/run/strangers.ts': ['unit/strangers'],
}

/** For every file. */
const OPTIONS = {
  packageManager: 'npm',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  // One build with all mutants of a file; a variable chooses the one that is active.
  buildCommand: 'tsc',
  disableTypeChecks: true,
  // No such file: Stryker would read the real one with an API that TypeScript 7 doesn't have.
  tsconfigFile: 'none.json',
  ignorePatterns: ['/build', '/dist', '/docs', '/examples', '/.github'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  // jest keeps the modules of earlier runs in memory.
  maxTestRunnerReuse: 50,
  timeoutMS: 5000,
  timeoutFactor: 3,
  reporters: [],
  logLevel: 'error',
  allowConsoleColors: false,
  tempDirName: '.stryker-tmp',
  cleanTempDir: 'always',
}

process.chdir(resolve(import.meta.dirname, '..'))
// As in __tests__/support/global-setup.ts.
process.env.TZ = 'America/New_York'

/** @type {Record<string, Record<string, number>>} */
const table = {}
const total = { mutants: 0, equivalent: 0, killed: 0, timeouts: 0, survived: 0, 'no coverage': 0 }
let failed = false
for (const argument of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(TESTS)) {
  const [file = '', range] = argument.split(':')
  if (!(file in TESTS)) throw new Error(`${file} is not in the table of ${import.meta.filename}.`)
  const { counts, surviving, unused } = await measure(file, argument)
  for (const [name, count] of Object.entries(counts)) total[name] += count
  table[file] = withScore(counts)
  console.log(`\n${file}: ${JSON.stringify(counts)}`)
  for (const line of surviving) console.log(line)
  if (range === undefined && unused.length > 0) {
    failed = true
    console.log(`In mutation-equivalent.mjs, but no mutant that survives:\n${unused.join('\n')}`)
  }
}
table.all = withScore(total)
console.table(table)
process.exitCode = failed || table.all.score < MINIMUM ? 1 : 0

/** Mutates one file, or some of its lines. */
async function measure(file, mutate) {
  const config = {
    roots: ['<rootDir>/build/__tests__'],
    testMatch: TESTS[file].map((name) => `**/__tests__/${name}.test.js`),
    testEnvironment: 'node',
    transform: {},
    testTimeout: 30_000,
    // Stryker adds the rest of the configuration in package.json. This would run once for each mutant.
    globalSetup: null,
    setupFilesAfterEnv: [],
  }
  // The tests import what was built, so jest can't relate them to a file in src/.
  const jest = { projectType: 'custom', enableFindRelatedTests: false, config }
  const results = await new Stryker({ ...OPTIONS, mutate: [mutate], jest }).runMutationTest()
  const lines = readFileSync(file, 'utf8').split('\n')
  const unused = new Set(EQUIVALENT[file] ?? [])
  const counts = Object.fromEntries(Object.keys(total).map((name) => [name, 0]))
  const surviving = []
  for (const { status, location, mutatorName, replacement } of results) {
    // The tests could not even be loaded with it. Stryker doesn't count these either.
    if (status === 'RuntimeError') continue
    counts.mutants++
    if (status === 'Killed') counts.killed++
    else if (status === 'Timeout') counts.timeouts++
    else if (status === 'Survived' || status === 'NoCoverage') {
      const line = lines[location.start.line - 1].trim()
      const from = textAt(lines, location)
      const to = oneLine(replacement)
      const entry = [...unused].find(
        (one) =>
          one.mutator === mutatorName && one.from === from && one.to === to && (one.line ?? line) === line,
      )
      if (entry !== undefined) {
        unused.delete(entry)
        counts.equivalent++
        continue
      }
      counts[status === 'Survived' ? 'survived' : 'no coverage']++
      surviving.push(
        `${file}:${location.start.line} ${status} ${mutatorName}\n  - ${from}\n  + ${to}\n    in ${line}`,
      )
    } else throw new Error(`A mutant in ${file}:${location.start.line} ended as ${status}.`)
  }
  return { counts, surviving, unused: [...unused].map((one) => JSON.stringify(one)) }
}

function textAt(lines, { start, end }) {
  const text = lines.slice(start.line - 1, end.line)
  text[text.length - 1] = text.at(-1).slice(0, end.column - 1)
  text[0] = text[0].slice(start.column - 1)
  return oneLine(text.join('\n'))
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim()
}

function withScore(counts) {
  const { mutants, equivalent, killed, timeouts } = counts
  const score = Number(((100 * (killed + timeouts)) / Math.max(1, mutants - equivalent)).toFixed(1))
  return { ...counts, score }
}
