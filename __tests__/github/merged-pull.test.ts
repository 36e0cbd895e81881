/** A push with job-scope: pull-request: which pull request the run is about, if any. */

import { describe, expect, test } from '@jest/globals'
import { BAD_GATEWAY, type FaultAnswer, type Permissions, refusal, sha } from '../support/github.js'
import { pull } from '../support/github-answers.js'
import type { PullState } from '../support/github-state.js'
import {
  expectPrompt,
  expectSkipped,
  expectUnanswered,
  inWorld,
  REPOSITORY,
  type RunOptions,
  requestsBefore,
  type SimulatedWorld,
  testsIn,
  worldTest,
} from '../support/pull-request.js'

const SCOPE = { 'job-scope': 'pull-request', context: 'diff' }
const [BEFORE, AFTER] = [sha('before'), sha('after')]
const newApiTest = testsIn({ github: { version: '2026-03-10' } })

const commit = (id: string, message = id, login = 'stranger') => ({
  id: sha(id),
  message,
  author: { username: login, name: login },
})

interface PushOptions {
  readonly earlier?: readonly ReturnType<typeof commit>[]
  readonly ref?: string
  readonly before?: string
  readonly after?: string
  readonly commits?: PushOptions['earlier']
}

/** A push to main; its last commit is `after`. */
function push(
  message: string,
  { earlier = [], ref = 'refs/heads/main', ...rest }: PushOptions = {},
) {
  const head_commit = commit('after', message)
  const payload = {
    before: BEFORE,
    after: AFTER,
    commits: [...earlier, head_commit],
    head_commit,
    ...rest,
  }
  const env = { GITHUB_REF: ref, GITHUB_SHA: AFTER }
  return {
    event: 'push',
    payload: { ...payload, sender: { login: 'octocat' } },
    env,
  } satisfies RunOptions
}

/** What a pull request has. */
const commitsWith = (...messages: string[]) =>
  messages.map((message) => ({ sha: sha(message), message }))

/** Pull request 2, which a stranger opened from a fork, and which `after` merged. */
function addMerged({ repository }: SimulatedWorld, fields: Partial<PullState> = {}): PullState {
  const ofFork = { title: 'Retry', body: 'Networks fail.', author: 'stranger' }
  const commits = commitsWith('one', 'two')
  const merged = { state: 'closed', merged: true, mergeCommit: AFTER } as const
  repository.addComparison(BEFORE, AFTER)
  return repository.addPull({ number: 2, ...ofFork, ...merged, commits, ...fields })
}

/** A run for the push that merged it. */
function merge(world: SimulatedWorld, run: RunOptions = SQUASH, fields?: Partial<PullState>) {
  addMerged(world, fields)
  return world.step(SCOPE, run)
}

const commentsOn = ({ repository }: SimulatedWorld) =>
  [...repository.comments.values()].map(({ issue }) => issue)
const asked = (world: SimulatedWorld): string[] =>
  requestsBefore(world)
    .filter(
      ({ method, path }) => method === 'GET' && /\/(?:pulls|compare|issues\/\d+$)\b/.test(path),
    )
    .map(({ path }) => path.replace(`/repos/${REPOSITORY}/`, '').replace(/\?.*/, ''))

/** The comment is on pull request 2, and perhaps GitHub was asked for just these. */
function expectOnPull(world: SimulatedWorld, requests?: readonly string[]): void {
  expect(commentsOn(world)).toEqual([2])
  if (requests) expect(asked(world)).toEqual(requests)
}

const expectNothing = (world: SimulatedWorld): void =>
  expect([world.posts(), world.github.writes()]).toEqual([[], []])

const LIST = `commits/${AFTER}/pulls`
/** Twice more, as it may be late. */
const UNLISTED = [LIST, LIST, LIST]
const FILES = 'pulls/2/files'
const COMMITS = 'pulls/2/commits'
const RANGE = `compare/${BEFORE}...${AFTER}`
const rebased = ['one', 'two'].map((message) => commit(`rebased ${message}`, message))
const BOTH = { earlier: [commit('one'), commit('two')] }
const SQUASH = push('Retry (#2)')
const MERGE_COMMIT = push('Merge pull request #2', BOTH)
const REBASE = push('two', { earlier: rebased.slice(0, 1) })

worldTest.each([
  '\u{1f500} Merge pull request #2 from o/b',
  '\u26a1\ufe0f Merge pull request #2 from o/b',
  ':twisted_rightwards_arrows: Merge pull request #2 from o/b',
  'chore: merge pull request #2 from o/b',
  'chore(main)!: Merge PR #2',
])(
  'a merge is recognised behind what the house writes: %s [merge.consent]',
  async (world, message) => {
    await merge(world, push(message, BOTH), { head: sha('two') })
    expectOnPull(world)
  },
)

worldTest(
  'a rebase that names an issue waits for a list that is late [github.late] [merge.empty-list]',
  async (world) => {
    world.github.faults.push({ path: /\/commits\/\w+\/pulls/, answer: { status: 200, body: [] } })
    await merge(world, push('two (#40)', { earlier: rebased.slice(0, 1) }))
    expect(asked(world).slice(0, 3)).toEqual([LIST, 'pulls/40', LIST])
  },
)

const two = commit('rebased', 'two')
const toRelease = { ref: 'refs/heads/release/next' }
/** GitHub lists no more than 250. */
const large = Array.from({ length: 251 }, (_, index) => `Part ${index}`)

describe('a push is about the pull request that it merged [merge.found]', () => {
  worldTest.each<[how: string, RunOptions, requests: string[], fields?: Partial<PullState>]>([
    ['a squash', SQUASH, [LIST, FILES]],
    ['a squash of many', SQUASH, [LIST, FILES], { commits: commitsWith(...large) }],
    ['a squash with a title of its own', push('Retry'), [LIST, FILES]],
    ['a squash that names an issue [merge.late-list]', push('Fix (#40)'), [LIST, FILES]],
    ['a merge commit', MERGE_COMMIT, [LIST, COMMITS, FILES]],
    [
      'a merge commit, which brings its head and names it',
      MERGE_COMMIT,
      [LIST, COMMITS, FILES],
      { head: sha('two') },
    ],
    ...['Merge #2', 'Merge PR #2: Retry', 'Auto merge of #2 - stranger:retry, r=octocat'].map(
      (message): [string, RunOptions, string[], Partial<PullState>] => [
        `a merge commit of another tool, "${message}"`,
        push(message, BOTH),
        [LIST, COMMITS, FILES],
        { head: sha('two') },
      ],
    ),
    ['a rebase', REBASE, [LIST, COMMITS, FILES]],
    ['a rebase of one commit', push('one'), [LIST, FILES], { commits: commitsWith('one') }],
    [
      'a rebase of two commits with one message',
      push('two', { earlier: [two] }),
      [LIST, COMMITS, FILES],
      { commits: commitsWith('two', 'two') },
    ],
    [
      'a merge into another branch',
      push('Retry (#2)', toRelease),
      [LIST, FILES],
      { base: ['release/next', REPOSITORY] },
    ],
    [
      'a repository in other case [merge.here]',
      push('x'),
      [LIST, FILES],
      { base: ['main', REPOSITORY.toUpperCase()] },
    ],
  ])('%s', async (world, _, run, requests, fields = {}) => {
    // Of others that have the commit, too, there may be many.
    for (let number = 100; number < 150; number++) world.repository.addPull({ number, head: AFTER })
    addMerged(world, fields)
    const { outputs, log } = await world.step(SCOPE, run)
    expect(outputs.outcome).toBe('pr-opened')
    expect(log).toContain('This push merged pull request 2.')
    expectPrompt(world, /title: Retry\n[\s\S]*Networks fail\.[\s\S]*docs\/api\.md/)
    expectOnPull(world, requests)
  })

  worldTest.each(['Revert "Fix (#7)" (#2)', 'Merge pull request #2 from o/b'])(
    "a pull request that GitHub doesn't list yet is found by its number: %s [merge.late-list]",
    async (world, message) => {
      world.github.faults.push({
        path: /\/commits\/\w+\/pulls/,
        times: 9,
        answer: { status: 200, body: [] },
      })
      await merge(world, push(message))
      expectOnPull(world, [LIST, 'pulls/2', FILES])
    },
  )

  /** What GitHub's list answers some times before it is right. */
  const late = (times: number, answer: FaultAnswer) => ({
    path: /\/commits\/\w+\/pulls/,
    times,
    answer,
  })
  const EMPTY = { status: 200, body: [] }
  const GONE = refusal(404, 'Not Found')
  const NO_COMMIT = refusal(422, `No commit found for SHA: ${AFTER}`)

  worldTest.each<[how: string, times: number, FaultAnswer, RunOptions]>([
    ['empty, and its commits name nothing [merge.empty-list]', 1, EMPTY, REBASE],
    ['empty twice, and its commits name nothing [merge.empty-list]', 2, EMPTY, REBASE],
    ['not found [github.early]', 1, GONE, SQUASH],
    ['not found, for it knows no such commit [github.early]', 2, NO_COMMIT, SQUASH],
  ])('the list is late: it is %s, %d times', async (world, _, times, answer, run) => {
    world.github.faults.push(late(times, answer))
    const { milliseconds } = await merge(world, run, { labels: new Set(['no docs']) })
    expectOnPull(world)
    const lists = asked(world).filter((path) => path === LIST)
    expect(lists).toHaveLength(times + 1)
    expect(milliseconds).toBeGreaterThan(5_000 * times)
    world.github.faults.push(late(times, answer))
    const { outputs } = await world.step({ ...SCOPE, 'skip-labels': 'no docs' }, run)
    expect(outputs.outcome).toBe('skipped')
  })

  worldTest.each([
    ['not found', GONE],
    ['of an unknown commit', NO_COMMIT],
  ])(
    'the list is never there (%s): the message names the merge, or nothing is sent [merge.late-list] [merge.unreadable]',
    async (world, _, answer) => {
      world.github.faults.push(late(99, answer))
      await merge(world, SQUASH, { labels: new Set(['no docs']) })
      expectOnPull(world, [...UNLISTED, 'pulls/2', FILES])
      addMerged(world, { number: 3, mergeCommit: BEFORE })
      for (const run of [REBASE, push('Revert (#3)')]) {
        expectUnanswered(await world.step({ ...SCOPE, 'skip-labels': 'no docs' }, run))
      }
    },
  )

  worldTest.each([
    ['files', FILES, [LIST, FILES, FILES]],
    ['commits', COMMITS, [LIST, COMMITS, COMMITS, FILES]],
  ])('GitHub does not find its %s at first [github.early]', async (world, _, path, requests) => {
    world.github.faults.push({ path: new RegExp(path), answer: GONE })
    await merge(world, path === FILES ? SQUASH : REBASE)
    expect(asked(world)).toEqual(requests)
  })

  newApiTest.each<[how: string, RunOptions, Partial<PullState>]>([
    ['a squash', push('Retry'), {}],
    ['a merge commit', MERGE_COMMIT, {}],
    ['a rebase', REBASE, {}],
  ])(
    'also if GitHub no longer says which commit merged it: %s [merge.no-merge-commit]',
    async (world, _, run, fields) => {
      await merge(world, run, fields)
      expectOnPull(world, [LIST, COMMITS, FILES])
    },
  )

  worldTest(
    'context-paths are about its files, and since is ignored [range.since]',
    async (world) => {
      addMerged(world)
      const inputs = { ...SCOPE, since: 'v1', 'context-paths': 'src/**' }
      const { outputs } = await world.step(inputs, SQUASH)
      expect(outputs.outcome).toBe('skipped')
      await world.step({ ...SCOPE, since: 'v1', context: 'event' }, SQUASH)
      expectPrompt(world, /^commits: \w{7} Retry \(#2\)/m)
    },
  )
})

worldTest(
  'with a locked conversation: no comment, and the same changes [memory.locked]',
  async (world) => {
    const { outputs, log } = await merge(world, SQUASH, { locked: true })
    expect(outputs.outcome).toBe('pr-opened')
    expect(log).toContain(
      'This push merged pull request 2, whose conversation is locked, so no comment is written.',
    )
    expectPrompt(world, /title: Retry\n[\s\S]*Networks fail\.[\s\S]*docs\/api\.md/)
    expect(asked(world)).toEqual([LIST, FILES])
    expect(world.github.writes()).toEqual([])
  },
)

worldTest(
  'with a locked conversation: its docs job is remembered, and kept [memory.locked]',
  async (world) => {
    const pull = addMerged(world)
    const dispatch = { event: 'workflow_dispatch', payload: {} }
    const first = await world.step({ ...SCOPE, 'issue-number': '2' }, dispatch)
    Object.assign(pull, { locked: true })
    const before = world.github.writes().length
    const { outputs } = await world.step(SCOPE, SQUASH)
    expect(outputs).toMatchObject({ sent: 'message', 'job-id': first.outputs['job-id'] })
    expect(world.github.writes()).toHaveLength(before)
  },
)

describe('a push is about itself', () => {
  worldTest.each<[why: string, Partial<PullState>, RunOptions, requests: string[]]>([
    [
      'nothing was merged [merge.empty-list]',
      { mergeCommit: null },
      push('Fix a typo'),
      [...UNLISTED, RANGE],
    ],
    [
      'an issue is named [merge.late-list]',
      { mergeCommit: null },
      push('Fix a typo (#40)'),
      [LIST, 'pulls/40', LIST, LIST, RANGE],
    ],
    [
      'another is named [merge.whole]',
      { mergeCommit: BEFORE },
      push('Fix (#2)'),
      [LIST, 'pulls/2', LIST, LIST, RANGE],
    ],
    [
      'another repository is named [merge.late-list]',
      { mergeCommit: BEFORE },
      push('Fix (o/r#2)'),
      [...UNLISTED, RANGE],
    ],
    [
      'the text names one [merge.late-list]',
      { mergeCommit: null },
      push('x\n\nMerge pull request #2 (#2)'),
      [...UNLISTED, RANGE],
    ],
    [
      'GitHub has no merge [merge.no-merge-commit]',
      { mergeCommit: null, head: AFTER },
      push('x'),
      [LIST, COMMITS, RANGE],
    ],
    [
      'its head was pushed with a commit on top [merge.consent]',
      { head: sha('two') },
      push('Fix (#20)', BOTH),
      [LIST, 'pulls/20', COMMITS, RANGE],
    ],
    [
      'a branch with its head was merged by hand [merge.consent]',
      { head: sha('two') },
      push("Merge branch 'retry'", BOTH),
      [LIST, COMMITS, RANGE],
    ],
    ['the pull request is open [merge.found]', { merged: false }, push('x'), [LIST, RANGE]],
    [
      'somebody pushed its head, which merged it [merge.consent]',
      { head: AFTER },
      push('one'),
      [LIST, RANGE],
    ],
    [
      'somebody pushed all its commits [merge.consent]',
      { head: AFTER, commits: [...commitsWith('one'), { sha: AFTER, message: 'two' }] },
      push('two', { earlier: [commit('one')] }),
      [LIST, COMMITS, RANGE],
    ],
    ['its head was pushed, and names it [merge.consent]', { head: AFTER }, SQUASH, [LIST, RANGE]],
    [
      'the number is too long [merge.late-list]',
      { mergeCommit: null },
      push('Call (#9999999999)'),
      [...UNLISTED, RANGE],
    ],
    [
      'an earlier push merged it [merge.whole]',
      { mergeCommit: BEFORE, head: AFTER },
      push('x'),
      [LIST, RANGE],
    ],
    [
      'it went into another branch [merge.here]',
      { base: ['next', REPOSITORY] },
      push('x', toRelease),
      [LIST, RANGE],
    ],
    [
      'it is of the forked repository [merge.here]',
      { base: ['main', 'o/r'] },
      push('x'),
      [LIST, RANGE],
    ],
    [
      'a queue merged another with it [merge.whole]',
      {},
      push('x', { earlier: [commit('x (#9)')] }),
      [LIST, COMMITS, RANGE],
    ],
    [
      'a queue rebased another with it [merge.whole]',
      {},
      push('one', { earlier: [two, two] }),
      [LIST, COMMITS, RANGE],
    ],
    [
      'a queue rebased one before [merge.whole]',
      {},
      push('one', { earlier: [commit('9')] }),
      [LIST, COMMITS, RANGE],
    ],
    [
      'a queue merged both [merge.whole]',
      {},
      push('Merge pull request #2', {
        earlier: [commit('nine'), commit('Merge 9'), commit('one'), two],
      }),
      [LIST, COMMITS, RANGE],
    ],
    [
      'it is too large to compare [merge.whole]',
      { commits: commitsWith(...large) },
      push('Merge pull request #2', { earlier: large.map((message) => commit(message)) }),
      [LIST, COMMITS, COMMITS, COMMITS, RANGE],
    ],
    [
      'a release branch is moved on [merge.here]',
      {},
      push('Retry (#2)', toRelease),
      [LIST, 'pulls/2', RANGE],
    ],
    [
      'it goes back to an earlier merge [merge.asked-when]',
      {},
      push('x', { commits: [two] }),
      [RANGE],
    ],
    ['it is of a tag [merge.asked-when]', {}, push('x', { ref: 'refs/tags/v1' }), []],
    ['the branch is new [merge.asked-when]', {}, push('x', { before: '0'.repeat(40) }), []],
    [
      'the branch is gone [merge.asked-when]',
      {},
      push('x', { after: '0'.repeat(40), commits: [] }),
      [],
    ],
  ])('if %s [input.scope]', async (world, _, fields, run, requests) => {
    const { outputs, log } = await merge(world, run, fields)
    expect(outputs.outcome).toBe('pr-opened')
    expect(log).toContain('is about no single pull request')
    expect(commentsOn(world)).toEqual([])
    expect(asked(world)).toEqual(requests)
  })
})

worldTest.each<[how: string, repository: object | undefined, requests: string[]]>([
  ['says the payload', { has_pull_requests: false }, [RANGE]],
  ['says GitHub', undefined, [...UNLISTED, 'pulls/2', RANGE]],
])('pull requests are turned off, %s [merge.pulls-off]', async (world, _, repository, requests) => {
  addMerged(world)
  world.repository.hasPulls = false
  const { event, env, payload } = SQUASH
  const { outputs, log } = await world.step(SCOPE, {
    event,
    env,
    payload: { ...payload, repository },
  })
  expect(outputs.outcome).toBe('pr-opened')
  expect(log).toContain('Pull requests are turned off in this repository.')
  expect(asked(world)).toEqual(requests)
  expect(world.github.writes()).toEqual([])
})

newApiTest.each<[why: string, RunOptions, Partial<PullState>, requests: string[]]>([
  [
    'that is one of its own commits',
    push('Retry'),
    { commits: [{ sha: AFTER, message: 'Retry' }], head: AFTER },
    [LIST, COMMITS, RANGE],
  ],
  [
    'that names it, as a revert does',
    push('Revert "Retry" (#2)'),
    { mergeCommit: BEFORE },
    [LIST, 'pulls/2', LIST, LIST, RANGE],
  ],
])(
  'if a merge is unknown, a push %s is about itself [merge.no-merge-commit]',
  async (world, _, run, fields, requests) => {
    await merge(world, run, fields)
    expect([commentsOn(world), asked(world)]).toEqual([[], requests])
  },
)

worldTest.each([
  ['that it names', false],
  ['that it names, if the list does not have it yet [merge.late-list]', true],
])(
  'of two whose heads a merge brought, a push is about the one %s [merge.consent]',
  async (world, _, isLate) => {
    for (const number of [2, 3]) addMerged(world, { number, head: sha('two') })
    const other = world.repository.pulls.get(3)
    const answer = { status: 200, body: other && [pull(other)] }
    if (isLate) world.github.faults.push({ path: /\/commits\/\w+\/pulls/, answer })
    await world.step(SCOPE, MERGE_COMMIT)
    expectOnPull(world)
  },
)

worldTest.each([
  ['job-scope: run', { 'job-scope': 'run' }, [RANGE]],
  ['an issue-number', { 'issue-number': '1' }, ['pulls/1', 'pulls/1/files']],
])('with %s, nobody asks what was merged [merge.found]', async (world, _, inputs, requests) => {
  addMerged(world)
  await world.step({ ...SCOPE, ...inputs }, SQUASH)
  expect(asked(world)).toEqual(requests)
})

worldTest.each<[string, Partial<PullState>, RunOptions, requests: string[]]>([
  ['neither, if both are whole [merge.found]', {}, SQUASH, [LIST, RANGE]],
  [
    'the one that accounts for all of it [merge.whole]',
    { commits: commitsWith('one') },
    MERGE_COMMIT,
    [LIST, COMMITS, 'pulls/3/commits', FILES],
  ],
])('of two that it merged, a push is about %s', async (world, _, other, run, requests) => {
  addMerged(world)
  addMerged(world, { number: 3, ...other })
  const { log } = await world.step(SCOPE, run)
  expect(asked(world)).toEqual(requests)
  const says = 'This push is not just the merge of pull request 3.'
  expect(log.includes(says)).toBe('commits' in other)
})

worldTest.each(['mintlify[bot]', 'Dependabot[bot]'])(
  'a pull request by %s starts nothing, although a person has added to it [skip.authors.merged]',
  async (world, author) => {
    addMerged(world, { author, head: sha('two') })
    const earlier = [commit('one', 'one', author), commit('two', 'two', 'octocat')]
    world.repository.addCommit({ sha: sha('two') })
    const inputs = { ...SCOPE, 'skip-authors': 'dependabot[bot]' }
    for (const message of ['Merge pull request #2', "Merge branch 'docs'"]) {
      const ended = await world.step(inputs, push(message, { earlier }))
      expectSkipped(
        ended,
        world,
        /the push merged a pull request by an account in skip-authors\. You/,
      )
    }
    const commits = [...commitsWith('one'), { sha: AFTER, message: 'two' }]
    addMerged(world, { author, head: AFTER, commits })
    const ofHead = push('two', { earlier: earlier.slice(0, 1) })
    expect((await world.step(inputs, ofHead)).outputs.outcome).toBe('skipped')
    expectNothing(world)
  },
)

worldTest.each([
  ['push', '{', 'pull-request'],
  ['pull_request', '[]', 'pull-request'],
  ['issues', '{', 'issue'],
])(
  'if the payload of %s can not be read (%s), nothing is sent [merge.unreadable]',
  async (world, event, payload, scope) => {
    const inputs = { 'job-scope': scope, 'allow-users': '*' }
    const { outputs, commands } = await world.step(inputs, { event, payload })
    expect(outputs['error-code']).toBe('github')
    expect(commands('error')[0]).toMatch(
      /^Can't tell what the run is about: .* it is not a JSON object.* Use a runner that provides the event payload\.$/,
    )
    expect([world.posts(), world.github.requests]).toEqual([[], []])
  },
)

const NOT_MERGED = { mergeCommit: null }
test.each<[string, Partial<Permissions>, Partial<PullState>, needs: string | undefined]>([
  [
    'a merge needs no other permission',
    { contents: 'none', issues: 'none', actions: 'none', checks: 'none' },
    {},
    undefined,
  ],
  ['a direct push needs contents', { contents: 'none' }, NOT_MERGED, 'contents: read'],
  ['a merge needs pull requests', { pull_requests: 'none' }, {}, 'pull-requests: write'],
  ['so does a direct push', { pull_requests: 'none' }, NOT_MERGED, 'pull-requests: write'],
  ['reading them is not enough', { pull_requests: 'read' }, {}, 'pull-requests: write'],
])(
  'the permission that is missing is named: %s [merge.unreadable]',
  (_, permissions, fields, needs) =>
    inWorld({ github: { permissions } }, async (world) => {
      const { outputs, commands } = await merge(world, push('Retry'), fields)
      const isRefused = needs !== undefined
      expect(outputs['error-code']).toBe(isRefused ? 'github' : '')
      const says = new RegExp(`ing .*\\w failed.* \`${needs}\` to the permissions `)
      if (isRefused) expect(commands('error')[0]).toMatch(says)
      expect(world.posts()).toHaveLength(isRefused ? 0 : 1)
    }),
)

worldTest.each<[why: string, RegExp, FaultAnswer]>([
  ['fails', /\/commits\/\w+\/pulls/, BAD_GATEWAY],
  [
    'is behind a gateway that knows no pull request',
    /\/pulls\/2$/,
    { status: 404, headers: { 'content-type': 'text/html' }, body: 'No such page' },
  ],
])(
  "nothing is sent if GitHub can't say what was merged: it %s [merge.unreadable]",
  async (world, _, path, answer) => {
    world.github.faults.push(
      { path, times: 99, answer },
      { path: /\/commits\/\w+\/pulls/, answer: { status: 200, body: [] } },
    )
    const { outputs, milliseconds } = await merge(world)
    expect(outputs['error-code']).toBe('github')
    expect(milliseconds).toBeGreaterThan(75_000)
    expect(milliseconds).toBeLessThan(91_000)
    expectNothing(world)
  },
)

worldTest(
  'a push is about none if a queue merged another with what it names, and the list is late [merge.whole] [merge.late-list]',
  async (world) => {
    const answer = { status: 200, body: [] }
    world.github.faults.push({ path: /\/commits\/\w+\/pulls/, answer })
    const { log } = await merge(world, push('Retry (#2)', { earlier: [commit('x (#9)')] }))
    expect(log).toContain('is about no single pull request')
    expect(asked(world)).toEqual([LIST, 'pulls/2', COMMITS, RANGE])
  },
)

worldTest.each<[why: string, RegExp, FaultAnswer, told: string]>([
  [
    'the pull request is gone',
    /\/pulls\/2$/,
    refusal(410, 'Gone'),
    'reading pull request 2 failed: 410',
  ],
  [
    'the token may not read the pull request',
    /\/pulls\/2$/,
    refusal(403, 'Resource not accessible by integration'),
    'Add `pull-requests: write` to',
  ],
  [
    'the token sees neither its list nor the repository',
    /\/commits\/\w+\/pulls|\/repos\/[^/]+\/[^/]+$|\/pulls\/2$/,
    refusal(404, 'Not Found'),
    'add `pull-requests: write` to',
  ],
])(
  'nothing is sent if GitHub may not say what was merged: %s [merge.unreadable]',
  async (world, _, path, answer, told) => {
    world.github.faults.push({ path, answer, times: 99 })
    const { outputs, commands } = await merge(world, SQUASH, { mergeCommit: null })
    expect(outputs['error-code']).toBe('github')
    expect(commands('error')[0]).toContain(told)
    expectNothing(world)
  },
)

worldTest(
  'without a context, the comment is on the pull request all the same, whose code is merged [merge.found] [report.review]',
  async (world) => {
    addMerged(world)
    const { summary } = await world.step({ ...SCOPE, context: 'none' }, SQUASH)
    expect(summary).toContain('then merge it.')
    expect([commentsOn(world), asked(world), world.prompts()]).toEqual([
      [2],
      [LIST],
      ['Update the docs.'],
    ])
  },
)
