/**
 * What is kept up to date at GitHub: what replaces what, and what is said if it can't be read,
 * verified or written.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { getPath } from '../../src/event/payload.js'
import { BAD_GATEWAY, type Fault, secondaryLimit } from '../support/github.js'
import {
  deadlineAfter,
  expectJob,
  expectSent,
  expectUnanswered,
  inWorld,
  type RunOptions,
  slowTest,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'
import { until } from '../support/time.js'
import { markersIn } from '../world/memory.js'

const SCOPE = { 'job-scope': 'pull-request' }
const DEADLINE_MS = 1_500
const COMMENT = { comment: 'true' }
const ANOTHER_KEY = { 'api-key': 'mint_another_key_0123456789' }
const COMMENTS = /\/issues\/1\/comments/
const ALWAYS = { times: Number.POSITIVE_INFINITY }
const FORBIDDEN = { status: 403, body: { message: 'Resource not accessible by integration' } }

const run = (id: number, attempt = 1): RunOptions => ({
  env: { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: String(attempt) },
})
const fail = ({ github }: World, fault: Fault) => github.faults.push({ ...ALWAYS, ...fault })

worldTest(
  "a comment in place of another step's says so; a re-run's or a later run's does not [memory.identity.same-attempt] [memory.one-comment]",
  async (world) => {
    const told: string[][] = []
    for (const one of [run(200), run(200), run(200, 2), run(201, 2)])
      told.push((await world.step(COMMENT, one)).commands('warning'))
    expect(told).toEqual([[], [expect.stringMatching(/own job-key\.$/)], [], []])
    expect(world.comments()).toHaveLength(1)
  },
)

worldTest.each<[string, method: string, path: RegExp, ...found: Fault['answer'][]]>([
  ['the pull request, when its comments are read', 'GET', COMMENTS],
  ['the pull request, when the comment is created', 'POST', COMMENTS],
  ['the comment that it has just created', 'PATCH', /comments/],
  ['the comment, once the docs job is known', 'PATCH', /comments/, { delayMs: 1 }],
])('GitHub does not find %s at first [github.early]', async (world, _, method, path, ...found) => {
  const answer = { status: 404, body: { message: 'Not Found' } }
  for (const first of found) world.github.faults.push({ method, path, times: 1, answer: first })
  world.github.faults.push({ method, path, times: 2, answer })
  expectJob(await world.step(SCOPE))
  expect(markersIn(world.comments())).toHaveLength(1)
})

slowTest.each<[object, string]>([
  [SCOPE, 'Asking'],
  [COMMENT, 'Waiting for'],
  [{ ...COMMENT, prompt: '' }, 'Waiting for'],
  [{ ...COMMENT, prompt: 'And this.' }, 'Waiting for'],
])(
  'the first text, which GitHub mails, is read by itself: %j [memory.first-text] [memory.silent]',
  async (world, inputs, doing) => {
    const { outputs } = await world.step({ wait: 'false' })
    await world.step({ ...inputs, ...('prompt' in inputs && { 'job-id': outputs['job-id'] }) })
    const posts = world.github.writes().filter(({ method }) => method === 'POST')
    const [mail = '', ...more] = posts.map(({ body }) => String(getPath(body, 'body')))
    expect(more).toEqual([])
    // As a mail shows it: no markup, nothing to fold, no facts.
    expect(mail.split('\n\n')).toEqual([
      `⏳ ${doing} an agent to write docs`,
      expect.stringMatching(
        /^The result will be shown in this comment on GitHub, and not mailed\. Until then, you don't need to do anything\. If this text is still here when the workflow run has ended, see the run's log: <https:[^ ]+\/actions\/runs\/\d+>$/,
      ),
      expect.stringMatching(/^<!-- \w+ -->$/),
    ])
  },
)

const BUSY = { message: [{ status: 429, headers: { 'retry-after': '60' }, error: 'Later' }] }
testsIn({ emulator: { speed: 1, scenario: BUSY } })(
  'the end of a step is written though what is stored stays as it was: a cancel before a retry [memory.edit.order] [cancel.told]',
  async (world) => {
    await world.step({ ...SCOPE, wait: 'false' })
    const { outputs } = await world.step(SCOPE, {
      meanwhile: async ({ lines, cancel }) => {
        await until(() => lines.some((line) => line.includes('Retrying in')))
        await sleep(1_000)
        cancel()
      },
    })
    expect(outputs).toMatchObject({ outcome: 'cancelled', sent: 'nothing' })
    expect(world.comments()).toEqual([expect.stringMatching(/^🛑/)])
  },
)

describe('a run that ends before it sends anything creates no comment, as GitHub would mail it: [memory.silent]', () => {
  const FILES = /\/pulls\/1\/files/

  worldTest.each([SCOPE, COMMENT])('an error: %j', async (world, inputs) => {
    const diff = { ...inputs, context: 'diff' }
    fail(world, { path: FILES, answer: FORBIDDEN })
    expectUnanswered(await world.step(diff))
    expect(world.github.writes()).toEqual([])
    world.github.faults.length = 0
    await world.step(diff)
    fail(world, { path: FILES, answer: FORBIDDEN })
    await world.step(diff)
    expect(world.comments()).toEqual([expect.stringMatching(/^❌/)])
  })

  worldTest('a cancel while GitHub is asked', async (world) => {
    fail(world, { path: FILES, answer: { delayMs: 2_000 } })
    const { outputs } = await world.step(
      { ...SCOPE, context: 'diff' },
      {
        meanwhile: async ({ cancel }) => {
          await until(() => world.github.requests.some(({ path }) => FILES.test(path)))
          cancel()
        },
      },
    )
    expect(outputs.outcome).toBe('cancelled')
    expect(world.github.writes()).toEqual([])
  })

  worldTest("a comment that was on the way at the deadline isn't created either", async (world) => {
    world.github.faults.push({ method: 'POST', path: COMMENTS, answer: 'silence' })
    expectUnanswered(await world.step({ ...SCOPE, ...deadlineAfter(600) }))
    expect(world.comments()).toEqual([])
  })

  worldTest("a comment that was deleted since it was read isn't created again", async (world) => {
    await world.step(SCOPE)
    fail(world, { path: FILES, answer: { delayMs: 2_000 } })
    await world.step(
      { ...SCOPE, context: 'diff' },
      {
        meanwhile: async ({ cancel }) => {
          await until(() => world.github.requests.some(({ path }) => FILES.test(path)))
          world.repository.comments.clear()
          cancel()
        },
      },
    )
    expect(world.comments()).toEqual([])
  })
})

describe('what can not be verified is told once: [memory.unverified]', () => {
  const told = (log: string): string[] =>
    log.split('\n').filter((line) => /can't be verified|no single/.test(line))
  const TEXT =
    "by this step can't be verified. It is ignored, and left as it is. If the key was replaced, set previous-api-key to the one before it, unless it leaked. After a leak, see SECURITY.md of this action. If github-token was a person's before, and is an app's now, that is why."

  worldTest.each([
    ['a comment that decides [input.scope]', SCOPE],
    ['a comment that only informs [memory.unverified] [input.scope]', COMMENT],
  ])('%s', async (world, _, inputs) => {
    await world.step({ ...inputs, ...ANOTHER_KEY }, run(200))
    const before = world.comments()
    const { log, outputs } = await world.step(inputs, run(201))
    expect(told(log)).toEqual([`An earlier comment ${TEXT}`])
    expect(outputs.sent).toBe('job')
    expect(world.comments()).toEqual([...before, expect.anything()])
  })

  worldTest('nothing if there is also one that can be [input.scope]', async (world) => {
    await world.step(SCOPE)
    world.repository.addComment(world.number, {
      author: 'octocat',
      body: world.comments()[0] ?? '',
    })
    const { outputs, log } = await world.step(SCOPE)
    expect(outputs.sent).toBe('message')
    expect(told(log)).toEqual([])
  })
})

describe('an error that ends the step is no warning as well, and [memory.failure.told]', () => {
  worldTest.each([
    ['the comments can not be read', { method: 'GET', path: COMMENTS }, 0],
    ['the placeholder can not be written', { method: 'POST', path: COMMENTS }, 1],
    ['its marker can not be written', { method: 'PATCH' }, 2],
  ])('if %s, nothing more is written after a refusal', async (world, _, which, writes) => {
    fail(world, { ...which, answer: FORBIDDEN })
    const { outputs, commands } = await world.step(SCOPE)
    expect(outputs['error-code']).toBe('github')
    expect(commands('error')).toHaveLength(1)
    expect(commands('warning')).toEqual([])
    expect(world.github.writes()).toHaveLength(writes)
    expect(world.posts()).toEqual([])
  })
})

describe('an error of what only informs is one warning: [memory.edit.retried]', () => {
  worldTest(
    'one that may pass advises no re-run, which would start another job [memory.failure.told]',
    async (world) => {
      fail(world, { path: COMMENTS, answer: BAD_GATEWAY })
      const { outputs, commands } = await world.step(COMMENT)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([
        'GitHub: reading the comments of pull request 1 failed: 502, "Unicorn! &middot; GitHub". The comment may be missing or out of date.',
      ])
    },
  )

  worldTest('one that is refused is not retried, and told with the permission', async (world) => {
    fail(world, { method: 'POST', path: COMMENTS, answer: FORBIDDEN })
    const { commands, summary } = await world.step({ ...COMMENT, wait: 'false' })
    expect(commands('warning')).toEqual([expect.stringContaining('`pull-requests: write`')])
    expect(summary).toContain('pull-requests: write')
    expect(world.github.writes()).toHaveLength(1)
  })
})

describe('what an error says of the service and the project is in the run alone: [report.comment.private]', () => {
  const SSO = 'https://sso.example/login?next=x'
  type Answers = { status: number; error?: string; headers?: Record<string, string> }[]
  test.each<[string, hidden: string, shown: string, Answers]>([
    [
      'where it redirects',
      'sso.example',
      '302 to another address',
      [{ status: 302, headers: { location: SSO } }],
    ],
    ['its project', 'acme-docs', 'No *** here', [{ status: 404, error: 'No acme-docs here' }]],
    ['its host', '127.0.0.1', 'ECONNREFUSED ***:1', []],
  ])(
    '%s; the next step knows that nothing was sent [memory.nothing-sent] [memory.rerun.unknown]',
    (_, hidden, shown, create) =>
      inWorld({ emulator: { scenario: { create } } }, async (world) => {
        const nowhere = { 'base-url': 'http://127.0.0.1:1', ...deadlineAfter(DEADLINE_MS) }
        const inputs = { ...SCOPE, 'project-id': 'acme-docs', ...(create.length === 0 && nowhere) }
        const { summary } = await world.step(inputs, run(200))
        expect(summary).toContain(hidden)
        const [comment = ''] = world.comments()
        expect(comment).not.toContain(hidden)
        expect(
          comment.replaceAll(/<\/?code>|`|&#42;/g, (mark) => (mark === '&#42;' ? '*' : '')),
        ).toContain(shown)
        expect((await world.step(inputs, run(200))).log).not.toMatch(/may exist|another step/)
      }),
  )
})

describe('a note of an edit that failed is true when it is read: [memory.failure.told]', () => {
  /** After the placeholder's marker, and as many edits more. */
  const failAfter = ({ github }: World, more: number, fault: Fault) =>
    github.faults.push(
      { method: 'PATCH', times: 1 + more, answer: { delayMs: 1 } },
      { method: 'PATCH', ...fault },
    )
  const notes = (texts: readonly (string | undefined)[]) =>
    texts.map((text) => text?.includes('Note: '))

  worldTest(
    'what a later edit made good is told nowhere [memory.failure.told] [memory.edit.retried]',
    async (world) => {
      failAfter(world, 0, { answer: { status: 422, body: {} } })
      const { commands, outputs, summary } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([
        expect.stringMatching(/writing the comment.* Fix the problem that GitHub reports\.$/),
      ])
      expect(notes([summary, world.comments()[0]])).toEqual([false, false])
      expect(JSON.stringify(world.github.writes())).not.toContain('Note: ')
    },
  )

  const REFUSED = { create: [{ status: 400, error: 'No' }] }
  test.each([
    ['a later run may not find the job', 0, {}, /date, and a later run may not find this run's/],
    ['not if it is stored', 1, {}, /may be out of date\. \w/],
    ['not if there is none', 0, REFUSED, /may be out of date\. \w/],
  ])('what was not made good is told in the summary: %s', (_, edits, scenario, says) =>
    inWorld({ emulator: { scenario } }, async (world) => {
      failAfter(world, edits, { ...ALWAYS, answer: FORBIDDEN })
      const { commands, summary } = await world.step(SCOPE)
      expect(commands('warning')).toEqual([expect.stringMatching(says)])
      expect(notes([summary, world.comments()[0]])).toEqual([true, false])
    }),
  )

  worldTest(
    'a note that another one follows is told with it [memory.edit.order] [memory.failure.told] [memory.edit.retried]',
    async (world) => {
      await world.step({ ...COMMENT, ...ANOTHER_KEY })
      world.github.faults.push({ method: 'GET', path: COMMENTS, times: 1, answer: BAD_GATEWAY })
      const { summary } = await world.step(COMMENT, run(201))
      expect([summary, world.comments()[1]].map((text) => text?.match(/^Note: .*/gm))).toEqual(
        Array(2).fill([expect.stringContaining("can't be verified")]),
      )
    },
  )
})

describe('what an earlier run stored [memory.later-run]', () => {
  worldTest('is replaced by a run with a lower number in its first attempt', async (world) => {
    await world.step({ ...SCOPE, wait: 'false' }, run(201))
    expectSent(await world.step(SCOPE, run(200)), 'message')
    expect(world.comments()).toEqual([expect.stringContaining('/actions/runs/200')])
  })

  worldTest(
    'is replaced by a re-run of an earlier run only if it has a new job [memory.later-run] [memory.run.continues]',
    async (world) => {
      await world.step(COMMENT, run(1000))
      const rerun = await world.step(COMMENT, run(999, 2))
      expectSent(rerun)
      expect(world.comments()).toEqual([expect.stringContaining('/actions/runs/999')])
      await world.step(COMMENT, run(1000, 2))
      const job = { prompt: 'More.', 'job-id': rerun.outputs['job-id'] ?? '' }
      await world.step({ ...COMMENT, ...job }, run(999, 3))
      expect(world.comments()).toEqual([expect.stringContaining('/actions/runs/1000')])
    },
  )

  worldTest(
    'is in the newer of two comments, if a run found none of too many to read, and said so [memory.one-comment]',
    async (world) => {
      const first = await world.step(SCOPE, run(200))
      const answer = { status: 200, headers: { link: 'rel="next"' }, body: [{}] }
      fail(world, { method: 'GET', path: COMMENTS, times: 50, answer })
      const { outputs, log } = await world.step(SCOPE, run(201))
      expect((first.log + log).match(/There are too many comments to read all/g)).toHaveLength(1)
      const third = await world.step(SCOPE, run(202))
      expect(third.outputs).toMatchObject({ sent: 'message', 'job-id': outputs['job-id'] })
      expect(markersIn(world.comments()).map(({ run }) => run)).toEqual(['200', '202'])
    },
  )

  worldTest(
    'is put back if its place was taken unanswered: nothing is sent [memory.nothing-sent]',
    async (world) => {
      const later = await world.step({ ...SCOPE, wait: 'false' }, run(201))
      world.loseJobs() // So that the re-run makes a new job.
      fail(world, { method: 'PATCH', answer: BAD_GATEWAY, takesEffect: true })
      const { outputs } = await world.step({ ...SCOPE, ...deadlineAfter(60_000) }, run(200, 2))
      expect(outputs['error-code']).toBe('github')
      expect(markersIn(world.comments())).toMatchObject([
        { run: '201', jobId: later.outputs['job-id'] },
      ])
    },
  )

  testsIn({ emulator: { scenario: { message: [{ status: 401, error: 'No' }] } } })(
    'stays if nothing is sent [memory.nothing-sent]',
    async (world) => {
      const first = await world.step({ ...SCOPE, wait: 'false' }, run(200))
      world.finishJobs()
      const refused = await world.step(SCOPE, run(201))
      expect(refused.outputs['error-code']).toBe('auth')
      // The state of run 200 is that of an unfinished job.
      const rerun = await world.step(SCOPE, run(200, 2))
      expect(rerun.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': first.outputs['job-id'],
      })
      expect(world.posts()).toHaveLength(2)
    },
  )
})

describe('an edit that would store the job [memory.edit.retried]', () => {
  slowTest('is repeated at the next heartbeat', async (world) => {
    world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
    world.github.faults.push({ method: 'PATCH', answer: secondaryLimit(120) })
    const { commands } = await world.step(SCOPE, {
      meanwhile: async ({ cancel }) => {
        await until(() => world.comments()[0]?.includes('Waiting for the docs job') === true)
        cancel()
      },
    })
    expect(commands('warning')).toEqual([
      expect.stringContaining("a later run may not find this run's docs job"),
    ])
  })

  worldTest.each<[string, Record<string, string>, Fault, limitMs: number]>([
    ['if it decides', SCOPE, { method: 'PATCH', answer: 'silence' }, 30_000],
    ['if it informs', COMMENT, { method: 'POST', answer: 'silence' }, 20_000],
    [
      'close to the deadline',
      { ...SCOPE, ...deadlineAfter(4_000) },
      { method: 'PATCH', answer: 'silence' },
      30_000,
    ],
    [
      'close to the deadline, if it informs',
      { ...COMMENT, ...deadlineAfter(4_000) },
      { method: 'POST', answer: 'silence' },
      20_000,
    ],
  ])('has its own time %s', async (world, _, inputs, fault, limitMs) => {
    // That of the placeholder.
    if (fault.method === 'PATCH') fail(world, { ...fault, answer: { delayMs: 1 }, times: 1 })
    fail(world, fault)
    const { milliseconds } = await world.step({ ...inputs, wait: 'false' })
    expect(milliseconds).toBeCloseTo(limitMs, -2)
  })

  worldTest.each([
    ['it', 1, { wait: 'false' }],
    ['the one with the end, which stores nothing new,', 2, {}],
  ])('has another try if %s gets no answer [github.time]', async (world, _, times, inputs) => {
    fail(world, { method: 'PATCH', answer: { delayMs: 1 }, times })
    fail(world, { method: 'PATCH', answer: 'silence', times: 1 })
    const { commands } = await world.step({ ...SCOPE, ...inputs })
    expect(commands('warning')).toEqual([])
    expect(world.comments()).toEqual([expect.stringMatching(/^(✅|🚀)/)])
  })

  worldTest('has no more time if there is no job to store', async (world) => {
    const { url } = await world.serve({ create: [{ status: 500, error: 'x' }] })
    fail(world, { method: 'PATCH', answer: { delayMs: 1 }, times: 1 })
    fail(world, { method: 'PATCH', answer: 'silence' })
    const { outputs, milliseconds } = await world.step({ ...SCOPE, 'base-url': url })
    expect(outputs['error-code']).toBe('create-unknown')
    expect(milliseconds).toBeCloseTo(20_000, -2)
  })

  worldTest(
    'that would store a message has as long as one of a job: the next run compares it [paid.push.unchanged]',
    async (world) => {
      const inputs = { ...SCOPE, context: 'event', wait: 'false' }
      await world.step(inputs)
      fail(world, { method: 'PATCH', answer: BAD_GATEWAY })
      const news = { ...inputs, prompt: 'What is new.' }
      const { outputs } = await world.step(news, {
        meanwhile: async () => {
          await sleep(14_000)
          world.github.faults.length = 0
        },
      })
      expect(outputs).toMatchObject({ outcome: 'started', sent: 'message' })
      expectSent(await world.step(news), 'nothing')
    },
  )

  worldTest('has its time also after a time-out: the next run finds it', async (world) => {
    await world.step(
      { ...SCOPE, ...deadlineAfter(3_000) },
      {
        meanwhile: async () => {
          await until(() => world.posts().length > 0)
          fail(world, { method: 'PATCH', answer: BAD_GATEWAY })
          await sleep(9_000)
          world.github.faults.length = 0
        },
      },
    )
    expectSent(await world.step({ ...SCOPE, wait: 'false' }), 'message')
    expect(world.posts()).toHaveLength(2)
  })

  testsIn({ emulator: { scenario: { message: [{ status: 422, error: 'ended' }] } } })(
    'is over before a placeholder is written [memory.edit.order]',
    async (world) => {
      await world.step(SCOPE)
      const written = world.github.writes().length
      fail(world, { method: 'PATCH', answer: { delayMs: 900 }, times: 1 })
      await world.step(SCOPE, {
        meanwhile: async () => {
          await until(() => world.posts().length > 1)
          await sleep(800)
          expect(world.github.writes()).toHaveLength(written + 1)
          await until(() => world.github.writes().length > written + 1)
        },
      })
    },
  )
})

worldTest.each([0, 1])(
  'a new comment that can not be edited is not created again, also after %d failed edits [memory.one-comment.no-twin]',
  async (world, times) => {
    const edit = { method: 'PATCH', path: /\/issues\/comments\// }
    if (times > 0) fail(world, { ...edit, answer: BAD_GATEWAY, times })
    fail(world, { ...edit, answer: { status: 404, body: {} }, times: 3 })
    await world.step(COMMENT)
    expect(world.comments()).toHaveLength(1)
  },
)

worldTest.each(['PATCH', 'POST'])(
  'a new comment is not created again if GitHub carries out its %s without an answer [memory.one-comment.no-twin]',
  async (world, method) => {
    fail(world, { method, answer: BAD_GATEWAY, takesEffect: true })
    await world.step(COMMENT)
    expect(world.comments()).toHaveLength(1)
  },
)

worldTest(
  'a comment that a gateway does not find is not created again [github.foreign]',
  async (world) => {
    await world.step(COMMENT)
    const page = {
      status: 404,
      headers: { 'content-type': 'text/html' },
      body: '<html>No such page',
    }
    fail(world, { method: 'PATCH', path: /\/issues\/comments\//, answer: page, times: 999 })
    await world.step(COMMENT)
    expect(world.comments()).toHaveLength(1)
  },
)

worldTest('a cancel during the last edits leaves them 3 s [cancel.first]', async (world) => {
  fail(world, { method: 'PATCH', path: /\/issues\/comments\//, answer: 'silence' })
  const { sinceSignalMs } = await world.step(COMMENT, {
    meanwhile: async ({ lines, cancel }) => {
      await until(() => lines.some((line) => line.startsWith('Finished after')))
      await sleep(100)
      cancel()
    },
  })
  expect(sinceSignalMs).toBe(3_000)
})

worldTest(
  'a note beside the last edits is no reason to try a failed one again [memory.edit.order] [memory.edit.retried]',
  async (world) => {
    await world.step({ ...COMMENT, ...ANOTHER_KEY, wait: 'false' })
    fail(world, { method: 'GET', path: COMMENTS, times: 1, answer: BAD_GATEWAY })
    fail(world, { method: 'POST', path: COMMENTS, answer: BAD_GATEWAY })
    const { summary } = await world.step({ ...COMMENT, wait: 'false' }, run(201))
    expect(summary).toContain("can't be verified")
    expect(world.github.writes().filter(({ status }) => status === 502)).toHaveLength(1)
  },
)

testsIn({ emulator: { scenario: { message: [{ status: 422, error: 'ended' }] } } })(
  'an edit without a response holds up the next request no longer than until the deadline [memory.edit.order] [memory.edit.retried] [report.advice.followed]',
  async (world) => {
    await world.step(SCOPE)
    fail(world, { method: 'PATCH', answer: 'silence' })
    // It looks at the docs job again before it replaces it.
    const deadlineMs = 3_500
    const { outputs, commands, milliseconds } = await world.step({
      ...SCOPE,
      ...deadlineAfter(deadlineMs),
    })
    expect(outputs['error-code']).toBe('github')
    expect(commands('error')[0]).toMatch(/GitHub: .* Raise timeout-minutes, or re-run later\./)
    expect(milliseconds).toBe(deadlineMs + 20_000)
    expect(world.posts().map((path) => path.endsWith('/message'))).toEqual([false, true])
  },
)
