/** Untrusted text: what the service sends runs no workflow command, breaks no file, adds no markup and shows no key. */

import { describe, expect, test } from '@jest/globals'
import { type Ended, KEY, runAgainst } from '../support/action.js'
import { active, completed, created, job, json, type Script } from '../support/service.js'

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
const jobWith = (fields: Record<string, unknown>, ...retried: readonly [number, unknown][]): Script => ({
  posts: [created],
  polls: [
    ...retried.flatMap(([status, body]) => [json(status, body), active]),
    json(200, job({ status: 'completed', ...fields })),
  ],
})

/** Runs a step, and checks that it wrote each line itself: a workflow command that it uses, or a sentence of its own. */
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

describe('text of the service', () => {
  test.concurrent.each<[string, Script, string, string]>([
    ['a refused create', { posts: [json(400, { error: EVIL })] }, 'error', 'rejected'],
    ['a failed create', { posts: [json(500, { error: EVIL })] }, 'error', 'create-unknown'],
    ['a page of HTML', { posts: [json(502, EVIL)] }, 'error', 'create-unknown'],
    ['a create without a job', { posts: [json(200, { error: EVIL })] }, 'error', 'contract'],
    ['a redirect', redirect(`https://x.example/${encodeURIComponent(EVIL)}##[error]`), 'error', 'contract'],
    ['an id', { posts: [json(201, job({ id: EVIL.replace(/[\p{Cc}]/gu, '') }))] }, 'error', 'contract'],
    ['a refused poll', { posts: [created], polls: [json(403, { error: EVIL })] }, 'error', 'auth'],
    ['polls without a job', { posts: [created], polls: [json(200, { message: EVIL })] }, 'error', 'contract'],
    [
      'polls, a status, a link and any field',
      jobWith(
        { prLink: EVIL, [EVIL]: EVIL, source: EVIL },
        [503, { error: EVIL }],
        [200, { message: EVIL }],
        [200, job({ status: EVIL })],
      ),
      'no-changes',
      '',
    ],
  ])('in %s stays text', async (_, script, outcome, code) => {
    const { summary, outputs, commands } = await run(script)
    expect(markupOf(summary)).not.toMatch(/<(?!https?:\/\/[\w./:-]+>)|javascript|evil|octocat|\u202e/)
    expect(outputs).toMatchObject({ outcome, 'error-code': code })
    expect(outputs['pr-link']).toBe('')
    expect(Object.keys(outputs)).toHaveLength(10)
    expect(commands('set-output')).toEqual([])
  })
})

describe('the key in a response', () => {
  // `runStep` checks that no output, line or summary has the key in any form.
  test.concurrent.each<[string, Script]>([
    ['a refused create', { posts: [json(401, { error: ECHO })] }],
    ['a refused create that is truncated', { posts: [json(400, { error: 'x'.repeat(990) + ECHO })] }],
    ['a page of HTML', { posts: [json(502, `<p>${ECHO}</p>`)] }],
    ['a redirect', redirect(`https://evil.example/?${encodeURIComponent(KEY)}`)],
    ['an id', { posts: [json(201, job({ id: `job-${KEY}` }))] }],
    [
      'polls, a status and a link',
      jobWith(
        { prLink: `https://evil.example/${KEY}` },
        [200, ECHO],
        [503, { error: ECHO }],
        [200, job({ status: ECHO })],
        [200, job({ status: 'x'.repeat(70) + KEY })],
      ),
    ],
    ['a link, encoded', jobWith({ prLink: `https://evil.example/${ENCODED}` })],
  ])('of %s is shown nowhere', async (_, script) => {
    const ended = await run(script)
    expect(ended.outputs['pr-link']).toBe('')
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
})

describe('the output job', () => {
  test.concurrent('has fields that the action does not know, without the key, and stays JSON', async () => {
    const added = { new: { __proto__: null, list: [1, null, 'é'] } }
    const secret = { [`k-${KEY}`]: { deep: [`a ${KEY} b`, `%${KEY}`] } }
    const { outputs } = await run(jobWith({ ...added, ...secret }))
    expect(JSON.parse(outputs.job ?? '')).toEqual(
      job({ status: 'completed', ...added, 'k-***': { deep: ['a *** b', '%***'] } }),
    )
  })

  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  test.concurrent.each([
    ['over 256 KiB', job({ status: 'completed', more: 'é'.repeat(128 * 1024) })],
    ['if it is nested too deep', `{"id":"job-1","status":"completed","x":${deep}}`],
  ])('is left out %s', async (_, poll) => {
    const { outputs } = await run({ posts: [created], polls: [json(200, poll)] })
    expect(outputs).toMatchObject({ job: '', outcome: 'no-changes', status: 'completed' })
  })
})

test.concurrent('a status that is not documented is no output', async () => {
  const { outputs } = await run({ posts: [json(201, job({ status: 'queued' }))] }, { wait: 'false' })
  expect(outputs).toMatchObject({ outcome: 'started', status: '' })
})

test.concurrent('a status that is another one in each poll fills neither the log nor the summary', async () => {
  const statuses = Array.from({ length: 60 }, (_, nth) =>
    json(200, job(nth % 2 ? {} : { status: `word-${nth}` })),
  )
  const { commands, summary, outputs } = await run({ posts: [created], polls: [...statuses, completed] })
  expect(commands('warning')).toHaveLength(1)
  expect(summary.split('\n').length).toBeLessThan(50)
  expect(outputs.outcome).toBe('pr-opened')
})
