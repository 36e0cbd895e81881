/** What the texts claim: only what the last answers said, and only advice that can help. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { marked } from 'marked'
import { internalError } from '../../src/errors.js'
import { type Ended, runAgainst, runStep } from '../support/action.js'
import { inWorld } from '../support/pull-request.js'
import { onPullRequest } from '../support/remembered.js'
import { active, completed, created, type Handler, job, json, startService } from '../support/service.js'
import { minutes, scaled, shortDeadline, until } from '../support/time.js'

const GO = { prompt: 'Go' }
const IS_RUNNING = /\bis (?:still )?running|still active|keeps running|\bis (?:still )?active/i

const decodeEntities = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

/** The annotation and the summary: what a reader sees at the end. */
const readAtEnd = ({ commands, summary }: Ended): string[] => [
  [...commands('error'), ...commands('notice')].join('\n'),
  decodeEntities(summary),
]

/** The time limit of a step that reaches it after a few polls. */
const soon = (): Record<string, string> => ({ 'timeout-minutes': minutes(1_500 + scaled(500)) })

describe('a job is said to run only if the last answer said so', () => {
  const unavailable = json(503, { error: 'upstream connect error' })

  test.concurrent('not after nothing but 503 since', async () => {
    const ended = await runAgainst({ posts: [created], polls: [active, unavailable] }, { ...GO, ...soon() })
    expect(ended.outputs).toMatchObject({ outcome: 'timed-out', status: 'active', 'job-id': 'job-1' })
    for (const text of readAtEnd(ended)) {
      expect(text).not.toMatch(IS_RUNNING)
      expect(text).toMatch(/last seen/i)
      expect(text).toContain('503')
    }
  })

  test.concurrent('not in the comment either', () =>
    onPullRequest({ posts: [created], polls: [active, unavailable] }, async ({ step, world }) => {
      const { outputs } = await step({ 'timeout-minutes': minutes(shortDeadline()) })
      expect(outputs.outcome).toBe('timed-out')
      const [comment = ''] = world.comments()
      expect(comment).not.toMatch(IS_RUNNING)
      expect(comment).toContain('503')
    }))

  test.concurrent('not after a cancel that follows a few 503', async () => {
    const ended = await runAgainst({ posts: [created], polls: [active, unavailable] }, GO, {
      meanwhile: async ({ signal }, service) => {
        await until(() => service.polls().length > 2)
        signal('SIGINT')
      },
    })
    expect(ended.outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
    for (const text of readAtEnd(ended)) {
      expect(text).not.toMatch(IS_RUNNING)
      expect(text).toMatch(/job-id: job-1/)
    }
  })

  test.concurrent('not with a status that is not in the list, which is named', async () => {
    const polls = [active, json(200, job({ status: 'paused-by-owner' }))]
    const ended = await runAgainst({ posts: [created], polls }, { ...GO, ...soon() })
    expect(ended.outputs).toMatchObject({ outcome: 'timed-out', status: 'active' })
    for (const text of readAtEnd(ended)) {
      expect(text).not.toMatch(IS_RUNNING)
      expect(text).toContain('paused-by-owner')
    }
  })

  test.concurrent('and it is, if the last one did', async () => {
    const ended = await runAgainst({ posts: [created], polls: [active] }, { ...GO, ...soon() })
    expect(ended.outputs).toMatchObject({ outcome: 'timed-out', status: 'active' })
    expect(readAtEnd(ended)[0]).toMatch(/running|active/i)
    expect(readAtEnd(ended)[0]).not.toMatch(/since then/i)
  })
})

describe('a process that was frozen over its deadline asks once more', () => {
  const timeoutMs = 2_000 + scaled(500)
  const frozen = async (last: Handler): Promise<Ended & { polls: number }> => {
    const inputs = { ...GO, 'poll-interval-seconds': '0.8', 'timeout-minutes': minutes(timeoutMs) }
    const { service, ...ended } = await runAgainst({ posts: [created], polls: [active, last] }, inputs, {
      meanwhile: async ({ signal, lines }, { polls }) => {
        await until(() => polls().length === 1 && lines.some((line) => /GET \S+ 200/.test(line)))
        signal('SIGSTOP')
        await sleep(timeoutMs)
        signal('SIGCONT')
      },
    })
    return { ...ended, polls: service.polls().length }
  }

  test.concurrent('and reports the job that has ended meanwhile', async () => {
    const { outputs, polls } = await frozen(completed)
    expect(polls).toBeGreaterThanOrEqual(2)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', status: 'completed' })
  })

  test.concurrent('and says what it knows if that gets no job', async () => {
    const ended = await frozen(json(503, { error: 'overloaded' }))
    expect(ended.polls).toBeGreaterThanOrEqual(2)
    expect(ended.outputs).toMatchObject({ outcome: 'timed-out', status: 'active' })
    expect(readAtEnd(ended)[0]).not.toMatch(IS_RUNNING)
    expect(readAtEnd(ended)[0]).toContain('503')
  })
})

describe('a 303 says that it is done', () => {
  const seeOther: Handler = (response) =>
    void response.writeHead(303, { location: 'http://127.0.0.1:1/jobs/1' }).end()
  const UNKNOWN = { outcome: 'error', 'error-code': 'create-unknown' }

  test.concurrent('to a create: a job may exist', async () => {
    const ended = await runAgainst({ posts: [seeOther] }, GO)
    expect(ended.outputs).toMatchObject(UNKNOWN)
    expect(ended.service.received).toHaveLength(1)
    expect(ended.commands('error')[0]).toMatch(/may exist/)
  })

  test.concurrent('to a message: it may have arrived', async () => {
    const ended = await runAgainst({ posts: [seeOther] }, { ...GO, 'job-id': 'job-1' })
    expect(ended.outputs).toMatchObject({ ...UNKNOWN, 'job-id': 'job-1' })
    expect(ended.service.received).toHaveLength(1)
  })

  test.concurrent('which the next run is told', () =>
    onPullRequest({ posts: [seeOther, created], polls: [completed] }, async ({ step, world }) => {
      await step()
      expect(world.comments()[0]).toMatch(/may exist/)
      const { commands } = await step()
      expect(commands('warning').join('\n')).toMatch(/may exist/)
    }))

  test.concurrent.each([301, 302, 307, 308])('unlike a %s, which sends nothing', async (status) => {
    const moved: Handler = (response) =>
      void response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
    const { outputs } = await runAgainst({ posts: [moved] }, GO)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'contract' })
  })
})

describe('a status request that is refused gets advice for a wait', () => {
  test.concurrent.each([400, 405, 409, 410, 423])('with %s', async (status) => {
    const polls = [active, json(status, { error: 'Not like this.' })]
    const ended = await runAgainst({ posts: [created], polls }, GO)
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'rejected', 'job-id': 'job-1' })
    for (const text of readAtEnd(ended)) {
      expect(text).toContain('Not like this.')
      expect(text).toMatch(/job-id: job-1/)
      expect(text).not.toMatch(/run it again|new job/i)
    }
  })
})

describe('the advice can help', () => {
  test.concurrent.each<[string, Record<string, string>, Handler]>([
    ['bad input', { wait: 'maybe' }, created],
    ['a refused create', {}, json(400, { error: 'The prompt is too vague.' })],
    ['a job without changes', {}, json(201, job({ status: 'completed' }))],
  ])('a re-run of the same workflow file is not advised: %s', async (_, inputs, answer) => {
    const { log, summary } = await runAgainst({ posts: [answer] }, { ...GO, ...inputs })
    expect(log).not.toMatch(/run it again/i)
    expect(summary).not.toMatch(/run it again/i)
  })

  test('after a failure of the action itself, the job is looked for first', () => {
    const { advice } = internalError(new TypeError('x is not a function'))
    expect(advice).not.toMatch(/^(?:re-?)?run (?:it )?again/i)
    expect(advice).toMatch(/dashboard/)
  })

  test.concurrent('an empty key is explained without a riddle', async () => {
    const ended = await runStep({ ...GO, 'api-key': '' })
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(ended.commands('error')[0]).toMatch(/secret/)
    expect(ended.log).not.toMatch(/a missing secret is empty/)
  })

  test.concurrent('a refused stranger is not told that there is nothing to do', () =>
    inWorld({}, async ({ runBundle: step }) => {
      const { outputs, log, summary } = await step(
        {},
        {
          event: 'issue_comment',
          payload: {
            action: 'created',
            issue: { number: 9, title: 'T' },
            comment: { user: { login: 'stranger' }, body: '/docs' },
            sender: { login: 'stranger' },
          },
        },
      )
      expect(outputs.outcome).toBe('skipped')
      expect(log + summary).not.toMatch(/nothing to do/i)
      expect(decodeEntities(summary)).toContain('allow-users')
    }))

  test.concurrent('what GitHub answers with 403 is not said to be missing', () =>
    inWorld({ github: { permissions: { pull_requests: 'read' } } }, async ({ runBundle: step, emulator }) => {
      const ended = await step({ 'job-scope': 'pull-request' })
      expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(emulator.requests).toEqual([])
      expect(ended.commands('error')[0]).toContain('pull-requests: write')
      expect(ended.log).not.toMatch(/if it exists/i)
    }))
})

describe('an input under a slip of its name', () => {
  test.concurrent.each([
    ['project_id', 'project-id', 'docs'],
    ['projectid', 'project-id', 'docs'],
    ['apikey', 'api-key', 'mint_slipped_0123456789'],
    ['api_key', 'api-key', 'mint_slipped_0123456789'],
  ])('is named, never with its value: %s', async (slip, input, value) => {
    const { outputs, commands, log, summary } = await runStep({ ...GO, [input]: '', [slip]: value })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(commands('error')).toHaveLength(1)
    expect(commands('error')[0]).toMatch(new RegExp(`^${input}:.*\\b${slip}\\b`, 'im'))
    expect(decodeEntities(summary)).toMatch(new RegExp(`\\b${slip}\\b`, 'i'))
    if (value.startsWith('mint_')) expect(log + summary).not.toContain(value)
  })

  test.concurrent('is nothing to speak of if the input is there', async () => {
    const service = await startService({ posts: [created], polls: [completed] })
    const ended = await runStep({
      ...{ ...GO, project_id: 'other', 'base-url': service.url, 'poll-interval-seconds': '0.1' },
    }).finally(service.close)
    expect(ended.outputs.outcome).toBe('pr-opened')
    expect(service.posts()[0]?.path).toContain('/docs/')
  })
})

describe('the summary of an error', () => {
  const WORDS = 'Insufficient credits'
  const render = async (answer: Handler): Promise<string> => {
    const { summary } = await runAgainst({ posts: [created], polls: [answer] }, GO)
    return marked.parse(summary)
  }

  test.concurrent('has tight lists', async () => {
    const html = await render(json(400, { error: WORDS }))
    expect(html).toContain('<li>')
    expect(html).not.toMatch(/<li>\s*<p>/)
  })

  test.concurrent('has no sentence of its own in code font', async () => {
    const html = await render(json(400, { error: WORDS }))
    const codes = [...html.matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) => decodeEntities(code))
    expect(html).toContain(WORDS)
    expect(codes.filter((code) => /\b(?:the|a|is|was|of)\b/i.test(code.replace(WORDS, '')))).toEqual([])
  })

  test.concurrent('of bad input neither', async () => {
    const { summary } = await runStep({ prompt: '', wait: 'maybe' })
    const html = await marked.parse(summary)
    const codes = [...html.matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) => decodeEntities(code))
    expect(codes.filter((code) => /\b(?:the|a|is|was|of|expected)\b/i.test(code))).toEqual([])
    expect(html).not.toMatch(/<li>\s*<p>/)
  })
})
