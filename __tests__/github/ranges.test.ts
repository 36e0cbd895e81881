/** Which range of commits each event is about, and what is said if there is none. */

import { describe, expect } from '@jest/globals'
import type { Ended } from '../support/action.js'
import {
  BAD_GATEWAY,
  type Fault,
  type FaultAnswer,
  file,
  primaryLimit,
  type Repository,
  refusal,
  sha,
} from '../support/github.js'
import {
  deadlineAfter,
  expectJob,
  expectPrompt,
  expectSent,
  expectSkipped,
  expectUnanswered,
  promptOf,
  REPOSITORY,
  type RunOptions,
  requestsBefore,
  type SimulatedWorld,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'
import { until } from '../support/time.js'

/** Without the data of others. */
const ownWords = (prompt: string): string =>
  prompt.replace(/<data (\w+)>\n[\s\S]*?\n<\/data \1>/g, '')

/** Both the log and the summary say that context-paths could not decide. */
function expectNote({ log, summary }: Ended, why: RegExp): void {
  expect(log).toMatch(/^context-paths was ignored: /m)
  expect(log).toMatch(why)
  expect(summary).toMatch(/^Note: context-paths was ignored: /m)
}

const ZERO = '0'.repeat(40)
const HEAD = sha('after')
const octocat = { login: 'octocat' }
const on = (ref: string, fields: Record<string, string> = {}) => ({
  GITHUB_REF: ref,
  GITHUB_SHA: HEAD,
  GITHUB_RUN_ID: '999',
  ...fields,
})
const push = (fields: object = {}, ref = 'refs/heads/main'): RunOptions => ({
  event: 'push',
  payload: { before: sha('before'), after: HEAD, commits: [], sender: octocat, ...fields },
  env: on(ref),
})
const schedule = (env: Record<string, string> = {}): RunOptions => ({
  event: 'schedule',
  payload: { schedule: '0 3 * * *' },
  env: on('refs/heads/main', env),
})
const release = (fields: object = {}, action = 'published'): RunOptions => ({
  event: 'release',
  payload: {
    action,
    release: { tag_name: 'v1.2.0', published_at: '2026-03-01T00:00:00Z', ...fields },
  },
  env: on('refs/tags/v1.2.0'),
})
const sendDiff = async (world: SimulatedWorld, run: RunOptions): Promise<void> =>
  expectJob(await world.step({ context: 'diff' }, run))
/** GitHub sends no such payload. */
const asText = (run: RunOptions): RunOptions => ({ ...run, payload: JSON.stringify(run.payload) })

describe('a list of files that GitHub does not have is unknown, never empty, and not asked for again:', () => {
  const comparison = (body: object) => ({ status: 200, body })
  // Words and statuses: github-changelog-generator/github-changelog-generator#920,
  // googleapis/repo-automation-bots#2479 and #4475, pascalgn/size-label-action#53 (of a diff as
  // text).
  const TOO_LONG = 'Server Error: Sorry, this diff is taking too long to generate.'
  const PROBLEM =
    'Sorry, there was a problem generating this diff. The repository may be missing relevant data.'
  const pull: RunOptions = {}
  const compared = push()

  worldTest.each<[string, RunOptions, RegExp, Fault['answer']]>([
    [
      'identical, no files [range.list.unknown]',
      compared,
      /compare/,
      comparison({ status: 'identical', commits: [] }),
    ],
    [
      'files that are none [range.list.unknown]',
      compared,
      /compare/,
      comparison({ status: 'ahead', files: [null] }),
    ],
    ['no status [range.list.unknown]', compared, /compare/, comparison({ files: [] })],
    ['a diff that takes too long [range.list.never]', compared, /compare/, refusal(500, TOO_LONG)],
    ['a diff that takes too long [range.list.never]', pull, /1\/files/, refusal(422, TOO_LONG)],
    ['a diff that is not to be had [range.list.never]', pull, /1\/files/, refusal(500, PROBLEM)],
    [
      'too many files [range.list.never]',
      compared,
      /compare/,
      refusal(422, 'Too many files changed.'),
    ],
    [
      'too many lines [range.list.never]',
      pull,
      /1\/files/,
      refusal(406, 'Sorry, the diff exceeded the maximum number of lines.'),
    ],
    ['no list [range.list.unknown]', pull, /1\/files/, { status: 200, body: {} }],
    ['files that are none [range.list.unknown]', pull, /1\/files/, { status: 200, body: [null] }],
  ])('%s', async (world, _, run, path, answer) => {
    world.github.faults.push({ path, answer, times: Number.POSITIVE_INFINITY })
    const ended = await world.step({ context: 'event' }, run)
    expectJob(ended)
    const says = 'GitHub has no list of the changed files: the diff may be too large.'
    expect(ownWords(promptOf(world))).toContain(says)
    expect(ended.log).toContain(`\nNo changes are sent: ${says}\n`)
    expect(ended.summary).toContain(`\nNote: No changes are sent: ${says}\n`)
    expectNote(await world.step({ context: 'event', 'context-paths': 'docs/**' }, run), /no list/)
    expect(world.github.requests.filter((request) => path.test(request.path))).toHaveLength(2)
  })

  worldTest(
    "a commit isn't gone because a gateway says so until the deadline [github.foreign]",
    async (world) => {
      const page = { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>Unicorn' }
      world.github.faults.push({ path: /compare/, answer: page, times: 999 })
      expectUnanswered(await world.step({ context: 'event', 'timeout-minutes': '0.3' }, push()))
    },
  )

  worldTest("a commit that can be read isn't gone [range.gone]", async (world) => {
    for (const name of ['before', 'after']) world.repository.addCommit({ sha: sha(name) })
    world.github.faults.push({ path: /compare/, answer: refusal(404, 'Not Found'), times: 3 })
    expectUnanswered(
      await world.step({ context: 'diff' }, push()),
      /GitHub doesn't find the commits .*\w, though it has both commits\. Nothing was sent\. Re-run later\./,
    )
  })

  worldTest.each([
    [
      'page [github.foreign]',
      { status: 422, headers: { 'content-type': 'text/html' }, body: '<html>Blocked' },
    ],
    ['text [github.shape]', { status: 200, body: 'Please wait.' }],
  ])("unless it is a gateway's %s", async (world, _, answer) => {
    world.github.faults.push({ path: /1\/files/, answer, times: 999 })
    expectUnanswered(await world.step({ context: 'event' }))
  })

  worldTest('a refusal of another list is none [range.list.never]', async (world) => {
    world.github.faults.push({
      path: /runs/,
      answer: refusal(422, TOO_LONG),
      times: 9,
    })
    const { outputs } = await world.step({ context: 'event' }, schedule())
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
  })
})

describe('a re-run of an older scheduled run [range.schedule.rerun]', () => {
  const rerun = schedule({ GITHUB_RUN_ID: '100', GITHUB_RUN_ATTEMPT: '2' })

  worldTest('after a later success, with this commit behind it: nothing is new', async (world) => {
    world.repository.addRun({ id: 200, head_sha: sha('before') })
    world.repository.addComparison(sha('before'), HEAD, { files: [], status: 'behind' })
    expectSkipped(await world.step({ context: 'event' }, rerun), world, /no new commits/)
  })

  worldTest.each([
    ['an earlier success, with this commit behind it', 50, 'behind'],
    ['a later success on a history of its own', 200, 'diverged'],
  ] as const)('after %s: a job, told of the rewritten history', async (world, _, id, status) => {
    world.repository.addRun({ id, head_sha: sha('before') })
    world.repository.addComparison(sha('before'), HEAD, { files: [], status })
    expectJob(await world.step({ context: 'event' }, rerun))
    expectPrompt(world, 'History was rewritten')
  })
})

describe('a comment or a review on a pull request [range.pull-request] [context.facts.event]', () => {
  const issue = { number: 1, title: 'T', pull_request: {}, user: octocat }
  const comment = { user: octocat, body: 'Please document this' }

  const head = { sha: sha('head'), label: 'your-org:feature' }
  const pull_request = { number: 1, user: octocat, head, base: { ref: 'main' } }
  const review = { user: octocat, state: 'approved' }
  const FILES = '/pulls/1/files'
  worldTest.each<[string, payload: object, asked?: string[]]>([
    // Its payload has no branches.
    ['issue_comment', { issue, comment }, ['/pulls/1', '/pulls/1', '/pulls/1']],
    ['pull_request_target', { pull_request }],
    ['pull_request_review', { pull_request, review }],
    ['pull_request_review_comment', { pull_request, comment }],
  ])(
    '(%s) has its files and branches, if not at first [github.early]',
    async (world, event, payload, more = [FILES, FILES]) => {
      world.github.faults.push({ path: /pulls/, answer: refusal(404, 'Not Found'), times: 2 })
      expectJob(await world.step({ context: 'event', 'allow-users': '*' }, { event, payload }))
      expect(askedIn(world)).toEqual([...more, FILES])
      expectPrompt(world, '\nbase: main\nhead: your-org:feature\n')
      const own = ownWords(promptOf(world))
      expectPrompt(world, 'docs/api.md')
      expect(own).toContain('Changed by pull request 1: 1 file')
    },
  )

  worldTest(
    'on an issue has none, and context-paths says that it was ignored [context.paths.no-list]',
    async (world) => {
      const run = { event: 'issue_comment', payload: { issue: { number: 9 }, comment } }
      const ended = await world.step({ 'context-paths': 'docs/**', 'allow-users': '*' }, run)
      expectJob(ended)
      expectNote(ended, /The comment is on an issue, so there is no list of changes\./)
      expect(promptOf(world)).toBe('Update the docs.')
    },
  )
})

describe('a list of files that GitHub made before the push [range.pull-request.late]', () => {
  const [BEFORE, AFTER] = [sha('old'), sha('head')]
  const url = `https://api.github.com/repos/your-org/your-repo/contents/old.md?ref=${BEFORE}`
  // The URL of a file that was removed names a commit before.
  const body = [
    file('gone.md', null, { status: 'removed' }),
    { ...file('old.md'), contents_url: url },
  ]
  const pull = { number: 1, user: octocat, head: { sha: AFTER } }
  const payload = { action: 'synchronize', sender: octocat, before: BEFORE, pull_request: pull }
  const INPUTS = { context: 'event', 'allow-users': '*' }
  const run = { event: 'pull_request', payload }
  const late = (times: number): Fault => ({
    path: /1\/files/,
    answer: { status: 200, body },
    times,
  })

  worldTest('is asked for again', async (world) => {
    world.github.faults.push(late(2))
    const ended = await world.step(INPUTS, run)
    expectJob(ended)
    expect(ended.log).toContain(
      `the list is still that of commit ${BEFORE.slice(0, 7)}, before the push. Retrying.`,
    )
    expectPrompt(world, 'docs/api.md')
    expect(promptOf(world)).not.toContain('old.md')
  })

  worldTest('is never sent', async (world) => {
    world.github.faults.push(late(Number.POSITIVE_INFINITY))
    expectUnanswered(
      await world.step(INPUTS, run),
      /before the push\. Nothing was sent\. Re-run later\./,
    )
  })

  worldTest.each<[string, RunOptions]>([
    ['by a re-run', { ...run, env: { GITHUB_RUN_ATTEMPT: '2', GITHUB_RUN_ID: '7' } }],
    [
      'after a push back to that commit',
      { payload: { ...payload, pull_request: { ...pull, head: { sha: BEFORE } } } },
    ],
    ['by an event that is no push', { payload: { action: 'labeled', pull_request: pull } }],
  ])('is that of a later push if it is asked for %s', async (world, _, options) => {
    world.github.faults.push(late(1))
    expectJob(await world.step(INPUTS, options))
    expectPrompt(world, 'old.md')
  })

  worldTest.each([
    ['changed', 'modified', 2],
    ['removed, which tells nothing', 'removed', 1],
  ] as const)(
    'is late for a closed pull request, by a file that was %s [github.late]',
    async (world, _, status, times) => {
      world.repository.addPull({ number: 2, state: 'closed', merged: true })
      const body = [{ ...file('old.md', null, { status }), contents_url: url }]
      world.github.faults.push({ path: /2\/files/, answer: { status: 200, body } })
      await world.step({ context: 'event', 'issue-number': '2' }, dispatch)
      const read = world.github.requests.filter(({ path }) => /2\/files/.test(path))
      expect(read).toHaveLength(times)
    },
  )
})

// The first of the two begins and ends with 0, but is a commit.
worldTest.each<[string, object]>([
  ['merge_group', { merge_group: { base_sha: sha('base279'), head_sha: HEAD } }],
  ['push', { before: sha('base279'), after: HEAD }],
])(
  'a %s has what is between its two ends, and names both [range.push] [context.facts.commits]',
  async (world, event, payload) => {
    world.repository.addComparison(sha('base279'), HEAD, {
      files: [file('src/a.ts', '@@ -1 +1 @@\n+new')],
    })
    await sendDiff(world, { event, payload })
    const range = `the commits ${sha('base279').slice(0, 7)}..${HEAD.slice(0, 7)}`
    expectPrompt(
      world,
      `Changed by ${range}: 1 file`,
      '+new',
      /^commits: .{7} Change the API \(octocat\)$/m,
    )
  },
)

describe('a push', () => {
  worldTest.each(['behind', 'diverged'] as const)(
    'of a history that was rewritten (%s) says so [range.rewritten]',
    async (world, status) => {
      world.repository.addComparison(sha('before'), HEAD, { files: [], status })
      expectJob(await world.step({ context: 'event', 'context-paths': 'docs/**' }, push()))
      expectPrompt(
        world,
        'History was rewritten, or the branch is another one: commits that are not on it are not listed.',
      )
    },
  )

  worldTest('of an unrelated history says so [range.gone]', async (world) => {
    world.repository.addCommit({ sha: HEAD })
    const message = `No common ancestor between ${sha('before')} and ${HEAD}.`
    world.github.faults.push({ path: /\/compare\//, answer: { status: 404, body: { message } } })
    await sendDiff(world, push())
    expectPrompt(world, /Commits \w{7} and \w{7} have no history in common/)
  })

  worldTest.each([
    [
      'a new branch with commits',
      push({ before: ZERO, commits: [{}] }),
      /The branch is new, so there is no commit to compare with\./,
    ],
    [
      'a new branch whose commits nobody names',
      asText(push({ before: ZERO, commits: null })),
      /The branch is new/,
    ],
    ['a deleted branch', push({ after: ZERO }), /The branch or tag was deleted/],
    ['a deleted tag', push({ after: ZERO }, 'refs/tags/v1'), /The branch or tag was deleted/],
  ])(
    'of %s has none, and context-paths says that it was ignored [range.push]',
    async (world, _, run, says) => {
      const ended = await world.step({ 'context-paths': 'docs/**' }, run)
      expectJob(ended)
      expectNote(ended, says)
    },
  )
})

worldTest(
  'a push of a new branch without commits is skipped [skip.nothing-to-compare]',
  async (world) => {
    const branch = push({ before: ZERO, commits: [] })
    const { outputs, summary } = await world.step({ 'context-paths': 'docs/**' }, branch)
    expect(outputs.outcome).toBe('skipped')
    expect(summary).toMatch(
      /Nothing was sent: the branch is new, so .*\.\n[\s\S]* The next run begins here\./,
    )
    expectJob(await world.step({}, branch))
  },
)

worldTest(
  'a range with more commits than a comparison lists says so [context.facts.commits]',
  async (world) => {
    const commits = Array.from({ length: 101 }, () => world.repository.addCommit())
    world.repository.addRun({ head_sha: sha('before') })
    world.repository.addComparison(sha('before'), HEAD, { commits })
    expectJob(await world.step({ context: 'event' }, schedule()))
    expectPrompt(world, 'commits (the first 100; there may be more)')
  },
)

worldTest(
  "a list that GitHub cut: context-paths can't tell that nothing is to do [skip.list.cut]",
  async (world) => {
    const files = Array.from({ length: 300 }, (_, nth) => file(`src/${nth}.ts`, null))
    world.repository.addComparison(sha('before'), HEAD, { files })
    const ended = await world.step({ 'context-paths': 'docs/**' }, push())
    expectJob(ended)
    const says = "context-paths can't tell that nothing is to do: GitHub cut the list."
    expect(ended.log).toContain(`\n${says}`)
    expect(ended.summary).toContain(`\nNote: ${says}`)
  },
)

describe('since the last release [range.release.ancestor]', () => {
  /** Each release's tag is an ancestor unless it is in `others`. */
  function addReleases(
    repository: Repository,
    tags: readonly string[],
    others: Record<string, string> = {},
  ) {
    tags.forEach((tag, nth) => {
      repository.addRelease(tag, `2026-02-${String(nth + 10)}T00:00:00Z`)
      const status = (others[tag] ?? 'ahead') as 'ahead'
      repository.addComparison(sha(tag), HEAD, { files: [file(`src/since-${tag}.ts`)], status })
    })
  }
  const releasedTest = testsIn({
    prepare: ({ repository }) => addReleases(repository, ['v1.0.0', 'v1.1.0']),
  })
  const byHand = { event: 'workflow_dispatch', payload: {}, env: on('refs/tags/v1.2.0') }
  const OTHERS = { 'v1.0.1': 'behind', 'v1.1.9': 'behind' }
  const compared = ({ github }: World): string[] =>
    github.requests
      .map(({ path }) => /\/compare\/(.*)\.\.\./.exec(path)?.[1] ?? '')
      .filter((tag) => tag !== '')
      .map(decodeURIComponent)

  releasedTest(
    'a release that is published: since the newest one before it, which is named [range.release.ancestor] [context.facts.event]',
    async (world) => {
      world.repository.releases.reverse() // GitHub's list has an order of its own.
      world.repository.addRelease('v1.2.0', '2026-03-01T00:00:00Z')
      world.repository.addRelease('v1.3.0', '2026-03-02T00:00:00Z') // This is a re-run.
      world.repository.addRelease('draft', null)
      world.repository.addRelease('v1.1.5', '2026-02-25T00:00:00Z', { draft: true })
      world.repository.addRelease('v1.2.0-rc.1', '2026-02-20T00:00:00Z', { prerelease: true })
      await sendDiff(world, release())
      expect(compared(world)).toEqual(['v1.1.0'])
      expectPrompt(world, 'src/since-v1.1.0.ts', '\nprevious release: v1.1.0\n')
      expect(ownWords(promptOf(world))).toContain(
        'Changed by the commits since the previous release: 1 file',
      )
      expect(ownWords(promptOf(world))).not.toContain('v1.1.0')
    },
  )

  releasedTest.each<[string, RegExp, RunOptions]>([
    ['one that', /\/compare\//, release()],
    ['a list of releases that', /\/releases/, release()],
    ['a list of runs that', /\/runs/, schedule()],
  ])('%s GitHub does not find at first [github.early]', async (world, _, path, run) => {
    world.repository.addRun({ head_sha: sha('v1.1.0') })
    world.github.faults.push({ path, times: 2, answer: refusal(404, 'Not Found') })
    await sendDiff(world, run)
    expectPrompt(world, 'src/since-v1.1.0.ts')
  })

  worldTest(
    'a tag that is behind, gone, or moves on with releases is passed over [range.release.ancestor] [range.release.package] [skip.release.same-commit]',
    async (world) => {
      addReleases(world.repository, ['v1.0.0', 'v1.0.2', 'v1.0.1', 'v1.1.9', 'v1'], OTHERS)
      world.repository.tags.delete('v1.0.2')
      world.repository.tags.set('v1', HEAD)
      await sendDiff(world, release())
      expect([...new Set(compared(world))]).toEqual(['v1.1.9', 'v1.0.2', 'v1.0.1', 'v1.0.0'])
      expectPrompt(world, 'src/since-v1.0.0.ts')
    },
  )

  worldTest.each([['v1'], ['v1', 'v1'], ['latest']])(
    'a push that moves %s onto a release has nothing new; by hand, since the one before (%s has a release) [skip.release.same-commit] [range.tag]',
    async (world, moving, ...own) => {
      addReleases(world.repository, ['v0.9.0', ...own, 'v1.0.0', 'v1.1.0', 'v1.2.0'])
      world.repository.tags.set('v1.2.0', HEAD)
      const fields = { before: sha('old'), after: sha('tag object'), head_commit: { id: HEAD } }
      const ended = await world.step({ context: 'diff' }, push(fields, `refs/tags/${moving}`))
      expectSkipped(ended, world, /"v1\.2\.0" is a release of the same commit/)
      const onTag = { ...byHand, env: on(`refs/tags/${moving}`) }
      await sendDiff(world, onTag)
      expectPrompt(world, 'src/since-v1.1.0.ts')
    },
  )

  worldTest(
    "another package's is asked for without a diff, and counts as a try only if it parted [range.release.ancestor] [range.release.tries]",
    async (world) => {
      const same = Array.from({ length: 14 }, (_, nth) => `cli@1.0.${nth}`)
      addReleases(world.repository, ['old@1.0.0', ...same, 'core@1.0.0'], {
        'core@1.0.0': 'diverged',
      })
      for (const tag of same) world.repository.tags.set(tag, HEAD)
      const run = release({ tag_name: 'web@1.0.0' })
      await sendDiff(world, run)
      expect(compared(world)).toEqual([
        'core@1.0.0',
        ...same.toReversed(),
        'old@1.0.0',
        'old@1.0.0',
      ])
      const asked = world.github.requests.filter(({ path }) => /\/compare\//.test(path))
      const pages = asked.map(({ path }) => /\?(.*)/.exec(path)?.[1])
      expect(pages).toEqual([...Array(16).fill('per_page=1&page=2'), 'per_page=100'])
      expectPrompt(world, 'src/since-old@1.0.0.ts')
    },
  )

  const BUSY = { message: 'Server Error: Sorry, this diff is taking too long to generate.' }
  worldTest.each<[string, FaultAnswer]>([
    ['is too large', { status: 500, body: BUSY }],
    ['takes too long', BAD_GATEWAY],
  ])(
    "another package's whose comparison %s is passed over, which is said [range.release.judged]",
    async (world, _, answer) => {
      addReleases(world.repository, ['core@1.0.0', 'cli@1.0.0'])
      world.github.faults.push({ path: /compare\/cli/, times: 9, answer })
      const { log } = await world.step({ context: 'diff' }, release({ tag_name: 'web@1.0.0' }))
      expectPrompt(world, 'src/since-core@1.0.0.ts')
      const said = 'GitHub could not compare with some releases, which were passed over.'
      expect([log, promptOf(world)]).toEqual(Array(2).fill(expect.stringContaining(said)))
    },
  )

  releasedTest.each<[string, times: number, outcome: string]>([
    ['for a moment', 2, 'pr-opened'],
    ['for long', 99, 'error'],
  ])(
    'a list without the release that the event proves is late, %s [range.release.late]',
    async (world, _, times, outcome) => {
      world.github.faults.push({ path: /\/releases/, times, answer: { status: 200, body: [] } })
      const run = release({ created_at: '2026-02-01T00:00:00Z' })
      const { outputs, commands } = await world.step({ context: 'diff' }, run)
      expect(outputs.outcome).toBe(outcome)
      expect(commands('error').join()).toContain(outcome === 'error' ? 'lacks the one' : '')
    },
  )

  worldTest(
    'one of more than a hundred of one commit is not late [range.release.late]',
    async (world) => {
      const created_at = '2026-02-01T00:00:00Z'
      const many = Array.from({ length: 100 }, (_, nth) => ({
        ...{ tag_name: `p${nth}-v1.0.0`, prerelease: false, created_at },
        published_at: '2026-03-01T00:00:00Z',
      }))
      addReleases(world.repository, ['v1.0.0', 'v1.1.0'])
      world.github.faults.push({
        ...{ path: /\/releases.*[?&]page=1(?!\d)/, times: 99 },
        answer: { status: 200, body: many },
      })
      const { commands } = await world.step({ context: 'diff' }, release({ created_at }))
      expect(commands('error').join()).not.toContain('lacks the one')
    },
  )

  worldTest.each([
    [
      'the first release is the only one, the tags are the others',
      ['v1.10.0', 'v1.9.0', 'v1.11.0'],
      2,
    ],
    [
      'there are no releases, the tags are the releases',
      ['v1.10.0', 'v1.11.0-rc.1', 'v1.9.0', 'web-7.0.0', 'v1.0.0'],
      5,
    ],
  ])('where %s [range.release.tags]', async (world, _, tags, gone) => {
    addReleases(world.repository, tags)
    world.repository.releases.splice(0, gone)
    await sendDiff(world, push({ before: ZERO, after: HEAD }, 'refs/tags/v1.11.0'))
    expect(compared(world)).toEqual(['v1.10.0'])
    expectPrompt(world, '\nprevious release: v1.10.0\n')
  })

  worldTest(
    'by hand, on a tag that has none before it, nothing is paid for with context: diff [skip.nothing-to-compare.by-hand]',
    async (world) => {
      const ended = await world.step({ context: 'diff' }, byHand)
      expectSkipped(ended, world, /There is no earlier release|there is no earlier release/)
      expect(ended.log).toContain('set since to a tag')
      expectJob(await world.step({ context: 'event' }, byHand))
    },
  )

  worldTest.each<[string, tag: string, RunOptions]>([
    ['is tagged again', 'v1.2.1', release({ tag_name: 'v1.2.11' })],
    [
      'is tagged again, before its release',
      'v1.1.0',
      push({ before: ZERO, after: HEAD }, 'refs/tags/v1.2.0'),
    ],
    [
      'has a candidate more [range.release.pre-release]',
      'v1.2.0.CR1',
      release({ tag_name: 'v1.2.0.CR2', prerelease: true }),
    ],
  ])(
    'skipped if nothing is new: the commit of a release %s [skip.release.same-commit]',
    async (world, _, tag, run) => {
      addReleases(world.repository, ['v1.0.0', tag])
      world.repository.tags.set(tag, HEAD)
      for (const more of [{}, { 'context-paths': 'guides/**' }]) {
        const ended = await world.step({ context: 'diff', ...more }, run)
        expectSkipped(ended, world, new RegExp(`"${tag}" is a release of the same commit`))
      }
    },
  )

  worldTest.each<[string, tag: string, RunOptions, from: string]>([
    ['a candidate becomes final', 'v1.2.0-rc.1', release(), 'v1.0.0'],
    [
      'a candidate that comes first in the alphabet becomes final',
      'v1.2.0.CR1',
      release({ tag_name: 'v1.2.0.Final' }),
      'v1.0.0',
    ],
    ['another package is released', 'core@1.1.0', release(), 'v1.0.0'],
    ['somebody starts the workflow by hand, on the tag', 'v1.1.0', byHand, 'v1.0.0'],
  ])(
    'the commit of a release is news if %s [skip.release.same-commit]',
    async (world, _, tag, run, from) => {
      addReleases(world.repository, ['v1.0.0', tag])
      world.repository.tags.set(tag, HEAD)
      await sendDiff(world, run)
      expectPrompt(world, `\nprevious release: ${from}\n`, `src/since-${from}.ts`)
    },
  )

  releasedTest(
    'a run by hand on a commit that all releases share is skipped [skip.release.same-commit]',
    async (world) => {
      for (const tag of ['v1.0.0', 'v1.1.0']) world.repository.tags.set(tag, HEAD)
      const ended = await world.step({ context: 'diff' }, byHand)
      expectSkipped(ended, world, /"v1\.1\.0" is a release of the same commit/)
      expect(ended.log).toContain('To ask for docs all the same, start it again with since.')
      world.repository.addComparison(sha('v0.9.0'), HEAD, { files: [file('src/a.ts')] })
      world.repository.tags.set('v0.9.0', sha('v0.9.0'))
      expectJob(await world.step({ context: 'diff', since: 'v0.9.0' }, byHand))
      expectPrompt(world, 'src/a.ts')
    },
  )

  worldTest.each([
    ['v1.12', 'v1.12-rc.1', 'v1.12-rc.2'],
    ['1.2.0', '1.2.0a1', '1.2.0b1'],
  ])(
    'of a tag without a release, the name says what it is: %s, %s, %s [range.release.pre-release]',
    async (world, final, first, second) => {
      world.repository.addRelease(first, '2026-02-10T00:00:00Z', { prerelease: true })
      world.repository.addComparison(sha(first), HEAD)
      const pushOf = (tag: string) => push({ before: ZERO }, `refs/tags/${tag}`)
      await world.step({ context: 'event' }, pushOf(second))
      expectPrompt(world, `\nprevious release: ${first}\n`)
      await world.step({ context: 'event' }, pushOf(final))
      expect(world.prompts()[1]).toContain('There is no earlier release to compare with.')
    },
  )

  worldTest(
    'what GitHub says of the release counts on its tag, too [range.release.pre-release]',
    async (world) => {
      addReleases(world.repository, ['v1.0.0', 'v1.1.0', 'v1.1.1', 'v1.2.0'])
      const { releases } = world.repository
      for (const nth of [1, 3]) Object.assign(releases[nth] ?? {}, { prerelease: true })
      Object.assign(releases[2] ?? {}, { published_at: '2026-03-01T00:00:00Z' })
      await world.step({ context: 'event' }, byHand)
      expect(compared(world)).toEqual(['v1.1.0'])
    },
  )

  worldTest.each([
    [
      'of another package: no diff [range.release.package]',
      'cli@1.0.',
      'There is no earlier release to compare with.',
    ],
    ['of lower versions: since the highest of them parted', 'v1.0.', 'src/since-v1.0.11.ts'],
  ])(
    'none of ten is an ancestor, %s [range.release.parted] [range.release.tries]',
    async (world, _, prefix, text) => {
      const tags = Array.from({ length: 12 }, (_, nth) => `${prefix}${nth}`)
      addReleases(world.repository, tags, Object.fromEntries(tags.map((tag) => [tag, 'diverged'])))
      await sendDiff(world, release())
      expect(compared(world)).toHaveLength(prefix === 'v1.0.' ? 1 : 10)
      expectPrompt(world, text)
    },
  )

  releasedTest.each<[string, RunOptions]>([
    ['a release of another type', release({}, 'released')],
    ['a dispatch on the tag', byHand],
    [
      'a push of a new tag, by the commit of the tag',
      push(
        { before: ZERO, after: sha('tag object'), head_commit: { id: HEAD } },
        'refs/tags/v1.2.0',
      ),
    ],
    ['its creation', { ...byHand, event: 'create', payload: { ref: 'v1.2.0', ref_type: 'tag' } }],
  ])('%s: the same [range.tag]', async (world, _, run) => {
    await sendDiff(world, run)
    expect(compared(world)).toEqual(['v1.1.0'])
    expectPrompt(world, 'src/since-v1.1.0.ts')
  })
})

worldTest.each([
  ['deleted', { context: 'diff', 'context-paths': 'src/**' }],
  ['unpublished', { context: 'diff', since: 'v1.0.0' }],
  ['deleted', { context: 'event', 'issue-number': '40' }],
  ['unpublished', {}],
])(
  'a release that is %s is skipped, whatever is asked for [skip.release.taken-back]',
  async (world, action, inputs) => {
    const ended = await world.step(inputs, release({}, action))
    expectSkipped(ended, world, /Nothing was sent: the release was taken back\. You don't need to/)
    expect(world.github.requests).toEqual([])
  },
)

describe('without a list, the prompt says why:', () => {
  const noList = (event: string, payload: object): RunOptions => ({
    event,
    payload: { sender: octocat, ...payload },
    env: on('refs/heads/main'),
  })
  const NO_COMMITS = "The event's payload has no commits."
  const NO_PULL_REQUEST = "The event's payload has no pull request."

  worldTest.each<[string, RunOptions, string]>([
    ['a push without a first commit [range.list.unknown]', push({ before: 'main' }), NO_COMMITS],
    ['a push without a last commit [range.list.unknown]', push({ after: '' }), NO_COMMITS],
    [
      'a merge group without a base [range.list.unknown]',
      noList('merge_group', { merge_group: { head_sha: HEAD } }),
      NO_COMMITS,
    ],
    [
      'a merge group without a head [range.list.unknown]',
      noList('merge_group', { merge_group: { base_sha: HEAD } }),
      NO_COMMITS,
    ],
    [
      'a release without a tag [range.others]',
      noList('release', {}),
      'There is no list of changes for release events.',
    ],
    [
      'a review without a pull request [range.others]',
      noList('pull_request_review', {}),
      NO_PULL_REQUEST,
    ],
    [
      "a tag's schedule [range.schedule.last-success]",
      schedule({ GITHUB_REF: 'refs/tags/v1' }),
      'This run is not on a branch, so there is no earlier run to compare with.',
    ],
    [
      'a schedule of an unknown workflow [range.schedule.last-success]',
      schedule({ GITHUB_WORKFLOW_REF: '' }),
      "Can't tell which workflow this run belongs to.",
    ],
    [
      'another event [range.others]',
      noList('watch', {}),
      'There is no list of changes for watch events.',
    ],
  ])('%s', async (world, _, run, says) => {
    expectJob(await world.step({ context: 'event', 'allow-users': 'octocat' }, run))
    expect(ownWords(promptOf(world))).toContain(says)
    expect(requestsBefore(world)).toEqual([])
  })
})

describe('a temporary failure says nothing about a commit, and ends the step if the list decides: [range.gone]', () => {
  // A limit is not waited for if that takes too long: 502 is retried until the deadline.
  const ALWAYS = { times: Number.POSITIVE_INFINITY, answer: primaryLimit(Date.now() / 1000 + 7200) }

  worldTest.each<[string, RegExp, RunOptions]>([
    ['whether it exists', /\/commits\//, push({ before: sha('gone') })],
    ['the comparison itself', /\/compare\//, push()],
  ])('%s', async (world, _, path, run) => {
    world.repository.addCommit({ sha: HEAD })
    world.github.faults.push({ ...ALWAYS, path })
    const { outputs, log } = await world.step({ 'context-paths': 'docs/**' }, run)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
    expect(log).toMatch(/(?:reading commit|comparing) .*\w"? failed.*rate limit/)
    expect(world.emulator.requests).toEqual([])
  })

  worldTest.each([403, 422])(
    'a refusal (%d) says that a permission is missing [github.permission.named]',
    async (world, status) => {
      const answer = { status, body: { message: 'No' } }
      world.github.faults.push({ ...ALWAYS, path: /\/commits\//, answer })
      const { outputs, log } = await world.step(
        { 'context-paths': '**' },
        push({ before: sha('gone') }),
      )
      expect(outputs['error-code']).toBe('github')
      expect(log).toContain('`contents: read`')
    },
  )
})

const dispatch: RunOptions = {
  event: 'workflow_dispatch',
  payload: {},
  env: on('refs/heads/main'),
}
const askedIn = (world: World): string[] =>
  requestsBefore(world).map(({ path }) =>
    decodeURIComponent(path).replace(/\?.*/, '').replace(`/repos/${REPOSITORY}`, ''),
  )

describe('since [range.since]', () => {
  const SINCE = { context: 'event', since: 'v1', 'allow-users': '*' }

  worldTest.each(['ahead', 'diverged'] as const)(
    'is compared with by one request, if it is %s [range.rewritten]',
    async (world, status) => {
      world.repository.addComparison('docs/release', HEAD, { files: [file('docs/a.md')], status })
      expectJob(await world.step({ ...SINCE, since: 'docs/release' }, dispatch))
      expectPrompt(
        world,
        /^(?![\s\S]*rewritten)[\s\S]* since the one named in the input since: 1 file/,
      )
      expect(askedIn(world)).toEqual([`/compare/docs/release...${HEAD}`])
    },
  )

  worldTest.each(['identical', 'behind'] as const)(
    'of a commit that is %s: nothing is new, as its list is empty [skip.schedule.no-commits] [range.list.unknown]',
    async (world, status) => {
      world.repository.addComparison('v1', HEAD, { files: [], status })
      expectSkipped(await world.step(SINCE, schedule()), world, /no new commits/)
    },
  )

  worldTest('of an unrelated history says so [range.gone]', async (world) => {
    const answer = refusal(404, 'No common ancestor between v1 and v2.')
    world.github.faults.push({ path: /\/compare\//, answer })
    expectJob(await world.step(SINCE, dispatch))
    expectPrompt(world, 'What since names and this commit have no history in common.')
  })

  worldTest(
    'that is unknown is named, with advice; for unreadable commits the permission [range.since.unknown] [report.advice.followed]',
    async (world) => {
      const missing = await world.step(SINCE, dispatch)
      expectUnanswered(missing)
      expect(missing.log).not.toContain('since:')
      world.repository.addCommit({ sha: HEAD })
      expectUnanswered(
        await world.step(SINCE, dispatch),
        /since: there is no tag, branch or commit "v1" in this repository\..* Check the name, and that the tag or branch was pushed\./,
      )
    },
  )

  worldTest.each(['commit', 'tag', 'docs/branch'])(
    'of a %s that GitHub has, but does not compare, is not called unknown [range.gone]',
    async (world, kind) => {
      const since = kind === 'commit' ? sha(kind) : kind
      for (const commit of [sha(kind), HEAD]) world.repository.addCommit({ sha: commit })
      world.repository.tags.set(since, sha(kind))
      const answer = refusal(404, 'Not Found')
      world.github.faults.push({ path: /\/compare\//, answer, times: 3 })
      expectUnanswered(
        await world.step({ ...SINCE, since }, dispatch),
        / it has both commits\. Nothing was sent\. Re-run later\./,
      )
    },
  )

  worldTest(
    'nor is a release that GitHub has, but does not compare [range.gone]',
    async (world) => {
      world.repository.addRelease('v1.1.0', '2026-02-10T00:00:00Z')
      world.repository.addCommit({ sha: sha('v1.1.0') })
      world.github.faults.push({ path: /\/compare\//, answer: refusal(404, 'Not Found'), times: 3 })
      expectUnanswered(await world.step({ context: 'diff' }, release()))
    },
  )

  const COMMIT = sha('commit')
  const merge_group = { base_sha: sha('base'), head_sha: HEAD }
  worldTest.each<[string, RunOptions, asked: string[]]>([
    [
      'up to the head of a push',
      push({ after: sha('tag object'), head_commit: { id: COMMIT } }),
      [`/compare/v1...${COMMIT}`],
    ],
    ['up to the end of a push without a commit', push(), [`/compare/v1...${HEAD}`]],
    ['up to the commit of a release', release({}, 'released'), [`/compare/v1...${HEAD}`]],
    ['up to that of another event', { ...dispatch, event: 'watch' }, [`/compare/v1...${HEAD}`]],
    [
      'not on an event about a pull request, and the log says so [range.since.no-effect]',
      {},
      ['/pulls/1/files', '/pulls/1'],
    ],
    [
      'not on that of a merge queue, and the log says so [range.since.no-effect]',
      { event: 'merge_group', payload: { merge_group } },
      [`/compare/${merge_group.base_sha}...${HEAD}`],
    ],
    [
      'not for a branch that was deleted, and the log says so [range.since.no-effect]',
      push({ after: ZERO }),
      [],
    ],
  ])('counts %s', async (world, _, run, asked) => {
    for (const head of [HEAD, COMMIT])
      for (const base of ['v1', merge_group.base_sha]) world.repository.addComparison(base, head)
    const ended = await world.step(SINCE, run)
    expectJob(ended)
    expect(askedIn(world)).toEqual(asked)
    const isIgnored = !asked.some((path) => path.startsWith('/compare/v1...'))
    expect(ended.log.match(/^since was ignored: .* or a deletion\.$/gm) ?? []).toHaveLength(
      isIgnored ? 1 : 0,
    )
  })

  worldTest.each<[string, Record<string, string>]>([
    ['without changes to look for', { context: 'none' }],
    ['if nothing is sent', { context: 'none', prompt: '', 'job-id': 'job-1' }],
  ])('is ignored, and the log says so, %s [range.since.no-effect]', async (world, _, inputs) => {
    const { log } = await world.step({ ...SINCE, ...inputs }, dispatch)
    expect(log.match(/since was ignored/g)).toHaveLength(1)
    expect(log).toContain('since was ignored: neither context nor context-paths is set.')
    expect(askedIn(world)).toEqual([])
  })

  worldTest.each<[string, Record<string, string>]>([
    ['context', { context: 'event' }],
    ['context-paths', { context: 'none', 'context-paths': '**' }],
    ['nothing to ignore', { context: 'none', since: '' }],
    ['nothing, and a number', { since: '', 'issue-number': '1' }],
  ])('is not ignored with %s [range.since.no-effect]', async (world, _, inputs) => {
    world.repository.addComparison('v1', HEAD, { files: [file('src/a.ts')] })
    const ended = await world.step({ ...SINCE, ...inputs }, dispatch)
    expectJob(ended)
    expect(ended.log).not.toContain('since was ignored')
  })

  worldTest(
    'of a push has the commits of its range, not those of the push only [context.facts.commits]',
    async (world) => {
      const commits = ['Add the first page', 'Add the second page'].map((message) =>
        world.repository.addCommit({ message, author: null }),
      )
      world.repository.addComparison('v1', HEAD, { commits })
      const pushed = [{ id: commits[1]?.sha, message: 'Add the second page' }]
      await world.step(SINCE, push({ commits: pushed }))
      expectPrompt(world, 'Add the first page (The Octocat)')
    },
  )
})

describe('the number of a pull request [range.number]', () => {
  const NUMBER = { context: 'event', 'issue-number': '1', 'allow-users': '*' }

  worldTest.each<[string, Record<string, string>, Fault[], asked: string[]]>([
    ['by one more request', {}, [], ['/pulls/1', '/pulls/1/files']],
    ['whatever since says', { since: 'v1' }, [], ['/pulls/1', '/pulls/1/files']],
    [
      'also if the token may read it as an issue alone [range.number.either]',
      {},
      [{ path: /\/pulls\/1$/, answer: refusal(403, 'Not here') }],
      ['/pulls/1', '/issues/1', '/pulls/1/files'],
    ],
  ])(
    'names the source, %s [range.number] [range.schedule.last-success]',
    async (world, _, inputs, faults, asked) => {
      world.github.faults.push(...faults)
      const ended = await world.step({ ...NUMBER, ...inputs }, dispatch)
      expectJob(ended)
      expect(ended.summary).toContain('Merge it after its code is merged.')
      expect(ended.log).toContain('If this workflow has a schedule, its next run begins here.')
      expect(ownWords(promptOf(world))).toContain('Changed by pull request 1: 1 file')
      expectPrompt(world, 'title: Add --retry')
      expect(askedIn(world)).toEqual(asked)
    },
  )

  worldTest.each<[string, Record<string, string>, text: string]>([
    ['that is not read', {}, 'Merge it after its code is merged.'],
    ['whose labels are read', { 'skip-labels': 'no docs' }, 'Merge it after its code is merged.'],
    ['of an issue', { 'job-scope': 'issue', 'issue-number': '40' }, 'then merge it.'],
  ])(
    '%s without a context: when to merge the docs [report.review] [context.level]',
    async (world, _, more, text) => {
      world.repository.issues.add(40)
      const inputs = { ...NUMBER, context: 'none', comment: 'true', ...more }
      const { summary } = await world.step(inputs, dispatch)
      expect(summary).toContain(text)
      expect(askedIn(world).filter((path) => path === '/pulls/1')).toHaveLength(
        'skip-labels' in more ? 1 : 0,
      )
    },
  )

  worldTest(
    'of an issue leaves the range to since [range.number] [range.number.either]',
    async (world) => {
      world.repository.issues.add(40)
      world.repository.addComparison('v1', HEAD, { files: [file('src/a.ts')] })
      const inputs = { ...NUMBER, 'issue-number': '40', since: 'v1' }
      const ended = await world.step(inputs, dispatch)
      expectJob(ended)
      // It is open, but there is no code that the docs would have to wait for.
      expect(ended.summary).toContain('Review the docs pull request, then merge it.')
      for (const text of ['src/a.ts', 'title: Number 40', '\nsince: v1\n'])
        expectPrompt(world, text)
      expect(askedIn(world)).toEqual(['/pulls/40', '/issues/40', `/compare/v1...${HEAD}`])
    },
  )

  worldTest.each<[string, RegExp, Fault[]]>([
    [
      'does not exist [github.permission.named]',
      / issue 40 failed: 404, .* add `issues: read` or `pull-requests: read` to /,
      [],
    ],
    [
      'has no such answer',
      /reading pull request or issue 40 failed/,
      [{ path: /issues\/40/, answer: { status: 200, body: {} }, times: 99 }],
    ],
  ])('that %s is an error [range.number.either]', async (world, _, says, faults) => {
    world.github.faults.push(...faults)
    expectUnanswered(await world.step({ ...NUMBER, 'issue-number': '40' }, dispatch), says)
  })

  const issue = { number: 40, title: 'T', user: octocat }
  worldTest.each<[string, RunOptions]>([
    ['a pull request', {}],
    ['that issue', { event: 'issues', payload: { action: 'opened', issue, sender: octocat } }],
  ])('names nothing on an event about %s', async (world, _, run) => {
    expectJob(await world.step({ ...NUMBER, 'issue-number': '40' }, run))
    expect(askedIn(world)).not.toContain('/pulls/40')
  })
})

const PREVIOUS = sha('previous')
const DIFF = { context: 'diff' }
/** A night, or somebody who pressed the button on the same branch. */
const night = (event: string, attempt: number): RunOptions => ({
  ...schedule({ GITHUB_RUN_ATTEMPT: String(attempt) }),
  event,
  payload: event === 'schedule' ? { schedule: '0 3 * * *' } : { inputs: {} },
})
const withNews = ({ repository }: { repository: Repository }): void => {
  repository.addRun({ head_sha: PREVIOUS })
  repository.addComparison(PREVIOUS, HEAD, { files: [file('src/a.ts')] })
}

describe('a re-run of a run that sent what was new is skipped [range.rerun.green]', () => {
  worldTest.each<[string, string, number, string[], Record<string, string>, sent: string]>([
    ['of a schedule', 'schedule', 2, ['success'], {}, 'nothing'],
    ['of a manual run', 'workflow_dispatch', 2, ['success'], {}, 'nothing'],
    ['of a re-run that succeeded', 'schedule', 3, ['failure', 'success'], {}, 'nothing'],
    ['not of one that failed', 'schedule', 2, ['failure'], {}, 'job'],
    ['of one whose re-run failed', 'schedule', 3, ['success', 'failure'], {}, 'nothing'],
    ['not with since, which asks', 'workflow_dispatch', 2, ['success'], { since: PREVIOUS }, 'job'],
  ])('%s', async (world, _, event, attempt, ends, inputs, sent) => {
    withNews(world)
    for (const [index, conclusion] of ends.entries())
      world.repository.attempts.set(`999 ${index + 1}`, conclusion)
    const { outputs, log } = await world.step({ ...DIFF, ...inputs }, night(event, attempt))
    expect(outputs.sent).toBe(sent)
    const asked = world.github.requests.filter(({ path }) => /\/attempts\//.test(path))
    if (sent === 'nothing')
      expect(log).toMatch(
        /an earlier attempt was green, so the changes count as sent\. .* by hand, with since/,
      )
    const asks = ends.length - ends.lastIndexOf('success')
    expect(asked).toHaveLength('since' in inputs ? 0 : Math.min(asks, ends.length))
  })

  const BY_HAND = 'To start a new docs job, start the workflow by hand, with since.'
  const RE_RUN = 'To start a new docs job, re-run the workflow job.'
  worldTest.each<[string, Record<string, string>, RunOptions, RegExp | string]>([
    ['none by a green night that waits for nothing', { wait: 'false' }, night('schedule', 1), ''],
    [
      'none by a green night whose docs job failed',
      { 'fail-on': 'none' },
      night('schedule', 1),
      BY_HAND,
    ],
    ['a new docs job by a red one', {}, night('schedule', 1), RE_RUN],
    [
      'a new docs job by one with since',
      { 'fail-on': 'none', since: PREVIOUS },
      night('workflow_dispatch', 1),
      RE_RUN,
    ],
    ['a new docs job by a push', { 'fail-on': 'none' }, push(), RE_RUN],
  ])('so that nobody is promised %s', async (world, _, inputs, run, advice) => {
    withNews(world)
    world.repository.addComparison(sha('before'), HEAD, { files: [file('src/a.ts')] })
    const { url } = await world.serve({ poll: [{ times: 9, job: { status: 'failed' } }] })
    const { outputs, summary } = await world.step({ ...DIFF, ...inputs, 'base-url': url }, run)
    expect(outputs.sent).toBe('job')
    expect(summary).toContain(advice)
    if (advice !== RE_RUN) expect(summary).not.toMatch(/re-run/i)
  })

  worldTest('and a label that skips a night says that the next one begins here', async (world) => {
    withNews(world)
    world.repository.issues.add(5)
    const { summary } = await world.step(
      { ...DIFF, 'job-scope': 'issue', 'issue-number': '5', 'skip-labels': 'docs' },
      night('schedule', 1),
    )
    expect(summary).toMatch(/has the label `docs`.*The next run begins here\./s)
  })

  worldTest('and asks for nothing in a first attempt', async (world) => {
    withNews(world)
    expectSent(await world.step(DIFF, night('schedule', 1)))
    expect(world.github.requests.some(({ path }) => /\/attempts\//.test(path))).toBe(false)
  })
})

worldTest.each<[string, boolean, RunOptions]>([
  ['a schedule', true, night('schedule', 1)],
  ['a manual run', true, night('workflow_dispatch', 1)],
  ['a push', false, push()],
])(
  'a dry run of %s says whether the next run begins there [range.dry-run]',
  async (world, _, moves, run) => {
    withNews(world)
    world.repository.addComparison(sha('before'), HEAD, { files: [file('src/a.ts')] })
    const { log, summary } = await world.step({ ...DIFF, 'dry-run': 'true' }, run)
    for (const text of [log, summary])
      expect(
        /The next run begins where this dry run ended\. .* by hand, with the same since/.test(text),
      ).toBe(moves)
  },
)

describe('a pull request that was closed while the run waited [skip.closed-meanwhile]', () => {
  const opened = { number: 1, title: 'One', state: 'open', user: octocat }
  const on = (action: string): RunOptions => ({
    event: 'pull_request_target',
    payload: { action, sender: octocat, pull_request: opened },
    env: { GITHUB_RUN_ID: '200' },
  })
  const FORBIDDEN = { status: 403, body: { message: 'Resource not accessible by integration' } }
  const PULL = /\/pulls\/1$/
  worldTest.each<[string, Fault['answer'], Record<string, string>, RunOptions, sent: string]>([
    ['may not be read stops no run', FORBIDDEN, { 'job-scope': 'pull-request' }, {}, 'job'],
    ['may not be read stops no run', FORBIDDEN, { comment: 'true' }, {}, 'job'],
    [
      "can't be read stops a run that needs GitHub",
      BAD_GATEWAY,
      { 'job-scope': 'pull-request' },
      {},
      'nothing',
    ],
    ["can't be read stops none that doesn't", BAD_GATEWAY, { comment: 'true' }, {}, 'job'],
    [
      'shows no state stops no run',
      { status: 200, body: { base: { ref: 'main' } } },
      { comment: 'true' },
      {},
      'job',
    ],
    [
      'is closed stops a run with a prompt alone, too',
      { status: 200, body: { base: { ref: 'main' }, state: 'closed' } },
      {},
      {},
      'nothing',
    ],
    [
      'is not read on a re-run, which asks',
      { status: 200, body: { base: { ref: 'main' }, state: 'closed' } },
      { comment: 'true' },
      { env: { GITHUB_RUN_ATTEMPT: '2' } },
      'job',
    ],
  ])('that %s: %j', async (world, _, answer, inputs, run, sent) => {
    world.github.faults.push({ path: PULL, answer, times: 99 })
    expectSent(await world.step({ ...inputs, ...deadlineAfter(60_000) }, run), sent)
  })

  const WAITS = {
    create: [{}, { status: 429, error: 'Slow down' }],
    message: [{ status: 409, error: 'Busy' }],
  }
  const OTHER = { 'job-key': 'other' }
  const FIRST_JOB = '00000000-0000-4000-8000-000000000001'
  testsIn({ emulator: { scenario: WAITS } }).each<
    [string, Record<string, string>, comments: unknown[]]
  >([
    ['a message', { 'job-scope': 'pull-request' }, [/^⏭️/]],
    ['a message to a given docs job', { 'job-id': FIRST_JOB }, [/^✅/]],
    ['a new docs job', { 'job-scope': 'pull-request', ...OTHER }, [/^✅/, /^⏭️/]],
    ['a new docs job that no run remembers', OTHER, [/^✅/]],
  ])(
    'is skipped, though %s had to wait: %j [send.look-again]',
    async (world, _, inputs, comments) => {
      const reads = () => world.github.requests.filter(({ path }) => PULL.test(path)).length
      await world.step({ 'job-scope': 'pull-request' })
      const before = reads()
      const { outputs } = await world.step(
        { comment: 'true', prompt: 'More.', ...inputs },
        {
          meanwhile: async ({ lines }) => {
            await until(() => lines.some((line) => line.includes('Retrying in')))
            Object.assign(world.repository.pulls.get(world.number) ?? {}, { state: 'closed' })
          },
        },
      )
      expect(outputs).toMatchObject({ outcome: 'skipped', sent: 'nothing' })
      expect([world.posts().length, reads() - before]).toEqual([2, 2])
      expect(world.comments()).toEqual(
        comments.map((text) => expect.stringMatching(text as RegExp)),
      )
    },
  )

  const SLOW = { status: 429, error: 'Slow down' }
  testsIn({ emulator: { scenario: { create: [{}, SLOW, SLOW] } } })(
    'is looked at again at each retry, and the log says once that it may not be read [send.look-again]',
    async (world) => {
      await world.step({ 'job-scope': 'pull-request' })
      world.loseJobs()
      world.github.faults.push({ path: PULL, answer: FORBIDDEN, times: 99 })
      const { log } = await world.step({ 'job-scope': 'pull-request', prompt: 'More.' })
      expect(log.match(/Retrying in|takes its place|It counts as open/g)).toEqual([
        'It counts as open',
        'takes its place',
        'Retrying in',
        'Retrying in',
      ])
    },
  )

  worldTest('is skipped before the log tells of a new docs job', async (world) => {
    await world.step({ 'job-scope': 'pull-request' })
    world.loseJobs()
    Object.assign(world.repository.pulls.get(world.number) ?? {}, { state: 'closed' })
    const { log } = await world.step({ 'job-scope': 'pull-request', prompt: 'More.' })
    expect(log).toContain('was closed without a merge')
    expect(log).not.toContain('takes its place')
  })

  worldTest.each<[string, string, object, sent: string]>([
    ['is skipped', 'synchronize', { state: 'closed' }, 'nothing'],
    ['is skipped', 'opened', { state: 'closed' }, 'nothing'],
    ['has its docs if it was merged', 'synchronize', { state: 'closed', merged: true }, 'message'],
    ['has its docs if somebody asked', 'labeled', { state: 'closed' }, 'message'],
  ])('%s: %s', async (world, _, action, state, sent) => {
    await world.step({ 'job-scope': 'pull-request' }, { env: { GITHUB_RUN_ID: '100' } })
    Object.assign(world.repository.pulls.get(world.number) ?? {}, state)
    const { outputs, summary } = await world.step(
      { 'job-scope': 'pull-request', prompt: 'More.', 'allow-users': '*' },
      { ...on(action) },
    )
    expect(outputs.sent).toBe(sent)
    if (sent === 'nothing') {
      expect(outputs.outcome).toBe('skipped')
      expect(summary).toContain('was closed without a merge while this run waited')
    }
  })
})
