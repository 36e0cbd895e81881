/** A hostile service: its texts start no workflow command, break no file, put no markup anywhere, and show no key. */

import { describe, expect, test } from '@jest/globals'
import { act, KEY } from '../support/action.js'
import { completed, created, job, json, type Script, startService } from '../support/service.js'

const EVIL = [
  '::error::pwned',
  '\n::add-mask::o\r::set-output name=outcome::pr-opened\r\n##[error]pwned ##[add-path]/tmp',
  '\nghadelimiter_0\nEOF\noutcome=pr-opened\n',
  '<script>alert(1)</script><img src=x onerror=alert(1)>[click](javascript:alert(1)) `x` | y | @octocat #1 https://evil.example',
  '\u202e\u2028\u001b[31m',
].join('')

const ENCODED = [...KEY].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('')
const ESCAPED = [...KEY]
  .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  .join('')
const ECHO = `Bearer ${KEY} ${encodeURIComponent(KEY)} ${ENCODED} ${ENCODED.toUpperCase()} ${ESCAPED}`

async function run(script: Script, inputs: Record<string, string> = {}) {
  const service = await startService(script)
  const ended = await act({
    'base-url': service.url,
    prompt: 'Go',
    'poll-interval-seconds': '0.1',
    'timeout-minutes': '0.05',
    ...inputs,
  }).finally(service.close)
  return ended
}

/** Each line is one that the action wrote: a sentence of its own, or a command with what it means. */
function expectOwnLines(log: string): void {
  for (const line of log.split('\n')) {
    expect(line).toMatch(
      /^$|^::(?:notice|warning|error|debug)(?: [^:]*)?::|^(?:Creating|Job|No state|The service|Ended|Looking|Sending|The last) ?/,
    )
    expect(line).not.toMatch(/##\[|[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
  }
}

/** What is outside of code in the summary, links and table bars aside. */
function markupOf(summary: string): string {
  return summary.replace(/<code>[^<`]*<\/code>/g, '').replace(/`[^`\n]*`/g, '')
}

describe('words of the service', () => {
  test.concurrent.each([
    ['a refused create', { posts: [json(400, { error: EVIL })] }],
    ['a failed create', { posts: [json(500, { error: EVIL })] }],
    ['a page of HTML', { posts: [json(502, EVIL)] }],
    ['a create without a job', { posts: [json(200, { error: EVIL })] }],
    [
      'a redirect',
      { posts: [json(302, '', { location: `https://evil.example/${encodeURIComponent(EVIL)}##[error]` })] },
    ],
    ['a refused look', { posts: [created], looks: [json(403, { error: EVIL })] }],
    ['a look without a job', { posts: [created], looks: [json(200, { message: EVIL })] }],
    ['a failing look', { posts: [created], looks: [json(503, { error: EVIL })] }],
    ['a status', { posts: [created], looks: [json(200, job({ status: EVIL })), completed] }],
    ['a link', { posts: [created], looks: [json(200, job({ status: 'completed', prLink: EVIL }))] }],
    [
      'any field',
      {
        posts: [created],
        looks: [json(200, { ...job({ status: 'completed' }), [EVIL]: EVIL, source: EVIL })],
      },
    ],
    ['an id', { posts: [json(201, job({ id: EVIL.replace(/[\p{Cc}]/gu, '') }))], looks: [completed] }],
  ])('in %s stay words', async (_, script) => {
    const { log, summary, outputs, commands } = await run(script)
    expectOwnLines(log)
    expect(markupOf(summary)).not.toMatch(/<(?!https?:\/\/[\w./:-]+>)|javascript|evil|octocat|\u202e/)
    expect(outputs.outcome).toMatch(/^(?:error|pr-opened|no-changes|timed-out)$/)
    expect(Object.keys(outputs)).toHaveLength(10)
    expect(commands('set-output')).toEqual([])
  })
})

describe('the key in an answer', () => {
  // `act` holds every output, line and summary to not showing the key in any form.
  test.concurrent.each([
    ['a refused create', { posts: [json(401, { error: ECHO })] }],
    ['a failed create', { posts: [json(500, { error: ECHO })] }],
    ['a refused create, where the text is cut', { posts: [json(400, { error: 'x'.repeat(990) + ECHO })] }],
    ['a page of HTML', { posts: [json(502, `<p>${ECHO}</p>`)] }],
    [
      'a redirect',
      { posts: [json(307, '', { location: `https://evil.example/?${encodeURIComponent(KEY)}` })] },
    ],
    ['an id', { posts: [json(201, job({ id: `job-${KEY}` }))], looks: [completed] }],
    ['a status', { posts: [created], looks: [json(200, job({ status: ECHO })), completed] }],
    [
      'a status, where it is cut',
      { posts: [created], looks: [json(200, job({ status: 'x'.repeat(70) + KEY })), completed] },
    ],
    [
      'a link',
      {
        posts: [created],
        looks: [json(200, job({ status: 'completed', prLink: `https://evil.example/${KEY}` }))],
      },
    ],
    [
      'a link, encoded',
      {
        posts: [created],
        looks: [json(200, job({ status: 'completed', prLink: `https://evil.example/${ENCODED}` }))],
      },
    ],
    ['a look without a job', { posts: [created], looks: [json(200, ECHO)] }],
  ])('of %s is shown nowhere', async (where, script) => {
    const ended = await run(script)
    if (where.startsWith('a link')) expect(ended.outputs['pr-link']).toBe('')
    const everything = JSON.stringify(ended)
    for (const form of [ENCODED, ENCODED.toUpperCase(), ESCAPED.slice(0, 30), KEY.slice(0, 12)]) {
      expect(everything.includes(form)).toBe(false)
    }
  })

  test.concurrent('is replaced in the output job, which stays JSON', async () => {
    const look = job({ status: 'completed', [`k-${KEY}`]: { deep: [`a ${KEY} b`, `%${KEY}`] } })
    const { outputs } = await run({ posts: [created], looks: [json(200, look)] })
    expect(JSON.parse(outputs.job ?? '')).toEqual(
      job({ status: 'completed', 'k-***': { deep: ['a *** b', '%***'] } }),
    )
  })
})

describe('the output job', () => {
  test.concurrent('is left out over 256 KiB', async () => {
    const look = job({ status: 'completed', more: 'é'.repeat(128 * 1024) })
    const { outputs } = await run({ posts: [created], looks: [json(200, look)] })
    expect(outputs).toMatchObject({ job: '', outcome: 'no-changes', status: 'completed' })
  })

  test.concurrent('is left out where it is nested too deep, or not JSON any more', async () => {
    const deep = `{"id":"job-1","status":"completed","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const { outputs } = await run({ posts: [created], looks: [json(200, deep)] })
    expect(outputs).toMatchObject({ job: '', outcome: 'no-changes', status: 'completed' })
  })

  test.concurrent('keeps what it does not know', async () => {
    const look = job({ status: 'completed', new: { __proto__: null, list: [1, null, 'é'] } })
    const { outputs } = await run({ posts: [created], looks: [json(200, look)] })
    expect(JSON.parse(outputs.job ?? '')).toEqual(look)
  })
})

test.concurrent('a service that changes its mind at every look fills neither the log nor the summary', async () => {
  const looks = Array.from({ length: 1000 }, (_, nth) =>
    json(200, job(nth % 2 ? {} : { status: `word-${nth}` })),
  )
  const { commands, summary, outputs } = await run({ posts: [created], looks }, { 'timeout-minutes': '0.1' })
  expect(commands('warning')).toHaveLength(1)
  expect(summary.split('\n').length).toBeLessThan(50)
  expect(outputs).toMatchObject({ outcome: 'timed-out', status: 'active' })
})

test.concurrent('a fault says nothing of the code it came from, except in debug lines', async () => {
  const { log } = await run({ posts: [json(500, '')] })
  expect(
    log
      .split('\n')
      .filter((line) => /^\s*at |node_modules|\.js:\d/.test(line) && !line.startsWith('::debug::')),
  ).toEqual([])
})
