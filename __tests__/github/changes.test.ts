/** Which changes count, what the prompt says about them, and when there is nothing to do. */

import { describe, expect, test } from '@jest/globals'
import { KEY } from '../support/action.js'
import {
  BAD_GATEWAY,
  type Fault,
  type FaultAnswer,
  file,
  type Need,
  refusal,
  sha,
} from '../support/github.js'
import {
  expectJob,
  expectPrompt,
  expectSent,
  expectSkipped,
  expectUnanswered,
  HEAD,
  inRealWorld,
  inWorld,
  promptOf,
  REPOSITORY,
  type RunOptions,
  requestsBefore,
  TOKEN,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'

const needsOf = (world: World): (Need | undefined)[] => [
  ...new Set(requestsBefore(world).map(({ needs }) => needs)),
]

const FILES = [
  file('src/a.ts', '@@ -1 +1 @@\n-old\n+new'),
  file('docs/b c.md', '@@ -0,0 +1 @@\n+x'),
  file('logo.png', null),
]
/** A world in which the pull request changes these. */
const CHANGED = { pull: { files: FILES } }

const ENV = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after'), GITHUB_RUN_ID: '9000000000' }
const push = (fields: object = {}): RunOptions => {
  const range = { before: sha('before'), after: sha('after') }
  return { event: 'push', payload: { ...range, sender: { login: 'octocat' }, ...fields }, env: ENV }
}
const since = (event: string): RunOptions => ({ event, payload: {}, env: ENV })

describe('a pull request', () => {
  test.concurrent('the prompt has its files and their diff [range.pull-request] [context.level]', () =>
    inRealWorld(CHANGED, async (world) => {
      expectJob(await world.runBundle({ context: 'diff' }))
      const prompt = promptOf(world)
      expect(prompt).toMatch(/^Update the docs\.\n\n/)
      const texts = [
        'Add --retry',
        'It retries.',
        'octocat',
        'src/a.ts',
        '+new',
        'docs/b c.md',
        'logo.png',
      ]
      for (const text of texts) expect(prompt).toContain(text)
      expect(needsOf(world)).toEqual(['pull_requests: read'])
    }))

  worldTest(
    'is merged before its docs are, also without a context [report.review]',
    async (world) => {
      const { summary } = await world.step({ context: 'none' })
      expect(summary).toContain('Merge it after its code is merged.')
      const pull_request = { number: 1, state: 'closed' }
      const merged = { payload: { action: 'closed', sender: { login: 'octocat' }, pull_request } }
      const after = await world.step({ 'allow-users': '*' }, merged)
      expect(after.summary).toContain('then merge it.')
    },
  )

  testsIn({ pull: { files: [file('src/a.ts', `@@ -0,0 +1 @@\n+${KEY} ${TOKEN} ghp_docs_0123`)] } })(
    'the prompt does not have the key and the tokens that a file has [context.secret.none]',
    async (world) => {
      await world.step({ context: 'diff', 'docs-token': 'ghp_docs_0123' })
      expectPrompt(world, '+*** *** ***')
      expect(JSON.stringify(world.emulator.requests.map(({ body }) => body))).not.toContain(KEY)
    },
  )

  test('with 3,000 files and more is never skipped: GitHub truncates the list [skip.list.cut] [range.pull-request] [context.omitted.told]', async () => {
    const files = Array.from({ length: 3001 }, (_, nth) => file(`src/${nth}.ts`, null))
    await inWorld({ pull: { files } }, async (world) => {
      const inputs = { 'context-paths': 'docs/**', context: 'event' }
      const { outputs, log, summary } = await world.step(inputs)
      expect(outputs.outcome).toBe('pr-opened')
      expectPrompt(world, 'GitHub truncated')
      expect(JSON.stringify(world.github.requests)).toContain('page=60&per_page=50')
      expect(log).toContain('GitHub cut the list of changed files.')
      expect(summary).not.toContain('cut the list of changed files')
    })
  })
})

const EXCLUDED = [
  file('src/a.ts', null),
  file('internal/plan.md', '@@ -1 +1 @@\n-old\n+SECRET PLAN'),
  file('internal/b.md', '@@ -1 +1 @@\n-old\n+SECRET PLAN', {
    status: 'renamed',
    previous_filename: 'internal/old.md',
  }),
]
testsIn({ pull: { files: EXCLUDED } })(
  'a folder that is excluded is in the prompt neither by name nor by diff; if no diff is left, the summary says so [context.paths.excluded] [context.omitted.told]',
  async (world) => {
    const { summary } = await world.step({ context: 'diff', 'context-paths': '!internal/**' })
    expect(summary).toContain('Note: GitHub sent no diff of 1 file.')
    expectPrompt(world, 'src/a.ts')
    expect(promptOf(world)).not.toMatch(/internal|SECRET/)
    expectPrompt(world, 'Not listed: 2 changed files excluded by context-paths.')
  },
)

describe('a push', () => {
  worldTest(
    'whose first commit is gone: prompt, log and summary say that there are no changes [range.gone] [context.omitted.told]',
    async (world) => {
      world.repository.addCommit({ sha: sha('after') })
      const inputs = { context: 'event' }
      const { outputs, log, summary } = await world.step(inputs, push({ before: sha('gone') }))
      expect(outputs.outcome).toBe('pr-opened')
      expectPrompt(world, / commit \w{7} may be gone\./)
      const says = 'No changes are sent: GitHub finds nothing to compare with: commit'
      expect(log).toContain(`\n${says}`)
      expect(summary).toContain(`\nNote: ${says}`)
    },
  )

  worldTest.each([
    ['the range', refusal(404, 'Not Found')],
    ['a commit', refusal(422, `No commit found for SHA: ${sha('after')}`)],
  ])(
    'that GitHub does not find at first: %s [range.gone] [github.early] [skip.paths.none-left]',
    async (world, _, answer) => {
      world.repository.addComparison(sha('before'), sha('after'), { files: FILES })
      world.github.faults.push({ path: /\/compare\//, times: 2, answer })
      const { outputs } = await world.step({ 'context-paths': 'guides/**' }, push())
      expect(outputs.outcome).toBe('skipped')
    },
  )
})

/** There is something new since the last run. */
const newsTest = testsIn({
  prepare: ({ repository }) =>
    repository.addComparison(sha('last'), sha('after'), { files: FILES }),
})

describe('schedule and workflow_dispatch', () => {
  const ours = { event: 'schedule', head_branch: 'main', head_sha: sha('last') }

  newsTest.each([
    ['schedule', 'push', false],
    ['schedule', 'schedule', false],
    ['workflow_dispatch', 'workflow_dispatch', true],
  ])(
    '%s: everything since the last successful run, on %s (the server ignores filters: %j) [range.schedule.last-success] [range.schedule.fork] [skip.schedule.agents-own]',
    async (world, event, last, unfiltered) => {
      const { repository } = world
      repository.unfiltered = unfiltered
      repository.addRun({ ...ours, head_sha: sha('older') })
      repository.addRun({ ...ours, event: last })
      repository.addRun({ ...ours, conclusion: 'failure', head_sha: sha('failed') })
      repository.addRun({ ...ours, head_repository: 'someone/fork', head_sha: sha('evil') })
      repository.addRun({ ...ours, event: 'pull_request', head_sha: sha('evil') })
      repository.addRun({ ...ours, event: 'push', head_branch: 'other', head_sha: sha('other') })
      repository.addRun({ ...ours, head_repository: null, head_sha: sha('deleted fork') })
      repository.addRun({ ...ours, head_sha: 'main' })
      // This run.
      repository.addRun({ ...ours, id: Number(ENV.GITHUB_RUN_ID), head_sha: sha('after') })
      expectJob(await world.step({ context: 'diff' }, since(event)))
      expectPrompt(world, '+new')
      expect(new Set(needsOf(world))).toEqual(new Set(['actions: read', 'contents: read']))
    },
  )

  /** GitHub's filters are a search, which may find nothing, or what was there a month ago. */
  const finds = (...workflow_runs: object[]): Fault => ({
    path: /\/runs\?.*status=/,
    times: 3,
    answer: { status: 200, body: { total_count: workflow_runs.length, workflow_runs } },
  })
  const night = (number: number): RunOptions => {
    const { env, ...run } = since('schedule')
    return { ...run, env: { ...env, GITHUB_RUN_NUMBER: String(number) } }
  }

  worldTest(
    'schedule: an error if runs were deleted, and no other succeeded [range.schedule.unlisted]',
    async (world) => {
      world.repository.addRun({ ...ours, conclusion: 'failure' })
      const inputs = { context: 'diff' }
      world.repository.addRun({ ...ours, id: Number(ENV.GITHUB_RUN_ID) + 1, conclusion: 'failure' })
      // This run is one of those that GitHub lists, and another has begun after it.
      expect((await world.step(inputs, night(1))).outputs.outcome).toBe('skipped')
      expectUnanswered(
        await world.step(inputs, night(3)),
        'GitHub lists 1 of the 3 runs of docs.yml, and none that succeeded on this branch. Nothing was sent.',
      )
      // It ends green, and the next night begins there.
      const pressed = { ...night(3), event: 'workflow_dispatch' }
      const byHand = await world.step(inputs, pressed)
      expect(byHand.outputs.outcome).toBe('skipped')
      for (const text of [byHand.log, byHand.summary])
        expect(text).toMatch(/GitHub lists 1 of the 3 runs .* For earlier changes, set since/s)
    },
  )

  /** So many runs on pull requests, and this one. */
  const busy = ({ repository }: World, count: number): void => {
    const event = 'pull_request'
    for (let nth = 0; nth < count; nth++) repository.addRun({ ...ours, event })
    repository.addRun({ ...ours, id: Number(ENV.GITHUB_RUN_ID), conclusion: null })
  }
  const listed = ({ github }: World): number =>
    github.requests.filter(({ path }) => /\/runs\?/.test(path)).length

  const old = { ...ours, id: 1, conclusion: 'success', head_sha: sha('a month ago') }
  newsTest.each<[string, Fault[]]>([
    ['empty', [finds()]],
    ['a month old', [finds({ ...old, head_repository: { full_name: REPOSITORY } })]],
    ['right', []],
  ])(
    'schedule: since the last success, behind other runs, if the search for it is %s [range.schedule.stale-search]',
    async (world, _, faults) => {
      busy(world, 99)
      world.repository.addRun(ours)
      busy(world, 230)
      world.github.faults.push(...faults)
      expectJob(await world.step({ context: 'diff' }, night(232)))
      expectPrompt(world, '+new')
      expect(listed(world)).toBe(3)
    },
  )

  worldTest(
    'schedule: the first night of a workflow with many runs is skipped [range.schedule.stale-search]',
    async (world) => {
      busy(world, 230)
      const ended = await world.step({ context: 'diff' }, night(231))
      expectSkipped(ended, world, /no earlier successful run/)
      expect(listed(world)).toBe(3)
    },
  )

  newsTest(
    'schedule: an error if there may be a success behind 1,000 others [range.schedule.unlisted] [range.schedule.stale-search] [range.schedule.last-success]',
    async (world) => {
      busy(world, 1_000)
      const ended = await world.step({ context: 'diff' }, night(1_001))
      expectUnanswered(ended, 'GitHub lists 1,000 of the 1,001 runs of docs.yml')
      expect(ended.log).toContain(
        'Start the workflow by hand once, with since: without it, earlier changes are not sent. If runs are deleted, keep one that succeeded.',
      )
      expect(listed(world)).toBe(13)
      world.repository.addRun({ ...ours, id: 1, head_sha: sha('old') })
      world.repository.addRun({ ...ours, id: 2, event: 'push' })
      expectSent(await world.step({ context: 'diff' }, night(1_002)))
      expectPrompt(world, '+new')
    },
  )

  newsTest.each([
    ['schedule', 'pr-opened'],
    ['push', 'skipped'],
  ])(
    'schedule: since a success of event %s before the branch was renamed: %s [range.schedule.renamed]',
    async (world, event, outcome) => {
      world.repository.addRun({ ...ours, event, head_branch: 'master' })
      expect((await world.step({ context: 'diff' }, since('schedule'))).outputs.outcome).toBe(
        outcome,
      )
    },
  )

  newsTest(
    'a run before that has not ended, as GitHub lists it for a moment, is the last one all the same [github.late]',
    async (world) => {
      world.repository.addRun({ ...ours, head_sha: sha('older') })
      const last = world.repository.addRun({ ...ours })
      const { conclusion } = last
      Object.assign(last, { conclusion: null, status: 'in_progress' })
      world.github.faults.push({
        path: {
          test: () =>
            world.github.requests.length > 0 && Object.assign(last, { conclusion }) && false,
        } as never,
        answer: BAD_GATEWAY,
      })
      expectSent(await world.step({ context: 'diff' }, since('schedule')))
    },
  )

  newsTest.each([
    ['was cancelled', 2, ['success']],
    ['succeeded, and failed then', 3, ['failure', 'success']],
  ])(
    'schedule: a success whose re-run %s is the last one all the same [range.schedule.attempts]',
    async (world, _, run_attempt, ends) => {
      world.repository.addRun({ ...ours, head_sha: sha('older') })
      const { id } = world.repository.addRun({ ...ours, run_attempt, conclusion: 'cancelled' })
      for (const [index, end] of ends.entries())
        world.repository.attempts.set(`${id} ${index + 1}`, end)
      expectSent(await world.step({ context: 'diff' }, since('schedule')))
      expectPrompt(world, '+new')
    },
  )

  newsTest(
    'schedule: one whose attempts all failed is none [range.schedule.attempts]',
    async (world) => {
      world.repository.addRun(ours)
      world.repository.addRun({
        ...ours,
        head_sha: sha('no'),
        run_attempt: 2,
        conclusion: 'failure',
      })
      expectSent(await world.step({ context: 'diff' }, since('schedule')))
    },
  )

  worldTest(
    'a schedule on the default branch is no mark for a run by hand on another [range.schedule.renamed]',
    async (world) => {
      world.repository.addRun({ ...ours, head_branch: 'trunk' })
      const ended = await world.step({ context: 'diff' }, since('workflow_dispatch'))
      expectSkipped(ended, world, /no earlier successful run/)
    },
  )

  worldTest(
    'schedule: skipped if there is no commit since [skip.schedule.no-commits]',
    async (world) => {
      world.repository.addRun({ ...ours, head_sha: sha('after') })
      expectSkipped(
        await world.step({ context: 'event' }, since('schedule')),
        world,
        /no new commits/,
      )
    },
  )

  worldTest(
    'schedule: skipped if all new commits are merges or by skip-authors [skip.schedule.agents-own]',
    async (world) => {
      const { repository } = world
      repository.addRun(ours)
      const commits = [
        repository.addCommit({ author: 'mintlify[bot]' }),
        repository.addCommit({ sha: sha('after'), parents: [sha('last'), sha('x')] }),
      ]
      repository.addComparison(sha('last'), sha('after'), { files: FILES, commits })
      const inputs = { context: 'event', 'skip-authors': 'mintlify[bot]' }
      const ended = await world.step(inputs, since('schedule'))
      expectSkipped(ended, world, /every new commit is a merge or by an account in skip-authors/)
    },
  )

  // The first thing that a newcomer does with a nightly workflow is to press its button.
  worldTest.each(['schedule', 'workflow_dispatch'])(
    '%s: the first run is skipped, with advice [skip.nothing-to-compare] [skip.nothing-to-compare.by-hand]',
    async (world, event) => {
      world.repository.addRun({ ...ours, conclusion: 'failure' })
      const ended = await world.step({ context: 'diff' }, since(event))
      expectSkipped(
        ended,
        world,
        /there is no earlier successful run of this workflow on this branch to compare with/,
      )
      expect(ended.summary).toMatch(/The next run begins here\..* set since to a tag/)
    },
  )
})

describe('skip-authors [skip.authors.cause]', () => {
  const SKIP = { 'skip-authors': 'mintlify[bot]' }
  const commit = (username: string, name: string) => ({
    id: sha(name),
    author: { username },
    message: name,
  })

  testsIn({ pull: { author: 'Mintlify[bot]' } })(
    'a pull request by one of them is skipped before anything is read, even without a key [skip.service.unasked]',
    async (world) => {
      const ended = await world.step({ ...SKIP, 'api-key': '', context: 'diff' })
      expectSkipped(ended, world, /this pull_request event was triggered by Mintlify\[bot\]/)
      expect(world.github.requests).toEqual([])
    },
  )

  testsIn({ pull: { author: 'mintlify[bot]' } })(
    'a given job-id is an output [output.job-id]',
    async (world) => {
      const { outputs } = await world.step({ ...SKIP, 'job-id': ' job-9 ' })
      expect(outputs).toMatchObject({ outcome: 'skipped', 'job-id': 'job-9' })
      const bad = await world.step({ ...SKIP, 'job-id': 'job 9' })
      expect(bad.outputs).toMatchObject({ outcome: 'skipped', 'job-id': '' })
    },
  )

  worldTest.each([
    [
      'is a merge',
      [sha('x'), sha('y')],
      /^skipped .*: every non-merge commit in the push is by an account in skip-authors\./s,
    ],
    ['is not a merge', [sha('x')], /^pr-opened /],
  ])(
    'a push with their commits and one that %s, and that GitHub does not find at first [skip.authors.push] [github.early]',
    async (world, _, parents, outcome) => {
      world.repository.addCommit({ sha: sha('b'), parents })
      world.github.faults.push({ answer: BAD_GATEWAY }, { answer: refusal(404, 'Not Found') })
      const commits = [commit('mintlify[bot]', 'a'), commit('octocat', 'b')]
      const ended = await world.step(SKIP, push({ commits }))
      expect(`${ended.outputs.outcome} ${ended.log}`).toMatch(outcome)
      expect(needsOf(world)).toEqual(['contents: read'])
    },
  )
})

describe('a run that has nothing to send does not need the service, although a docs job is remembered: [skip.service.unasked]', () => {
  const labels = [{ name: 'no docs' }]
  const pull_request = { number: 1, user: { login: 'octocat' }, labels }
  const labelled = { action: 'synchronize', sender: { login: 'octocat' }, pull_request }
  worldTest.each<[string, Record<string, string>, RunOptions]>([
    ['a label', { 'skip-labels': 'no docs', 'allow-users': '*' }, { payload: labelled }],
    ['context-paths', { 'context-paths': 'guides/**' }, {}],
  ])('%s', async (world, _, inputs, run) => {
    const scope = { 'job-scope': 'pull-request', context: 'event' }
    await world.step(scope)
    const down = await world.serve({ poll: [{ times: 999, status: 401, error: 'Unauthorized' }] })
    const { outputs } = await world.step({ ...scope, ...inputs, 'base-url': down.url }, run)
    expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '' })
    expect(down.requests).toEqual([])
  })
})

describe('skip-labels', () => {
  const SKIP = { 'skip-labels': 'other, No Docs', 'allow-users': '*' }
  const labels = [{ name: 'bug' }, { name: 'no docs' }]
  const sender = { login: 'octocat' }
  const label = /#[12] has the label "no docs"\. You don't/
  const onMain = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after') }
  const by = { event: 'workflow_dispatch', payload: {} }

  testsIn({ pull: { labels: new Set(['No docs']) } }).each<
    [string, RunOptions, Record<string, string>, requests: number]
  >([
    [
      'that triggered the run',
      { payload: { sender, pull_request: { number: 1, user: sender, labels } } },
      {},
      0,
    ],
    [
      'that was commented on',
      { event: 'issue_comment', payload: { sender, issue: { number: 1, labels } } },
      {},
      0,
    ],
    [
      'that was labelled',
      { event: 'issues', payload: { sender, issue: { number: 1, labels } } },
      {},
      0,
    ],
    [
      'that was reviewed',
      { event: 'pull_request_review', payload: { sender, pull_request: { number: 1, labels } } },
      {},
      0,
    ],
    ['that issue-number names', by, { 'issue-number': '1' }, 1],
    ['that has a job', by, { 'issue-number': '1', 'job-scope': 'pull-request' }, 2],
  ])(
    'skip a pull request or an issue %s, and are not ignored [skip.labels.about] [skip.labels.no-effect]',
    async (world, _, run, inputs, requests) => {
      const usual = { ...SKIP, ...inputs }
      expectSkipped(await world.step(usual, run), world, new RegExp(label, 'i'))
      expect(world.github.requests).toHaveLength(requests)
      expect(world.comments()).toEqual([])
      const other = await world.step({ ...usual, 'skip-labels': 'docs' }, run)
      expectJob(other)
      expect(other.log).not.toContain('skip-labels was ignored')
    },
  )

  const ofPull = { ...SKIP, 'job-scope': 'pull-request' }
  const commitOf = (id: string, message: string) => ({
    id: sha(id),
    message,
    author: { username: 'octocat' },
  })
  const pushOf = (...earlier: ReturnType<typeof commitOf>[]): RunOptions => {
    const last = commitOf('after', 'Change (#2)')
    return { ...push({ commits: [...earlier, last], head_commit: last }), env: onMain }
  }

  worldTest.each([
    ['the push that merged it', 'merged', /pull request 2\.\n.*#2 has the label "no docs"\. You/s],
    [
      'a push of its head, which merged it as well [merge.consent]',
      'after',
      /pull request 2, but not as GitHub merges one, so the run is about the push\.\n.*#2 has the label "no docs"\. You/s,
    ],
  ])('skip %s [skip.labels.about]', async (world, _, head, says) => {
    const merged = { state: 'closed', merged: true, mergeCommit: sha('after') } as const
    world.repository.addPull({ ...merged, head: sha(head), labels: new Set(['no docs']) })
    expectSkipped(await world.step(ofPull, pushOf()), world, says)
  })

  describe('of a push that merged several [skip.labels.merged]', () => {
    const closed = { state: 'closed', merged: true } as const
    const marked = { labels: new Set(['no docs']) }
    const ASKED = /\/pulls\/[23]$/

    worldTest.each([
      ['first', {}, marked],
      ['last', marked, {}],
    ])('skip it if the %s has one', async (world, _, one, other) => {
      world.repository.addPull({ ...closed, ...one, mergeCommit: sha('after') })
      world.repository.addPull({ ...closed, ...other, mergeCommit: sha('other') })
      const told = await world.step(ofPull, pushOf(commitOf('other', 'Other (#3)')))
      expectSkipped(told, world, /#[23] has the label "no docs"/)
      expect(told.log).toContain('For the docs of the others that were merged')
    })

    worldTest.each([
      ['not merged by it', { mergeCommit: sha('earlier') }],
      ['merged into another branch', { mergeCommit: sha('other'), base: ['next', REPOSITORY] }],
    ] as const)('are not those of one that was %s [merge.here]', async (world, _, fields) => {
      world.repository.addPull({ ...closed, mergeCommit: sha('after') })
      world.repository.addPull({ ...closed, ...marked, ...fields })
      const { outputs, log } = await world.step(ofPull, pushOf(commitOf('other', 'Other (#3)')))
      expect(outputs.outcome).toBe('pr-opened')
      expect(log).not.toContain('skip-labels was ignored')
    })

    worldTest('are read only if they count [skip.labels.about]', async (world) => {
      world.repository.addPull({ ...closed, ...marked, mergeCommit: sha('after') })
      const push = pushOf(commitOf('other', 'Other (#3)'))
      await world.step({ 'job-scope': 'pull-request' }, push)
      await world.step({ ...SKIP, 'issue-number': '40' }, push)
      expect(world.github.requests.filter(({ path }) => ASKED.test(path))).toEqual([])
    })

    const ELEVEN = Array.from({ length: 11 }, (_, nth) => `Part (#${200 + nth})`)
    const NONE = { status: 200, body: [] }
    const [SLOW, PULLS] = [/Repo\/pulls\?.*per_page=100/, /Repo\/pulls\?/]
    worldTest.each<[string, labelled: number, path: RegExp, FaultAnswer, requests: number, RegExp]>(
      [
        ['there', 200, /never/, NONE, 1, /#200 has the label/],
        ['late', 204, PULLS, NONE, 10, /#204 has the label/],
        [
          'late, and misses more than ten',
          200,
          PULLS,
          NONE,
          10,
          /labels of 2 of them may be unseen/,
        ],
        [
          'only there by fewer [github.pages.fewer]',
          200,
          SLOW,
          BAD_GATEWAY,
          2,
          /#200 has the label/,
        ],
        ['off, as pull requests are', 204, PULLS, refusal(404, 'Not Found'), 1, /was ignored/],
      ],
    )('a list of many that is %s is no error [github.late]', async (world, ...row) => {
      const [, labelled, path, answer, requests, says] = row
      const commits = ELEVEN.map((message) => commitOf(message, message))
      for (const [nth, { id }] of commits.entries()) {
        const labels = new Set(200 + nth === labelled ? ['no docs'] : [])
        world.repository.addPull({ ...closed, number: 200 + nth, labels, mergeCommit: id })
      }
      world.github.faults.push({ path, times: 99, answer })
      expect((await world.step(ofPull, pushOf(...commits))).log).toMatch(says)
      const read = /Repo\/pulls(?:\/2\d\d$|\?)/
      const asked = world.github.requests.filter((one) => read.test(one.path))
      expect(asked.length).toBe(requests)
    })
  })

  worldTest.each<[string, RunOptions, Record<string, string>]>([
    ['a schedule', { event: 'schedule', payload: {} }, {}],
    ['a push with job-scope: run', { event: 'push', payload: {} }, {}],
    ['a push that merged nothing', { event: 'push', payload: {} }, { 'job-scope': 'pull-request' }],
  ])(
    'are said to be ignored on %s, once [skip.labels.no-effect]',
    async (world, _, run, inputs) => {
      const { log, commands } = await world.step({ ...SKIP, ...inputs }, { ...run, env: onMain })
      expect(log.match(/skip-labels was ignored/g)).toHaveLength(1)
      expect(commands('warning')).toEqual([])
    },
  )

  worldTest(
    'are told without effect, whatever their names; non-labels are none [skip.labels.no-effect]',
    async (world) => {
      const [named, name] = ['##[ERROR]<img>`|@octocat', '##[error]<img>`|@octocat']
      const step = (list: unknown[]) => {
        const payload = { sender, pull_request: { number: 1, user: sender, labels: list } }
        // As text, since no payload of GitHub's has such labels.
        return world.step({ ...SKIP, 'skip-labels': named }, { payload: JSON.stringify(payload) })
      }
      const { outputs, log, summary } = await step([null, name, { name: 7 }, { name }])
      expect(outputs.outcome).toBe('skipped')
      expect(log).not.toContain('##[error')
      expect(summary).not.toContain('<img')
      expect((await step([null, name, { name: 7 }])).outputs.outcome).toBe('pr-opened')
    },
  )

  worldTest(
    'skip what a run without secrets is about, but no step that waits [skip.service.unasked] [skip.wait.never]',
    async (world) => {
      const payload = { sender, pull_request: { number: 1, user: sender, labels } }
      expectSkipped(await world.step({ ...SKIP, 'api-key': '' }, { payload }), world, label)
      const inputs = { ...SKIP, 'api-key': '', prompt: '', 'job-id': 'job-1' }
      expect((await world.step(inputs, { payload })).outputs['error-code']).toBe('input')
    },
  )

  worldTest('need the payload [access.permission.unknown] [merge.unreadable]', async (world) => {
    expectUnanswered(
      await world.step(SKIP, { payload: 'nope' }),
      "Can't tell what the run is about",
    )
  })

  worldTest('ask a step that only waits for nothing [skip.wait.never]', async (world) => {
    const { outputs } = await world.step({ wait: 'false' })
    const refused = { status: 403, body: { message: 'Resource not accessible by integration' } }
    const path = /\/(?:pulls|issues)\/40$/
    world.github.faults.push({ path, times: 9, answer: refused })
    const inputs = { prompt: '', 'job-id': outputs['job-id'] ?? '', 'issue-number': '40' }
    const waits = await world.step({ ...SKIP, ...inputs, comment: 'true' }, by)
    expectJob(waits)
  })

  worldTest('skip no re-run whose docs job runs [skip.wait.never]', async (world) => {
    const pull_request = { number: 1, user: sender, labels, head: { sha: HEAD } }
    const payload = { action: 'synchronize', sender, pull_request }
    await world.step(
      { ...SKIP, 'skip-labels': '', 'job-scope': 'pull-request', wait: 'false' },
      { payload, env: { GITHUB_RUN_ID: '7' } },
    )
    const env = { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '2' }
    const rerun = await world.step({ ...SKIP, 'job-scope': 'pull-request' }, { payload, env })
    expectJob(rerun)
    expect(world.posts()).toHaveLength(1)
  })
})

testsIn(CHANGED)(
  'a dry run reads from GitHub, shows the whole prompt and writes nothing [output.dry-run]',
  async (world) => {
    const inputs = { context: 'diff', 'job-scope': 'pull-request', 'dry-run': 'true' }
    const { outputs, log } = await world.step(inputs)
    expect(outputs.outcome).toBe('dry-run')
    expect(log).toMatch(/The prompt as it would be sent\n\| Update the docs\.[\s\S]*\+new/)
    expect(world.github.writes()).toEqual([])
    expect(world.emulator.requests).toEqual([])
    expect(world.comments()).toEqual([])
  },
)
