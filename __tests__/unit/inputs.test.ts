/** Parsing the inputs: what each one accepts, what it rejects, and that all problems are reported together. */

import { describe, expect, test } from '@jest/globals'
import {
  asksForCheck,
  DEFAULTS,
  InputError,
  type InputName,
  type InputSources,
  needsGitHub,
  parseInputs,
  type RawInputs,
} from '../../src/inputs/inputs.js'
import { createRedactor } from '../../src/redact.js'

const KEY = 'mint_s3cr3t'
const NOTHING = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, ''])) as RawInputs
const GOOD = { prompt: 'Fix the docs', 'project-id': 'p-1', 'api-key': KEY }

type Given = Partial<Record<InputName, string>>

const sources = (given: Given, missingSecrets?: string): InputSources => ({
  redact: createRedactor((given['api-key'] ?? KEY).trim()),
  readPromptFile: (path: string) => {
    const files: Record<string, string> = { 'prompt.md': 'From the file', 'key.md': `export KEY=${KEY}` }
    const text = files[path]
    return text === undefined ? { problem: 'does not exist. Check the path.' } : { text }
  },
  missingSecrets,
  hasIssue: false,
})

const read = (given: Given = {}) => parseInputs({ ...NOTHING, ...GOOD, ...given }, sources(given))

/** The problems, one line each. */
function problems(given: Given, missingSecrets?: string): string[] {
  try {
    parseInputs({ ...NOTHING, ...GOOD, ...given }, sources(given, missingSecrets))
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InputError)
    expect((thrown as InputError).code).toBe('input')
    return (thrown as InputError).message.split('\n')
  }
  return []
}

/** Expects one problem, which names the input, what was expected and what came. */
function expectProblem(input: InputName, value: string, got: string): void {
  const lines = problems({ [input]: value })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(new RegExp(`^${input}: expected \\S.*, got ".*"\\.(?: \\S.*\\.)?$`))
  expect(lines[0]).toContain(`, got ${got}`)
}

describe('defaults', () => {
  test('with only a prompt, a project and a key, everything else has its default', () => {
    expect(read()).toMatchObject({
      task: { kind: 'create', prompt: 'Fix the docs' },
      projectId: 'p-1',
      apiKey: KEY,
      wait: true,
      timeoutMs: 1_800_000,
      pollIntervalMs: undefined,
      failOn: new Set(['failed', 'archived', 'timed-out']),
      baseUrl: 'https://api.mintlify.com',
      dryRun: false,
    })
  })

  const optional = (Object.keys(DEFAULTS) as InputName[]).filter((name) => !(name in GOOD))
  test.each(optional.flatMap((name) => ['', ' ', ' \t\r\n '].map((blank) => [name, blank] as const)))(
    '%s with the blank value %j has its default',
    (name, blank) => {
      expect(read({ [name]: blank })).toEqual(read())
    },
  )

  // The runner fills in the defaults of these; an empty value means no token, nobody and no key.
  const filled: readonly InputName[] = ['github-token', 'skip-authors', 'job-key']
  test.each(optional.filter((name) => !filled.includes(name)).map((name) => [name]))(
    '%s accepts its own default',
    (name) => {
      expect(read({ [name]: DEFAULTS[name] })).toEqual(read())
    },
  )

  test('the inputs are frozen', () => {
    expect(Object.isFrozen(read())).toBe(true)
  })
})

describe('the task', () => {
  test.each([
    ['a prompt', { prompt: 'a' }, { kind: 'create', prompt: 'a' }],
    [
      'a prompt file',
      { prompt: '', 'prompt-file': 'prompt.md' },
      { kind: 'create', prompt: 'From the file' },
    ],
    [
      'both',
      { prompt: 'First', 'prompt-file': 'prompt.md' },
      { kind: 'create', prompt: 'First\n\nFrom the file' },
    ],
    ['a prompt and a job', { 'job-id': 'j' }, { kind: 'message', jobId: 'j', prompt: 'Fix the docs' }],
    [
      'a prompt file and a job',
      { prompt: '', 'prompt-file': 'prompt.md', 'job-id': 'j' },
      { kind: 'message', jobId: 'j', prompt: 'From the file' },
    ],
    [
      'all three',
      { 'prompt-file': 'prompt.md', 'job-id': 'j' },
      { kind: 'message', jobId: 'j', prompt: 'Fix the docs\n\nFrom the file' },
    ],
    ['a job alone', { prompt: '', 'job-id': 'j' }, { kind: 'attach', jobId: 'j' }],
    ['a job and a blank prompt', { prompt: ' \n', 'job-id': 'j' }, { kind: 'attach', jobId: 'j' }],
  ])('with %s', (_, given, task) => {
    expect(read(given).task).toEqual(task)
  })

  test('without prompt, prompt-file and job-id there is nothing to do', () => {
    expect(problems({ prompt: ' ' })).toEqual([
      'prompt: no instruction for the agent. Set prompt or prompt-file, or job-id to wait for an existing job.',
    ])
  })

  test('an unreadable prompt file is one problem, not two', () => {
    expect(problems({ prompt: '', 'prompt-file': 'gone.md' })).toEqual([
      'prompt-file: "gone.md" does not exist. Check the path.',
    ])
  })

  test('an invalid job-id without a prompt is one problem, not two', () => {
    expect(problems({ prompt: '', 'job-id': '..' })).toEqual([expect.stringMatching(/^job-id: /)])
  })

  test('texts are trimmed at both ends and otherwise unchanged', () => {
    const inside = 'a\r\n\r\n  b\t\u00a0c  \u202e d'
    expect(read({ prompt: ` \r\n${inside}\n\t`, 'project-id': ' p-1\n', 'job-id': ' j-1 ' })).toMatchObject({
      task: { kind: 'message', jobId: 'j-1', prompt: inside },
      projectId: 'p-1',
    })
  })
})

describe.each(['wait', 'dry-run'] as const)('%s', (input) => {
  const field = input === 'wait' ? 'wait' : 'dryRun'
  test.each([
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['false', false],
    ['False', false],
    ['FALSE', false],
    ['  true\n', true],
  ])('accepts %j', (value, meaning) => {
    expect(read({ [input]: value })[field]).toBe(meaning)
  })

  test.each(['yes', 'no', 'on', 'off', '1', '0', 'tRUE', 'y', 'null', 'truefalse', 'true false', '"true"'])(
    'rejects %s',
    (value) => expectProblem(input, value, `"${value}"`),
  )
})

const UNSUPPORTED_NUMBERS = [
  '-1',
  '-0.5',
  '+5',
  '0x10',
  '1e2',
  '1E2',
  'Infinity',
  'NaN',
  '1,5',
  '5m',
  '5 min',
  '1 2',
]
const NOT_NUMBERS = ['.', '1..2', '1_000', '٣', 'ten', `${'9'.repeat(400)}`]

describe('timeout-minutes', () => {
  test.each([
    ['30', 1_800_000],
    ['1440', 86_400_000],
    ['1440.0', 86_400_000],
    ['0.1', 6000],
    ['0.09', 5400],
    ['.5', 30_000],
    ['.25', 15_000],
    ['5.', 300_000],
    ['0.001', 60],
    ['007', 420_000],
  ])('accepts %s', (value, milliseconds) => {
    expect(read({ 'timeout-minutes': value }).timeoutMs).toBeCloseTo(milliseconds, 6)
  })

  test.each([
    '0',
    '0.0',
    '1440.1',
    '1441',
    '3600',
    `0.${'0'.repeat(400)}1`,
    ...UNSUPPORTED_NUMBERS,
    ...NOT_NUMBERS,
  ])('rejects %s', (value) => expectProblem('timeout-minutes', value, `"${value.slice(0, 80)}`))
})

describe('poll-interval-seconds', () => {
  test.each([
    ['0.1', 100],
    ['1', 1000],
    ['10', 10_000],
    ['1440.1', 1_440_100],
    ['3600', 3_600_000],
    [' 2.5 ', 2500],
  ])('accepts %s', (value, milliseconds) => {
    expect(read({ 'poll-interval-seconds': value }).pollIntervalMs).toBeCloseTo(milliseconds, 6)
  })

  test.each(['0', '0.09', '0.0999', '3600.1', '3601', ...UNSUPPORTED_NUMBERS, ...NOT_NUMBERS])(
    'rejects %s',
    (value) => expectProblem('poll-interval-seconds', value, `"${value.slice(0, 80)}`),
  )
})

test.each(['timeout-minutes', 'poll-interval-seconds'] as const)(
  '%s rejects a very long value quickly',
  (input) => {
    const start = performance.now()
    expectProblem(input, `${'9'.repeat(200_000)}x`, `"${'9'.repeat(80)}…"`)
    expect(performance.now() - start).toBeLessThan(5000) // A pattern that backtracks takes a minute.
  },
)

describe('fail-on', () => {
  test.each([
    ['failed', ['failed']],
    ['archived', ['archived']],
    ['timed-out', ['timed-out']],
    ['no-changes', ['no-changes']],
    ['failed,archived', ['failed', 'archived']],
    ['failed archived', ['failed', 'archived']],
    ['failed\narchived\r\nno-changes', ['failed', 'archived', 'no-changes']],
    [' failed , timed-out,\n', ['failed', 'timed-out']],
    ['failed, failed', ['failed']],
    ['none', []],
    [' none\n', []],
    ['none,', []],
  ])('accepts %j', (value, words) => {
    expect(read({ 'fail-on': value }).failOn).toEqual(new Set(words))
  })

  test.each([
    'none, failed',
    'failed none',
    'none none',
    'error',
    'cancelled',
    'Failed',
    'pr-opened',
    'failed;archived',
    ',',
  ])('rejects %j', (value) => expectProblem('fail-on', value, `"${value}"`))
})

describe.each(['project-id', 'job-id'] as const)('%s', (input) => {
  const parsed = (value: string) => {
    const { projectId, task } = read({ [input]: value })
    return input === 'project-id' ? projectId : task.kind === 'message' && task.jobId
  }
  test.each(['a', '...', '.a', 'A.Z_0~9:@=+,-', 'x'.repeat(512)])('accepts %j', (value) => {
    expect(parsed(value)).toBe(value)
  })

  test.each([
    ['.', '"."'],
    ['..', '".."'],
    [' .. ', '".."'],
    ['a\u0000b', '"a\\u{0}b"'],
    ['a\nb', '"a b"'],
    ['a\tb', '"a b"'],
    ['a\u007fb', '"a\\u{7f}b"'],
    ['a\u0085b', '"a\\u{85}b"'],
    ['a\ud800b', '"a'],
    ['x'.repeat(513), `"${'x'.repeat(80)}…"`],
  ])('rejects %j', (value, shown) => expectProblem(input, value, shown))
})

test('project-id is required', () => {
  expect(problems({ 'project-id': ' ' })).toEqual([
    'project-id: required. Copy the project ID from the API keys page of the dashboard.',
  ])
})

describe('base-url', () => {
  test.each([
    ['https://agent.example.com', 'https://agent.example.com'],
    ['https://agent.example.com/', 'https://agent.example.com'],
    ['https://agent.example.com///', 'https://agent.example.com'],
    ['https://agent.example.com/prefix', 'https://agent.example.com/prefix'],
    ['https://agent.example.com/prefix/more//', 'https://agent.example.com/prefix/more'],
    ['https://agent.example.com:8443/a', 'https://agent.example.com:8443/a'],
    ['HTTPS://Agent.Example.COM:443/A', 'https://agent.example.com/A'],
    ['https://10.0.0.1', 'https://10.0.0.1'],
    ['http://localhost', 'http://localhost'],
    ['http://localhost:3000/p/', 'http://localhost:3000/p'],
    ['http://LOCALHOST', 'http://localhost'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://127.255.255.254', 'http://127.255.255.254'],
    ['http://2130706433', 'http://127.0.0.1'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['http://[0:0:0:0:0:0:0:1]', 'http://[::1]'],
    [' https://agent.example.com\n', 'https://agent.example.com'],
  ])('accepts %s', (value, baseUrl) => {
    expect(read({ 'base-url': value }).baseUrl).toBe(baseUrl)
  })

  test.each([
    ['http elsewhere', 'http://agent.example.com'],
    ['http on a name that starts like loopback', 'http://127.0.0.1.evil.example'],
    ['http on a name that ends like loopback', 'http://evil-localhost'],
    ['http below localhost', 'http://evil.localhost.example'],
    ['http on another IPv6 address', 'http://[::2]'],
    ['http on all addresses', 'http://0.0.0.0'],
    ['http on 128', 'http://128.0.0.1'],
    ['another scheme', 'ftp://agent.example.com'],
    ['another scheme on loopback', 'ftp://localhost'],
    ['a file', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['no scheme', 'agent.example.com'],
    ['a path', '/v2/agent'],
    ['no host', 'https://'],
    ['a bad port', 'https://agent.example.com:99999'],
    ['a query', 'https://agent.example.com/?a=b'],
    ['an empty query', 'https://agent.example.com/?'],
    ['a fragment', 'https://agent.example.com/#a'],
    ['an empty fragment', 'https://agent.example.com#'],
  ])('rejects %s', (_, value) => expectProblem('base-url', value, `"${value.replace(/([?#]).+/, '$1***')}"`))

  test.each([
    'https://agent.example.com/?token=hunter2',
    'https://agent.example.com/#hunter2',
    'https://user:hunter2@agent.example.com',
    'https://hunter2@agent.example.com/prefix',
    'https://:hunter2@agent.example.com',
    'https://user:hunter2@x@agent.example.com',
    'http://user:hunter2@agent.example.com',
    'ftp://user:hunter2@agent.example.com',
    'https:///user:hunter2@agent.example.com',
    'https://user:hunter2@',
    'https://user:hunter2@agent.example.com:99999',
    'https:user:hunter2@agent.example.com',
    'https:/user:hunter2@agent.example.com',
    'https:\\\\user:hunter2@agent.example.com',
    'user:hunter2@agent.example.com',
    'https://user:p/hunter2@agent.example.com',
  ])('rejects %s and never shows what may be secret in it', (value) => {
    const lines = problems({ 'base-url': value })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^base-url: expected [^"]+, got "[^"]*\*\*\*/)
    expect(lines[0]).not.toContain('hunter2')
  })
})

test('base-url has at most 2,048 characters', () => {
  const longest = `https://agent.example.com/${'p'.repeat(2048 - 26)}`
  expect(read({ 'base-url': longest }).baseUrl).toBe(longest)
  expect(problems({ 'base-url': `${longest}p` })).toEqual([
    `base-url: expected the service's base URL, such as https://agent.example.com/prefix, got "${longest.slice(0, 80)}…". That is not a valid URL.`,
  ])
})

describe('api-key', () => {
  const ELSEWHERE = { 'base-url': 'https://agent.example.com' }

  test.each([
    ['mint_abc', {}],
    [' mint_abc\n', {}],
    ['mint_ds', {}],
    ['mint_!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~', {}],
    ['mint_dsc_abc', ELSEWHERE],
    ['mint_us_abc', ELSEWHERE],
    ['abc', ELSEWHERE],
    ['mint_abc', ELSEWHERE],
  ])('accepts %j with %j', (value, given) => {
    expect(read({ 'api-key': value, ...given }).apiKey).toBe(value.trim())
  })

  test.each([
    ['a space inside', 'mint_abc def'],
    ['a line break inside', 'mint_abc\ndef'],
    ['a tab inside', 'mint_abc\tdef'],
    ['a control character', 'mint_abc\u0001def'],
    ['a DEL', 'mint_abc\u007fdef'],
    ['a no-break space', 'mint_abc\u00a0def'],
    ['a non-ASCII letter', 'mint_äbcdef'],
    ['a zero-width space', 'mint_abc\u200bdef'],
  ])('rejects %s, at every base-url, and never shows it', (_, value) => {
    for (const given of [{}, ELSEWHERE]) {
      const lines = problems({ 'api-key': value, ...given })
      expect(lines).toEqual([
        'api-key: the key contains white space, control characters or non-ASCII characters. Store the secret again, without quotes or line breaks.',
      ])
      expect(lines[0]).not.toMatch(/abc|def|äbc/)
    }
  })

  test.each([
    ['mint_dsc_abc123', {}],
    ['mint_us_abc123', {}],
    ['sk-abc123', {}],
    ['MINT_abc123', {}],
    ['mint-abc123', {}],
    ['mint_dsc_abc123', { 'base-url': 'https://API.mintlify.com:443/' }],
  ])('rejects the wrong kind %s at the default base-url, without showing it', (value, given) => {
    const lines = problems({ 'api-key': value, ...given })
    expect(lines).toEqual([expect.stringMatching(/^api-key: expected an admin API key, .*\. .*\.$/)])
    expect(lines[0]).not.toContain('abc123')
  })

  test.each(['', ' \n'])('is required: %j is rejected', (value) => {
    expect(problems({ 'api-key': value })).toEqual([
      'api-key: required. Set it from a secret, api-key: ${{ secrets.AGENT_API_KEY }}, and check that the secret exists: a missing secret is empty.',
    ])
  })

  test('an empty one is explained by the missing secrets, if known', () => {
    expect(problems({ 'api-key': '' }, 'It is a fork.')).toEqual(['api-key: required. It is a fork.'])
  })
})

test('a key that is too short to be unique may be part of other inputs', () => {
  expect(read({ 'api-key': 'x', 'base-url': 'https://agent.example.com', prompt: 'Fix it' })).toMatchObject({
    apiKey: 'x',
  })
})

test('api-key has at most 4,096 characters', () => {
  expect(read({ 'api-key': `mint_${'x'.repeat(4_091)}` })).toMatchObject({ projectId: 'p-1' })
  const lines = problems({ 'api-key': `mint_${'x'.repeat(4_092)}` })
  expect(lines).toEqual([
    'api-key: the key is longer than 4,096 characters. Pass one secret, such as secrets.AGENT_API_KEY, not all of them.',
  ])
})

describe('a problem says what was expected, what came, and what to do', () => {
  const URL_EXPECTED = "the service's base URL, such as https://agent.example.com/prefix"
  const ID_EXPECTED =
    'an ID as issued by the service (A-Z a-z 0-9 . _ ~ : @ = + , - only, not "." or "..", at most 512 characters)'
  test.each<[InputName, string, string]>([
    ['project-id', '..', `expected ${ID_EXPECTED}, got "..". Copy it again.`],
    ['job-id', '.', `expected ${ID_EXPECTED}, got ".". Copy it again.`],
    ['job-scope', 'all', 'expected one of run, pull-request, issue, got "all".'],
    ['context', 'all', 'expected one of none, event, diff, got "all".'],
    ['wait', 'yes', 'expected true or false, got "yes".'],
    ['comment', '1', 'expected true or false, got "1".'],
    ['dry-run', 'on', 'expected true or false, got "on".'],
    [
      'timeout-minutes',
      '0',
      'expected a number of minutes above 0 and at most 1440, such as 30, or 0.5 for half a minute, got "0".',
    ],
    [
      'poll-interval-seconds',
      '0',
      'expected a number of seconds from 0.1 to 3600, such as 10, or nothing for adaptive polling, got "0".',
    ],
    [
      'fail-on',
      'error',
      'expected any of failed, archived, timed-out, no-changes, separated by commas, spaces or line breaks, or only none, got "error". error and cancelled always fail the step.',
    ],
    ['base-url', '/v2', `expected ${URL_EXPECTED}, got "/v2". That is not a valid URL.`],
    [
      'base-url',
      'http://user:hunter2@localhost',
      `expected ${URL_EXPECTED}, without user name, password, query or fragment, got "http://***@localhost".`,
    ],
    [
      'base-url',
      'http://agent.example.com',
      'expected a base URL with https (http only on loopback), so that the key isn\'t sent unencrypted, got "http://agent.example.com".',
    ],
    [
      'api-key',
      'mint_dsc_x',
      'expected an admin API key, got a different kind of key (mint_dsc_…). Create one on the API keys page of the dashboard.',
    ],
    [
      'api-key',
      'x',
      'expected an admin API key, which starts with mint_. Check which secret you pass, or set base-url for another service.',
    ],
  ])('%s: %s', (input, value, problem) => {
    expect(problems({ [input]: value })).toEqual([`${input}: ${problem}`])
  })
})

describe('all problems', () => {
  const BAD: Given = {
    prompt: '',
    'prompt-file': 'gone.md',
    'project-id': '..',
    'api-key': 'mint_a b',
    'job-id': 'a\u0001',
    wait: 'maybe',
    'timeout-minutes': '0',
    'poll-interval-seconds': 'often',
    'fail-on': 'always',
    'base-url': 'nowhere',
    'dry-run': '2',
  }

  test('are reported together, one line each', () => {
    const inputs = problems(BAD).map((line) => line.split(':')[0])
    expect(inputs.toSorted()).toEqual(
      Object.keys(BAD)
        .filter((name) => name !== 'prompt')
        .toSorted(),
    )
  })

  test('say that nothing was sent', () => {
    expect(() => parseInputs({ ...NOTHING, ...BAD }, sources(BAD))).toThrow(
      expect.objectContaining({ advice: 'Fix the inputs and run it again. Nothing was sent.' }),
    )
  })

  test.each([
    ['job-1', 'job-1'],
    ['', ''],
    ['..', ''],
  ])('with the job-id %j have the job ID %j', (given, jobId) => {
    expect(() => read({ 'job-id': given, wait: 'maybe' })).toThrow(expect.objectContaining({ jobId }))
  })

  test.each([
    'project-id',
    'job-id',
    'wait',
    'timeout-minutes',
    'poll-interval-seconds',
    'fail-on',
    'base-url',
    'prompt-file',
    'prompt',
    'job-key',
    'context-paths',
    'github-token',
    'skip-authors',
  ] as const)('are reported if the key is in %s, without showing it', (input) => {
    for (const value of [`a ${KEY} b`, KEY.replace('_', '%5F')]) {
      const lines = problems({ [input]: value, 'api-key': KEY })
      expect(lines).toEqual([`${input}: contains the key. Pass it as api-key only.`])
    }
  })

  test('are reported if the key is in the prompt file', () => {
    expect(problems({ 'prompt-file': 'key.md', 'api-key': KEY })).toEqual([
      'prompt-file: contains the key. Pass it as api-key only.',
    ])
  })

  test.each([
    ['with white space around it', ` ${KEY}\n`, KEY, 1],
    ['of eight characters', 'mint_abc', 'mint_abc', 1],
    ['of seven, which may be in any text', 'mint_ab', 'mint_ab', 0],
  ])('are reported for a key %s', (_, key, text, count) => {
    expect(problems({ 'api-key': key, prompt: `a ${text} b` })).toHaveLength(count)
  })

  test('are not reported for a text that ends like the key begins', () => {
    const given = {
      'api-key': 'mint_abc_def',
      'project-id': 'mint_abc_',
      prompt: 'Keys start with mint_abc_',
    }
    expect(problems(given)).toEqual([])
  })

  test('are not reported for a default that contains the key of another service', () => {
    const given = { 'api-key': 'mintlify', 'base-url': 'https://agent.example.com' }
    expect(problems(given)).toEqual([])
  })

  test('never show half a key if a value is truncated', () => {
    const value = `${'x'.repeat(75)}${KEY}`
    expect(problems({ wait: value }).join('\n')).not.toContain('mint_')
  })

  test('show a long value truncated, and a value of several lines on one', () => {
    const [line = '', ...more] = problems({ wait: `a\n::error::x\n${'y'.repeat(10_000)}` })
    expect(more).toEqual([])
    expect(line.length).toBeLessThan(300)
  })

  test('an unexpected error is passed on unchanged', () => {
    const broken = {
      ...sources({}),
      readPromptFile: () => {
        throw new Error('broken')
      },
    }
    expect(() => parseInputs({ ...NOTHING, ...GOOD, 'prompt-file': 'x' }, broken)).toThrow(
      new Error('broken'),
    )
  })
})

describe('inputs about GitHub', () => {
  test.each([
    ['run', 'run'],
    ['pull-request', 'pull-request'],
  ])('job-scope %s', (value, scope) => {
    expect(read({ 'job-scope': value }).jobScope).toBe(scope)
  })

  test.each(['Run', 'pull request', 'pr', 'run, pull-request'])('job-scope %s is rejected', (value) =>
    expectProblem('job-scope', value, `"${value}"`),
  )

  test('job-scope: pull-request is rejected together with job-id', () => {
    expect(problems({ 'job-scope': 'pull-request', 'job-id': 'job-1' })).toEqual([
      'job-scope: "pull-request" can\'t be combined with job-id. Remove one of the two.',
    ])
    expect(read({ 'job-scope': 'run', 'job-id': 'job-1' }).jobScope).toBe('run')
  })

  test.each(['none', 'event', 'diff'] as const)('context %s', (value) => {
    expect(read({ context: value }).context).toBe(value)
  })

  test.each(['None', 'all', 'event diff'])('context %s is rejected', (value) =>
    expectProblem('context', value, `"${value}"`),
  )

  test('context-paths are patterns, one per line; a problem names its line', () => {
    expect(read({ 'context-paths': ' docs/** \n\n!docs/a.md\n' }).contextPaths).toHaveLength(2)
    expect(problems({ 'context-paths': 'docs/**\nsrc/[a' })).toEqual([
      expect.stringMatching(/^context-paths: invalid pattern "src\/\[a", line 2: .*\.$/),
    ])
  })

  test.each([
    ['', []],
    [' \n', []],
    ['mintlify[bot]', ['mintlify[bot]']],
    ['Mintlify[bot], Octocat\nother', ['mintlify[bot]', 'octocat', 'other']],
  ])('skip-authors %j are %j', (value, authors) => {
    expect([...read({ 'skip-authors': value }).skipAuthors]).toEqual(authors)
  })
})

describe('allow-users', () => {
  test.each([
    ['', []],
    ['*', ['*']],
    ['Octocat, renovate[bot]\n7up mona_corp', ['octocat', 'renovate[bot]', '7up', 'mona_corp']],
    ['a1 b-2', ['a1', 'b-2']],
  ])('%j are %j', (value, logins) => {
    expect([...read({ 'allow-users': value }).allowUsers]).toEqual(logins)
  })

  test.each(['@octocat', 'octocat@', 'your-org/team', '-octocat', 'octocat[bot]s', '[bot]', '**'])(
    '%s is rejected',
    (login) => {
      expect(problems({ 'allow-users': `mona, ${login}` })).toEqual([
        'allow-users: expected logins separated by commas, spaces or line breaks, such as octocat or renovate[bot], ' +
          `or * for everyone, got "mona, ${login}". Write logins without "@"; a team can't be named.`,
      ])
    },
  )
})

test.each<[string, Given, boolean]>([
  ['nothing', {}, false],
  ['waiting for a job', { prompt: '', 'job-id': 'j' }, false],
  ['a job per pull request', { 'job-scope': 'pull-request' }, true],
  ['a comment', { comment: 'true' }, true],
  ['a comment on waiting for a job', { comment: 'true', prompt: '', 'job-id': 'j' }, true],
  ['the event', { context: 'event' }, true],
  ['the diff', { context: 'diff' }, true],
  ['the event in a message', { context: 'event', 'job-id': 'j' }, true],
  ['the event, without a prompt to add it to', { context: 'event', prompt: '', 'job-id': 'j' }, false],
  ['path patterns', { 'context-paths': 'docs/**' }, true],
  ['path patterns, without a prompt', { 'context-paths': 'docs/**', prompt: '', 'job-id': 'j' }, false],
])('GitHub is needed for %s: %j is %s', (_, given, needed) => {
  expect(needsGitHub(read(given), false)).toBe(needed)
  expect(needsGitHub(read(given), true)).toBe(true)
})

describe('job-scope and issue-number', () => {
  const withIssue = (given: Given, hasIssue: boolean) =>
    parseInputs({ ...NOTHING, ...GOOD, ...given }, { ...sources(given), hasIssue })

  test.each([
    ['issue', '', true],
    ['issue', '7', false],
    ['pull-request', '', false],
    ['pull-request', '7', false],
    ['run', '7', false],
  ] as const)('%s with the number "%s", on an event with an issue: %s', (scope, number, hasIssue) => {
    const inputs = withIssue({ 'job-scope': scope, 'issue-number': number }, hasIssue)
    expect(inputs.jobScope).toBe(scope)
    expect(inputs.issueNumber).toBe(number === '' ? undefined : 7)
  })

  test('the number may have several digits', () => {
    expect(read({ 'issue-number': '120' }).issueNumber).toBe(120)
  })

  test.each(['', ' \n'])('issue needs an issue, with the number %j', (number) => {
    expect(problems({ 'job-scope': 'issue', 'issue-number': number })).toEqual([
      'job-scope: "issue" needs an issue, and the event that triggered the run has none. Set issue-number.',
    ])
  })

  test('issue can not be combined with job-id', () => {
    expect(problems({ 'job-scope': 'issue', 'issue-number': '7', 'job-id': 'job-1' })).toEqual([
      'job-scope: "issue" can\'t be combined with job-id. Remove one of the two.',
    ])
  })

  test.each(['#7', '0', '07', '-1', '1.5', '1e3', '7 8', 'seven', '9'.repeat(17)])(
    'the number %s is rejected',
    (value) => {
      expect(problems({ 'issue-number': value })).toEqual([
        `issue-number: expected the number of a pull request or an issue, such as 7, got "${value}".`,
      ])
    },
  )
})

describe('a check is asked for, whatever the other inputs are,', () => {
  test.each([
    ['true', '', true],
    [' TRUE ', 'false', true],
    ['true', 'False', true],
    ['true', ' FALSE\n', true],
    ['', '', false],
    ['yes', '', false],
    ['true', 'true', false],
    ['true', 'yes', false],
  ])('with check "%s" and dry-run "%s": %s', (check, dryRun, expected) => {
    expect(asksForCheck({ ...NOTHING, check, 'dry-run': dryRun })).toBe(expected)
  })
})

test('the docs token is trimmed', () => {
  expect(read({ 'docs-token': ' ghp_1\n' }).docsToken).toBe('ghp_1')
})
