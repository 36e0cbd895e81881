// Reading the inputs: what each one takes, what it refuses, and that every fault is told at once.
import { describe, expect, test } from '@jest/globals'
import { createRedactor } from '../../src/escape.js'
import { DEFAULTS, InputError, type InputName, type RawInputs, parseInputs } from '../../src/inputs/inputs.js'

const KEY = 'mint_s3cr3t'
const NOTHING = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, ''])) as RawInputs
const GOOD = { prompt: 'Fix the docs', 'project-id': 'p-1', 'api-key': KEY }

type Given = Partial<Record<InputName, string>>

const sources = (given: Given) => ({
  redact: createRedactor((given['api-key'] ?? KEY).trim()),
  readPromptFile: (path: string) =>
    path === 'prompt.md' ? { text: 'From the file' } : { fault: 'which does not exist; check the path.' },
  secretsWithheld: (): string | undefined => undefined,
})

const read = (given: Given = {}) => parseInputs({ ...NOTHING, ...GOOD, ...given }, sources(given))

/** The faults, one line each. */
function faults(given: Given, withheld?: string): string[] {
  try {
    parseInputs(
      { ...NOTHING, ...GOOD, ...given },
      { ...sources(given), ...(withheld === undefined ? {} : { secretsWithheld: () => withheld }) },
    )
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InputError)
    expect((thrown as InputError).code).toBe('input')
    return (thrown as InputError).message.split('\n')
  }
  return []
}

/** Holds a fault to what every fault has to say: the input, what it got, what it takes, what to do. */
function expectFault(input: InputName, value: string, got: string): void {
  const lines = faults({ [input]: value })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(new RegExp(`^${input}: got .*takes .*\\. \\S.*\\.$`))
  expect(lines[0]).toContain(got)
}

describe('defaults', () => {
  test('with only a prompt, a project and a key, everything else is its default', () => {
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
    '%s with the blank value %j is as if it were not given',
    (name, blank) => {
      expect(read({ [name]: blank })).toEqual(read())
    },
  )

  // The runner fills these two in; here, nothing means nobody and none.
  const filled: readonly InputName[] = ['github-token', 'skip-authors']
  test.each(optional.filter((name) => !filled.includes(name)).map((name) => [name]))(
    '%s may be given its own default',
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
    expect(faults({ prompt: ' ' })).toEqual([expect.stringMatching(/^prompt: got nothing; takes .*job-id/)])
  })

  test('a prompt file that can not be read is one fault, not two', () => {
    expect(faults({ prompt: '', 'prompt-file': 'gone.md' })).toEqual([
      'prompt-file: got "gone.md", which does not exist; check the path.',
    ])
  })

  test('a bad job-id without a prompt is one fault, not two', () => {
    expect(faults({ prompt: '', 'job-id': '..' })).toEqual([expect.stringMatching(/^job-id: /)])
  })

  test('texts are trimmed at both ends and otherwise unchanged', () => {
    const inside = 'a\r\n\r\n  b\t\u00a0c  \u202e d'
    expect(read({ prompt: ` \r\n${inside}\n\t`, 'project-id': ' p-1\n', 'job-id': ' j 1 ' })).toMatchObject({
      task: { kind: 'message', jobId: 'j 1', prompt: inside },
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
  ])('takes %j', (value, meaning) => {
    expect(read({ [input]: value })[field]).toBe(meaning)
  })

  test.each(['yes', 'no', 'on', 'off', '1', '0', 'tRUE', 'y', 'null', 'truefalse', 'true false', '"true"'])(
    'refuses %s',
    (value) => expectFault(input, value, `"${value}"`),
  )
})

const NO_NUMBERS = ['-1', '-0.5', '+5', '0x10', '1e2', '1E2', 'Infinity', 'NaN', '1,5', '5m', '5 min', '1 2']
const STRANGE_NUMBERS = ['.', '1..2', '1_000', '٣', 'ten', `${'9'.repeat(400)}`]

describe('timeout-minutes', () => {
  test.each([
    ['30', 1_800_000],
    ['1440', 86_400_000],
    ['1440.0', 86_400_000],
    ['0.1', 6000],
    ['0.09', 5400],
    ['.5', 30_000],
    ['0.001', 60],
    ['007', 420_000],
  ])('takes %s', (value, milliseconds) => {
    expect(read({ 'timeout-minutes': value }).timeoutMs).toBeCloseTo(milliseconds, 6)
  })

  test.each([
    '0',
    '0.0',
    '1440.1',
    '1441',
    '3600',
    `0.${'0'.repeat(400)}1`,
    ...NO_NUMBERS,
    ...STRANGE_NUMBERS,
  ])('refuses %s', (value) => expectFault('timeout-minutes', value, `"${value.slice(0, 80)}`))
})

describe('poll-interval-seconds', () => {
  test.each([
    ['0.1', 100],
    ['1', 1000],
    ['10', 10_000],
    ['1440.1', 1_440_100],
    ['3600', 3_600_000],
    [' 2.5 ', 2500],
  ])('takes %s', (value, milliseconds) => {
    expect(read({ 'poll-interval-seconds': value }).pollIntervalMs).toBeCloseTo(milliseconds, 6)
  })

  test.each(['0', '0.09', '0.0999', '3600.1', '3601', ...NO_NUMBERS, ...STRANGE_NUMBERS])(
    'refuses %s',
    (value) => expectFault('poll-interval-seconds', value, `"${value.slice(0, 80)}`),
  )
})

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
  ])('takes %j', (value, words) => {
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
  ])('refuses %j', (value) => expectFault('fail-on', value, `"${value}"`))
})

describe.each(['project-id', 'job-id'] as const)('%s', (input) => {
  const got = (value: string) => {
    const { projectId, task } = read({ [input]: value })
    return input === 'project-id' ? projectId : task.kind === 'message' && task.jobId
  }
  test.each(['a', '...', '.a', 'a/b', '../x', 'a b', '%2e%2e', 'ünï', 'x'.repeat(512)])(
    'takes %j',
    (value) => {
      expect(got(value)).toBe(value)
    },
  )

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
    ['x'.repeat(513), '…"'],
  ])('refuses %j', (value, shown) => expectFault(input, value, shown))
})

test('project-id is required', () => {
  expect(faults({ 'project-id': ' ' })).toEqual([expect.stringMatching(/^project-id: got nothing; takes /)])
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
  ])('takes %s', (value, baseUrl) => {
    expect(read({ 'base-url': value }).baseUrl).toBe(baseUrl)
  })

  test.each([
    ['http elsewhere', 'http://agent.example.com'],
    ['http on a name that begins like loopback', 'http://127.0.0.1.evil.example'],
    ['http on a name that ends like loopback', 'http://evil-localhost'],
    ['http below localhost', 'http://evil.localhost.example'],
    ['http on another IPv6 address', 'http://[::2]'],
    ['http on all addresses', 'http://0.0.0.0'],
    ['http on 128', 'http://128.0.0.1'],
    ['another scheme', 'ftp://agent.example.com'],
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
  ])('refuses %s', (_, value) => expectFault('base-url', value, `"${value.replace(/([?#]).+/, '$1***')}"`))

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
  ])('refuses %s and never shows what may be secret in it', (value) => {
    const lines = faults({ 'base-url': value })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^base-url: got "[^"]*\*\*\*/)
    expect(lines[0]).not.toContain('hunter2')
  })
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
  ])('takes %j with %j', (value, given) => {
    expect(read({ 'api-key': value, ...given }).apiKey).toBe(value.trim())
  })

  test.each([
    ['a blank inside', 'mint_abc def'],
    ['a line break inside', 'mint_abc\ndef'],
    ['a tab inside', 'mint_abc\tdef'],
    ['a control character', 'mint_abc\u0001def'],
    ['a DEL', 'mint_abc\u007fdef'],
    ['a no-break space', 'mint_abc\u00a0def'],
    ['a letter outside of ASCII', 'mint_äbcdef'],
    ['a zero-width space', 'mint_abc\u200bdef'],
  ])('refuses %s, at every base-url, and never shows it', (_, value) => {
    for (const given of [{}, ELSEWHERE]) {
      const lines = faults({ 'api-key': value, ...given })
      expect(lines).toEqual([expect.stringMatching(/^api-key: got a value with .*; takes .*\. .*\.$/)])
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
  ])('refuses the wrong kind %s at the default base-url, without showing it', (value, given) => {
    const lines = faults({ 'api-key': value, ...given })
    expect(lines).toEqual([expect.stringMatching(/^api-key: got .*; takes .*\. .*\.$/)])
    expect(lines[0]).not.toContain('abc123')
  })

  test.each(['', ' \n'])('is required: %j is refused', (value) => {
    expect(faults({ 'api-key': value })).toEqual([
      expect.stringMatching(/^api-key: got nothing; takes .*secrets\./),
    ])
  })

  test('an empty one says why the run got no secrets, where that is known', () => {
    expect(faults({ 'api-key': '' }, 'It is a fork.')).toEqual([
      'api-key: got nothing; takes the admin API key. It is a fork.',
    ])
  })
})

describe('all faults', () => {
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

  test('are told at once, one line each', () => {
    const inputs = faults(BAD).map((line) => line.split(':')[0])
    expect(inputs.toSorted()).toEqual(
      Object.keys(BAD)
        .filter((name) => name !== 'prompt')
        .toSorted(),
    )
  })

  test('say that nothing was sent', () => {
    expect(() => parseInputs({ ...NOTHING, ...BAD }, sources(BAD))).toThrow(
      expect.objectContaining({ advice: 'Nothing was sent.' }),
    )
  })

  test.each([
    ['job-1', 'job-1'],
    ['', ''],
    ['..', ''],
  ])('with the job-id %j carry the job %j', (given, jobId) => {
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
  ] as const)('never show the key where it stands in %s', (input) => {
    const lines = faults({ [input]: `${KEY}\u0001 ${encodeURIComponent(KEY)}`, 'api-key': KEY })
    expect(lines[0]).toContain('***')
    expect(lines.join('\n')).not.toContain('s3cr3t')
  })

  test('never show half a key where a value is cut', () => {
    const value = `${'x'.repeat(75)}${KEY}`
    expect(faults({ wait: value }).join('\n')).not.toContain('mint_')
  })

  test('show a long value cut, and a value of many lines on one', () => {
    const [line = '', ...more] = faults({ wait: `a\n::error::x\n${'y'.repeat(10_000)}` })
    expect(more).toEqual([])
    expect(line.length).toBeLessThan(300)
  })

  test('an unexpected error is passed on as it is', () => {
    const broken = {
      ...sources({}),
      readPromptFile: () => {
        throw new Error('broken')
      },
    }
    expect(() => parseInputs({ ...NOTHING, ...GOOD, 'prompt-file': 'x' }, broken)).toThrow(new Error('broken'))
  })
})

describe('what GitHub is asked for', () => {
  test.each([
    ['run', 'run'],
    ['pull-request', 'pull-request'],
  ])('job-scope %s', (value, scope) => {
    expect(read({ 'job-scope': value }).jobScope).toBe(scope)
  })

  test.each(['Run', 'pull request', 'pr', 'run, pull-request'])('job-scope %s is refused', (value) =>
    expectFault('job-scope', value, `"${value}"`),
  )

  test('job-scope: pull-request is refused together with job-id', () => {
    expect(faults({ 'job-scope': 'pull-request', 'job-id': 'job-1' })).toEqual([
      expect.stringMatching(/^job-scope: got "pull-request" together with job-id; /),
    ])
    expect(read({ 'job-scope': 'run', 'job-id': 'job-1' }).jobScope).toBe('run')
  })

  test.each(['none', 'event', 'diff'] as const)('context %s', (value) => {
    expect(read({ context: value }).context).toBe(value)
  })

  test.each(['None', 'all', 'event diff'])('context %s is refused', (value) =>
    expectFault('context', value, `"${value}"`),
  )

  test('context-paths are patterns, a line each; a fault names its line', () => {
    expect(read({ 'context-paths': ' docs/** \n\n!docs/a.md\n' }).paths).toHaveLength(2)
    expect(faults({ 'context-paths': 'docs/**\nsrc/[a' })).toEqual([
      expect.stringMatching(/^context-paths: got "src\/\[a", line 2: /),
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
