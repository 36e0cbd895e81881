/** Untrusted text: what the service sends runs no workflow command, breaks no file, adds no markup and shows no key. */

import { describe, expect, test } from '@jest/globals'
import { type Ended, KEY, runAgainst } from '../support/action.js'
import { completed, created, job, json, type Script } from '../support/service.js'

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

async function run(script: Script, inputs: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const { service: _, ...ended } = await runAgainst(script, { prompt: 'Go', ...inputs })
  return ended
}

/** The action wrote each line: either a workflow command that it uses, or a sentence of its own. */
function expectOwnLines(log: string): void {
  for (const line of log.split('\n')) {
    expect(line).toMatch(/^$|^::(?:notice|warning|error|debug)(?: [^:]*)?::|^[A-Z][a-z]/)
    expect(line).not.toMatch(/##\[|[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
  }
}

/** The summary without its code spans. */
function markupOf(summary: string): string {
  return summary.replace(/<code>[^<`]*<\/code>/g, '').replace(/`[^`\n]*`/g, '')
}

describe('text of the service', () => {
  test.concurrent.each([
    ['a refused create', { posts: [json(400, { error: EVIL })] }],
    ['a failed create', { posts: [json(500, { error: EVIL })] }],
    ['a page of HTML', { posts: [json(502, EVIL)] }],
    ['a create without a job', { posts: [json(200, { error: EVIL })] }],
    [
      'a redirect',
      { posts: [json(302, '', { location: `https://evil.example/${encodeURIComponent(EVIL)}##[error]` })] },
    ],
    ['a refused poll', { posts: [created], polls: [json(403, { error: EVIL })] }],
    ['a poll without a job', { posts: [created], polls: [json(200, { message: EVIL })] }],
    ['a failed poll', { posts: [created], polls: [json(503, { error: EVIL }), completed] }],
    ['a status', { posts: [created], polls: [json(200, job({ status: EVIL })), completed] }],
    ['a link', { posts: [created], polls: [json(200, job({ status: 'completed', prLink: EVIL }))] }],
    [
      'any field',
      {
        posts: [created],
        polls: [json(200, { ...job({ status: 'completed' }), [EVIL]: EVIL, source: EVIL })],
      },
    ],
    ['an id', { posts: [json(201, job({ id: EVIL.replace(/[\p{Cc}]/gu, '') }))], polls: [completed] }],
  ])('in %s stays text', async (where, script) => {
    const { log, summary, outputs, commands } = await run(script)
    expectOwnLines(log)
    expect(markupOf(summary)).not.toMatch(/<(?!https?:\/\/[\w./:-]+>)|javascript|evil|octocat|\u202e/)
    expect(outputs.outcome).toMatch(/^(?:error|pr-opened|no-changes)$/)
    if (where === 'a link') expect(outputs['pr-link']).toBe('')
    expect(Object.keys(outputs)).toHaveLength(10)
    expect(commands('set-output')).toEqual([])
  })
})

describe('the key in a response', () => {
  // `runStep` checks that no output, line or summary has the key in any form.
  const withLink = (prLink: string): Script => ({
    posts: [created],
    polls: [json(200, job({ status: 'completed', prLink }))],
  })
  test.concurrent.each([
    ['a refused create', { posts: [json(401, { error: ECHO })] }],
    ['a failed create', { posts: [json(500, { error: ECHO })] }],
    [
      'a refused create, where the text is truncated',
      { posts: [json(400, { error: 'x'.repeat(990) + ECHO })] },
    ],
    ['a page of HTML', { posts: [json(502, `<p>${ECHO}</p>`)] }],
    [
      'a redirect',
      { posts: [json(307, '', { location: `https://evil.example/?${encodeURIComponent(KEY)}` })] },
    ],
    ['an id', { posts: [json(201, job({ id: `job-${KEY}` }))], polls: [completed] }],
    ['a status', { posts: [created], polls: [json(200, job({ status: ECHO })), completed] }],
    [
      'a status, where it is truncated',
      { posts: [created], polls: [json(200, job({ status: 'x'.repeat(70) + KEY })), completed] },
    ],
    ['a link', withLink(`https://evil.example/${KEY}`)],
    ['a link, encoded', withLink(`https://evil.example/${ENCODED}`)],
    ['a poll without a job', { posts: [created], polls: [json(200, ECHO)] }],
  ])('of %s is shown nowhere', async (where, script) => {
    const ended = await run(script)
    if (where.startsWith('a link')) expect(ended.outputs['pr-link']).toBe('')
    const everything = JSON.stringify(ended)
    for (const form of [ENCODED, ENCODED.toUpperCase(), ESCAPED.slice(0, 30), KEY.slice(0, 12)]) {
      expect(everything.includes(form)).toBe(false)
    }
  })

  test.concurrent('is shown nowhere if it is part of the id', async () => {
    const key = 'mint_0123456789abcdef'
    const id = `job-${key}`
    const script = { posts: [json(201, job({ id }))], polls: [json(200, job({ id, status: 'completed' }))] }
    const ended = await run(script, { 'api-key': key })
    expect(ended.outputs).toMatchObject({ 'job-id': 'job-***', outcome: 'no-changes' })
    expect(JSON.stringify(ended)).not.toContain(key)
  })

  test.concurrent('is replaced in the output job, which stays JSON', async () => {
    const poll = job({ status: 'completed', [`k-${KEY}`]: { deep: [`a ${KEY} b`, `%${KEY}`] } })
    const { outputs } = await run({ posts: [created], polls: [json(200, poll)] })
    expect(JSON.parse(outputs.job ?? '')).toEqual(
      job({ status: 'completed', 'k-***': { deep: ['a *** b', '%***'] } }),
    )
  })
})

describe('the output job', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

  test.concurrent.each([
    ['over 256 KiB', job({ status: 'completed', more: 'é'.repeat(128 * 1024) })],
    ['if it is nested too deep', `{"id":"job-1","status":"completed","x":${deep}}`],
  ])('is left out %s', async (_, poll) => {
    const { outputs } = await run({ posts: [created], polls: [json(200, poll)] })
    expect(outputs).toMatchObject({ job: '', outcome: 'no-changes', status: 'completed' })
  })

  test.concurrent('keeps fields that the action does not know', async () => {
    const poll = job({ status: 'completed', new: { __proto__: null, list: [1, null, 'é'] } })
    const { outputs } = await run({ posts: [created], polls: [json(200, poll)] })
    expect(JSON.parse(outputs.job ?? '')).toEqual(poll)
  })
})

test.concurrent('a status that is another one in each poll fills neither the log nor the summary', async () => {
  const polls = Array.from({ length: 60 }, (_, nth) =>
    json(200, job(nth % 2 ? {} : { status: `word-${nth}` })),
  )
  const { commands, summary, outputs } = await run({ posts: [created], polls: [...polls, completed] })
  expect(commands('warning')).toHaveLength(1)
  expect(summary.split('\n').length).toBeLessThan(50)
  expect(outputs.outcome).toBe('pr-opened')
})

test.concurrent('an error shows nothing of the code that it comes from, except in debug lines', async () => {
  const { log } = await run({ posts: [json(500, '')] })
  const lines = log.split('\n').filter((line) => !line.startsWith('::debug::'))
  expect(lines.filter((line) => /^\s*at |node_modules|\.js:\d/.test(line))).toEqual([])
})
