/**
 * `npm run mutation -- src/run/poll.ts`: changes the code in many small ways with Stryker, and
 * shows the changes that no test notices. Takes files and folders of src/, also a range of lines as
 * in `src/run/poll.ts:40-60`; the default is all of src/. See docs/development/mutation.md.
 */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Stryker } from '@stryker-mutator/core'

/** In percent, of the mutants of each file. Some mutants can't be noticed, so it is not 100. */
const MINIMUM = 90

const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
const OPTIONS = {
  packageManager: 'npm',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  testRunnerNodeArgs: JEST,
  // One build with all mutants of a file; a variable chooses the one that is active.
  buildCommand: 'tsc',
  disableTypeChecks: true,
  // No such file: Stryker would read the real one with an API that TypeScript 7 doesn't have.
  tsconfigFile: 'none.json',
  // Some tests also start the bundle. They get the real one, in which no mutant is active.
  ignorePatterns: ['/build/*', '!/build/dist', '/dist'],
  coverageAnalysis: 'perTest',
  // The first run, without a mutant, may wait for a busy machine: the default is 5.
  dryRunTimeoutMinutes: 60,
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

process.chdir(resolve(import.meta.dirname, '../..'))
// As in __tests__/support/global-setup.ts.
process.env.TZ = 'America/New_York'

/** What was measured, by file: each mutant by where and what it is. */
const measured = new Map()
// Also if Stryker ends the process at a signal: a run over all of src/ takes hours.
process.once('exit', reportAll)
for (const mutate of process.argv
  .slice(2)
  .concat(process.argv.length > 2 ? [] : 'src')
  .flatMap(filesIn))
  await measure(mutate.split(':')[0], mutate)

function reportAll() {
  const table = {}
  const total = { mutants: 0, survived: 0 }
  for (const [file, results] of measured) {
    const counts = countsOf(results)
    if (counts.mutants === 0) continue
    for (const name of Object.keys(total)) total[name] += counts[name]
    table[file] = withScore(counts)
  }
  console.table({ ...table, all: withScore(total) })
  if (Object.values(table).some(({ score }) => score < MINIMUM)) process.exitCode ||= 1
}

function filesIn(argument) {
  if (/\.ts\b/.test(argument)) return [argument]
  const names = readdirSync(argument, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  )
  return names
    .filter((name) => /(?<!\.d)\.ts$/.test(name))
    .map((name) => `${argument.replace(/\/$/, '')}/${name}`)
}

/**
 * First with the tests that import the file. What they don't notice is tried with those that reach
 * it through other files, which take longer, and with the longest at the end. A stage that fails
 * leaves what was measured before it.
 */
async function measure(file, mutate) {
  const stages = testsOf(file).filter(({ length }) => length > 0)
  if (stages.length === 0) console.log(`${file}: no test imports it.`)
  const results = new Map()
  measured.set(file, results)
  try {
    for (const tests of stages) {
      const left =
        results.size === 0
          ? [mutate]
          : [...results.values()].filter(survives).map((one) => rangeOf(file, one))
      if (left.length === 0) break
      for (const one of await run(left, tests)) {
        const key = JSON.stringify([one.location, one.replacement])
        if (!results.has(key) || survives(results.get(key))) results.set(key, one)
      }
    }
  } catch (error) {
    console.error(`${file}: not every test was tried.`, error)
    process.exitCode = 1
  }
  for (const one of [...results.values()].filter(survives)) console.log(describe(file, one))
  console.log(file, withScore(countsOf(results)))
}

/** As Stryker counts: without those that could not be loaded, and those that a comment disables. */
function countsOf(results) {
  const counted = [...results.values()].filter(
    ({ status }) => !['RuntimeError', 'Ignored'].includes(status),
  )
  return { mutants: counted.length, survived: counted.filter(survives).length }
}

/**
 * The tests that import the compiled file, those that only reach it, and those that also start
 * processes. The others are random, or about the project's files instead of its code.
 */
function testsOf(file) {
  const compiled = file.replace(/\.ts$/, '.js')
  const options = ['--roots', 'build/__tests__', 'build/src', '--listTests', '--json']
  const list = [
    ...JEST,
    'node_modules/jest/bin/jest.js',
    ...options,
    '--findRelatedTests',
    `build/${compiled}`,
  ]
  const found = JSON.parse(execFileSync(process.execPath, list, { encoding: 'utf8' }))
  const stageOf = (test) => {
    if (!/[\\/](unit|github|stories|e2e)[\\/]/.test(test)) return 3
    if (readFileSync(test, 'utf8').includes(`/${compiled}'`)) return 0
    return /[\\/]e2e[\\/]/.test(test) ? 2 : 1
  }
  return [0, 1, 2].map((stage) => found.filter((test) => stageOf(test) === stage))
}

async function run(mutate, tests) {
  const config = {
    roots: ['<rootDir>/build/__tests__'],
    testMatch: tests.map(
      (test) => `**/${test.replaceAll('\\', '/').replace(/^.*\/build\//, 'build/')}`,
    ),
    testEnvironment: 'node',
    transform: {},
    testTimeout: 30_000,
    // Stryker adds the rest of the configuration in package.json. This would run once for each
    // mutant.
    globalSetup: null,
    setupFilesAfterEnv: [],
  }
  // The tests import what was built, so Stryker can't relate them to a file in src/.
  const jest = { projectType: 'custom', enableFindRelatedTests: false, config }
  return new Stryker({ ...OPTIONS, mutate, jest }).runMutationTest()
}

function survives({ status }) {
  return status === 'Survived' || status === 'NoCoverage'
}

/** Stryker counts columns from 1 in results, and from 0 in ranges. */
function rangeOf(file, { location: { start, end } }) {
  return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`
}

function describe(file, { location: { start }, mutatorName, replacement, status }) {
  const line = readFileSync(file, 'utf8').split('\n')[start.line - 1].trim()
  return `${file}:${start.line}:${start.column} ${status} ${mutatorName}\n  in ${line}\n   + ${replacement}`
}

function withScore({ mutants, survived }) {
  return {
    mutants,
    survived,
    score: Number(((100 * (mutants - survived)) / Math.max(1, mutants)).toFixed(1)),
  }
}
