/** Hostile texts cost little, and hide nothing. */

import { describe, expect, test } from '@jest/globals'
import { readFacts } from '../../src/context/trigger.js'
import { createMarker, deriveMarkerKey, readMarker } from '../../src/memory/marker.js'
import { createRedactor } from '../../src/redact.js'
import { scaled } from '../support/time.js'

describe('of several markers in a text', () => {
  const KEY = deriveMarkerKey('mint_key')
  const IDENTITY = {
    repository: 'your-org/your-repo',
    place: '7',
    workflow: 'your-org/your-repo/.github/workflows/docs.yml',
    job: 'docs',
    step: 'agent',
    project: 'p-1',
    jobKey: '',
  }
  const STATE = { jobId: 'job-1', link: '', run: '100', attempt: 1, state: 'active' }
  const ID = 5_000_000_001
  const own = createMarker(STATE, ID, IDENTITY, KEY)
  const copy = createMarker({ ...STATE, jobId: 'job-2' }, ID + 1, IDENTITY, KEY)

  test('the last one counts', () => {
    expect(readMarker(`${copy}\n${own}`, ID, IDENTITY, KEY)).toEqual(STATE)
    expect(readMarker(`Text\n${own}\n`, ID, IDENTITY, KEY)).toEqual(STATE)
  })

  test('no other counts', () => {
    expect(readMarker(`${own}\n${copy}`, ID, IDENTITY, KEY)).toBe('unverified')
  })

  test('600 copies in each of 200 comments are read in a moment', () => {
    const body = copy.repeat(600).slice(0, 65_536)
    const startedAt = performance.now()
    for (let nth = 0; nth < 200; nth++) readMarker(body, ID, IDENTITY, KEY)
    expect(performance.now() - startedAt).toBeLessThan(scaled(400))
  })
})

describe('a payload of any depth', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

  test.each([4_000, 6_000])('%s levels are said to be too deep', (depth) => {
    const facts = readFacts('repository_dispatch', { action: 'docs', client_payload: nested(depth) })
    const value = facts.find(({ name }) => name === 'payload')?.value ?? ''
    expect(value.length).toBeLessThan(10_000) // First: a longer one would take long to print.
    expect(value).toMatch(/deep/i)
  })

  test('24 kB do not become megabytes by indentation', () => {
    const text = JSON.stringify(readFacts('repository_dispatch', { client_payload: nested(2_500) }))
    expect(text.length).toBeLessThan(200_000)
  })

  test('usual ones are told as they are', () => {
    const facts = readFacts('repository_dispatch', { client_payload: { a: { b: { c: ['d', { e: 1 }] } } } })
    expect(JSON.parse(facts.find(({ name }) => name === 'payload')?.value ?? '')).toEqual({
      a: { b: { c: ['d', { e: 1 }] } },
    })
  })
})

describe('a key with quotes and backslashes', () => {
  const KEY = 'mint_a"b\\c"d\\\\e"0123456789'
  const escaped = (levels: number): string => {
    let text = KEY
    for (let level = 0; level < levels; level++) text = JSON.stringify({ text })
    return text
  }

  test.each([0, 1, 2, 3])('is found after it was escaped as JSON %s times', (levels) => {
    const redacted = createRedactor(KEY)(`before ${escaped(levels)} after`)
    expect(redacted).toContain('***')
    expect(redacted).not.toContain('0123456789')
    expect(redacted).toMatch(/^before .* after$/)
  })
})
