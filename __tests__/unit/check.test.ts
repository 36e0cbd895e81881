/** What a check says: its name, title, conclusion and details, within GitHub's limit. */

import { describe, expect, test } from '@jest/globals'
import { FAIL_ON, type FailOn, OUTCOMES } from '../../src/agent/job.js'
import { parseEvent, type RunEvent } from '../../src/event/event.js'
import { cutLines, SUMMARY_LIMIT } from '../../src/memory/check-run.js'
import { checkName, findConversation, workflowId } from '../../src/memory/places.js'
import { conclusionOf, createCheckSummary, createTitle } from '../../src/report/check.js'
import { createSummary } from '../../src/report/summary.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job, LINK } from './scripted-run.js'

const ENVIRONMENT = {
  eventName: 'push',
  eventPath: '',
  actor: '',
  repository: 'your-org/your-repo',
  ref: '',
  sha: '',
  runId: '100',
  runAttempt: '1',
  workflowRef: '',
  workflow: 'Docs',
  job: 'build',
  step: 'agent',
  apiUrl: '',
  serverUrl: '',
}

describe('the conclusion', () => {
  test.each([
    ['pr-opened', 'success', undefined],
    ['no-changes', 'neutral', 'failure'],
    ['started', 'neutral', undefined],
    ['skipped', 'skipped', undefined],
    ['dry-run', 'neutral', undefined],
    ['cancelled', 'cancelled', undefined],
    ['timed-out', 'neutral', 'timed_out'],
    ['failed', 'neutral', 'failure'],
    ['archived', 'neutral', 'failure'],
    ['error', 'failure', undefined],
  ] as const)('of %s is %s, or %s if fail-on lists it', (outcome, usual, listed) => {
    const others = FAIL_ON.filter((word) => word !== outcome)
    expect(conclusionOf(outcome, new Set())).toBe(usual)
    expect(conclusionOf(outcome, new Set(others))).toBe(usual)
    expect(conclusionOf(outcome, new Set<FailOn>(FAIL_ON))).toBe(listed ?? usual)
  })

  test('is success for nothing but a pull request', () => {
    for (const outcome of OUTCOMES) {
      expect(conclusionOf(outcome, new Set()) === 'success').toBe(outcome === 'pr-opened')
    }
  })
})

describe('the texts', () => {
  const RUN = 'https://github.com/your-org/your-repo/actions/runs/100'
  const completed = (prLink: string | null) => {
    const progress = new Progress(new FakeClock())
    progress.update(job('completed', { prLink }))
    return { inputs: INPUTS, progress, redact: (text: string) => text, runUrl: RUN } as const
  }

  test('the title is the result on one line', () => {
    const result = { outcome: 'pr-opened' } as const
    expect(createTitle({ ...completed(LINK), result })).toBe(
      '✅ The docs job opened a pull request: your-org/docs#7',
    )
    expect(createTitle({ ...completed(null), result: { outcome: 'no-changes' } })).toBe(
      '✅ The docs job completed without a pull request',
    )
  })

  test('the details begin with the links, and go on as the step summary', () => {
    const options = { ...completed(LINK), result: { outcome: 'pr-opened' } } as const
    expect(createCheckSummary(options)).toBe(
      `[\`your-org/docs#7\`](<${LINK}>) · [Run \`100\`](<${RUN}>)\n\n${createSummary(options)}`,
    )
  })

  test('the details begin with the pull request alone if the run has no URL', () => {
    const { runUrl, ...rest } = completed(LINK)
    const options = { ...rest, result: { outcome: 'pr-opened' } } as const
    expect(createCheckSummary(options)).toBe(`[\`your-org/docs#7\`](<${LINK}>)\n\n${createSummary(options)}`)
  })

  test('the details begin with the run alone if there is no pull request', () => {
    const options = { ...completed(null), result: { outcome: 'no-changes' } } as const
    expect(createCheckSummary(options)).toBe(`[Run \`100\`](<${RUN}>)\n\n${createSummary(options)}`)
  })

  test('the link of an earlier run is shown until the job ends without one', () => {
    const progress = new Progress(new FakeClock())
    progress.follow('job-1', LINK)
    progress.update(job('active'))
    const options = { ...completed(null), progress, previousLink: LINK }
    const titles = (result: Parameters<typeof createTitle>[0]['result']): string =>
      createTitle({ ...options, result })
    expect(titles(undefined)).toBe('⏳ The docs job is running: your-org/docs#7')
    expect(titles({ outcome: 'timed-out' })).toContain(': your-org/docs#7')
    progress.update(job('completed'))
    expect(titles({ outcome: 'no-changes' })).not.toContain('#7')
  })
})

describe('a text is cut', () => {
  test('not at all if it fits', () => {
    const text = 'é\n'.repeat(10)
    expect(cutLines(text, 30)).toBe(text)
  })

  test.each([
    ['é\n'.repeat(10), 29, `${'é\n'.repeat(8)}…\n`],
    ['é\n'.repeat(10), 28, `${'é\n'.repeat(8)}…\n`],
    ['é\n'.repeat(10), 27, `${'é\n'.repeat(7)}…\n`],
    ['日本日本', 11, '日本…\n'],
    ['日本日本', 10, '日本…\n'],
    ['日本日本', 9, '日…\n'],
  ])('%j at %d bytes, on a line', (text, limit, expected) => {
    expect(cutLines(text, limit)).toBe(expected)
    expect(Buffer.byteLength(cutLines(text, limit))).toBeLessThanOrEqual(limit)
  })

  test("to GitHub's limit", () => {
    const text = cutLines('a line with an é\n'.repeat(10_000), SUMMARY_LIMIT)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_535)
    expect(Buffer.byteLength(text)).toBeGreaterThan(65_500)
  })
})

describe('the name', () => {
  test.each([
    ['agent', '', 'Docs / build: docs job (agent)'],
    ['__your-org_agent-job-action', '', 'Docs / build: docs job'],
    ['__your-org_agent-job-action_2', '', 'Docs / build: docs job (2)'],
    ['__self', 'fr', 'Docs / build: docs job (fr)'],
    ['agent', '{\n  "lang": "fr",\n  "node": 24\n}', 'Docs / build: docs job (agent, fr, 24)'],
    ['__self', '{"config": {"a": 1}}', 'Docs / build: docs job ({"a":1})'],
    ['__self', `a\n${'x'.repeat(200)}`, `Docs / build: docs job (a ${'x'.repeat(97)}…)`],
  ])('of step %j with the key %j is %j', (step, jobKey, name) => {
    expect(checkName({ ...ENVIRONMENT, step }, jobKey)).toBe(name)
  })
})

describe('the workflow', () => {
  const PATH = 'your-org/your-repo/.github/workflows/docs.yml'
  test.each([
    [`${PATH}@refs/heads/main`, PATH],
    [`${PATH}@refs/pull/7/merge`, PATH],
    [`${PATH}@refs/heads/a@refs/b.yml@c`, PATH],
    [`${PATH}@0123456789abcdef0123456789abcdef01234567`, PATH],
    ['your-org/rules/.github/workflows/docs.yaml@main', 'your-org/rules/.github/workflows/docs.yaml'],
    ['your-org/your-repo/dynamic/agent@refs/heads/main', 'your-org/your-repo/dynamic/agent'],
    ['', 'Docs'],
  ])('of %j is %j', (workflowRef, id) => {
    expect(workflowId({ workflowRef, workflow: 'Docs' })).toBe(id)
  })
})

describe('the comment is on', () => {
  const event = (fields: object): RunEvent => ({ ...parseEvent('push', undefined), ...fields })
  const PULL = { number: 7, author: '', fromFork: false }
  const ONLY_PULL = 'pull-requests: write'
  const EITHER = 'issues: write or pull-requests: write'
  test.each([
    ['the pull request of the event', { pullRequest: PULL }, 'run', undefined, [7, ONLY_PULL]],
    ['that pull request, as an issue', { pullRequest: PULL }, 'issue', undefined, [7, ONLY_PULL]],
    ['that pull request, by its number', { pullRequest: PULL }, 'issue', 7, [7, ONLY_PULL]],
    ['another one', { pullRequest: PULL }, 'pull-request', 8, [8, ONLY_PULL]],
    ['the issue of the event', { issue: 9 }, 'issue', undefined, [9, 'issues: write']],
    ['the issue of the event, with a job for each run', { issue: 9 }, 'run', undefined, [9, 'issues: write']],
    ['that issue, by its number', { issue: 9 }, 'pull-request', 9, [9, 'issues: write']],
    ['a pull request', {}, 'pull-request', 8, [8, ONLY_PULL]],
    ['an issue or a pull request', {}, 'issue', 8, [8, EITHER]],
    ['either, with a job for each run', {}, 'run', 8, [8, EITHER]],
  ] as const)('%s', (_, fields, scope, number, expected) => {
    const conversation = findConversation(event(fields), scope, number)
    expect([conversation?.number, conversation?.permission]).toEqual(expected)
  })

  test.each([
    [{}, 'run'],
    [{}, 'pull-request'],
    [{ issue: 9 }, 'pull-request'],
  ] as const)('nothing, on %j with job-scope %s', (fields, scope) => {
    expect(findConversation(event(fields), scope, undefined)).toBeUndefined()
  })
})
