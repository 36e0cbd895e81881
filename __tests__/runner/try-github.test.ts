/**
 * The workflow that a maintainer starts on the real GitHub, here with the tests' own. act can't
 * show a step that is cancelled, because it ends it at once, nor that this is an attempt of many;
 * it uploads nothing; and here all jobs have the same token, so each runs alone.
 */

import { expect, jest, test } from '@jest/globals'
import { parse, stringify } from 'yaml'
import { text } from '../support/files.js'
import { scaled } from '../support/time.js'
import { expectSuccess } from './act.js'
import { actionFiles, runWorkflow } from './world.js'

jest.setTimeout(scaled(120_000))

const WORKFLOW = 'try-github.yml'
const SCRIPT = 'scripts/try-github.mjs'
const CANCELLED = ['slow', 'cancelled', 'restore']

function runJob(name: 'try' | 'denied', leftOut: readonly string[] = CANCELLED, attempts = 1) {
  const workflow = parse(text(`.github/workflows/${WORKFLOW}`))
  const { [name]: job } = workflow.jobs
  job.steps = job.steps.filter(
    ({ id = '', uses = '' }) =>
      !leftOut.includes(id) && !uses.startsWith('actions/upload-artifact@'),
  )
  for (const step of job.steps) {
    // In place of the cancel: both leave a docs job that is running.
    if (step.id === 'cancelled') {
      delete step['timeout-minutes']
      step.with['timeout-minutes'] = "${{ env.GITHUB_RUN_ATTEMPT == '1' && '0.05' || '5' }}"
    }
    if (step.id === 'slow') step.with.speed = 60
  }
  if (job.strategy) job.strategy.matrix.os = ['ubuntu-latest']
  const yaml = stringify({ ...workflow, jobs: { [name]: job } })
  return runWorkflow(WORKFLOW, yaml, {
    event: 'workflow_dispatch',
    runs: attempts,
    attempts: true,
    payload: { inputs: { issue: '1' } },
    files: { ...actionFiles(), [SCRIPT]: text(SCRIPT) },
    prepare: (world) => {
      world.repository.addComparison(world.before, world.sha)
      world.repository.issues.add(1)
    },
  })
}

/** The rows of the table: what, assumed, seen. */
const tableOf = (summaries: readonly string[]): string[][] =>
  [...(summaries.at(-1) ?? '').matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
    .map(([, ...cells]) => cells)
    .filter(([, assumed]) => assumed !== '---')

test.concurrent('what differs fails the workflow [house.try-github]', async () => {
  const ran = await runJob('try', [...CANCELLED, 'again'])
  expect(ran.succeeded).toBe(false)
  expect(tableOf(ran.summaries).filter(([, assumed, seen]) => assumed !== seen)).toEqual([
    ['A second run', 'success, pr-opened, sent: message', ', , sent: undefined'],
    ['Its job', expect.any(String), 'undefined'],
  ])
})

test.concurrent('a re-run waits for the job that the first attempt left [house.try-github]', async () => {
  const ran = await runJob('try', ['again'], 2)
  expectSuccess(ran)
  expect(tableOf(ran.summaries)).toEqual([
    ['A re-run', 'success, pr-opened, sent: nothing', 'success, pr-opened, sent: nothing'],
  ])
})

test.concurrent.each([
  ['try', ['A docs job', 'A second run', 'Its job', 'Their comment']],
  ['denied', ['Without a permission', 'A docs job without its comment']],
] as const)('what is assumed is seen: %s [house.try-github]', async (name, all) => {
  const ran = await runJob(name)
  expectSuccess(ran)
  const rows = tableOf(ran.summaries)
  expect(rows.map(([what]) => what)).toEqual(all)
  for (const [, assumed, seen] of rows) expect(seen).toBe(assumed)
})
