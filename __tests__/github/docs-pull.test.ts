/**
 * The docs pull request of the remembered job: who can read it, and what an open one means for the
 * next job.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from '@jest/globals'
import { WHERE_TO_LOOK } from '../../src/text/errors.js'
import { BAD_GATEWAY, type Fault, file, type OtherToken, primaryLimit } from '../support/github.js'
import type { FileState } from '../support/github-state.js'
import {
  addDocs,
  deadlineAfter,
  expectJob,
  expectSent,
  HEAD,
  REPOSITORY,
  type RunOptions,
  type SimulatedWorld,
  slowTest,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'
import { until } from '../support/time.js'
import { markersIn } from '../world/memory.js'

const SCOPE = { 'job-scope': 'pull-request' }
const DOCS = 'https://github.com/your-org/docs/pull/17'
const DOCS_TOKEN = 'ghp_docs_0123456789'
const reads: OtherToken = {
  repositories: ['your-org/docs'],
  permissions: { pull_requests: 'read' },
}
const withToken = { github: { otherTokens: { [DOCS_TOKEN]: reads } } }
const tokenTest = testsIn(withToken)

/** The paths of the requests with that token. */
const tokenUsedAt = ({ github }: World): string[] =>
  github.requests
    .filter(({ headers }) => headers.authorization?.includes(DOCS_TOKEN))
    .map(({ path }) => path)

async function privateDocs(
  { github, step }: SimulatedWorld,
  state: 'open' | 'merged' | 'closed',
): Promise<void> {
  const docs = github.addRepository('your-org/docs', { private: true, foreign: true })
  await step(SCOPE)
  docs.addPull({
    number: 17,
    state: state === 'open' ? 'open' : 'closed',
    merged: state === 'merged',
  })
}

/** The second of two steps whose job, at a service of their own, ends with this pull request. */
async function followUp(
  world: SimulatedWorld,
  prLink: string,
  inputs: Record<string, string> = SCOPE,
  run: RunOptions = {},
) {
  const url = await world.serveEnd(prLink)
  await world.step({ ...inputs, 'base-url': url }, run)
  return world.step({ ...inputs, 'base-url': url, wait: 'false' }, run)
}

describe('the files of the docs pull request [docs.files.told]', () => {
  const LINE = '3 files: `guides/retry.mdx` +2 −0, `a b.md` +1 −1, `logo.png` +0 −0\n'
  const added = file('guides/retry.mdx', '@@ -0,0 +1,2 @@\n+one\n+two', { status: 'added' })
  const changed = [added, file('a b.md'), file('logo.png', null)]
  const [PATH, FILES] = [
    /\/your-org\/docs\/pulls\/17\/files/,
    '/repos/your-org/docs/pulls/17/files?per_page=100',
  ]
  const docsOf = ({ github }: SimulatedWorld, files: FileState[], isPrivate = false) =>
    github
      .addRepository('your-org/docs', { private: isPrivate, foreign: true })
      .addPull({ number: 17, files })
  const asked = ({ github }: SimulatedWorld): string[] =>
    github.requests.map(({ path }) => path).filter((path) => PATH.test(path))
  /** Where people read of them: the list is folded in the comment, the line is not. */
  const shownIn = (world: SimulatedWorld, summary: string): (readonly string[])[] =>
    [summary, world.comments()[0] ?? ''].map((text) => {
      const [line = '', list = ''] = [
        /^\d+\+? files?: .*\n/m,
        /(?:^- .* [+]\d+ −\d+\n)+(?:- and .*\n)?/m,
      ].map((part) => part.exec(text)?.[0] ?? '')
      return [text.indexOf(line) < text.indexOf('Docs job:') ? line : 'too late', list]
    })

  tokenTest.each<[string, Record<string, string>, isPrivate: boolean, requests: number]>([
    ['with github-token', {}, false, 1],
    ['with docs-token', { 'docs-token': DOCS_TOKEN }, true, 2],
  ])('are told in summary and comment: %s', async (world, _, inputs, isPrivate, requests) => {
    docsOf(world, changed, isPrivate)
    const { outputs, summary, log } = await world.step({ ...SCOPE, ...inputs })
    expect(outputs.outcome).toBe('pr-opened')
    expect(shownIn(world, summary)).toEqual(Array(2).fill([LINE, '']))
    expect(asked(world)).toEqual(Array(requests).fill(FILES))
    expect(log).not.toContain(DOCS_TOKEN)
  })

  testsIn({ ...withToken, private: false }).each([
    ['not said to be private', {}],
    ['internal: a whole enterprise reads it', { private: true, visibility: 'internal' }],
  ])(
    'are not told if only docs-token reads them and this repository is %s [docs.files.readers]',
    async (world, _, repository) => {
      docsOf(world, changed, true)
      const inputs = { ...SCOPE, 'issue-number': '1', 'docs-token': DOCS_TOKEN }
      const run = { event: 'schedule', payload: { schedule: '0 3 * * *', repository } }
      const { outputs, summary, log } = await world.step(inputs, run)
      expect(outputs.outcome).toBe('pr-opened')
      expect(asked(world)).toEqual([])
      for (const text of [summary, log, ...world.comments()])
        expect(text).not.toContain('retry.mdx')
    },
  )

  const PAT = 'ghp_personal_0123456789'
  const everywhere: OtherToken = {
    repositories: [REPOSITORY, 'your-org/docs'],
    permissions: { pull_requests: 'write' },
  }
  testsIn({ private: false, github: { otherTokens: { [PAT]: everywhere } } }).each<
    [string, Record<string, string>, isPrivate: boolean, asked: number]
  >([
    ['told, of a public repository', {}, false, 1],
    ['not told, of a private one, by whatever token', { 'github-token': PAT }, true, 0],
    ['nor by one for both', { 'github-token': PAT, 'docs-token': PAT }, true, 0],
    ['nor while it is unknown which it is', {}, false, 0],
  ])(
    'where everybody may read are %s [docs.files.readers]',
    async (world, _, inputs, isPrivate, count) => {
      docsOf(world, changed, isPrivate)
      if (!isPrivate && count === 0)
        world.github.faults.push({ path: /pulls\/17$/, answer: BAD_GATEWAY })
      const { outputs, summary, log } = await world.step({ ...SCOPE, ...inputs })
      expect(outputs.outcome).toBe('pr-opened')
      expect(asked(world)).toHaveLength(count)
      for (const text of [summary, ...world.comments()])
        expect(text.includes('retry.mdx')).toBe(count > 0)
      expect(log).not.toContain('retry.mdx')
    },
  )

  testsIn({ private: false })(
    'of this repository are told to its readers, who need not be asked for [docs.files.readers] [report.review]',
    async (world) => {
      const prLink = `https://github.com/${REPOSITORY.toLowerCase()}/pull/1`
      const url = await world.serveEnd(prLink)
      const { summary } = await world.step({ context: 'event', 'base-url': url })
      expect(summary).toMatch(/1 file: `docs\/api\.md`.*Merge it after its code is merged\./s)
      // Once, before something is sent, for its own state.
      expect(world.github.requests.filter(({ path }) => /\/pulls\/1$/.test(path))).toHaveLength(1)
    },
  )

  worldTest.each([
    ['without comment, scope or context', {}, 'github.com', 'completed'],
    ['in a dry run', { ...SCOPE, 'dry-run': 'true' }, 'github.com', 'completed'],
    ['of a pull request elsewhere', SCOPE, 'git.example', 'completed'],
    ['of a job that failed', SCOPE, 'github.com', 'failed'],
  ])('are not asked for %s', async (world, _, inputs, host, status) => {
    docsOf(world, changed)
    const prLink = `https://${host}/your-org/docs/pull/17`
    const url = await world.serveEnd(prLink, status)
    const { summary } = await world.step({ ...inputs, 'base-url': url })
    expect([asked(world), summary.includes(' files: ')]).toEqual([[], false])
  })

  tokenTest('are cut, escaped, redacted [secret.redacted]: the comment fits', async (world) => {
    const names = [
      '\u200b'.repeat(4_000),
      `${'`]|&<'.repeat(50)}`,
      `${'x'.repeat(155)}${DOCS_TOKEN}xyz`,
    ]
    const many = Array.from({ length: 120 }, (_, nth) =>
      file(names[nth] ?? `${nth}/${names[nth % 2]}`),
    )
    docsOf(world, many)
    const { summary } = await world.step({ ...SCOPE, 'docs-token': DOCS_TOKEN })
    for (const [line = '', list = ''] of shownIn(world, summary)) {
      expect(line).toMatch(/^100\+ files: .* \+1 −1, …\n$/)
      expect(list.split('\n').slice(0, -1)).toHaveLength(21)
      expect(list.endsWith('\n- and 80+ more\n')).toBe(true)
      expect(list).toContain(`\`${'x'.repeat(155)}***xy…\` +1 −1\n`)
      expect(line + list).not.toMatch(/ghp_|\u200b|[^\w]<[^c/]/)
    }
    expect(world.comments()[0]?.length).toBeLessThan(40_000)
    expect(asked(world)).toEqual([FILES])
  })

  worldTest.each([
    [4, '4 files: ', 4, '+1 −1'],
    [20, '20 files: ', 20, '+1 −1'],
    [21, '21 files: ', 21, 'and 1 more'],
    [3_000, '100+ files: ', 21, 'and 80+ more'],
  ])('are counted: %d', async (world, count, start, items, end) => {
    docsOf(
      world,
      Array.from({ length: count }, (_, nth) => file(`${nth}`.padStart(4_096, 'docs/'))),
    )
    const { summary } = await world.step(SCOPE)
    for (const [line = '', list = ''] of shownIn(world, summary)) {
      expect(line.startsWith(start)).toBe(true)
      expect(list.split('\n').slice(0, -1)).toHaveLength(items)
      expect(list.trim().endsWith(end)).toBe(true)
    }
  })

  worldTest(
    'are told by one edit, with the result, after outputs and summary [docs.files.told]',
    async (world) => {
      docsOf(world, changed)
      let edits = 0
      const isEdit = ({ method }: { method: string }): boolean => method === 'PATCH'
      world.github.faults.push({ path: PATH, answer: { delayMs: 4_000 } })
      const { log } = await world.step(SCOPE, {
        meanwhile: async ({ lines }) => {
          await until(() => asked(world).length > 0)
          expect(lines.at(-1)).toMatch(/^Docs pull request: /)
          edits = world.github.requests.filter(isEdit).length
        },
      })
      expect(log).not.toContain('Retrying')
      expect(world.github.requests.filter(isEdit)).toHaveLength(edits + 1)
      expect(world.comments()[0]).toContain(LINE)
    },
  )

  worldTest.each<[string, Fault['answer']]>([
    ['fails', BAD_GATEWAY],
    ['is refused', { status: 403, body: { message: 'Resource not accessible by integration' } }],
    ['is no list [github.shape]', { status: 200, body: {} }],
    ['has no names [github.shape]', { status: 200, body: [{ additions: 1, deletions: 1 }] }],
    ['has no counts [github.shape]', { status: 200, body: [{ filename: 'a' }] }],
    ['never comes', 'silence'],
    ['is cut off', 'cut off'],
  ])(
    'are left out if the answer %s: without a word, retry or wait [docs.files.told] [github.informs.once]',
    async (world, _, answer) => {
      docsOf(world, changed)
      world.github.faults.push({ path: PATH, answer, times: 9 })
      const { outputs, exitCode, summary, commands, milliseconds } = await world.step(SCOPE)
      expect([outputs.outcome, exitCode, asked(world)]).toEqual(['pr-opened', 0, [FILES]])
      for (const text of [summary, world.comments()[0]]) expect(text).not.toMatch(/files?:|Note:/)
      expect(commands('warning')).toEqual([])
      expect(milliseconds).toBeLessThan(answer === 'silence' ? 6_000 : 1_000)
    },
  )

  worldTest('end at once with a cancel, which changes nothing else', async (world) => {
    docsOf(world, changed)
    world.github.faults.push({ path: PATH, answer: 'silence' })
    const { outputs, exitCode, sinceSignalMs } = await world.step(SCOPE, {
      meanwhile: async ({ cancel }) => {
        await until(() => asked(world).length > 0)
        cancel()
      },
    })
    expect([outputs.outcome, exitCode]).toEqual(['pr-opened', 0])
    expect(sinceSignalMs).toBeLessThan(1_000)
    expect(world.comments()[0]).toMatch(/^✅/)
  })
})

describe('a docs pull request that is ended while the agent works on it [docs.ended-early]', () => {
  /** While the message of a later step is worked on. */
  async function endDuring(world: SimulatedWorld, state: { merged: boolean }) {
    const inputs = { ...SCOPE, context: 'event' }
    const docs = addDocs(world)
    await world.step({ ...inputs, wait: 'false' })
    world.finishJobs()
    const pull = docs.addPull({ number: 17 })
    const ended = await world.step(
      { ...inputs, prompt: 'More.' },
      {
        meanwhile: async () => {
          await until(() => world.posts().length > 1)
          Object.assign(pull, { state: 'closed', ...state })
          await sleep(1_000)
          world.finishJobs()
        },
      },
    )
    return { ended, inputs: { ...inputs, prompt: 'More.' } }
  }
  const SAYS =
    /was merged before this step saw the agent finish: what it wrote last may be missing\./

  slowTest('may lack what came last: a re-run asks for it again [output.sent]', async (world) => {
    const { ended, inputs } = await endDuring(world, { merged: true })
    const { outputs, summary, commands } = ended
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'message' })
    expect(commands('warning')).toEqual([expect.stringMatching(SAYS)])
    for (const text of [summary, world.comments()[0]]) {
      expect(text).toMatch(SAYS)
      expect(text).toContain('re-run the workflow job')
      expect(text).not.toContain('Review the docs pull request')
    }
    expect(world.comments()[0]?.split('<details>')[0]).toMatch(SAYS)
    expect(ended.log.split('\n').findLast((line) => /^Finished|^The docs pull/.test(line))).toMatch(
      /^Finished after .*Sent: a message\.$/,
    )
    // What the docs job has got isn't in the docs.
    const { outputs: next } = await world.step({ ...inputs, wait: 'false' })
    expect(next.sent).toBe('job')
  })

  slowTest.each<[string, RunOptions, told: boolean, sent: string]>([
    [
      'a re-run that waits says so',
      { env: { GITHUB_RUN_ID: '200', GITHUB_RUN_ATTEMPT: '2' } },
      true,
      'nothing',
    ],
    ['a push that changes nothing asks again [paid.push.merged]', {}, false, 'job'],
  ])('while nobody waits for it: %s', async (world, _, run, told, sent) => {
    const docs = addDocs(world)
    const inputs = { ...SCOPE, context: 'event' }
    await world.step({ ...inputs, wait: 'false' })
    world.finishJobs()
    const pull = docs.addPull({ number: 17 })
    const more = { ...inputs, prompt: 'More.' }
    const env = { GITHUB_RUN_ID: '200' }
    const late = await world.step({ ...more, ...deadlineAfter(3_000) }, { env })
    expect(late.outputs).toMatchObject({ outcome: 'timed-out', sent: 'message' })
    Object.assign(pull, { state: 'closed', merged: true })
    world.finishJobs()
    const { outputs, commands } = await world.step(more, {
      ...run,
      meanwhile: async () => {
        if (!told) await until(() => world.posts().length > 2)
        world.finishJobs()
      },
    })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent })
    expect(commands('warning').map((text) => SAYS.test(text))).toEqual(told ? [true] : [])
    // Then it is asked for once.
    const next = await world.step({ ...more, wait: 'false' })
    expect(next.outputs.sent).toBe(told ? 'job' : 'nothing')
  })

  slowTest('is said to be closed', async (world) => {
    const { ended, inputs } = await endDuring(world, { merged: false })
    expect(ended.commands('warning')).toEqual([
      expect.stringMatching(/was closed before this step saw the agent finish: .* or reopen it\.$/),
    ])
    expect(ended.summary).toContain('or reopen it.')
    expect((await world.step(inputs)).outputs).toMatchObject({ outcome: 'skipped' })
  })

  worldTest('has its files told though GitHub is slow', async (world) => {
    const docs = addDocs(world)
    await world.step(SCOPE)
    docs.addPull({ number: 17, files: [file('guides/retry.mdx')] })
    for (const path of [/docs\/pulls\/17$/, /docs\/pulls\/17\/files/])
      world.github.faults.push({ path, answer: { delayMs: 4_000 }, times: 9 })
    const { summary } = await world.step(SCOPE)
    expect(summary).toContain('1 file: `guides/retry.mdx`')
  })

  worldTest(
    'is not unseen if no token could ever read it [docs.open.unreadable]',
    async (world) => {
      const more = { ...SCOPE, prompt: 'More.' }
      await world.step(SCOPE)
      await world.step({ ...more, wait: 'false' }, { env: { GITHUB_RUN_ID: '200' } })
      const env = { GITHUB_RUN_ID: '200', GITHUB_RUN_ATTEMPT: '2' }
      const { outputs, log } = await world.step(more, { env })
      expect([outputs.outcome, outputs.sent]).toEqual(['pr-opened', 'nothing'])
      expect(log).not.toContain("GitHub didn't say")
      expect(markersIn(world.comments())).toMatchObject([{ state: 'pr-opened' }])
    },
  )

  worldTest('is looked at once, if it was continued', async (world) => {
    const docs = addDocs(world)
    const reads = () =>
      world.github.requests.filter(({ path }) => path.endsWith('/docs/pulls/17')).length
    await world.step(SCOPE)
    expect(reads()).toBe(0)
    docs.addPull({ number: 17 })
    const { commands } = await world.step(SCOPE)
    expect(reads()).toBe(2)
    world.github.faults.push({ path: /docs\/pulls\/17$/, answer: { delayMs: 1 } })
    world.github.faults.push({ path: /docs\/pulls\/17$/, answer: BAD_GATEWAY, times: 9 })
    expectJob(await world.step(SCOPE))
    // Again for 5 s, as the next run depends on it: an end that nobody has looked at is none.
    expect([reads(), commands('warning')]).toEqual([6, []])
    expect(markersIn(world.comments())).toMatchObject([{ state: 'active' }])
  })

  const MOVED = { status: 404, body: { message: 'Not Found' } }
  slowTest.each<[string, Fault['answer'], times: number, told: boolean]>([
    ['fails for a moment is made again', BAD_GATEWAY, 1, true],
    ['fails is made by the next run, which asks again', BAD_GATEWAY, 9, false],
    ['is refused, though the first was not, is made by the next run, too', MOVED, 9, false],
    ['shows no state is made by the next run, too', { status: 200, body: {} }, 9, false],
  ])('a look that %s', async (world, _, answer, times, told) => {
    const docs = addDocs(world)
    const inputs = { ...SCOPE, context: 'event' }
    await world.step(inputs)
    const pull = docs.addPull({ number: 17 })
    const more = { ...inputs, prompt: 'More.' }
    const { commands, log, summary } = await world.step(more, {
      meanwhile: async () => {
        await until(() => world.posts().length > 1)
        Object.assign(pull, { state: 'closed', merged: true })
        world.github.faults.push({ path: /docs\/pulls\/17$/, answer, times })
      },
    })
    world.github.faults.length = 0
    expect(commands('warning').some((text) => SAYS.test(text))).toBe(told)
    for (const text of [log, summary, world.comments()[0] ?? ''])
      expect(text.includes('the next run asks for docs again')).toBe(!told)
    expectSent(await world.step({ ...more, wait: 'false' }))
  })

  worldTest(
    'is named in a message that had to wait, though an active docs job has no link by then [send.look-again] [memory.run.open-pull]',
    async (world) => {
      addDocs(world).addPull({ number: 17 })
      const active = { job: { status: 'active', prLink: null } }
      const ended = { job: { status: 'completed', prLink: DOCS } }
      const { url, requests } = await world.serve({
        poll: [ended, active, active, ended],
        message: [{ status: 409, error: 'Busy' }],
      })
      await world.step({ ...SCOPE, 'base-url': url, wait: 'false' })
      await world.step({ ...SCOPE, 'base-url': url, prompt: 'More.' })
      const prompts = requests.filter(({ path }) => path.endsWith('/message'))
      expect(prompts.map(({ body }) => body.includes(DOCS))).toEqual([true, true])
    },
  )

  slowTest('a look that fails leaves the end of a docs job that failed as it is', async (world) => {
    addDocs(world).addPull({ number: 17 })
    const ends = (status: string) => ({ job: { status, prLink: DOCS } })
    const { url } = await world.serve({
      poll: [ends('completed'), ends('completed'), { times: 99, ...ends('failed') }],
    })
    await world.step({ ...SCOPE, 'base-url': url })
    world.github.faults.push({ path: /docs\/pulls\/17$/, answer: { delayMs: 1 } })
    world.github.faults.push({ path: /docs\/pulls\/17$/, answer: BAD_GATEWAY, times: 9 })
    const { outputs, summary } = await world.step({ ...SCOPE, 'base-url': url, prompt: 'More.' })
    expect(outputs.outcome).toBe('failed')
    expect(summary).not.toContain("GitHub didn't say")
    expect(markersIn(world.comments())).toMatchObject([{ state: 'failed' }])
  })

  testsIn({ emulator: { scenario: { withoutPullRequest: true } } })(
    'is none without a link: the comment has the end all the same',
    async (world) => {
      expect((await world.step(SCOPE)).outputs.outcome).toBe('no-changes')
      expect(world.comments()[0]).toMatch(/^✅ The docs job completed without a pull request/)
    },
  )

  slowTest.each(['completed', 'failed', 'archived'])(
    'is looked at, also if the docs job %s without a link',
    async (world, status) => {
      const docs = addDocs(world)
      const ends = { job: { status: 'completed', prLink: DOCS } }
      const { url } = await world.serve({
        poll: [ends, ends, { times: 99, job: { status, prLink: null } }],
      })
      const inputs = { ...SCOPE, context: 'event', 'base-url': url, 'fail-on': 'none' }
      await world.step(inputs)
      const pull = docs.addPull({ number: 17 })
      const more = { ...inputs, prompt: 'More.' }
      const { outputs, summary, commands } = await world.step(more, {
        meanwhile: async ({ lines }) => {
          await until(() => lines.some((line) => line.startsWith('Sending a message')))
          Object.assign(pull, { state: 'closed', merged: true })
        },
      })
      expect(outputs.outcome).toBe(status === 'completed' ? 'no-changes' : status)
      expect(commands('warning')).toEqual([expect.stringMatching(SAYS)])
      for (const text of [summary, world.comments()[0]]) {
        expect(text).toMatch(SAYS)
        expect(text).toContain(`your-org/docs#17`)
        expect(text).not.toMatch(/ files: |If you expected changes/)
      }
      expectSent(await world.step({ ...more, wait: 'false' }))
    },
  )
})

describe('docs-token [docs.token.when]', () => {
  tokenTest.each([
    ['open', 'pr-opened', 'message'],
    ['merged', 'pr-opened', 'job'],
    ['closed', 'skipped', 'nothing'],
  ] as const)('tells that a private pull request is %s', async (world, state, outcome, sent) => {
    await privateDocs(world, state)
    const { outputs, log, commands } = await world.step({ ...SCOPE, 'docs-token': DOCS_TOKEN })
    expect(outputs).toMatchObject({ outcome, sent })
    expect(log).not.toContain("Can't tell")
    expect(log).not.toContain(DOCS_TOKEN)
    expect(commands('warning')).toEqual([])
    expect(tokenUsedAt(world)[0]).toBe('/repos/your-org/docs/pulls/17')
  })

  tokenTest('is not used if github-token can read it, nor for this repository', async (world) => {
    const docs = world.github.addRepository('your-org/docs', { private: false, foreign: true })
    await world.step(SCOPE)
    docs.addPull({ number: 17 })
    await world.step({ ...SCOPE, 'docs-token': DOCS_TOKEN })
    expect(tokenUsedAt(world)).toEqual([])
  })

  tokenTest('is used if the other token is at its limit, but not asked for then', async (world) => {
    await privateDocs(world, 'closed')
    const fault = { path: /your-org\/docs\/pulls/, answer: primaryLimit(4_000_000_000) }
    world.github.faults.push({ ...fault })
    const second = await world.step({ ...SCOPE, 'docs-token': DOCS_TOKEN, wait: 'false' })
    expect(second.outputs).toMatchObject({ outcome: 'skipped', sent: 'nothing' })
    world.github.faults.push({ ...fault }, { ...fault })
    const third = await world.step({ ...SCOPE, wait: 'false' })
    expect(third.log).not.toContain('docs-token')
  })

  const LIMIT = { status: 429, headers: { 'retry-after': '4000' }, body: {} }
  const PAGE = { status: 403, headers: { 'content-type': 'text/html' }, body: '<html>Blocked' }
  tokenTest.each([
    ['that passes: the next says more', 1, BAD_GATEWAY, { outcome: 'pr-opened', sent: 'job' }],
    ['that lasts: nothing is sent', 99, BAD_GATEWAY, { outcome: 'error', 'error-code': 'github' }],
    ['as a limit that is no refusal', 99, LIMIT, { outcome: 'error', 'error-code': 'github' }],
    ["as a gateway's page, that lasts", 99, PAGE, { outcome: 'error', 'error-code': 'github' }],
  ])(
    'is not used after a mere failure, %s [docs.token.when] [github.decides.retried]',
    async (world, _, times, answer, ended) => {
      await privateDocs(world, 'merged')
      world.github.faults.push({ path: /your-org\/docs\/pulls\/17$/, answer, times })
      const { outputs, milliseconds } = await world.step({ ...SCOPE, 'docs-token': DOCS_TOKEN })
      expect(outputs).toMatchObject(ended)
      expect(tokenUsedAt(world).length > 0).toBe(times === 1)
      expect(world.posts()).toHaveLength(times === 1 ? 2 : 1)
      expect(milliseconds).toBeLessThan(95_000)
    },
  )
})

describe('a pull request that can not be read counts as open for a message, and the log says what helps: [docs.open.unreadable]', () => {
  const lines = (log: string): string[] =>
    log.split('\n').filter((line) => line.startsWith("Can't tell"))

  worldTest('docs-token for another repository [docs.token.refused]', async (world) => {
    await privateDocs(world, 'closed')
    const { outputs, log, commands } = await world.step(SCOPE)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'message' })
    expect(commands('warning')).toEqual([])
    expect(lines(log)).toEqual([
      expect.stringContaining(
        'reading pull request your-org/docs#17 failed: 404, "Not Found". Set docs-token to a token that can read pull requests in your-org/docs.',
      ),
    ])
  })

  testsIn({
    github: { otherTokens: { [DOCS_TOKEN]: { repositories: [], permissions: {} } } },
  }).each([
    ['does not do', DOCS_TOKEN, '404'],
    ['has expired', 'ghp_expired_0123456789', '401'],
  ])(
    'another docs-token if it %s, in a warning and summary, and it is waited for once [docs.token.refused] [github.early]',
    async (world, _, token, status) => {
      await privateDocs(world, 'closed')
      const { outputs, summary, commands, milliseconds } = await world.step({
        ...SCOPE,
        'docs-token': token,
      })
      expect(outputs).toMatchObject({ sent: 'message' })
      expect(milliseconds).toBeLessThan(12_000)
      const says = `With docs-token: .*${status}.* Renew docs-token, or let it read pull requests in your-org/docs`
      expect(commands('warning')).toEqual([expect.stringMatching(says)])
      expect(summary).toContain('Renew docs-token')
    },
  )

  testsIn({ github: { permissions: { issues: 'write', pull_requests: 'none' } } })(
    'pull-requests: read for this repository, in any case [docs.token.when]',
    async (world) => {
      world.repository.issues.add(40)
      const inputs = { 'job-scope': 'issue', 'issue-number': '40', 'docs-token': DOCS_TOKEN }
      const schedule = { event: 'schedule', payload: {} }
      const here = `https://github.com/${REPOSITORY.toLowerCase()}/pull/1`
      const { outputs, log } = await followUp(world, here, inputs, schedule)
      expect(outputs).toMatchObject({ sent: 'message' })
      expect(lines(log)).toEqual([expect.stringContaining('pull-requests: read')])
      expect(tokenUsedAt(world)).toEqual([])
    },
  )

  const NO_PULL_REQUEST = "Its link doesn't look like a pull request's."
  worldTest.each([
    [
      'on another host',
      'https://gitlab.com/your-org/docs/-/merge_requests/3',
      'It is on another host.',
    ],
    ['for another link', 'https://github.com/your-org/docs/tree/main', NO_PULL_REQUEST],
  ])('nothing %s', async (world, _, link, why) => {
    const { outputs, log } = await followUp(world, link)
    expect(outputs).toMatchObject({ sent: 'message' })
    expect(lines(log)).toEqual([
      `Can't tell whether the docs job's pull request ${link} is still open, so it counts as open. ${why}`,
    ])
  })

  worldTest('nothing without a known state', async (world) => {
    const docs = addDocs(world)
    await world.step(SCOPE)
    docs.addPull({ number: 17 })
    world.github.faults.push({
      path: /docs\/pulls/,
      answer: { status: 200, body: { state: 'draft' } },
    })
    const { log } = await world.step({ ...SCOPE, wait: 'false' })
    expect(lines(log)).toEqual([expect.stringMatching(/open\. GitHub returned no state for it\.$/)])
  })
})

worldTest(
  'a pull request is on this server whatever the scheme of its link [docs.open.unreadable]',
  async (world) => {
    addDocs(world).addPull({ number: 3, state: 'closed' })
    const { outputs } = await followUp(world, 'http://github.com/Your-Org/Docs/pull/3')
    expect(outputs).toMatchObject({ outcome: 'skipped', sent: 'nothing' })
  },
)

testsIn({ emulator: { scenario: { create: [{ status: 200, error: 'hello' }] } } })(
  'a create whose response has no job is remembered as unknown: none is asked for [memory.rerun.unknown] [memory.run.continues] [report.where-to-look] [memory.identity.same-attempt]',
  async (world) => {
    const run = { env: { GITHUB_RUN_ID: '300' } }
    const first = await world.step(SCOPE, run)
    expect(first.outputs).toMatchObject({ outcome: 'error', 'error-code': 'contract' })
    const { log } = await world.step(SCOPE, run)
    expect(log).toMatch(/ and has already sent a request\. .* own job-key\.$/m)
    const next = await world.step({ ...SCOPE, wait: 'false' })
    expect(next.log).not.toContain('no longer exists')
    expect(world.emulator.requests.map(({ method }) => method)).toEqual(['POST', 'POST'])
    expect(next.commands('warning')).toEqual([
      expect.stringContaining(`a docs job may exist. Look ${WHERE_TO_LOOK}.`),
    ])
    for (const text of [next.summary, ...world.comments()])
      expect(text).toContain('a docs job may exist')
  },
)

describe('a push that changes nothing is skipped once the docs pull request [paid.push.merged]', () => {
  const link = 'https://github.com/your-org/docs/pull/17'
  worldTest.each([
    ['was merged', true, SCOPE],
    ['was merged, though nobody saw it open', true, { ...SCOPE, wait: 'false' }],
    ["was closed, also if it is an issue's", false, { 'job-scope': 'issue', 'issue-number': '40' }],
  ])('%s', async (world, _, merged, scope) => {
    const job = { status: 'completed', prLink: link }
    const { url } = await world.serve({ poll: [{ times: 9, job }] })
    const inputs = { ...scope, context: 'event', 'base-url': url }
    world.repository.issues.add(40)
    const docs = addDocs(world)
    await world.step(inputs)
    docs.addPull({ number: 17, state: 'closed', merged })
    const { outputs, summary } = await world.step(inputs)
    expect(outputs).toMatchObject({ outcome: 'skipped', sent: 'nothing', 'pr-link': link })
    expect(summary).toContain(merged ? 'was merged.' : 'was closed without a merge.')
    expect(summary).not.toContain('Review the docs pull request')
  })
})

describe('a docs pull request that was closed without a merge is a no [memory.run.closed]', () => {
  const SAYS =
    /the docs pull request was closed[\s\S]* was closed without a merge\.[\s\S]* reopen it, or start the workflow by anything but a push /
  const PULL = { ...SCOPE, 'allow-users': 'octocat' }
  const sender = { login: 'octocat', type: 'User' }
  const pull = { number: 1, user: sender, head: { sha: HEAD } }
  const on = (action: string, event = 'pull_request'): RunOptions => ({
    event,
    payload: { action, sender, pull_request: pull },
  })
  const isTold = (world: World) => world.comments().map((body) => SAYS.test(body))

  /** The docs pull request that the job of a first step opened. */
  async function closed(world: SimulatedWorld, inputs: Record<string, string>) {
    const docs = addDocs(world)
    await world.step(inputs)
    return docs.addPull({ number: 17, state: 'closed' })
  }

  worldTest(
    'to each push, until it is reopened: the one comment says so [memory.run.closed] [memory.nothing-sent]',
    async (world) => {
      const docs = await closed(world, PULL)
      const before = markersIn(world.comments())
      for (const target of ['', '_target']) {
        const { outputs, commands, summary } = await world.step(
          { ...PULL, 'issue-number': target && '1' },
          on('synchronize', `pull_request${target}`),
        )
        expect(outputs).toMatchObject({ outcome: 'skipped', sent: 'nothing' })
        expect(summary).toMatch(SAYS)
        expect(isTold(world)).toEqual([true])
        expect(markersIn(world.comments())).toEqual(before)
        expect(commands('warning')).toEqual([])
      }
      docs.state = 'open'
      expect((await world.step(PULL)).outputs).toMatchObject({
        outcome: 'pr-opened',
        sent: 'message',
      })
      expect(isTold(world)).toEqual([false])
    },
  )

  worldTest.each<[by: string, run: RunOptions, inputs?: Record<string, string>]>([
    ['a label', on('labeled')],
    [
      'a command',
      { event: 'issue_comment', payload: { sender, issue: { number: 1, pull_request: {} } } },
    ],
    ['hand', { event: 'workflow_dispatch', payload: {} }, { 'issue-number': '1' }],
  ])('until somebody asks anew by %s', async (world, _, run, inputs = {}) => {
    await closed(world, PULL)
    await world.step(PULL)
    const { outputs } = await world.step({ ...PULL, ...inputs }, run)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
    expect(world.prompts()).toEqual(Array(2).fill('Update the docs.'))
    expect(isTold(world)).toEqual([false])
  })

  worldTest('a push gets a new docs job all the same if several share the issue', async (world) => {
    world.repository.issues.add(40)
    const inputs = { 'job-scope': 'issue', 'issue-number': '40' }
    await closed(world, inputs)
    expect((await world.step(inputs)).outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
  })

  worldTest('other skips leave the comment as it is [memory.silent]', async (world) => {
    await world.step(PULL)
    const before = world.comments()
    const { outputs } = await world.step({ ...PULL, 'context-paths': 'src/**' })
    expect(outputs.outcome).toBe('skipped')
    expect(world.comments()).toEqual(before)
  })
})

worldTest(
  'a docs pull request on another server is named with its host [report.link.host]',
  async (world) => {
    const prLink = 'https://github.com.evil.example/your-org/docs/pull/17'
    const url = await world.serveEnd(prLink)
    const { summary } = await world.step({ ...SCOPE, 'base-url': url })
    for (const text of [summary, world.comments()[0]])
      expect(text).toContain(`[\`github.com.evil.example/your-org/docs#17\`](<${prLink}>)`)
  },
)
