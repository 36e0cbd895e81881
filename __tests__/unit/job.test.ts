// The job: what its statuses mean for the step, which ids and links are accepted, and what a link contains.
import { describe, expect, test } from '@jest/globals'
import {
  FAIL_ON,
  type FailOn,
  failsStep,
  isFinal,
  isId,
  isStatus,
  OUTCOMES,
  outcomeOf,
  parsePullRequest,
  STATUSES,
  safeLink,
} from '../../src/agent/job.js'

describe('a status', () => {
  test('is one of four', () => {
    expect(STATUSES).toEqual(['active', 'completed', 'archived', 'failed'])
    expect(STATUSES.every(isStatus)).toBe(true)
  })

  test.each(['', 'Active', 'ACTIVE', 'queued', 'active ', 'toString', 'length', '__proto__'])(
    'is not %j',
    (word) => {
      expect(isStatus(word)).toBe(false)
    },
  )

  test.each([
    ['active', false],
    ['completed', true],
    ['archived', true],
    ['failed', true],
    [undefined, false],
  ] as const)('%s is final: %s', (status, final) => {
    expect(isFinal(status)).toBe(final)
  })

  test.each([
    ['completed', 'https://x/1', 'pr-opened'],
    ['completed', '', 'no-changes'],
    ['failed', '', 'failed'],
    ['failed', 'https://x/1', 'failed'],
    ['archived', '', 'archived'],
    ['archived', 'https://x/1', 'archived'],
  ] as const)('%s with the link %j means %s', (status, link, outcome) => {
    expect(outcomeOf(status, link)).toBe(outcome)
  })
})

describe('failsStep', () => {
  const ALWAYS = ['error', 'cancelled']
  const subsets = Array.from(
    { length: 2 ** FAIL_ON.length },
    (_, bits) => new Set<FailOn>(FAIL_ON.filter((_, index) => (bits >> index) & 1)),
  )

  test('fail-on may list four outcomes', () => {
    expect(FAIL_ON.toSorted()).toEqual(['archived', 'failed', 'no-changes', 'timed-out'])
    expect(subsets).toHaveLength(16)
  })

  test.each(
    OUTCOMES.flatMap((outcome) =>
      subsets.map((failOn) => [outcome, [...failOn].join(', ') || 'none', failOn] as const),
    ),
  )('%s with fail-on %s', (outcome, _, failOn) => {
    expect(failsStep(outcome, failOn)).toBe(ALWAYS.includes(outcome) || (failOn as Set<string>).has(outcome))
  })
})

describe('an id', () => {
  test.each(['a', 'agent_01-x', '...', '.a', '..a', 'A.Z_0~9:@=+,-', 'x'.repeat(512)])('may be %j', (id) => {
    expect(isId(id)).toBe(true)
  })

  test.each([
    '',
    ' ',
    '\n',
    '.',
    '..',
    'a\nb',
    'a\u0000',
    '\u001b[2J',
    'a\u007f',
    'a\u0085',
    '\ud800',
    'x'.repeat(513),
    'a/../b',
    'a b',
    '日本',
    '😀',
    '%2e%2e',
    'a;b',
    '$(a)',
    '"',
    "'",
    '`a`',
    'a&b',
    'a|b',
    'a\\b',
    'a?b',
    'a#b',
  ])('is not %j', (id) => {
    expect(isId(id)).toBe(false)
  })
})

describe('a link', () => {
  test.each([
    ['https://example.com/pull/7?a=1&b=2', 'https://example.com/pull/7'],
    ['https://example.com/pull/7#a;b', 'https://example.com/pull/7'],
    ['https://example.com/pull/7?a=1#$(id)', 'https://example.com/pull/7'],
    ['https://example.com/pull/7?a=1#b', 'https://example.com/pull/7?a=1#b'],
    ['https://example.com/$(id)?a=1&b', ''],
    ['https://user@example.com/pull/7?a&b', ''],
  ])('%j is passed on as %j', (link, safe) => {
    expect(safeLink(link)).toBe(safe)
  })

  test.each([
    'https://github.com/your-org/docs/pull/7',
    'http://ghes.local:8080/your-org/docs/pull/7',
    'https://gitlab.example.com/a/b/c/-/merge_requests/3',
    'HTTPS://GitHub.com/your-org/docs/pull/7',
    'https://github.com/your-org/docs/pull/7/files?w=1',
    'https://example.com/~user/a+b/%20/?q=1,2#frag-ment',
    'https://example.com/@your-org/docs',
    'https://example.com/?who=a@b',
    'https://example.com#a@b',
    'https://127.0.0.1/x',
    `https://example.com/${'x'.repeat(2048 - 20)}`,
  ])('%s is passed on unchanged', (link) => {
    expect(safeLink(link)).toBe(link)
  })

  test.each([
    ['nothing', ''],
    ['javascript', 'javascript:alert(1)'],
    ['javascript that looks like a host', 'javascript://example.com/%0aalert(1)'],
    ['data', 'data:text/html,x'],
    ['a file', 'file:///etc/passwd'],
    ['ftp', 'ftp://example.com/x'],
    ['vbscript', 'vbscript:x'],
    ['no scheme', '//example.com/x'],
    ['a path', '/your-org/docs/pull/7'],
    ['a word before', 'x https://example.com/'],
    ['a line before', 'x\nhttps://example.com/'],
    ['a space before', ' https://example.com/'],
    ['no host', 'https://'],
    ['a port without a host', 'https://:80/'],
    ['an invalid port', 'https://example.com:99999/'],
    ['user info', 'https://user:pass@example.com/x'],
    ['a user', 'https://user@example.com/x'],
    ['an empty user', 'https://@example.com/x'],
    ['a host as user', 'https://github.com@evil.example/your-org/docs/pull/7'],
    ['a host and port as user info', 'https://github.com:443@evil.example/x'],
    ['an encoded user', 'https://%67ithub.com@evil.example/x'],
    ['a space', 'https://example.com/a b'],
    ['a double quote', 'https://example.com/"x'],
    ['a single quote', "https://example.com/'x"],
    ['a backtick', 'https://example.com/`id`'],
    ['a substitution', 'https://example.com/$(id)'],
    ['a variable', 'https://example.com/$HOME'],
    ['a semicolon', 'https://example.com/;id'],
    ['an ampersand', 'https://example.com/a&b'],
    ['a pipe', 'https://example.com/|id'],
    ['an angle bracket', 'https://example.com/>x'],
    ['another angle bracket', 'https://example.com/<x'],
    ['a parenthesis', 'https://example.com/(x)'],
    ['a bracket', 'https://example.com/[x]'],
    ['a brace', 'https://example.com/{a,b}'],
    ['an IPv6 address', 'https://[::1]/x'],
    ['an asterisk', 'https://example.com/*'],
    ['an exclamation mark', 'https://example.com/!x'],
    ['a caret', 'https://example.com/^x'],
    ['a newline', 'https://example.com/\nx'],
    ['a newline at the end', 'https://example.com/x\n'],
    ['a carriage return', 'https://example.com/\rx'],
    ['a tab', 'https://example.com/\tx'],
    ['a NUL', 'https://example.com/\0'],
    ['a backslash', 'https://example.com\\@evil.example/'],
    ['a host outside ASCII', 'https://exämple.com/'],
    ['a path outside ASCII', 'https://example.com/ä'],
    ['reversed text', 'https://example.com/\u202ex'],
    ['3000 characters', `https://example.com/${'x'.repeat(2980)}`],
    ['2049 characters', `https://example.com/${'x'.repeat(2049 - 20)}`],
    ['user info after extra slashes', 'https:///user@evil.example/x'],
    ['a password after extra slashes', 'https:////user:pw@evil.example/x'],
  ])('with %s is not passed on', (_, link) => {
    expect(safeLink(link)).toBe('')
  })

  test('may contain only the documented characters', () => {
    const passed = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => safeLink(`https://example.com/${character}`) !== '',
    )
    const DOCUMENTED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:/?#@%=+,-'
    expect(passed.toSorted()).toEqual([...DOCUMENTED].toSorted())
  })
})

describe('a pull request', () => {
  const LAST = '9'.repeat(16)
  test.each([
    ['https://github.com/your-org/docs/pull/7', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7/', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7/files', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7/commits/abc', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7?w=1', 'your-org/docs', '7'],
    ['https://github.com/your-org/docs/pull/7#issuecomment-1', 'your-org/docs', '7'],
    ['https://ghes.example.com:8443/a-b/c.d_e/pull/12345', 'a-b/c.d_e', '12345'],
    [`https://github.com/your-org/docs/pull/${LAST}`, 'your-org/docs', LAST],
    ['https://gitlab.com/group/project/-/merge_requests/3', 'group/project', '3'],
    ['https://gitlab.com/group/project/merge_requests/3', 'group/project', '3'],
    ['https://gitlab.com/a/b/c/d/-/merge_requests/3', 'a/b/c/d', '3'],
    ['https://gitlab.com/a/b/c/d/merge_requests/3', 'a/b/c/d', '3'],
    ['https://gitlab.com/group/project/-/merge_requests/3/diffs', 'group/project', '3'],
    ['https://gitlab.com/merge_requests/project/-/merge_requests/3', 'merge_requests/project', '3'],
  ])('%s is in %s, number %s', (link, repository, number) => {
    expect(parsePullRequest(link)).toEqual({ repository, number })
  })

  test.each([
    '',
    'https://gitlab.com/group/-/merge_requests/1',
    'https://gitlab.com/group/project/-/-/merge_requests/1',
    'https://gitlab.com/group/-/project/merge_requests/1',
    'https://gitlab.com/group/-/project/-/merge_requests/1',
    'https://gitlab.com/-/group/project/merge_requests/1',
    'https://gitlab.com/-/group/project/-/merge_requests/1',
    'https://github.com',
    'https://github.com/your-org/docs',
    'https://github.com/your-org/docs/pull/',
    'https://github.com/your-org/docs/pull/0',
    'https://github.com/your-org/docs/pull/07',
    'https://github.com/your-org/docs/pull/7x',
    'https://github.com/your-org/docs/pull/-7',
    'https://github.com/your-org/docs/pull/1e3',
    'https://github.com/your-org/docs/pulls/7',
    'https://github.com/your-org/docs/issues/7',
    'https://github.com/docs/pull/7',
    'https://github.com/a/b/c/pull/7',
    'https://api.github.com/repos/your-org/docs/pulls/7',
    'https://github.com/your-org/do%20cs/pull/7',
    `https://github.com/your-org/docs/pull/${'9'.repeat(17)}`,
    `https://gitlab.com/your-org/docs/-/merge_requests/${'9'.repeat(17)}`,
    'https://gitlab.com/project/merge_requests/3',
    'https://gitlab.com/group/project/-/merge_requests/x',
    'https://gitlab.com/group/project/-/merge_requests',
    'https://bitbucket.org/your-org/docs/pull-requests/7',
    'https://example.com/?x=/your-org/docs/pull/7',
    'https://example.com/#/your-org/docs/pull/7',
  ])('is not read from %j', (link) => {
    expect(parsePullRequest(link)).toEqual({ repository: '', number: '' })
  })
})
