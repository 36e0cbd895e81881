// The job: what its statuses mean for the step, which ids and links are accepted, and what a link
// contains.
import { describe, expect, test } from '@jest/globals'
import {
  DEFAULT_FAIL_ON,
  FAIL_ON,
  failsStep,
  isFinal,
  isStatus,
  OUTCOMES,
  outcomeOf,
  parsePullRequest,
  STATUSES,
} from '../../src/agent/job.js'
import { isId, safeLink } from '../../src/text/safe.js'

const WORD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

describe('a status [output.outcome]', () => {
  test('is named like no other outcome', () => {
    expect(OUTCOMES).toEqual([...new Set(OUTCOMES)])
  })

  test('is a documented word [output.status]', () => {
    expect(STATUSES.every(isStatus)).toBe(true)
    for (const word of ['', 'Active', 'queued', 'active ', 'toString', 'length', '__proto__'])
      expect(isStatus(word)).toBe(false)
  })

  test('is final unless the job is active, or nobody knows [output.status]', () => {
    expect([...STATUSES, undefined].filter((status) => !isFinal(status))).toEqual([
      'active',
      undefined,
    ])
  })

  test.each([
    ['completed', 'https://x/1', 'pr-opened'],
    ['completed', undefined, 'no-changes'],
    ['failed', 'https://x/1', 'failed'],
    ['archived', 'https://x/1', 'archived'],
  ] as const)('%s with the link %j means %s', (status, link, outcome) => {
    expect(outcomeOf(status, link)).toBe(outcome)
  })
})

test('error and cancelled fail the step, and what fail-on lists [output.exit-code]', () => {
  expect(`${DEFAULT_FAIL_ON} of ${FAIL_ON}`).toBe(
    'failed,archived,timed-out of failed,archived,timed-out,no-changes',
  )
  for (const outcome of OUTCOMES) {
    const always = ['error', 'cancelled'].includes(outcome)
    expect([outcome, failsStep(outcome, new Set())]).toEqual([outcome, always])
    for (const word of FAIL_ON)
      expect([outcome, failsStep(outcome, new Set([word]))]).toEqual([
        outcome,
        always || outcome === word,
      ])
  }
})

describe('an id [input.id]', () => {
  test.each(['a', '...', '.a', 'a::b'])('may be %j', (id) => {
    expect(isId(id)).toBe(true)
  })

  test.each(['', '.', '..', 'a\n', '::a'])('is not %j', (id) => {
    expect(isId(id)).toBe(false)
  })

  test('consists of the documented characters, at most 512', () => {
    expect([512, 513].map((length) => isId('x'.repeat(length)))).toEqual([true, false])
    const all = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code))
    expect(all.filter((character) => isId(`a${character}`)).toSorted()).toEqual(
      [...`${WORD}._~:@=+,-`].toSorted(),
    )
  })
})

describe('a link [output.pr-link]', () => {
  test.each([
    ['https://example.com/pull/7?a=1&b=2', 'https://example.com/pull/7'],
    ['https://example.com/pull/7#a;\nb', 'https://example.com/pull/7'],
    ['https://example.com/$(id)?a=1&b', undefined],
    ['https://user@example.com/pull/7?a&b', undefined],
  ])('%j is passed on as %j', (link, safe) => {
    expect(safeLink(link)).toBe(safe)
  })

  test.each([
    'http://ghes.local:8080/your-org/docs/pull/7',
    'HTTPS://GitHub.com/your-org/docs/pull/7',
    'https://example.com/@your-org/docs?a=1#b',
    'https://example.com?who=a@b',
    'https://example.com#a@b',
  ])('%s is passed on unchanged', (link) => {
    expect(safeLink(link)).toBe(link)
  })

  test.each([
    ...'javascript:alert(1) javascript://example.com/%0aalert(1) ftp://example.com/x //example.com/x'.split(
      ' ',
    ),
    ...['', 'x https://example.com/', 'x\nhttps://example.com/', 'https://example.com/x\n'],
    ...'https:// https://:80/ https://example.com:99999/ https://[::1]/x https://@example.com/x'.split(
      ' ',
    ),
    ...'https://user:pass@example.com/x https://%67ithub.com@evil.example/x'.split(' '),
    ...'https:///user@evil.example/x https:////user:pw@evil.example/x'.split(' '),
    'https://example.com\\@evil.example/',
  ])('%j is not passed on', (link) => {
    expect(safeLink(link)).toBeUndefined()
  })

  test('may contain only the documented characters, at most 2,048', () => {
    const isSafe = [2028, 2029].map((length) =>
      safeLink(`https://example.com/${'x'.repeat(length)}`),
    )
    expect(isSafe).toEqual([expect.any(String), undefined])
    const passed = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => safeLink(`https://example.com/${character}`) !== undefined,
    )
    expect(passed.toSorted()).toEqual([...`${WORD}._~:/?#@%=+,-`].toSorted())
  })
})

describe('a pull request [output.pr-number]', () => {
  const LAST = '9'.repeat(16)
  test.each([
    ['https://github.com/your-org/docs/pull/7', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7/commits/abc', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7?w=1#issuecomment-1', 'your-org/docs', '7'],
    ['https://ghes.example.com:8443/a-b/c.d_e/pull/12345', 'a-b/c.d_e', '12345'],
    [`https://github.com/your-org/docs/pull/${LAST}`, 'your-org/docs', LAST],
    ['https://gitlab.com/my-group/a.b/-/merge_requests/3', 'my-group/a.b', '3'],
    ['https://gitlab.com/a/b/c/d/-/merge_requests/3/diffs', 'a/b/c/d', '3'],
    ['https://gitlab.com/a/b/c/d/merge_requests/3', 'a/b/c/d', '3'],
    ['https://gitlab.com/merge_requests/project/-/merge_requests/3', 'merge_requests/project', '3'],
  ])('%s is in %s, number %s', (link, repository, number) => {
    expect(parsePullRequest(link)).toEqual({ repository, number })
  })

  const ofGitHub = [
    'pull/',
    'pull/0',
    'pull/07',
    'pull/7x',
    'pullss/7',
    'issues/7',
    `pull/${LAST}9`,
  ]
  const ofGitLab = [
    ...[
      'a/-/merge_requests/1',
      'b/merge_requests/3',
      'a/b/-/-/merge_requests/1',
      'a/-/b/merge_requests/1',
    ],
    ...['-/a/b/-/merge_requests/1', 'a/b/-/merge_requests/x', `a/b/-/merge_requests/${LAST}9`],
  ]
  test.each([
    ...[
      undefined,
      'https://github.com',
      'https://github.com/docs/pull/7',
      'https://github.com/a/b/c/pull/7',
    ],
    ...['https://github.com/a/do%20cs/pull/7', 'https://example.com/?x=/a/b/pull/7'],
    ...ofGitHub.map((end) => `https://github.com/your-org/docs/${end}`),
    ...ofGitLab.map((end) => `https://gitlab.com/${end}`),
  ])('is not read from %j', (link) => {
    expect(parsePullRequest(link)).toBeUndefined()
  })
})
