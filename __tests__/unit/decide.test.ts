// What a run does with the docs job that is remembered. docs/behaviour.md shows the same rows.
import { describe, expect, test } from '@jest/globals'
import { FAILURES } from '../../src/agent/job.js'
import { type Decision, decide, type Situation, whoLeft } from '../../src/memory/decide.js'
import type { StoredState } from '../../src/memory/marker.js'
import type { Skip } from '../../src/run/result.js'
import { section } from '../support/documents.js'
import { job } from './scripted-run.js'

const LINK = 'https://github.com/your-org/docs/pull/3'
const USUAL: Situation = {
  by: 'earlier run',
  unasked: undefined,
  isNews: true,
  job: job('completed'),
  isUnfinished: false,
  link: LINK,
  pull: 'open',
}
const PULLS = ['open', 'merged', 'closed', undefined] as const
const USABLE = [job('completed'), job('active'), job('queued'), 'not requested'] as const
const ENDED = FAILURES.map((status) => job(status))

/** Every combination of these with the usual facts. */
function all(
  choices: { readonly [Name in keyof Situation]?: readonly Situation[Name][] },
): Situation[] {
  return Object.entries(choices).reduce<Situation[]>(
    (facts, [name, values]) =>
      facts.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [USUAL],
  )
}

const OPEN = ['open', undefined] as const
const OVER = ['merged', 'closed'] as const
const OTHER_PUSH = ['other', 'clock', undefined] as const
const NOT_OWN = { unasked: OTHER_PUSH, isNews: [true] }

/** The lines of docs/behaviour.md, in its order. */
const LINES: readonly (readonly [told: string, kind: Decision['kind'], Situation[]])[] = [
  [
    "A re-run whose earlier attempt didn't see the docs job finish waits for it, if it exists. [memory.rerun.waits]",
    'wait',
    all({
      by: ['unfinished attempt'],
      unasked: ['own', ...OTHER_PUSH],
      job: [...USABLE, ...ENDED],
      pull: PULLS,
    }),
  ],
  [
    'A re-run whose earlier attempt reported a pull request waits, if the docs job is usable and the docs pull request is open or unreadable. [memory.rerun.reported]',
    'wait',
    all({ by: ['reported attempt'], unasked: ['own', ...OTHER_PUSH], job: USABLE, pull: OPEN }),
  ],
  [
    'A push to the pull request is `skipped`, if the docs pull request was closed. [memory.run.closed]',
    'skip',
    all({
      by: ['earlier run', 'reported attempt'],
      unasked: ['own'],
      isNews: [true, false],
      job: [...USABLE, ...ENDED, undefined],
      pull: ['closed'],
    }),
  ],
  [
    'A push that changes nothing of the pull request, or a scheduled run that has nothing new, is `skipped`, if the docs pull request was merged or closed: unless the docs job failed, or was to add to the one that was merged, and no run saw it finish. [paid.push.merged] [paid.schedule.unchanged]',
    'skip',
    all({
      by: ['earlier run', 'reported attempt'],
      unasked: ['own', 'other', 'clock'],
      isNews: [false],
      job: [...USABLE, job('archived'), undefined],
      pull: OVER,
    }).concat(
      all({
        unasked: ['own', 'other', 'clock'],
        isNews: [false],
        isUnfinished: [true],
        pull: ['closed'],
      }),
    ),
  ],
  [
    'Such a push or scheduled run waits, if the docs job is usable. [paid.push.unchanged] [paid.schedule.unchanged]',
    'wait',
    all({ unasked: ['own', 'other', 'clock'], isNews: [false], job: USABLE, pull: OPEN }),
  ],
  [
    'Any other run creates a docs job, if the recorded one failed, is archived or gone, or its docs pull request was merged or closed. [memory.run.continues] [paid.push.merged]',
    'create',
    [
      ...all({ ...NOT_OWN, job: [...ENDED, undefined], pull: PULLS }),
      ...all({
        unasked: ['own', 'other', 'clock'],
        isNews: [false],
        job: [...ENDED, undefined],
        pull: ['open'],
      }),
      ...all({ unasked: ['own'], isNews: [false], job: [job('failed')], pull: ['merged'] }),
      ...all({
        unasked: ['own', 'other', 'clock'],
        isNews: [false],
        job: [...USABLE, ...ENDED, undefined],
        isUnfinished: [true],
        pull: ['merged'],
      }),
      ...all({ unasked: ['other', 'clock'], isNews: [false], job: [job('failed')], pull: OVER }),
      ...all({ by: ['unfinished attempt'], job: [undefined], pull: PULLS }),
      ...all({ by: ['reported attempt'], job: [...ENDED, undefined], pull: PULLS }),
      ...all({ ...NOT_OWN, by: ['earlier run', 'reported attempt'], job: USABLE, pull: OVER }),
      ...all({ unasked: ['own'], job: USABLE, pull: ['merged'] }),
      ...all({ isNews: [false], job: USABLE, pull: OVER }),
    ],
  ],
  [
    'Any other run sends a message. [paid.asked.sends] [memory.run.continues]',
    'message',
    [
      ...all({ unasked: ['own', ...OTHER_PUSH], job: USABLE, pull: OPEN }),
      ...all({ isNews: [false], job: USABLE, pull: OPEN }),
    ],
  ],
]

describe.each(LINES)('%s', (_told, kind, facts) => {
  test(`${kind}: ${facts.length} cases`, () => {
    for (const one of facts) expect({ ...one, kind: decide(one).kind }).toEqual({ ...one, kind })
  })
})

test('docs/behaviour.md has these lines [house.pages]', () => {
  const page = section('docs/behaviour.md', 'Shared docs jobs')
  const lines = [...page.matchAll(/^\d\. (.*(?:\n {3}.*)*)/gm)]
  expect(lines.map(([, line = '']) => line.replaceAll(/\n */g, ' '))).toEqual(
    LINES.map(([told]) => told.replace(/ \[.*/, '')),
  )
})

const LEFT: StoredState = {
  ...{ run: '7', attempt: 1, state: 'pr-opened', jobId: 'job-1', link: LINK },
  fingerprint: 'as sent',
}
const UNFINISHED = 'sending unknown active started timed-out cancelled error'.split(' ')
const OTHERS = 'no-changes failed archived unsent skipped'.split(' ')
test.each<readonly [string, readonly object[]]>([
  ['reported attempt [memory.rerun.reported]', [{}]],
  ['unfinished attempt [memory.rerun.waits]', UNFINISHED.map((state) => ({ state }))],
  [
    'earlier run [memory.run.continues] [memory.nothing-sent] [memory.rerun.reported] [memory.rerun.waits]',
    [
      ...OTHERS.map((state) => ({ state })),
      ...[{ run: '6' }, { run: '6', state: 'active' }, { jobId: '', state: 'sending' }],
      ...[{ link: undefined }, { fingerprint: '' }],
    ],
  ],
])('what a marker says was left by an %s', (by, states) => {
  for (const state of states)
    expect(by).toMatch(RegExp(`^${whoLeft({ ...LEFT, ...state }, '7')} \\[`))
})

const PUSHED = { unasked: 'own', isNews: false } as const
test.each<[Partial<Situation>, Partial<Record<keyof Skip, unknown>>]>([
  [
    { by: 'unfinished attempt' },
    { reason: expect.stringMatching(/didn't see its docs job finish\.$/) },
  ],
  [
    { by: 'reported attempt' },
    { reason: 'This is a re-run, and its docs job has opened a pull request.' },
  ],
  [
    { ...PUSHED, pull: 'merged' },
    {
      title: 'the docs pull request was merged',
      reason: `this run has nothing new for the docs job, and the docs pull request ${LINK} was merged`,
      advice:
        'To get docs all the same, start the workflow by anything but a push to this pull request, or a schedule.',
    },
  ],
  [
    { ...PUSHED, unasked: 'clock', pull: 'merged' },
    {
      reason: `this run has nothing new for the docs job, and the docs pull request ${LINK} was merged`,
      advice: expect.stringMatching(/^To get docs all the same, .*, or a schedule\.$/),
    },
  ],
  [
    { ...PUSHED, unasked: 'clock', pull: 'closed' },
    { advice: expect.stringMatching(/^To get docs after all, reopen it, or /) },
  ],
  [{ ...PUSHED, unasked: 'clock' }, { reason: 'This run has nothing new for the docs job.' }],
  [
    { ...PUSHED, pull: 'closed' },
    { reason: `the docs pull request ${LINK} was closed without a merge` },
  ],
  [{ job: undefined }, { reason: 'no longer exists' }],
  [{ job: job('failed'), pull: 'merged' }, { reason: 'failed' }],
  [{ job: job('archived') }, { reason: 'was archived' }],
  [{ pull: 'merged' }, { reason: 'has a pull request that was merged' }],
  [{ pull: 'closed' }, { reason: 'has a pull request that was closed' }],
])(
  '%j says why: %j [memory.rerun.told] [paid.push.merged] [memory.run.closed] [memory.run.continues]',
  (facts, said) => {
    const decision = decide({ ...USUAL, ...facts })
    expect(decision.kind === 'skip' ? decision.skip : decision).toMatchObject(said)
  },
)
