/**
 * One docs job for a pull request: the comment is the memory, and decides what a later run does.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { BAD_GATEWAY, file } from '../support/github.js'
import {
  addDocs,
  deadlineAfter,
  expectJob,
  expectMessage,
  expectSent,
  HEAD,
  inRealWorld,
  REPOSITORY,
  type RunOptions,
  slowTest,
  testsIn,
  worldTest,
} from '../support/pull-request.js'
import { until } from '../support/time.js'
import { MARKER, markersIn } from '../world/memory.js'

const SCOPE = { 'job-scope': 'pull-request' }
const MAY_EXIST = /a docs job may exist/i

const CREATE = '/v2/agent/docs/job'
const again = (attempt: number): RunOptions => ({ env: { GITHUB_RUN_ATTEMPT: String(attempt) } })

describe('a pull request [memory.run.continues]', () => {
  test.concurrent('has one job and one comment, however many runs; what changed is unknown, and sent [memory.run.continues] [paid.push.unknown]', () =>
    inRealWorld({}, async (world) => {
      const first = await world.runBundle(SCOPE)
      expect(first.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
      const id = first.outputs['job-id']
      const ref = `${REPOSITORY}/.github/workflows/docs.yml@refs/heads/other`
      const env = { GITHUB_RUN_ID: '101', GITHUB_WORKFLOW_REF: ref }
      const second = await world.runBundle(SCOPE, { env })
      expect(second.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'message', 'job-id': id })
      expect(world.posts()).toEqual([CREATE, `${CREATE}/${id}/message`])
      expect(world.comments()).toHaveLength(1)
      expect(world.comments()[0]).toMatch(/^✅/)
      expect(world.comments()[0]).toContain('/actions/runs/101')
    }))

  worldTest(
    'is sent once: an equal push only waits, and tells the result [report.log.lines] [memory.rerun.told] [paid.push.unchanged] [paid.asked.sends]',
    async (world) => {
      const inputs = { ...SCOPE, context: 'diff' }
      const { 'job-id': id } = (await world.step(inputs)).outputs
      for (const run of ['101', '102']) {
        const { outputs, log, summary } = await world.step(inputs, { env: { GITHUB_RUN_ID: run } })
        expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'nothing', 'job-id': id })
        for (const text of [log, summary, world.comments()[0]]) {
          expect(text).toContain('This run has nothing new for the docs job.')
          expect(text).toMatch(RegExp(`run a step with .job-id: ${id}. and a prompt`))
        }
        expect(world.comments()[0]).toContain(`/actions/runs/${run}`)
      }
      expect(world.posts()).toEqual([CREATE])
      expect(world.emulator.requests).toHaveLength(4)
      // Its type is an action, too, and any word.
      const dispatch = { event: 'repository_dispatch', payload: { action: 'synchronize' } }
      const asked = await world.step(
        { ...inputs, 'issue-number': '1', 'dry-run': 'true' },
        dispatch,
      )
      expect(asked.log).toContain('would send a message')
      await world.step({ ...inputs, prompt: 'Something else.' }, { env: { GITHUB_RUN_ID: '103' } })
      expect(world.posts()).toEqual([CREATE, `${CREATE}/${id}/message`])
    },
  )

  const PINNED = [
    file('src/b.ts', '@@ -1 +1 @@\n-old\n+new', {
      status: 'renamed',
      previous_filename: 'src/a.ts',
    }),
    file('logo.png', null, { sha: '1'.repeat(40) }),
  ]
  testsIn({ pull: { files: PINNED } })(
    'is known by later releases: what is stored of it changes only if each is to be paid again [memory.marker.stable] [paid.fingerprint.pinned]',
    async (world) => {
      await world.step({ ...SCOPE, context: 'diff' })
      const [, data = ''] = MARKER.exec(world.comments()[0] ?? '')?.slice(1) ?? []
      const stored = JSON.parse(Buffer.from(data, 'base64url').toString())
      expect(stored.at(-1)).toBe('w_xZP-WdFBvpIitNOm4UtwICEj592YAjjLSr1yvgpFU')
    },
  )

  worldTest(
    'has a placeholder before the create, then an edit for each state, with its marker at the end [send.placeholder.first] [memory.edit.order] [memory.marker.last]',
    async (world) => {
      await world.step(SCOPE)
      const writes = world.github
        .writes()
        .map(({ method, body }) => [method, String((body as { body: string }).body)] as const)
      expect(writes.map(([method]) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
      // True if nothing follows.
      expect(writes[0]?.[1]).toMatch(/^⏳ Asking an agent to write docs\n/)
      expect(writes[0]?.[1]).not.toMatch(/agent-job-action:2|may exist|being sent/i)
      expect(writes[1]?.[1]).toMatch(/may exist|being sent/i)
      expect(
        writes.slice(1).every(([, body]) => /<!-- agent-job-action:2 \S+ \S+ \S+ -->$/.test(body)),
      ).toBe(true)
      expect(writes[2]?.[1]).toContain('| active |')
      expect(writes[3]?.[1]).toContain('✅')
    },
  )

  worldTest('finds its comment behind 300 others [memory.one-comment]', async (world) => {
    for (let nth = 0; nth < 305; nth++)
      world.repository.addComment(world.number, { author: 'octocat', body: `Comment ${nth}` })
    const first = await world.step(SCOPE)
    const second = await world.step(SCOPE)
    expectMessage(second, first)
    expect(world.comments()).toHaveLength(306)
  })

  worldTest.each([
    ['another step of the job', { GITHUB_ACTION: 'other' }, {}],
    ['another job', { GITHUB_JOB: 'other' }, {}],
    [
      'another workflow',
      { GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/other.yml@main` },
      {},
    ],
    ['another job-key', {}, { 'job-key': 'fr' }],
    ['another project', {}, { 'project-id': 'other' }],
  ])('has a separate memory for %s [memory.identity]', async (world, _, env, inputs) => {
    const first = await world.step(SCOPE)
    const other = await world.step({ ...SCOPE, ...inputs }, { env })
    expectSent(other)
    expect(other.outputs['job-id']).not.toBe(first.outputs['job-id'])
    expect(world.comments()).toHaveLength(2)
  })
})

worldTest(
  'a marker that a person copied does not count, nor is it edited; nor does a genuine one count on another number [memory.marker.signed]',
  async (world) => {
    await world.step(SCOPE)
    const body = world.comments()[0] ?? ''
    world.repository.comments.clear()
    world.repository.addComment(world.number, { author: 'octocat', body })
    const { outputs } = await world.step(SCOPE)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
    expect(world.comments()).toEqual([body, expect.any(String)])
    world.repository.issues.add(40)
    for (const one of world.repository.comments.values()) Object.assign(one, { issue: 40 })
    expectSent(await world.step({ ...SCOPE, 'issue-number': '40' }))
  },
)

describe('a new job replaces the last one, in the same comment, [memory.run.continues]', () => {
  worldTest(
    'if that one failed: the placeholder no longer has its id [send.placeholder.first]',
    async (world) => {
      const first = await world.step({ ...SCOPE, wait: 'false' })
      const troubled = await world.serve({
        initialJobs: [{ id: first.outputs['job-id'] ?? '', projectId: 'docs', ageSeconds: 9999 }],
        poll: [{ job: { status: 'failed' } }],
      })
      const before = world.github.writes().length
      const second = await world.step({ ...SCOPE, 'base-url': troubled.url })
      expect(second.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
      const written = world.github.writes()[before]?.body as { body: string }
      expect(markersIn([written.body])).toMatchObject([{ state: 'sending', jobId: '' }])
      expect(second.log).toContain('The earlier docs job failed: a new one takes its place.')
      expect(world.posts(troubled)).toEqual([CREATE])
      expect(world.comments()).toHaveLength(1)
    },
  )

  worldTest(
    'every job after it continues its open docs pull request, by its number alone [memory.run.open-pull] [memory.marker.untrusted]',
    async (world) => {
      const docs = addDocs(world)
      const link = 'https://github.com/your-org/docs/pull/17'
      const job = { status: 'completed', prLink: `${link}?forget=the-task#words` }
      const { url } = await world.serve({ poll: [{ job }] })
      const first = await world.step({ ...SCOPE, 'base-url': url })
      docs.addPull({ number: Number(first.outputs['pr-number']) })
      let id = first.outputs['job-id'] ?? ''
      for (let run = 0; run < 2; run++) {
        const archiving = await world.serve({
          initialJobs: [{ id, projectId: 'docs', ageSeconds: 9999 }],
          withoutPullRequest: true,
          poll: [{ job: { status: 'archived' } }],
        })
        const { outputs } = await world.step({ ...SCOPE, 'base-url': archiving.url })
        expect(outputs).toMatchObject({ outcome: 'no-changes', sent: 'job' })
        expect(world.prompts(archiving)).toEqual([
          expect.stringContaining(
            `\n\nThe pull request ${link} is already open for this. Continue there: add to its branch, and open no second pull request.`,
          ),
        ])
        id = outputs['job-id'] ?? ''
      }
    },
  )
})

describe('what a time-out advises can be done: [report.advice.rerun]', () => {
  const RERUN = 'To wait for the docs job, re-run the workflow job: this step then sends nothing.'
  const ELSEWHERE = /To wait for the docs job, run a step with .job-id: \S+ and no prompt\./
  const short = deadlineAfter(1_500)

  slowTest('to re-run, which waits', async (world) => {
    const { log, summary } = await world.step({ ...SCOPE, ...short })
    for (const text of [log, summary, world.comments()[0]]) {
      expect(text).toContain(RERUN)
      expect(text).not.toMatch(ELSEWHERE)
      expect(text).not.toContain('another docs job')
    }
  })

  slowTest('to re-run a step that only waits', async (world) => {
    const { outputs } = await world.step({ wait: 'false' })
    const inputs = { prompt: '', 'job-id': outputs['job-id'] ?? '', ...short }
    expect((await world.step(inputs)).log).toContain(RERUN)
  })

  slowTest.each<[string, Record<string, string>, edits: boolean]>([
    ['nothing remembers the job', {}, true],
    ['the comment only informs', { comment: 'true' }, true],
    ['the comment could not be edited', SCOPE, false],
  ])(
    'to wait in a step of its own if %s [report.advice.rerun]',
    async (world, _, inputs, edits) => {
      if (!edits) world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
      if (!edits) world.github.faults.push({ method: 'PATCH', answer: BAD_GATEWAY, times: 99 })
      const { log, summary } = await world.step({ ...inputs, ...short })
      expect(log).toMatch(ELSEWHERE)
      // The log ends before the edits do.
      expect(edits ? log : summary).toContain('A re-run starts another docs job.')
      expect(log).not.toContain(RERUN)
    },
  )

  const LATER = { message: [{ status: 429, headers: { 'retry-after': '1' }, error: 'Later' }] }
  testsIn({ emulator: { speed: 1, scenario: LATER } })(
    'to wait in a step of its own if the comment keeps what an earlier run sent',
    async (world) => {
      const first = await world.step({ ...SCOPE, wait: 'false' }, { env: { GITHUB_RUN_ID: '200' } })
      // That the message is sent, and that it was refused: this is not the state of its own.
      world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 }, times: 2 })
      world.github.faults.push({ method: 'PATCH', answer: BAD_GATEWAY, times: 99 })
      const env = { GITHUB_RUN_ID: '201' }
      const second = await world.step({ ...SCOPE, ...deadlineAfter(9_000) }, { env })
      expect(second.outputs).toMatchObject({ outcome: 'timed-out', sent: 'message' })
      expect(markersIn(world.comments())).toMatchObject([{ run: '200' }])
      for (const text of [second.log, second.summary]) {
        expect(text).toMatch(ELSEWHERE)
        expect(text).not.toContain(RERUN)
      }
      expect(second.summary).toContain('A re-run sends the message again.')
      world.github.faults.length = 0
      const rerun = await world.step(SCOPE, { env: { ...env, GITHUB_RUN_ATTEMPT: '2' } })
      expectMessage(rerun, first)
    },
  )

  slowTest(
    'to wait in a step of its own if the comment keeps an earlier wait [memory.failure.told]',
    async (world) => {
      const inputs = { ...SCOPE, context: 'event' }
      await world.step({ ...inputs, wait: 'false' })
      world.github.faults.push({ method: 'PATCH', answer: BAD_GATEWAY, times: 99 })
      const { log, summary, outputs } = await world.step({ ...inputs, ...short })
      expect(outputs).toMatchObject({ outcome: 'timed-out', sent: 'nothing' })
      for (const text of [log, summary]) {
        expect(text).toMatch(ELSEWHERE)
        expect(text).not.toContain(RERUN)
        expect(text).not.toContain('may not find')
      }
    },
  )

  testsIn({ emulator: { scenario: { withoutPullRequest: true } } })(
    'to re-run a step that was cancelled while it waited for a link [poll.link.late]',
    async (world) => {
      const { log } = await world.step(SCOPE, {
        meanwhile: async ({ lines, cancel }) => {
          await until(() => lines.some((line) => line.includes(': completed after')))
          await sleep(1_000)
          cancel()
        },
      })
      expect(log).toContain(`The link of a pull request may come a moment after the end. ${RERUN}`)
    },
  )

  slowTest('a re-run sends the message again if nothing keeps it', async (world) => {
    const { outputs } = await world.step({ wait: 'false' })
    const { log } = await world.step({ 'job-id': outputs['job-id'] ?? '', ...short })
    expect(log).toMatch(ELSEWHERE)
    expect(log).toContain('A re-run sends the message again.')
  })
})

describe('a re-run [memory.rerun.waits] [memory.rerun.reported]', () => {
  slowTest('waits for the job of an issue after any event, also the third', async (world) => {
    const event: RunOptions = { event: 'something_new', payload: {} }
    const inputs = { 'job-scope': 'issue', 'issue-number': '1', 'allow-users': '*' }
    const first = await world.step({ ...inputs, wait: 'false' }, event)
    const attempt = (number: number): RunOptions => ({ ...event, ...again(number) })
    const second = await world.step({ ...inputs, wait: 'false' }, attempt(2))
    expect(second.outputs).toMatchObject({
      outcome: 'started',
      'job-id': first.outputs['job-id'],
    })
    world.finishJobs()
    const third = await world.step(inputs, attempt(3))
    const waited = { outcome: 'pr-opened', sent: 'nothing', 'job-id': first.outputs['job-id'] }
    expect(third.outputs).toMatchObject(waited)
    expect(third.log).toMatch(/^(?!.*Can't tell).*This is a re-run/s)
    expect(world.posts()).toEqual([CREATE])
    // What it was asked for is in a pull request.
    const fourth = await world.step(inputs, attempt(4))
    expect(fourth.outputs).toMatchObject(waited)
    expect(fourth.log).toContain('To ask for docs again, run a step with')
    expect(world.posts()).toEqual([CREATE])
    const number = Number(third.outputs['pr-number'])
    world.github
      .addRepository('your-org/docs', {})
      .addPull({ number, state: 'closed', merged: true })
    const fifth = await world.step({ ...inputs, wait: 'false' }, attempt(5))
    expect(fifth.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
    expect(fifth.log).toContain('has a pull request that was merged')
    expect(world.posts()).toEqual([CREATE, CREATE])
  })

  test('keeps the job of an attempt that was killed, also past one with bad input', () =>
    inRealWorld({ emulator: { speed: 1 } }, async (world) => {
      const killed = await world.runBundle(SCOPE, {
        meanwhile: async ({ signal }) => {
          await until(() => world.comments()[0]?.includes('Waiting') === true)
          signal('SIGKILL')
        },
      })
      const comments = world.comments()
      const second = await world.runBundle({ ...SCOPE, wait: 'maybe' }, again(2))
      expect(second.outputs).toMatchObject({ 'error-code': 'input', 'job-id': '' })
      expect(world.comments()).toEqual(comments)
      world.finishJobs()
      const third = await world.runBundle(SCOPE, again(3))
      expect(third.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': killed.outputs['job-id'],
      })
      expect(world.posts()).toEqual([CREATE])
    }))
})

worldTest(
  'a second step of one identity in an attempt fails, and sends nothing [memory.identity.same-attempt]',
  async (world) => {
    const env = { GITHUB_RUN_ID: '300', GITHUB_RUN_ATTEMPT: '2' }
    const first = await world.step({ ...SCOPE, wait: 'false' }, { env })
    const before = world.comments()
    const second = await world.step(SCOPE, { env })
    expect(second.outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(second.commands('error')).toEqual([
      expect.stringContaining(
        `job-key: another step of this run has the same workflow, job, step ID and project, and has already used docs job "${first.outputs['job-id']}". Give each step or matrix leg its own job-key. To wait for that docs job, set job-id: ${first.outputs['job-id']} and no prompt.`,
      ),
    ])
    expect(second.commands('warning')).toEqual([])
    expect(world.posts()).toEqual([CREATE])
    expect(world.comments()).toEqual(before)
    const apart = await world.step({ ...SCOPE, 'job-key': 'other', wait: 'false' }, { env })
    expect(apart.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
  },
)

describe('the memory has the job [memory.edit.retried]', () => {
  slowTest(
    'even if the edit that has it gets no answer when the step is cancelled',
    async (world) => {
      // That of the placeholder.
      world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
      world.github.faults.push({ method: 'PATCH', answer: 'silence' })
      const { outputs, sinceSignalMs } = await world.step(SCOPE, {
        meanwhile: async ({ cancel }) => {
          await until(() => world.posts().length > 0)
          await sleep(100)
          cancel()
        },
      })
      expect(outputs.outcome).toBe('cancelled')
      expect(sinceSignalMs).toBeLessThan(3_000)
      expect(markersIn(world.comments())).toMatchObject([{ jobId: outputs['job-id'] }])
    },
  )

  slowTest(
    'even if its comment was deleted before a cancel, which leaves little time [memory.one-comment.no-twin]',
    async (world) => {
      const { outputs } = await world.step(SCOPE, {
        meanwhile: async ({ cancel }) => {
          await until(() => markersIn(world.comments()).some(({ jobId }) => jobId !== ''))
          world.repository.comments.clear()
          cancel()
        },
      })
      expect(outputs.outcome).toBe('cancelled')
      expect(markersIn(world.comments())).toMatchObject([{ jobId: outputs['job-id'] }])
    },
  )

  slowTest(
    'even if nobody can tell, behind the result, what GitHub says of its docs [docs.ended-early]',
    async (world) => {
      await world.step(SCOPE, {
        meanwhile: async ({ loadGitHub }) => {
          const readDocs = () => Promise.reject(new Error('A bug of the action.'))
          Object.assign(await loadGitHub(), { readDocs })
        },
      })
      expect(world.comments()).toEqual([expect.stringMatching(/^✅ /)])
    },
  )

  slowTest(
    'even if its comment was deleted while the job ran [memory.one-comment.no-twin]',
    async (world) => {
      const first = await world.step(SCOPE, {
        meanwhile: async () => {
          await world.answered(4)
          world.repository.comments.clear()
          world.finishJobs()
        },
      })
      expectJob(first)
      expect(world.comments()).toHaveLength(1)
      const second = await world.step({ ...SCOPE, wait: 'false' })
      expectMessage(second, first)
    },
  )
})

describe('while the key is replaced [memory.previous-key]', () => {
  const OLD = { 'api-key': 'mint_old_key_0123456789' }
  const NEW = { 'api-key': 'mint_new_key_0123456789' }
  const BOTH = { ...NEW, 'previous-api-key': OLD['api-key'] }

  worldTest('the comment keeps its job: with the old key, both, the new one', async (world) => {
    const first = await world.step({ ...SCOPE, ...OLD })
    const sameTwice = await world.step({ ...SCOPE, ...OLD, 'previous-api-key': OLD['api-key'] })
    const dry = await world.step({ ...SCOPE, ...BOTH, 'dry-run': 'true' })
    const both = await world.step({ ...SCOPE, ...BOTH })
    const last = await world.step({ ...SCOPE, ...NEW })
    for (const { outputs, commands } of [sameTwice, dry, both, last]) {
      expect(outputs['job-id']).toBe(first.outputs['job-id'])
      expect(commands('warning')).toEqual([])
    }
    expect(dry.outputs['pr-link']).toBe(first.outputs['pr-link'])
    expect([both, last].map(({ outputs }) => outputs.sent)).toEqual(['message', 'message'])
    expect(world.comments()).toHaveLength(1)
  })

  worldTest('what was sent is paid once: with the old key, both, the new one', async (world) => {
    for (const [keys, sent] of [
      [OLD, 'job'],
      [OLD, 'nothing'],
      [BOTH, 'nothing'],
      [NEW, 'nothing'],
      [OLD, 'job'],
    ] as const) {
      expectSent(await world.step({ ...SCOPE, context: 'diff', ...keys }), sent)
    }
  })

  worldTest(
    'a key that was replaced without the one before is told everywhere [memory.unverified]',
    async (world) => {
      await world.step({ ...SCOPE, ...OLD })
      const { commands, summary } = await world.step({ ...SCOPE, ...NEW })
      const texts = [...commands('warning'), summary, world.comments()[1]]
      expect(texts).toEqual(
        Array(3).fill(expect.stringMatching(/set previous-api-key.*unless it leaked/)),
      )
    },
  )

  const PERSONAL = 'ghp_0123456789abcdef'
  const everywhere = {
    repositories: [REPOSITORY],
    permissions: { pull_requests: 'write', contents: 'read' },
  } as const
  testsIn({ github: { otherTokens: { [PERSONAL]: everywhere } } }).each<
    [string, string, Record<string, string>, sent: string]
  >([
    ['an installation', 'mallory', {}, 'job'],
    ["an installation, and the person's account was deleted", '', {}, 'job'],
    ['a person', 'mallory', { 'github-token': PERSONAL }, 'message'],
  ])(
    'a comment by a person, whatever its marker, counts only with the token of one: of %s [memory.marker.author]',
    async (world, _, author, inputs, sent) => {
      await world.step(SCOPE)
      for (const [id, comment] of world.repository.comments)
        world.repository.comments.set(id, { ...comment, author })
      const [forged] = world.comments()
      const { outputs, summary } = await world.step({ ...SCOPE, ...inputs })
      expect(outputs.sent).toBe(sent)
      expect(/can't be verified\..* If .* was a person's before/.test(summary)).toBe(sent === 'job')
      if (sent === 'job') expect(world.comments()).toEqual([forged, expect.anything()])
      else expect(world.comments()).toHaveLength(1)
    },
  )

  test('the key before is masked, and is sent nowhere [secret.masked]', () =>
    inRealWorld({}, async (world) => {
      const { commands } = await world.runBundle({ ...SCOPE, ...BOTH })
      expect(commands('add-mask')).toContain(OLD['api-key'])
      const requests = [...world.github.requests, ...world.emulator.requests]
      expect(JSON.stringify(requests)).not.toContain(OLD['api-key'])
    }))
})

describe('comment: true without job-scope [memory.one-comment]', () => {
  worldTest(
    'names the matrix leg in its first line, the workflow in details [memory.leg-named]',
    async (world) => {
      await world.step({ comment: 'true', 'job-key': '{"os":"linux","node":20}' })
      await world.step({ comment: 'true', 'job-key': 'a `key` of *mine*' })
      const [leg = '', own = ''] = world.comments()
      expect(leg).toMatch(/^✅ .+ \(`linux, 20`\): \[/)
      expect(own.split('\n')[0]).toContain('(<code>a &#96;key&#96; of &#42;mine&#42;</code>): [')
      expect(leg).toMatch(/\n- Run: \[`Docs` \d+\]\(<https:[^ ]+>\)\n/)
    },
  )
})

describe('the comment', () => {
  worldTest('takes at most 8 requests, with the diff [memory.one-comment]', async (world) => {
    const docs = addDocs(world)
    const count = async (inputs: Record<string, string> = {}): Promise<number> => {
      const before = world.github.requests.length
      expectJob(await world.step({ ...SCOPE, context: 'diff', ...inputs }))
      return world.github.requests.length - before
    }
    expect(await count()).toBeLessThanOrEqual(8)
    docs.addPull({ number: 17 })
    expect(await count()).toBeLessThanOrEqual(8)
    expect(await count({ 'job-key': 'new' })).toBeLessThanOrEqual(8)
  })

  worldTest(
    'says so after a cancel while it was being created [memory.one-comment.no-twin] [cancel.first]',
    async (world) => {
      world.github.faults.push({
        method: 'POST',
        path: /\/comments/,
        answer: 'silence',
        takesEffect: true,
      })
      const { outputs, sinceSignalMs } = await world.step(SCOPE, {
        meanwhile: async ({ cancel }) => {
          await until(() => world.comments().length > 0)
          cancel()
        },
      })
      expect(outputs.outcome).toBe('cancelled')
      expect(sinceSignalMs).toBeCloseTo(500, -2)
      expect(world.comments()).toEqual([expect.stringContaining('🛑')])
    },
  )

  testsIn({ private: false, github: { permissions: { pull_requests: 'read' } } }).each([
    ['pull_request', / can only read, whatever/],
    ['pull_request_target', / to the permissions of the workflow job/],
  ])(
    "can't be written for a fork, whose token can be raised on pull_request_target alone: %s [github.permission.named]",
    async (world, event, says) => {
      const [base, head] = [REPOSITORY, 'octocat/your-repo'].map((full_name) => ({
        repo: { full_name },
      }))
      const pull_request = {
        number: 1,
        user: { login: 'octocat' },
        base,
        head: { ...head, sha: HEAD },
      }
      const inputs = { comment: 'true', 'allow-users': '*' }
      const { commands } = await world.step(inputs, { event, payload: { pull_request } })
      expect(commands('warning')).toEqual([
        expect.stringMatching(/writing the comment on pull request 1 failed/),
      ])
      expect(commands('warning')[0]).toMatch(says)
    },
  )

  worldTest('holds no key, not even in base64 [memory.marker.no-key]', async (world) => {
    const key = 'mint_0123456789abcdef'
    const job = { id: `job-${key}`, status: 'active' }
    const service = await world.serve({
      create: [{ job }],
      initialJobs: [{ id: job.id, projectId: 'docs', ageSeconds: 9999 }],
    })
    const inputs = { ...SCOPE, 'api-key': key, 'base-url': service.url }
    expectJob(await world.step(inputs))
    const texts = world.github.writes().map(({ body }) => JSON.stringify(body))
    expect(texts).toHaveLength(4)
    for (const text of texts) {
      const encoded = text.match(/[\w-]{16,}/g) ?? []
      expect(text).not.toContain(key)
      for (const part of encoded)
        expect(Buffer.from(part, 'base64url').toString()).not.toContain(key)
    }
  })
})

test('a run that was killed while its create was in flight is reported by the next one [cancel.killed] [memory.rerun.unknown]', () =>
  inRealWorld({ emulator: { scenario: { create: [{ delayMs: 20_000 }] } } }, async (world) => {
    const died = await world.runBundle(SCOPE, {
      meanwhile: async ({ signal }) => {
        await until(() => world.emulator.requests.length > 0)
        signal('SIGKILL')
      },
    })
    expect(died.exitCode).toBe(137)
    expect(world.comments()[0]).toMatch(MAY_EXIST)
    const next = await world.runBundle({ ...SCOPE, wait: 'false' })
    expect(next.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
    expect(next.commands('warning')).toEqual([expect.stringMatching(MAY_EXIST)])
    expect(world.comments()).toHaveLength(1)
  }))

worldTest(
  'a dry run tells what the comment records, and asks nobody about it [output.dry-run]',
  async (world) => {
    const { outputs } = await world.step(SCOPE)
    const [comments, requests] = [world.comments(), world.emulator.requests.length]
    const dry = await world.step({ ...SCOPE, 'dry-run': 'true' })
    const {
      'job-id': id,
      'pr-link': link,
      'pr-number': number,
      'pr-repository': repository,
    } = outputs
    expect(dry.outputs).toMatchObject({
      ...{ outcome: 'dry-run', status: '', sent: 'nothing' },
      ...{ 'job-id': id, 'pr-link': link, 'pr-number': number, 'pr-repository': repository },
    })
    expect(link).not.toBe('')
    expect(dry.log).toContain('| Update the docs.')
    expect(world.emulator.requests).toHaveLength(requests)
    expect(world.comments()).toEqual(comments)
  },
)

worldTest('a comment that is hidden is told to be [memory.hidden]', async (world) => {
  await world.step(SCOPE)
  world.repository.hides = true
  const { outputs, log, summary } = await world.step(SCOPE)
  expect(outputs.sent).toBe('message')
  for (const text of [log, summary]) expect(text).toContain("This step's comment is hidden.")
})
