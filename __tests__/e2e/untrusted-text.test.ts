/**
 * Untrusted text: what the service sends runs no workflow command, breaks no file, adds no markup
 * and shows no key.
 */

import { expect, test } from '@jest/globals'
import { createAgentService } from '../../src/agent/client.js'
import { createDeadline } from '../../src/net/deadline.js'
import * as runner from '../../src/runner.js'
import { type Ended, KEY, runAgainst } from '../support/action.js'
import { active, created, job, json, type Script, startService } from '../support/service.js'
import { OUTPUT_NAMES } from '../unit/scripted-run.js'

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

const redirect = (location: string): Script => ({ posts: [json(302, '', { location })] })
/** A job of which each poll that gets one of these is retried, and the last one ends it. */
const jobWith = (
  fields: Record<string, unknown>,
  ...retried: readonly [number, unknown][]
): Script => ({
  posts: [created],
  polls: [
    ...retried.flatMap(([status, body]) => [json(status, body), active]),
    json(200, job({ status: 'completed', ...fields })),
  ],
})

/**
 * Runs a step, and checks that it wrote each line itself: a workflow command that it uses, or a
 * sentence of its own.
 */
async function run(script: Script, inputs: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const { service: _, ...ended } = await runAgainst(script, { prompt: 'Go', ...inputs })
  for (const line of ended.log.split('\n')) {
    expect(line).toMatch(/^$|^::(?:notice|warning|error|debug)(?: [^:]*)?::|^[A-Z][a-z]/)
    expect(line).not.toMatch(/##\[|[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
    if (!line.startsWith('::debug::')) expect(line).not.toMatch(/^\s*at |node_modules|\.js:\d/)
  }
  return ended
}

/** The summary without its code spans. */
function markupOf(summary: string): string {
  return summary.replace(/<code>[^<`]*<\/code>/g, '').replace(/`[^`\n]*`/g, '')
}

test('no part of a response reaches the redactor uncut [secret.redacted] [text.cheap]', async () => {
  const long = '\\u0026'.repeat(70_000)
  const lengths: number[] = []
  const service = await startService({
    posts: [
      json(200, job({ status: long, prLink: long })),
      json(400, { error: long }),
      json(400, long),
    ],
  })
  const clock = { ...runner.clock, sleep: () => new Promise<void>(() => undefined) }
  const client = createAgentService({
    baseUrl: service.url,
    projectId: 'docs',
    apiKey: KEY,
    redact: (text) => {
      lengths.push(text.length)
      return text
    },
    deadline: createDeadline(Number.POSITIVE_INFINITY, new AbortController().signal, clock),
    network: runner.readNetworkSettings(),
    clock,
    debug: () => undefined,
  })
  for (let posts = 0; posts < 3; posts++) await client.submit({ kind: 'create' }, 'Go')
  client.close()
  await service.close()
  expect(lengths.length).toBeGreaterThanOrEqual(3)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(64 * 1024)
})

// `runStep` checks that no output, line or summary has the key in any form, and that the status is
// a documented one.
const TEXT = `${ECHO}\n${EVIL}`
test.concurrent.each<[string, Script, outcome: string, code: string]>([
  ['a refused create', { posts: [json(401, { error: TEXT })] }, 'error', 'auth'],
  ['a failed create', { posts: [json(500, { error: TEXT })] }, 'error', 'create-unknown'],
  ['a page of HTML', { posts: [json(502, `<p>${TEXT}</p>`)] }, 'error', 'create-unknown'],
  ['a create without a job', { posts: [json(200, { error: TEXT })] }, 'error', 'contract'],
  [
    'a redirect',
    redirect(`https://x.example/?${encodeURIComponent(TEXT)}##[error]`),
    'error',
    'contract',
  ],
  [
    'an id',
    { posts: [json(201, job({ id: EVIL.replace(/[\p{Cc}]/gu, '') }))] },
    'error',
    'contract',
  ],
  ['an id with the key', { posts: [json(201, job({ id: `job-${KEY}` }))] }, 'error', 'contract'],
  ['a refused poll', { posts: [created], polls: [json(403, { error: TEXT })] }, 'error', 'auth'],
  [
    'polls, a status, a link and any field',
    jobWith(
      { prLink: EVIL, [EVIL]: EVIL, source: EVIL },
      [503, { error: TEXT }],
      [200, { message: TEXT }],
      [200, job({ status: EVIL })],
      [200, job({ status: ECHO })],
      [200, job({ status: 'x'.repeat(70) + KEY })],
    ),
    'no-changes',
    '',
  ],
  [
    'a redirect that is cut off',
    redirect(`https://x.example/${'x'.repeat(160)}${KEY}`),
    'error',
    'contract',
  ],
  [
    'a text that is cut off',
    { posts: [json(400, { error: 'x'.repeat(480) + ECHO })] },
    'error',
    'rejected',
  ],
  [
    'the details of an error',
    { posts: [json(422, { error: 'No', details: [{ [EVIL]: TEXT, message: `a${ECHO}` }] })] },
    'error',
    'rejected',
  ],
  [
    'a link with the key, encoded',
    jobWith({ prLink: `https://evil.example/${ENCODED}` }),
    'no-changes',
    '',
  ],
])(
  'text of the service in %s stays text, and shows no key [text.command] [secret.redacted]',
  async (_, script, outcome, code) => {
    const ended = await run(script)
    const { summary, outputs, commands } = ended
    expect(markupOf(summary)).not.toMatch(
      /<(?!https?:\/\/[\w./:-]+>)|javascript|evil|octocat|\u202e/,
    )
    expect(outputs).toMatchObject({ outcome, 'error-code': code, 'pr-link': '' })
    expect(Object.keys(outputs).sort()).toEqual([...OUTPUT_NAMES].sort())
    expect(commands('set-output')).toEqual([])
    const everything = JSON.stringify(ended)
    for (const form of [ENCODED, ENCODED.toUpperCase(), ESCAPED.slice(0, 30), KEY.slice(0, 12)]) {
      expect(everything.includes(form)).toBe(false)
    }
  },
)

test.concurrent('the ID of a request is in a debug line, unless it is more than an ID [report.log.lines]', async () => {
  const UUID = '0198c0de-0000-7000-8000-0123456789ab'
  const posts = [
    json(429, {}, { 'x-request-id': `req-${KEY}`, 'retry-after': '0' }),
    json(429, {}, { 'x-request-id': '##[error] pwned', 'retry-after': '0' }),
    json(429, {}, { 'x-request-id': UUID, 'cf-ray': '1', 'retry-after': '0' }),
    json(401, {}, { 'cf-ray': '8f3a1b2c4d5e6f70-FRA' }),
  ]
  const { log } = await run({ posts }, { RUNNER_DEBUG: '1' })
  const lines = log.match(/(?<=^::debug::POST \S+ )\d+(?: \(.+?\))?/gm)
  expect(lines).toEqual(['429', '429', `429 (${UUID})`, '401 (8f3a1b2c4d5e6f70-FRA)'])
})

test.concurrent('the key is shown nowhere if it is part of the id [secret.redacted]', async () => {
  const key = 'mint_0123456789abcdef'
  const id = `job-${key}`
  const script = {
    posts: [json(201, job({ id }))],
    polls: [json(200, job({ id, status: 'completed' }))],
  }
  const ended = await run(script, { 'api-key': key })
  expect(ended.outputs).toMatchObject({ 'job-id': 'job-***', outcome: 'no-changes' })
  expect(JSON.stringify(ended)).not.toContain(key)
})

test.concurrent('no part of the key is in a link that loses its query [secret.redacted]', async () => {
  const key = 'mint_0123456789abcdef?{0123456789abcdef}'
  const ended = await run(jobWith({ prLink: `https://evil.example/${key}` }), { 'api-key': key })
  expect(ended.outputs).toMatchObject({ 'pr-link': '', outcome: 'no-changes' })
  expect(JSON.stringify(ended)).not.toContain('mint_')
})
