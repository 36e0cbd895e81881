/** Where a branch of another repository was at a time, what its commits name, and the inputs. */

import { describe, expect, test } from '@jest/globals'
import { headAt, type Move } from '../../src/context/changes/activity.js'
import { describeTrigger } from '../../src/context/prompt/facts.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'
import { DEFAULTS, InputError, parseInputs, type RawInputs } from '../../src/inputs/inputs.js'

const ZERO = '0'.repeat(40)
/** Of an hour of a day, `a9b` is a move from a to b at 9. */
const move = (text: string): Move => {
  const [, before = '', hour = '', after = ''] = /^(\D+)(\d+)(\D+)$/.exec(text) ?? []
  const timestamp = `2026-11-20T${hour.padStart(2, '0')}:00:00Z`
  return { before: before.replace('-', ZERO), after, timestamp }
}
/** Oldest first, unlike GitHub's. */
const moves = (...texts: readonly string[]): Move[] => texts.map(move).reverse()
const at = (hour: number) => Date.parse(`2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`)

describe('where a branch was [code.range] [code.late] [code.young]', () => {
  test.each([
    ['between two moves', moves('a1b', 'b5c'), 3, { head: 'b', next: 'b' }],
    ['at the very time of one', moves('a1b', 'b5c'), 5, { head: 'c', next: 'c' }],
    ['after the last', moves('a1b', 'b5c'), 9, { head: 'c', next: 'c' }],
    ['before the first', moves('a1b', 'b5c'), 0, { head: 'a', next: 'a' }],
    ['before it was', moves('-1b', 'b5c'), 0, { head: ZERO, next: ZERO }],
    ['without a move', [], 3, { head: '0', next: undefined }],
    ['after the last, but the branch is further', moves('a1b'), 3, { head: 'b', next: 'c' }],
    ['with a hole behind it', moves('a1b', 'd5c'), 3, { head: 'b', next: 'd' }],
    ['with a hole before it', moves('a1b', 'd5c', 'c7e'), 6, { head: 'c', next: 'c' }],
    ['after it was forced back', moves('a1b', 'b5a', 'a7c'), 6, { head: 'a', next: 'a' }],
  ])('%s', (_, list, hour, found) => {
    expect(headAt(list, at(hour), 'c')).toMatchObject(found)
  })

  test.each([
    ['two', ['b5c', 'c5d']],
    ['three', ['b5c', 'c5e', 'e5d']],
  ])('%s moves of one second are a chain, in whatever order [code.chain]', (_, same) => {
    for (const order of [same, same.toReversed(), [...same.slice(1), ...same.slice(0, 1)]]) {
      const list = moves('a1b', ...order, 'd9f')
      expect(headAt(list, at(5), 'f')).toMatchObject({ head: 'd', next: 'd' })
      expect(headAt(list, at(3), 'f')).toMatchObject({ head: 'b', next: 'b' })
    }
  })
})

test.each([
  ['Fix it (#12)', 'Fix it (o/api#12)'],
  ['#12: fix #3', 'o/api#12: fix o/api#3'],
  ['Merge pull request #9 from fork/branch', 'Merge pull request o/api#9 from fork/branch'],
  ['As other/repo#3, not &#39; nor a#1 nor #x', 'As other/repo#3, not &#39; nor a#1 nor #x'],
])('in another repository, %j names its own [code.names]', (message, means) => {
  const commit = { sha: 'b'.repeat(40), author: 'octocat', authorName: 'The Octocat', message }
  const list = { commits: [commit], complete: true }
  const factOf = (of?: string) => {
    const commits = [{ ...list, ...(of && { of }) }]
    const changes = { kind: 'listed', range: '', files: [], truncated: false, commits } as const
    const run = { repository: 'o/docs', ref: 'r', sha: 's' } as RunEnvironment
    return describeTrigger(run, parseEvent('schedule', {}), { changes }, String).facts.at(-1)
  }
  expect(factOf('o/api@abc1234..def5678')).toEqual({
    name: 'commits of o/api@abc1234..def5678',
    value: `o/api@bbbbbbb ${means} (octocat)`,
  })
  expect(factOf()).toEqual({ name: 'commits', value: `bbbbbbb ${message} (octocat)` })
})

const NOTHING = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, ''])) as RawInputs
const GOOD = {
  ...{ prompt: 'Fix the docs', 'project-id': 'p-1', 'api-key': 'mint_s3cr3t', context: 'diff' },
  'code-repositories': 'your-org/api\nyour-org/web@release/2.x',
}

function read(raw: Partial<RawInputs> = {}, eventName = 'schedule') {
  return parseInputs(
    { ...NOTHING, ...GOOD, ...raw },
    {
      redact: String,
      readPromptFile: () => 'From ghp_0123456789',
      given: {},
      missingSecrets: undefined,
      hasIssue: false,
      eventName,
      now: new Date('2026-11-20T14:00:30Z'),
    },
  )
}

describe('the inputs', () => {
  test('name repositories and branches, one in each line, with comments [code.where]', () => {
    const text = ' # all\n your-org/api\r\n\nYour_Org/web.js@release/2.x # 2\n'
    const { inputs, problem } = read({ 'code-repositories': text })
    expect(problem).toBeUndefined()
    expect(inputs.codeRepositories).toEqual([
      { name: 'your-org/api', branch: undefined },
      { name: 'Your_Org/web.js', branch: 'release/2.x' },
    ])
  })

  test.each<[string, Partial<RawInputs>, string, string?]>([
    ...[
      'https://github.com/your-org/api',
      '- your-org/api',
      'your-org/api, your-org/web',
      'your-org/api/src',
      'api',
      'your-org/..',
      'your-org/api@',
      'your-org/api@a..b',
      'your-org/api@release/*',
    ].map((line): [string, Partial<RawInputs>, string] => [
      '[code.where]',
      { 'code-repositories': `your-org/web\n${line}` },
      `code-repositories: expected owner/name or owner/name@branch, got "${line}".`,
    ]),
    [
      '[code.where]',
      { 'code-repositories': 'your-org/api\nYour-Org/API@v2' },
      'code-repositories: expected 1 to 50 repositories, none of them twice.',
    ],
    [
      '[code.where]',
      { 'code-repositories': Array.from({ length: 51 }, (_, nth) => `o/r${nth}`).join('\n') },
      'code-repositories: expected 1 to 50 repositories, none of them twice.',
    ],
    [
      '[code.where]',
      { 'code-repositories': '# your-org/api' },
      'code-repositories: expected 1 to 50 repositories, none of them twice.',
    ],
    [
      '[code.where]',
      {},
      'code-repositories: only works on schedule, workflow_dispatch, repository_dispatch, and this is push.',
      'push',
    ],
    [
      '[code.where]',
      { context: 'none' },
      'code-repositories: needs context (event or diff) or context-paths.',
    ],
    [
      '[code.names]',
      { 'context-paths': '**/src/**\nsrc/**' },
      'context-paths: invalid pattern "src/**", line 2: it matches no file of code-repositories; begin as in "your-org/api/src/**", or with "**/".',
    ],
    [
      '[code.names]',
      { 'context-paths': 'your-org/api' },
      'context-paths: invalid pattern "your-org/api", line 1: it matches no file of code-repositories; begin as in "your-org/api/src/**", or with "**/".',
    ],
    ...[
      ['a tag', 'v1.2.3'],
      ['before all time', '1969-12-31'],
      ['no day', '2026-02-30'],
      ['no month', '2026-13-20'],
      ['another offset', '2026-11-20T14:00+02:00'],
      ['the next second', '2026-11-20T14:00:31Z'],
    ].map(([, since = '']): [string, Partial<RawInputs>, string] => [
      '[code.since]',
      { since },
      `since: expected a past date or time in UTC, such as 2026-11-20 or 2026-11-20T14:00:00Z, got "${since}".`,
    ]),
    [
      '[code.token]',
      { 'code-repositories': '', 'code-token': 'ghp_0123456789' },
      'code-token: has no effect without code-repositories.',
    ],
    [
      '[code.token]',
      { 'code-token': 'ghp_0123456789\nghp_a b' },
      'code-token: the secret contains white space, control characters or non-ASCII characters. Store the secret again, without quotes or line breaks.',
    ],
    [
      '[code.token] [secret.input]',
      { 'code-token': 'ghp_x\nghp_0123456789', 'prompt-file': 'a.md' },
      'prompt-file: contains the value of code-token. Pass it as code-token only.',
    ],
    [
      '[code.token] [secret.input]',
      { 'code-token': 'ghp_x\nmint_s3cr3t' },
      'code-token: contains the value of api-key. Pass it as api-key only.',
    ],
    [
      '[code.token]',
      { 'code-token': 'ghp_x\nmint_another' },
      "code-token: expected GitHub's tokens, got the service's key.",
    ],
    [
      '[code.token]',
      { 'code-token': 'ghp_x,ghp_y' },
      'code-token: expected one token per line, without quotes, brackets and commas.',
    ],
  ])('%s %j is bad input', (_, raw, line, eventName = 'schedule') => {
    const { problem } = read(raw, eventName)
    expect(problem).toBeInstanceOf(InputError)
    expect(problem?.message.split('\n')).toEqual([line])
  })

  test.each([
    'your-org/api/**',
    'your-org/*/src/**',
    '*/web/x',
    '**/*.ts',
    '**',
    'your-org/a**',
    '!src/**',
  ])('%s may match [code.names]', (line) => {
    expect(read({ 'context-paths': line }).problem).toBeUndefined()
  })

  test('one token may do for all [code.token] [secret.input]', () => {
    const token = 'ghp_0123456789'
    const raw = {
      'github-token': token,
      'code-token': `ghp_another1\n${token}`,
      'docs-token': token,
    }
    const { inputs, problem } = read(raw)
    expect(problem).toBeUndefined()
    expect(inputs.codeTokens).toEqual(['ghp_another1', token])
    expect(inputs.docsToken).toBe('')
    expect(read({ 'code-token': token, 'docs-token': token }).inputs.docsToken).toBe(token)
  })

  test.each(['', '2026-11-20', '2026-11-20T14:00Z', '2026-11-20T14:00:30Z'])(
    'since may be %j [code.since]',
    (since) => {
      expect(read({ since }).problem).toBeUndefined()
    },
  )
})
