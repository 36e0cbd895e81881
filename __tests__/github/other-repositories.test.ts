/** What changed in other repositories, night after night. */

import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { type Fault, file, primaryLimit, type Repository, refusal } from '../support/github.js'
import {
  expectJob,
  expectPrompt,
  expectSent,
  expectSkipped,
  expectUnanswered,
  inRealWorld,
  promptOf,
  REPOSITORY,
  type RunOptions,
  type SimulatedWorld,
  testsIn,
} from '../support/pull-request.js'

const [TOKEN, OTHER] = ['github_pat_code_0123456789', 'github_pat_other_0123456789']
const DAY_BEFORE = '2025-12-30T12:00:00Z'
/** The runs of two nights, and a merge between them. */
const [LAST, MERGED, THIS] = [
  '2025-12-31T03:04:00Z',
  '2025-12-31T15:00:00Z',
  '2026-01-01T03:04:00Z',
]
/** Less than 15 minutes before the run of this night. */
const JUST_BEFORE = '2026-01-01T02:57:00Z'

const night: RunOptions = {
  event: 'schedule',
  payload: { schedule: '17 3 * * *', repository: { private: true } },
  env: { GITHUB_REF: 'refs/heads/main', GITHUB_RUN_ID: '200', GITHUB_RUN_NUMBER: '2' },
}
const inPublic: RunOptions = {
  ...night,
  payload: { schedule: '17 3 * * *', repository: { visibility: 'public' } },
}
const inInternal: RunOptions = {
  ...night,
  payload: { repository: { visibility: 'internal' } },
}
const dispatch: RunOptions = {
  ...night,
  event: 'workflow_dispatch',
  payload: { inputs: {}, repository: { visibility: 'private' } },
}
const signal: RunOptions = {
  ...night,
  event: 'repository_dispatch',
  payload: JSON.stringify({ action: 'merged', client_payload: { before: 'x' } }),
}

const INPUTS = {
  context: 'diff',
  'code-repositories': 'your-org/api\nyour-org/web\nyour-org/app # comment',
  'code-token': TOKEN,
}

const reads = { contents: 'read' } as const
const WORLD: Parameters<typeof testsIn>[0] = {
  private: true,
  github: {
    otherTokens: {
      [TOKEN]: {
        repositories: ['your-org/api', 'your-org/web', 'your-org/app', 'your-org/empty'],
        permissions: reads,
      },
      [OTHER]: { repositories: ['other-org/lib', 'other-org/kit'], permissions: reads },
    },
  },
  prepare: ({ repository }) => {
    repository.addRun({ id: 100, created_at: LAST })
    repository.addRun({ id: 200, created_at: THIS, status: 'in_progress', conclusion: null })
  },
}

/** A private repository with one commit, of long ago. */
function addCode(
  { github }: Pick<SimulatedWorld, 'github'>,
  name: string,
  isPrivate = true,
  internal = false,
): Repository {
  const code = github.addRepository(name, { private: isPrivate, internal, foreign: true })
  code.push(DAY_BEFORE, { commit: { files: [file('src/old.ts')] } })
  return code
}

const change = (path: string, message = 'Change it (#12)') => ({
  commit: { message, files: [file(path, `@@ -1 +1 @@\n-old\n+new in ${path}`)] },
})

/** How the workflow starts: as scheduled, unless something else is said. */
const starting = (world: SimulatedWorld) => ({
  start: (inputs: Record<string, string> = {}, run = night, env: Record<string, string> = {}) =>
    world.step({ ...INPUTS, ...inputs }, { ...run, env: { ...run.env, ...env } }),
})
/** Without other repositories, with all three of INPUTS, and with something new in one of them. */
const bareTest = testsIn(WORLD, starting)
const withThree = (world: SimulatedWorld) => {
  const [api, web, app] = ['api', 'web', 'app'].map((name) => addCode(world, `your-org/${name}`))
  return { ...starting(world), api, web, app } as ReturnType<typeof starting> &
    Record<'api' | 'web' | 'app', Repository>
}
const codeTest = testsIn(WORLD, withThree)
const newsTest = testsIn(WORLD, (world) => {
  const three = withThree(world)
  three.api.push(MERGED, change('src/a.ts'))
  return three
})

/** The diffs of a prompt, by file, without the owner. */
function expectDiffs(world: SimulatedWorld, ...files: readonly string[]): void {
  const diffs = files.map((file) => `=== modified your-org/${file}`)
  expect(promptOf(world).match(/=== .*/g)).toEqual(diffs)
}

/** What was asked about other repositories, as `api activity`. */
const asked = ({ github }: SimulatedWorld): string[] =>
  github.requests.flatMap(({ path }) => {
    const [, name, what] = /^\/repos\/(?:your|other)-org\/([^/?]+)\/?(\w*)/.exec(path) ?? []
    return `your-org/${name}` === REPOSITORY || name === 'docs' ? [] : `${name} ${what}`.trim()
  })

/** The environment of the run of a day later, when the one before has ended. */
function nextNight({ repository }: SimulatedWorld, conclusion = 'success'): Record<string, string> {
  const last = repository.runs.find((run) => run.conclusion === null)
  Object.assign(last ?? {}, { status: 'completed', conclusion })
  repository.addRun({ id: 300, created_at: '2026-01-02T03:04:00Z', conclusion: null })
  return { GITHUB_RUN_ID: '300', GITHUB_RUN_NUMBER: '3' }
}

const line = ({ log }: Ended, start: string): string =>
  log.split('\n').find((one) => one.startsWith(start)) ?? ''

describe('a night', () => {
  codeTest(
    'in which two of three changed has one docs job for both [code.one-list] [code.names] [code.range]',
    async (world) => {
      const [apiSha, webSha] = [
        world.api.push(
          MERGED,
          change('src/client.ts', 'Retry (#12), see other/repo#3 and &#39;\n\nMore'),
        ),
        world.web.push(MERGED, change('docs/page.md')),
      ]
      const before = world.api.commits.get(apiSha)?.parents[0] ?? ''
      const ended = await world.start()
      expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
      const prompt = promptOf(world)
      expect(world.prompts()).toHaveLength(1)
      const range = `${before.slice(0, 7)}..${apiSha.slice(0, 7)}`
      expect(prompt).toContain(
        `commits of your-org/api@${range}: your-org/api@${apiSha.slice(0, 7)} Retry (your-org/api#12), see other/repo#3 and &#39; (octocat)\n`,
      )
      expect(prompt).toContain(`your-org/web@${webSha.slice(0, 7)} Change it (your-org/web#12)`)
      expect(prompt).toContain(
        'Changed by the commits of 2 of 3 repositories: 2 files, 2 lines added',
      )
      expect(prompt).toContain('modified +1 -1 your-org/api/src/client.ts\n')
      expect(prompt).toContain(
        '=== modified your-org/web/docs/page.md\n@@ -1 +1 @@\n-old\n+new in docs/page.md',
      )
      expect(prompt).not.toContain('your-org/app')
      expect(line(ended, 'your-org/api:')).toBe(`your-org/api: 1 commit, 1 file (${range}).`)
      expect(line(ended, 'your-org/app:')).toBe('your-org/app: nothing new.')
      expect(ended.log).toContain(
        'The changes up to 2026-01-01T02:49:00.000Z were read. Later ones come with the next run.',
      )
      expect(asked(world)).toEqual([
        ...['api', 'api branches', 'api activity', 'api compare'],
        ...['web', 'web branches', 'web activity', 'web compare'],
        ...['app', 'app branches', 'app activity'],
      ])
    },
  )

  codeTest.each([
    ['a schedule', night],
    ['a start by hand', dispatch],
    ['a signal', signal],
  ])(
    'of %s without anything new is skipped, and names nothing [code.unchanged]',
    async (world, _, run) => {
      const ended = await world.start({}, run)
      expectSkipped(ended, world, 'there is nothing new in code-repositories')
      expect(ended.summary).not.toContain('your-org/')
      expect(asked(world)).not.toContain('api compare')
    },
  )

  codeTest('sends what a failed one did not [code.range]', async (world) => {
    world.api.push('2025-12-30T13:00:00Z', change('src/before.ts'))
    world.api.push('2025-12-31T02:00:00Z', change('src/a.ts'))
    Object.assign(world.repository.runs[0] ?? {}, { conclusion: 'failure' })
    world.repository.addRun({ id: 90, created_at: '2025-12-30T14:17:00Z' })
    // A push has another range, so it never sends this one.
    world.repository.addRun({ id: 95, created_at: LAST, event: 'push' })
    await world.start()
    expectDiffs(world, 'api/src/a.ts')
  })

  newsTest.each([
    ['the one before', 100],
    ['one before a failed one', 95],
  ])(
    'ends if an earlier run is in progress, %s, which may send the same [code.running]',
    async (world, _, id) => {
      Object.assign(world.repository.runs[0] ?? {}, { conclusion: 'failure' })
      const running = world.repository.addRun({ id: 95, created_at: LAST })
      world.repository.addRun({ id: 80, created_at: '2025-12-30T14:17:00Z' })
      const open = world.repository.runs.find((run) => run.id === id) ?? running
      Object.assign(open, { status: 'in_progress', conclusion: null })
      const env = { GITHUB_RUN_NUMBER: '4' }
      const ended = await world.start({}, signal, env)
      expectUnanswered(ended)
      expect(ended.commands('error')).toEqual([
        `An earlier run of this workflow is still in progress (https://github.com/${REPOSITORY}/actions/runs/${id}). Nothing was sent. Re-run this one when that one has ended.`,
      ])
      Object.assign(open, { status: 'completed', conclusion: 'success' })
      expectSent(await world.start({}, signal, env))
    },
  )

  newsTest.each([
    ['that is older than the last good one', { id: 90 }],
    ['of a push', { id: 150, event: 'push' }],
    ['that came later', { id: 250 }],
    ['whose first attempt was green', { id: 150, run_attempt: 2 }],
  ])('waits for no run %s [code.running]', async (world, _, run) => {
    world.repository.addRun({ created_at: LAST, conclusion: null, ...run })
    world.repository.attempts.set('150 1', 'success')
    const env = { GITHUB_RUN_NUMBER: '3' }
    expectSent(await world.start({}, night, env))
  })

  newsTest(
    'that is run again after a later good one has nothing new [code.range]',
    async (world) => {
      world.repository.addRun({ id: 300, created_at: '2026-01-02T03:04:00Z' })
      const env = { GITHUB_RUN_ATTEMPT: '2', GITHUB_RUN_NUMBER: '3' }
      expectSkipped(await world.start({}, night, env), world, 'nothing new')
      expect(asked(world)).toEqual([])
    },
  )

  bareTest(
    'reads twelve repositories with 3 requests each, 4 if it moved, and 2 for the runs, public ones with github-token [code.price] [code.token]',
    async (world) => {
      const names = Array.from({ length: 12 }, (_, nth) => `your-org/code-${nth}`)
      for (const name of names) {
        const code = addCode(world, name, false)
        if (/[0-4]$/.test(name)) code.push(MERGED, change('src/a.ts'))
      }
      const inputs = { 'code-repositories': names.join('\n'), 'code-token': '' }
      expectSent(await world.start(inputs))
      expect(asked(world)).toHaveLength(12 * 3 + 7)
      const own = world.github.requests.filter(({ path }) => path.includes(REPOSITORY))
      expect(own.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
        `/repos/${REPOSITORY}/actions/workflows/docs.yml/runs`,
        `/repos/${REPOSITORY}/actions/runs/200`,
      ])
      expectPrompt(world, 'Changed by the commits of 7 of 12 repositories: 7 files')
    },
  )
})

describe('where a range begins', () => {
  const first = (world: SimulatedWorld) => world.repository.runs.splice(0, 1)

  newsTest.each([night, dispatch, signal])(
    'the first run sends nothing: the next one begins there [code.first]',
    async (world, run) => {
      first(world)
      world.repository.issues.add(40)
      const env = { GITHUB_RUN_NUMBER: '1' }
      const ended = await world.start({ 'issue-number': '40' }, run, env)
      expectSkipped(
        ended,
        world,
        'there is no earlier successful run of this workflow on this branch to compare with',
      )
      expect(ended.summary).toContain(
        'The next run begins here. For earlier changes, set since to a date.',
      )
      expect(asked(world).filter((path) => !/ branches|^\w+$/.test(path))).toEqual([
        ...['api activity', 'web activity', 'app activity'],
      ])
    },
  )

  codeTest.each([
    ['a repository', /web$/, 'reading the name'],
    ['a list', /web\/activity/, 'listing the activity of main'],
  ])('the first run shows that %s can not be read [code.first]', async (world, _, path, doing) => {
    first(world)
    const answer = refusal(403, 'Resource not accessible by personal access token')
    world.github.faults.push({ path, answer, times: 9 })
    const env = { GITHUB_RUN_NUMBER: '1' }
    expectUnanswered(
      await world.start({}, night, env),
      `${doing} of your-org/web failed: 403, "Resource not accessible by personal access token". Nothing was sent. Add the permission \`contents: read\` to the personal access token.`,
    )
  })

  newsTest(
    'nights on the default branch count for a start by hand, whatever it was called [range.schedule.renamed]',
    async (world) => {
      Object.assign(world.repository.runs[0] ?? {}, { head_branch: 'master' })
      expectSent(await world.start({}, dispatch))
      expectDiffs(world, 'api/src/a.ts')
    },
  )

  codeTest.each([
    ['by hand', dispatch],
    ['a signal', signal],
  ])(
    '%s is about what was merged just now, and waits until that is listed [code.range]',
    async (world, _, run) => {
      world.api.push('2026-01-02T03:03:58Z', { ...change('src/a.ts'), listedAt: 60_000 })
      world.api.push('2026-01-02T03:04:02Z', change('src/later.ts'))
      const { event } = run
      Object.assign(world.repository.runs[1] ?? {}, { event, created_at: '2026-01-02T03:04:00Z' })
      const { milliseconds } = await world.start({}, run)
      expectDiffs(world, 'api/src/a.ts')
      expect(milliseconds).toBeGreaterThan(114_000)
      // The latest end counts, not the latest run: a night that comes right after has nothing new.
      Object.assign(world.repository.runs[1] ?? {}, { conclusion: 'success' })
      world.repository.addRun({ id: 300, created_at: '2026-01-02T03:14:00Z', conclusion: null })
      const env = { GITHUB_RUN_ID: '300', GITHUB_RUN_NUMBER: '3' }
      expect((await world.start({}, night, env)).outputs.outcome).toBe('skipped')
    },
  )

  newsTest('on a tag, nothing begins without since [code.first]', async (world) => {
    const run = { ...dispatch, env: { ...dispatch.env, GITHUB_REF: 'refs/tags/v1' } }
    const ended = await world.start({}, run)
    expectSkipped(ended, world, 'this run is not on a branch')
    expect(ended.summary).not.toContain('begins here')
    expectSent(await world.start({ since: '2025-12-31' }, run))
  })

  bareTest.each([night, signal])(
    'a list that lacks runs is no first run, by nobody who could look [code.first]',
    async (world, run) => {
      first(world)
      const env = { GITHUB_RUN_NUMBER: '9' }
      expectUnanswered(
        await world.start({}, run, env),
        'Start the workflow by hand once, with since',
      )
    },
  )

  codeTest.each([
    ['an earlier date', '2025-12-29', ['old', 'a', 'b'], false],
    ['a time, at the first run', '2025-12-31T14:00:00Z', ['b'], true],
    ['the first day of all', '1970-01-01', ['old', 'a', 'b'], false],
    ['a later date, which moves no mark forward', '2026-01-01', ['b'], false],
  ] as const)('%s [code.since]', async (world, _, since, names, isFirst) => {
    world.api.push('2025-12-30T13:00:00Z', change('src/old.ts'))
    world.api.push('2025-12-31T02:00:00Z', change('src/a.ts'))
    world.api.push(MERGED, change('src/b.ts'))
    if (isFirst) first(world)
    expectSent(await world.start({ since }, dispatch))
    const diffs = promptOf(world).match(/(?<==== modified your-org\/api\/src\/)\w+/g) ?? []
    expect(diffs.sort()).toEqual([...names].sort())
  })

  codeTest(
    'a branch is named, and one that is new begins at its newest commit of then [code.young]',
    async (world) => {
      const main = world.api.branches.get('main') ?? ''
      world.api.push(MERGED, change('src/main.ts'))
      world.api.push('2025-12-31T16:00:00Z', { branch: 'release/2.x', head: main })
      world.api.push('2025-12-31T17:00:00Z', { branch: 'release/2.x', ...change('src/fix.ts') })
      const repositories = 'your-org/api@release/2.x\nyour-org/web'
      await world.start({ 'code-repositories': repositories })
      expectDiffs(world, 'api/src/fix.ts')
    },
  )

  codeTest('a branch that was renamed goes on at the same commit [code.young]', async (world) => {
    const head = world.api.push('2025-12-30T13:00:00Z', change('src/before.ts'))
    world.api.branches.delete('main')
    world.api.branches.set('trunk', head)
    world.api.renamedBranches.set('main', 'trunk')
    world.api.push(MERGED, { branch: 'trunk', ...change('src/after.ts') })
    await world.start({ 'code-repositories': 'your-org/api@main' })
    expectDiffs(world, 'api/src/after.ts')
  })

  codeTest.each([
    ['the default one', 'your-org/api'],
    ['one that was made since', 'your-org/api@release/3.x'],
  ])(
    'a branch that the list does not reach, %s, has what was merged later, not what was committed later, and that is said [code.young]',
    async (world, _, name) => {
      const old = world.api.branches.get('main') ?? ''
      const feature = { date: '2025-12-30T20:00:00Z', parents: [old] }
      const made = world.api.addCommit({ ...feature, files: [file('src/feature.ts')] }).sha
      const sent = world.api.push('2025-12-31T02:00:00Z', change('src/sent.ts'))
      const merge = { parents: [sent, made], date: MERGED, files: [] }
      world.api.push(MERGED, { commit: merge, type: 'pr_merge' })
      world.api.moves.length = 0
      const branch = name.includes('@') ? 'release/3.x' : 'main'
      const head = world.api.branches.get('main') ?? ''
      world.api.branches.delete(branch)
      world.api.push('2025-12-31T16:00:00Z', { branch, head })
      const ended = await world.start({ 'code-repositories': name })
      expectDiffs(world, 'api/src/feature.ts')
      const isSaid =
        'your-org/api: GitHub lists no move of the branch before the range, which begins by the dates of commits.'
      expectPrompt(world, isSaid)
      expect(ended.summary).toContain(isSaid)
    },
  )

  codeTest(
    'a repository that is new begins at its first commit, which is said [code.young]',
    async (world) => {
      const young = world.github.addRepository('your-org/young', { private: false, foreign: true })
      young.push(MERGED, change('src/first.ts'))
      young.push('2025-12-31T16:00:00Z', change('src/second.ts'))
      const single = world.github.addRepository('your-org/single', { foreign: true })
      single.push(MERGED, change('src/only.ts'))
      const repositories = 'your-org/single\nyour-org/young'
      const ended = await world.start({ 'code-repositories': repositories })
      expectDiffs(world, 'young/src/second.ts')
      expect(line(ended, 'your-org/single:')).toBe('your-org/single: nothing new.')
      const isSaid =
        'your-org/young: It is younger than the range: there is no diff of its first commit.'
      expectPrompt(world, isSaid)
      expect(ended.summary).toContain(isSaid)
    },
  )

  codeTest('a branch that was deleted is one that is new [code.young]', async (world) => {
    const head = world.api.push('2025-12-30T13:00:00Z', { branch: 'next', ...change('src/old.ts') })
    world.api.push('2025-12-30T14:00:00Z', { branch: 'next', head: '0'.repeat(40) })
    world.api.push(MERGED, { branch: 'next', head })
    Object.assign(world.api.moves.at(-1) ?? {}, { before: '0'.repeat(40) })
    world.api.push('2025-12-31T16:00:00Z', { branch: 'next', ...change('src/new.ts') })
    await world.start({ 'code-repositories': 'your-org/api@next' })
    expectDiffs(world, 'api/src/new.ts')
  })

  newsTest.each(['your-org/empty', 'your-org/empty@main'])(
    'an empty repository, %s, has nothing new, and takes no time [code.unchanged]',
    async (world, name) => {
      world.github.addRepository('your-org/empty', { private: false, foreign: true })
      const repositories = `${name}\nyour-org/api`
      const ended = await world.start({ 'code-repositories': repositories })
      expectSent(ended)
      expect(line(ended, 'your-org/empty:')).toBe('your-org/empty: nothing new.')
      expect(asked(world).slice(0, 3)).toEqual(['empty', 'empty commits', 'api'])
      expect(ended.milliseconds).toBeLessThan(4_000)
    },
  )

  codeTest.each([
    ['if all is found', /none/],
    ['if it is not found for a moment', /api\/branches/],
    ['if its list is not found for a moment', /api\/activity/],
    ['if its commits are not found for a moment', /api\/commits/],
    ['if it can not be compared for a moment', /api\/compare/],
  ])(
    'a branch that was renamed has what is dated later, %s [code.young] [github.late]',
    async (world, _, path) => {
      world.api.moves.length = 0
      const head = world.api.branches.get('main') ?? ''
      world.api.branches.delete('main')
      world.api.push('2025-12-31T08:00:00Z', { head })
      world.api.push(MERGED, change('src/a.ts'))
      world.github.faults.push({ path, answer: refusal(404, 'Not Found') })
      await world.start()
      expectDiffs(world, 'api/src/a.ts')
    },
  )

  codeTest.each([
    ['known', 9],
    ['yet uncounted', 0],
  ])(
    'one with commits, of a size that is %s, whose branch is not found, is not empty [code.unchanged]',
    async (world, _, size) => {
      world.api.size = size
      const answer = refusal(404, 'Branch not found')
      world.github.faults.push({ path: /api\/branches/, answer, times: 9 })
      expectUnanswered(await world.start())
    },
  )
})

describe('a list of activity that is late [code.late]', () => {
  codeTest('is asked for again', async (world) => {
    world.api.push(MERGED, { ...change('src/a.ts'), listedAt: performance.now() + 20_000 })
    const ended = await world.start()
    expectSent(ended)
    expectPrompt(world, 'your-org/api/src/a.ts')
    expect(ended.log).toContain(
      'GitHub: listing the activity of main of your-org/api failed: the list lacks what moved it last. Retrying.',
    )
  })

  codeTest.each([
    ['at the end', []],
    ['before a later move', ['2026-01-01T03:03:00Z']],
  ])('for more than 90 s, %s, ends the run, and nothing is sent', async (world, _, later) => {
    world.api.push(MERGED, { ...change('src/a.ts'), listedAt: Number.POSITIVE_INFINITY })
    for (const at of later) world.api.push(at, change('src/b.ts'))
    const ended = await world.start()
    expect(ended.milliseconds).toBeLessThan(100_000)
    expectUnanswered(
      ended,
      'the list lacks what moved it last. Nothing was sent. Re-run later. If that does not help, push to the branch, or take it out of code-repositories, and start a run by hand with since when it is back.',
    )
  })

  newsTest(
    'or that GitHub can not make by the hundred, is read by fewer [github.pages.fewer]',
    async (world) => {
      const path = /activity.*per_page=100/
      world.github.faults.push({ path, times: 99, answer: { status: 502, body: { message: 'x' } } })
      expectSent(await world.start())
    },
  )

  newsTest(
    'and empty, though the branch moved, ends the run, until it is listed',
    async (world) => {
      const moves = world.api.moves.splice(0)
      expectUnanswered(
        await world.start(),
        'your-org/api failed: the list lacks what moved it last',
      )
      world.api.moves.push(...moves)
      await world.start({}, night, nextNight(world, 'failure'))
      expectDiffs(world, 'api/src/a.ts')
    },
  )

  codeTest.each([
    ['whose repository has no other list, though somebody pushed', MERGED, false, 'error', 0],
    ['while others have theirs, if it did not move', MERGED, true, 'skipped', 5],
    ['if nobody pushed', DAY_BEFORE, false, 'skipped', 4],
  ])('and empty, %s', async (world, _, pushedAt, hasOther, outcome, requests) => {
    // Committed long before it was pushed.
    if (!hasOther)
      world.api.push(pushedAt, { commit: { date: DAY_BEFORE, files: [file('src/a.ts')] } })
    world.api.moves.length = 0
    if (hasOther) world.api.push(pushedAt, { branch: 'next', ...change('src/b.ts') })
    const inputs = { 'code-repositories': 'your-org/api' }
    const ended = await world.start(inputs)
    expect(ended.outputs.outcome).toBe(outcome)
    expect(ended.commands('error').join()).toContain(outcome === 'error' ? 'the list lacks' : '')
    if (outcome !== 'error') expect(asked(world)).toHaveLength(requests)
  })

  codeTest(
    'and that is read to its last page, of 50, begins by date, which is said [code.young]',
    async (world) => {
      world.api.pageSize = 1
      for (let nth = 10; nth < 61; nth++)
        world.api.push(
          `2025-12-31T${Math.floor(nth / 6) + 10}:${nth % 6}0:00Z`,
          change(`src/${nth}.ts`),
        )
      const { summary } = await world.start()
      expect(promptOf(world).match(/=== .*/g)).toHaveLength(51)
      expect(summary).toContain('GitHub lists no move of the branch before the range')
    },
  )

  newsTest(
    'because of what was committed after the end costs no night [code.late]',
    async (world) => {
      world.api.push(JUST_BEFORE, { ...change('src/b.ts'), listedAt: Number.POSITIVE_INFINITY })
      const ended = await world.start()
      expectDiffs(world, 'api/src/a.ts')
      expect(asked(world).filter((one) => /^api co/.test(one))).toEqual([
        'api commits',
        'api compare',
      ])
      expect(ended.log).not.toContain('Retrying')
    },
  )

  codeTest(
    'for more than a day is not believed any more, which is said [code.unlisted]',
    async (world) => {
      Object.assign(world.repository.runs[0] ?? {}, { created_at: '2025-12-30T12:30:00Z' })
      const hidden = { listedAt: Number.POSITIVE_INFINITY }
      world.api.push('2025-12-30T20:00:00Z', { ...change('src/a.ts'), ...hidden })
      const ended = await world.start()
      expectDiffs(world, 'api/src/a.ts')
      const isSaid =
        'your-org/api: GitHub does not list what moved the branch, so its head is believed.'
      expectPrompt(world, isSaid)
      expect(ended.summary).toContain(isSaid)
      // The next night begins where this one ended.
      const env = nextNight(world)
      expect((await world.start({}, night, env)).outputs.outcome).toBe('skipped')
    },
  )

  codeTest.each([
    ['another name for the time', { pushed_at: MERGED }],
    ['no time', { timestamp: 'yesterday' }],
  ])('of another shape, with %s, is none [github.shape]', async (world, _, entry) => {
    const zero = '0'.repeat(40)
    const body = [{ before: zero, after: zero, ref: 'refs/heads/main', ...entry }]
    world.github.faults.push({ path: /activity/, answer: { status: 200, body }, times: 99 })
    expectUnanswered(await world.start(), 'failed: unexpected response')
  })
})

testsIn({ ...WORLD, github: { ...WORLD.github, renamed: true } }, withThree)(
  'a repository that moved is read by its old name, which is said without its new one [code.names]',
  async (world) => {
    Object.assign(world.api, { full_name: 'new-org/secret' })
    Object.assign(world.api.visibility, { private: false })
    world.api.push(MERGED, change('src/a.ts'))
    const { log } = await world.start()
    expectDiffs(world, 'api/src/a.ts')
    expect(log.match(/.*it has moved.*/g)).toEqual([
      'your-org/api: it has moved. Write its new name in code-repositories, as another one may take the old name.',
    ])
    expect(log).not.toContain('new-org')
  },
)

describe('what counts as nothing new [code.unchanged]', () => {
  codeTest('commits by skip-authors and merges alone, in one of them', async (world) => {
    world.api.push(MERGED, { commit: { author: 'renovate[bot]', files: [file('package.json')] } })
    world.web.push(MERGED, change('src/a.ts'))
    const ended = await world.start({ 'skip-authors': 'renovate' })
    expect(promptOf(world)).not.toContain('your-org/api')
    expectPrompt(world, 'your-org/web/src/a.ts')
    expect(line(ended, 'your-org/api:')).toMatch(/: nothing new/)
  })

  codeTest.each([
    ['skip-authors alone', { 'skip-authors': 'octocat' }],
    ['no file that matches', { 'context-paths': 'your-org/api/docs/**' }],
  ])('%s, in all of them: the run is skipped', async (world, _, inputs) => {
    world.api.push(MERGED, change('src/secret.ts'))
    const ended = await world.start(inputs, dispatch)
    expectSkipped(ended, world, 'there is nothing new in code-repositories')
    expect(ended.log).not.toContain('secret.ts')
  })

  codeTest(
    'what matches is sent, with the repositories in the patterns [code.names]',
    async (world) => {
      world.api.push(MERGED, change('src/a.ts'))
      world.api.push(MERGED, change('test/a.ts'))
      world.web.push(MERGED, change('src/b.ts'))
      const paths = 'your-org/api/src/**\n*/app/**'
      await world.start({ context: 'none', 'context-paths': paths })
      expect(promptOf(world)).toBe('Update the docs.')
      await world.start({ 'context-paths': paths })
      expect(world.prompts()[1]?.match(/=== .*/g)).toEqual(['=== modified your-org/api/src/a.ts'])
    },
  )
})

describe('history that was rewritten [code.rewritten] [range.rewritten]', () => {
  /** A commit is taken away from below a new one, each of one file. */
  function rewrite(api: Repository, gone: string, made: string): void {
    const root = [...api.commits.keys()][0] ?? ''
    api.push('2025-12-30T13:00:00Z', change(gone))
    const head = api.addCommit({ parents: [root], ...change(made).commit }).sha
    api.push(MERGED, { head, type: 'force_push' })
  }

  codeTest.each([
    ['nothing new if neither matches', 'ci/old.ts', 'ci/new.ts', 'nothing', 2],
    ['sent if what was removed matches', 'src/old.ts', 'ci/new.ts', 'job', 2],
    ['sent if what came matches [code.range]', 'ci/old.ts', 'src/new.ts', 'job', 1],
  ])('is %s [range.rewritten]', async (world, _, gone, made, sent, comparisons) => {
    rewrite(world.api, gone, made)
    const ended = await world.start({ 'context-paths': '*/*/src/**' })
    expectSent(ended, sent)
    const isSaid = 'your-org/api: History was rewritten, or the branch is another one: commits that'
    if (sent === 'job') expectPrompt(world, isSaid)
    if (sent === 'job') expect(ended.summary).toContain(isSaid)
    if (made.startsWith('src')) expectDiffs(world, `api/${made}`)
    expect(asked(world).filter((one) => one === 'api compare')).toHaveLength(comparisons)
  })

  codeTest('and put back is sent if what was removed matches', async (world) => {
    const root = [...world.api.commits.keys()][0] ?? ''
    world.api.push('2025-12-30T13:00:00Z', change('src/gone.ts'))
    world.api.push(MERGED, { head: root, type: 'force_push' })
    expectSent(await world.start())
    const paths = { 'context-paths': '*/*/docs/**' }
    expectSent(await world.start(paths), 'nothing')
  })

  codeTest('counts if nobody knows what was removed [range.list.never]', async (world) => {
    rewrite(world.api, 'ci/old.ts', 'ci/new.ts')
    const tip = world.api.branches.get('main')
    world.github.faults.push({
      path: RegExp(`api/compare/${tip}`),
      answer: refusal(422, 'Too many files changed.'),
    })
    expectSent(await world.start({ 'context-paths': '*/*/src/**' }))
  })

  codeTest(
    'is nothing new in a branch that is younger than the range, without a match',
    async (world) => {
      const young = world.github.addRepository('your-org/young', { private: false, foreign: true })
      young.push(MERGED, change('ci/first.ts'))
      young.push('2025-12-31T16:00:00Z', change('ci/second.ts'))
      const inputs = { 'code-repositories': 'your-org/young', 'context-paths': '*/*/src/**' }
      expectSent(await world.start(inputs), 'nothing')
    },
  )
})

describe('what can not be read [code.unreadable]', () => {
  const failed = async (
    world: SimulatedWorld & ReturnType<typeof starting>,
    ...how: Parameters<typeof world.start>
  ) => {
    const ended = await world.start(...how)
    expectUnanswered(ended)
    expect(world.prompts()).toEqual([])
    return ended.commands('error')[0]
  }

  bareTest('no such repository', async (world) => {
    addCode(world, 'your-org/api').push(MERGED, change('src/a.ts'))
    expect(await failed(world)).toBe(
      'GitHub: reading the name of your-org/web failed: 404, "Not Found". Nothing was sent. There is no such repository, or code-token may not read it (Contents: read).',
    )
  })

  codeTest('private code without code-token', async (world) => {
    expect(await failed(world, { 'code-token': '' })).toContain(
      'There is no such repository, or it is private: code-token is empty, and github-token reads public ones.',
    )
  })

  codeTest.each([
    [`${TOKEN}\ngithub_pat_expired_0123456789`, 'line 2 of code-token'],
    [`github_pat_expired_0123456789\n${TOKEN}`, 'line 1 of code-token'],
    ['github_pat_expired_0123456789', 'line 1 of code-token'],
  ])('an expired token, which is named', async (world, tokens, name) => {
    addCode(world, 'other-org/lib')
    const inputs = { 'code-repositories': 'other-org/lib', 'code-token': tokens }
    expect(await failed(world, inputs)).toBe(
      `GitHub: reading the name of other-org/lib failed: 401, "Bad credentials". Nothing was sent. Check ${name}: it may be empty, or have expired.`,
    )
  })

  bareTest('an expired github-token', async (world) => {
    world.github.faults.push({
      path: /your-org\/api$/,
      answer: refusal(401, 'Bad credentials'),
      times: 9,
    })
    expect(await failed(world, { 'code-token': '' })).toContain('Check github-token: it may be')
  })

  codeTest('no such branch', async (world) => {
    expect(await failed(world, { 'code-repositories': 'your-org/api@v2' })).toBe(
      'GitHub: reading branch v2 of your-org/api failed: 404, "Branch not found". Nothing was sent. There is no such branch, or code-token may not read it (Contents: read).',
    )
  })

  codeTest('no such list, as on an older server', async (world) => {
    world.github.faults.push({ path: /activity/, answer: refusal(404, 'Not Found'), times: 9 })
    expect(await failed(world)).toContain(
      'may not read it (Contents: read); on GitHub Enterprise Server, its list needs version 3.14.',
    )
  })

  newsTest('a comparison without the permission', async (world) => {
    const answer = refusal(403, 'Resource not accessible by personal access token')
    world.github.faults.push({ path: /compare/, answer })
    expect(await failed(world)).toMatch(
      /comparing the commits \w{7}\.\.\w{7} of your-org\/api failed: 403, .* Add the permission `contents: read` to the personal access token\./,
    )
  })

  newsTest.each([
    ['the repository', /\/api$/],
    ['its branch', /branches/],
    ['its activity', /activity/],
    ['this run', /runs\/200/],
    ['the earlier runs, which are needed whatever since says', /workflows\/.*runs/],
  ])('%s, if the answer is another one [github.shape]', async (world, _, path) => {
    world.github.faults.push({ path, answer: { status: 200, body: {} }, times: 99 })
    expect(await failed(world)).toMatch(
      /failed: unexpected response\. Nothing was sent\. Re-run later\.(?! If since)/,
    )
  })

  codeTest('this run', async (world) => {
    world.repository.runs.splice(1)
    expect(await failed(world)).toContain('reading this run failed: 404')
  })

  newsTest(
    'GitHub has no list of some: that is said, and the rest is sent [range.list.never]',
    async (world) => {
      for (const code of [world.web, world.app]) code.push(MERGED, change('src/a.ts'))
      world.github.faults.push({
        path: /(api|web)\/compare/,
        answer: refusal(422, 'Too many files changed.'),
        times: 2,
      })
      const ended = await world.start()
      const why = 'GitHub has no list of the changed files: the diff may be too large.'
      expectPrompt(world, `your-org/api: ${why} your-org/web: ${why}\n`, 'your-org/app/src/a.ts')
      expect(line(ended, 'your-org/api:')).toMatch(/: what changed is unknown \(\w+\.\.\w+\)\.$/)
      expect(ended.summary).toContain('your-org/api: GitHub has no list of the changed files')
    },
  )

  newsTest('a limit is waited for [github.limit]', async (world) => {
    const inAMinute = Math.ceil(Date.now() / 1000) + 60
    world.github.faults.push({ path: /your-org\/api$/, answer: primaryLimit(inAMinute) })
    expectSent(await world.start())
  })
})

describe('who may read the log; a whole enterprise reads what is internal [code.readers]', () => {
  bareTest.each<[string, RunOptions, isPrivate: boolean, isTold: boolean, internal?: boolean]>([
    ['private code in a public repository', inPublic, true, false],
    ['public code', inPublic, false, true],
    ['private code in a private repository', night, true, true],
    ['private code in an internal repository', inInternal, true, false],
    ['internal code in an internal repository', inInternal, true, true, true],
    ['internal code in a public repository', inPublic, true, false, true],
    ['internal code in a private repository', night, true, true, true],
    [
      'private code, if the payload says nothing of this repository',
      { ...night, payload: {} },
      true,
      false,
    ],
  ])('%s', async (world, _, run, isPrivate, isTold, internal = false) => {
    const api = addCode(world, 'your-org/api', isPrivate, internal)
    api.push(MERGED, change('src/secret.ts', 'Secret words'))
    // Nothing of it is in the prompt.
    addCode(world, 'your-org/web')
    const inputs = { 'code-repositories': 'your-org/api\nyour-org/web' }
    const env = { RUNNER_DEBUG: '' }
    const dry = await world.start({ ...inputs, 'dry-run': 'true' }, run, env)
    expect(dry.outputs.outcome).toBe('dry-run')
    expect(/secret/i.test(dry.log)).toBe(isTold)
    expect(dry.log.includes('Not shown: ')).toBe(!isTold)
    const sent = await world.start(inputs, run, env)
    expectPrompt(world, 'Secret words')
    expect(sent.log + sent.summary).not.toMatch(/secret/i)
    expect(line(sent, 'your-org/api:')).toMatch(
      isTold
        ? /^your-org\/api: 1 commit, 1 file \(\w{7}\.\.\w{7}\)\.$/
        : /^your-org\/api: 1 commit, 1 file\.$/,
    )
  })
})

describe('what all may read of private code in public [code.readers]', () => {
  const inputs = { 'code-repositories': 'your-org/api' }
  /** The log alone has its name, as the workflow file does; nothing has its commits or files. */
  const expectHidden = (api: Repository, { log, commands, ...told }: Ended) => {
    const shas = [...api.commits.keys()].map((sha) => sha.slice(0, 7))
    const shown = JSON.stringify([told, ...(['error', 'warning', 'notice'] as const).map(commands)])
    expect(log + shown).not.toMatch(RegExp([...shas, 'src/a\\.ts', 'Change it'].join('|')))
    expect(shown).not.toContain('your-org/api')
    expect(shown).toContain('one of code-repositories')
    expect(log).toContain('your-org/api')
  }

  bareTest('has no name and no commit if something is missing', async (world) => {
    const api = addCode(world, 'your-org/api')
    const base = api.branches.get('main') ?? ''
    api.push(MERGED, change('src/a.ts'))
    const answer = refusal(404, 'Not Found')
    world.github.faults.push({ path: /compare/, answer: refusal(502, 'Bad Gateway') })
    for (const path of [/compare/, RegExp(`commits/${base}`)])
      world.github.faults.push({ path, answer, times: 9 })
    const ended = await world.start(inputs, inPublic)
    expect(ended.outputs.sent).toBe('job')
    expect(ended.summary).toContain(
      'one of code-repositories: GitHub finds nothing to compare with: commit (hidden) may be gone',
    )
    expectHidden(api, ended)
    expect(ended.log).toContain(
      'comparing the commits (hidden)..(hidden) of your-org/api failed: 502, "Bad Gateway". Retrying.',
    )
    // The agent has to know which one it is.
    expect(promptOf(world)).toContain('your-org/api: GitHub finds nothing to compare with')
  })

  const unread = { path: /api$/, answer: refusal(404, 'Not Found'), times: 99 }
  bareTest.each<[string, RunOptions, Fault | undefined, RegExp]>([
    ['its list is late', inPublic, undefined, /: listing the activity .*: the list lacks/],
    ['no token reads it', inPublic, unread, /: reading the name of .* failed: 404/],
    ['nobody knows whether it is internal', inInternal, unread, /: reading the name of .*: 404/],
    [
      'it can not be compared',
      inPublic,
      { path: /compare/, answer: refusal(403, 'Resource not accessible') },
      /: comparing the commits \(hidden\)\.\.\(hidden\) of .* failed: 403/,
    ],
    [
      'GitHub has both of its ends',
      inPublic,
      { path: /compare/, answer: refusal(404, 'Not Found'), times: 9 },
      /: GitHub doesn't find the commits \(hidden\)\.\.\(hidden\) of .*, though/,
    ],
  ])('has no name and no commit if %s', async (world, _, run, fault, why) => {
    const api = addCode(world, 'your-org/api')
    const listedAt = fault ? 0 : Number.POSITIVE_INFINITY
    api.push(MERGED, { ...change('src/a.ts'), listedAt })
    if (fault) world.github.faults.push(fault)
    const ended = await world.start(inputs, run)
    expectHidden(api, ended)
    expect(line(ended, 'your-org/api:')).toMatch(why)
  })
})

describe('tokens [code.token]', () => {
  const both = `${TOKEN}\n${OTHER}`
  const limit = () => primaryLimit(Math.ceil(Date.now() / 1000) + 3600)

  bareTest('of which one is at its limit: another one reads', async (world) => {
    addCode(world, 'your-org/api', false).push(MERGED, change('src/a.ts'))
    const tokens = { 'code-repositories': 'your-org/api', 'code-token': both }
    world.github.faults.push({ path: /your-org\/api$/, answer: limit() })
    expectSent(await world.start(tokens))
    world.github.faults.push({ path: /your-org\/api$/, answer: limit(), times: 2 })
    const { outputs, log } = await world.start(tokens)
    expect(outputs.sent).toBe('nothing')
    expect(log).toContain('Re-run after')
  })

  bareTest('none is asked twice for the same', async (world) => {
    for (const name of ['other-org/lib', 'your-org/api']) addCode(world, name)
    const repositories = 'other-org/lib\nother-org/none'
    const inputs = { 'code-repositories': repositories, 'code-token': both }
    expect((await world.start(inputs)).outputs['error-code']).toBe('github')
    const names = asked(world).filter((path) => !path.includes(' '))
    expect(names).toEqual(['lib', 'lib', 'none', 'none'])
  })

  codeTest('of two owners: each is tried, and is a secret', async (world) => {
    for (const name of ['other-org/lib', 'other-org/kit']) {
      addCode(world, name).push(MERGED, change('src/a.ts', `With ${OTHER}`))
    }
    const inputs = {
      'code-repositories': 'your-org/api\nother-org/lib\nother-org/kit',
      'code-token': `${TOKEN}\r\n  ${OTHER}\n`,
    }
    const ended = await world.start(inputs)
    expectSent(ended)
    expectPrompt(world, 'other-org/kit/src/a.ts')
    // Each is a secret, also where somebody committed it.
    expectPrompt(world, 'With ***')
    expect(JSON.stringify([ended, world.prompts()])).not.toContain(OTHER)
    const used = world.github.requests.filter(({ headers }) =>
      headers.authorization?.includes('github_pat'),
    )
    expect(used.every(({ path }) => !path.includes(REPOSITORY))).toBe(true)
  })

  newsTest(
    'a line that has expired is warned of, once, if another one reads; each reads on where it has',
    async (world) => {
      world.web.push(MERGED, change('src/a.ts'))
      addCode(world, 'other-org/lib').push(MERGED, change('src/a.ts'))
      // Private code without a commit is read, too.
      world.github.addRepository('your-org/empty', { private: true, foreign: true })
      const inputs = {
        'code-repositories': 'your-org/empty\nyour-org/api\nother-org/lib\nyour-org/web',
        'code-token': `github_pat_expired_0123456789\n${TOKEN}\n${OTHER}`,
      }
      const ended = await world.start(inputs, inPublic)
      expectSent(ended)
      const isSaid = [
        'GitHub: reading the name of one of code-repositories failed: 401, "Bad credentials". Another line has read it. Check line 1 of code-token: it may be empty, or have expired.',
      ]
      expect(ended.commands('warning')).toEqual(isSaid)
      expect(ended.summary).toContain('Check line 1 of code-token')
      expect(asked(world).filter((path) => /^(api|lib|web)$/.test(path))).toEqual([
        'api',
        'lib',
        'lib',
        'web',
      ])
    },
  )

  bareTest('a token that reads the name alone is not the one', async (world) => {
    const api = addCode(world, 'your-org/api', false)
    api.push(MERGED, change('src/a.ts'))
    const answer = refusal(403, 'Resource not accessible by personal access token')
    world.github.faults.push({ path: /branches/, answer })
    const inputs = { 'code-repositories': 'your-org/api', 'code-token': both }
    await world.start(inputs)
    expectPrompt(world, 'your-org/api/src/a.ts')
    expect(asked(world).slice(0, 5)).toEqual([
      'api',
      'api branches',
      'api',
      'api branches',
      'api activity',
    ])
  })
})

describe('with the rest', () => {
  codeTest(
    'a cut range is read in parts, all of them share the requests, and one that stays cut is named [code.one-list]',
    async (world) => {
      const codes = [world.api, world.web, world.app]
      for (const code of codes)
        for (let nth = 0; nth < 64; nth++)
          code.push(MERGED, {
            commit: { files: Array.from({ length: 10 }, (_, of) => file(`src/${nth}-${of}.ts`)) },
          })
      world.github.faults.push(
        { path: /web\/compare/, answer: { delayMs: 1 } },
        { path: /web\/co/, answer: refusal(404, 'Not Found'), times: 99 },
      )
      const { summary, log } = await world.start()
      const parts = asked(world).filter((path) => /compare|commits/.test(path)).length - 3
      expect(parts).toBeLessThanOrEqual(64)
      expectPrompt(world, 'your-org/api/src/63-9.ts')
      const isSaid = 'your-org/web: GitHub truncated its list of files.'
      expect(promptOf(world).match(/.*truncated.*/g)).toEqual([isSaid])
      expect(summary).toContain(isSaid)
      expect(log).toMatch(/^your-org\/web: .* of a list that GitHub cut /m)
    },
  )

  codeTest(
    'an issue keeps one docs job for all; skip-labels and allow-users do nothing [code.no-effect]',
    async (world) => {
      world.repository.issues.add(40)
      world.api.push(MERGED, change('src/a.ts'))
      const inputs = { 'job-scope': 'issue', 'issue-number': '40' }
      const more = { 'allow-users': 'octocat' }
      const first = await world.start({ ...inputs, ...more })
      expect(first.log).toContain('allow-users was ignored: schedule asks nobody.')
      expectPrompt(world, 'title: Number 40')
      world.web.push('2026-01-01T03:01:00Z', change('src/b.ts'))
      const env = nextNight(world)
      expectSent(await world.start(inputs, night, env), 'message')
      const labels = await world.start({ 'skip-labels': 'no docs', 'job-scope': 'pull-request' })
      expectSent(labels)
      expect(labels.log).toContain('skip-labels was ignored')
    },
  )

  codeTest(
    "a label on a signal's issue says where the next run begins [skip.labels.about]",
    async (world) => {
      const issue = { number: 40, title: 'x', labels: [{ name: 'no docs' }] }
      world.github.faults.push({ path: /issues\/40$/, answer: { status: 200, body: issue } })
      world.repository.issues.add(40)
      const inputs = { 'issue-number': '40', 'skip-labels': 'no docs' }
      const { log } = await world.start(inputs, signal)
      expect(log).toContain('#40 has the label "no docs"')
      expect(log).toContain('The next run begins here.')
      expect(log).toContain('(with code-repositories, to a date)')
    },
  )

  newsTest('what a red run has paid, the next one pays again, which is said', async (world) => {
    const { url } = await world.serve({ poll: [{ times: 999, job: { status: 'active' } }] })
    const { summary } = await world.start({ 'base-url': url, 'timeout-minutes': '0.5' })
    expect(summary).toContain('A re-run starts another docs job, and so may the next run.')
  })

  codeTest('a pull request is bad input [code.where]', async (world) => {
    const { outputs, commands } = await world.start({ 'issue-number': '1' }, dispatch)
    expect(outputs).toMatchObject({ 'error-code': 'input', sent: 'nothing' })
    expect(commands('error')[0]).toContain(
      "issue-number: it is a pull request's, and code-repositories can't be about one. Name an issue, or none.",
    )
  })
})

test('the bundle has it, and masks each token [code.token] [house.bundle.endpoints]', () =>
  inRealWorld(WORLD, async (world) => {
    addCode(world, 'your-org/api').push(MERGED, change('src/a.ts'))
    const tokens = `${OTHER}\n${TOKEN}`
    const inputs = { ...INPUTS, 'code-repositories': 'your-org/api', 'code-token': tokens }
    const ended = await world.runBundle({ ...inputs, since: '2025-12-31' }, night)
    expectJob(ended)
    expectPrompt(world, '+new in src/a.ts')
    expect(JSON.stringify(ended)).not.toContain('github_pat')
  }))
