// The inputs: what each one accepts, which line each bad value gets, and that all lines are
// reported together.
import { describe, expect, test } from '@jest/globals'
import { DEFAULT_FAIL_ON, FAIL_ON, type FailOn } from '../../src/agent/job.js'
import {
  DEFAULTS,
  type InputError,
  type InputName,
  type InputSources,
  type Inputs,
  needsGitHub,
  parseInputs,
  type RawInputs,
} from '../../src/inputs/inputs.js'
import { describeJobKey } from '../../src/inputs/job-key.js'
import { unfit } from '../../src/inputs/values.js'
import { createRedactor } from '../../src/text/redact.js'
import { scaled } from '../support/time.js'
import { INPUTS } from './scripted-run.js'

const KEY = 'mint_s3cr3t'
const NOTHING = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, ''])) as RawInputs
const GOOD = { prompt: 'Fix the docs', 'project-id': 'p-1', 'api-key': KEY }
/** A base URL of another service, where the key may be of any kind. */
const ELSEWHERE = { 'base-url': 'https://agent.example.com' }

type Raw = Partial<RawInputs>

const FILES: Readonly<Record<string, string>> = {
  'prompt.md': 'From the file',
  'key.md': `export KEY=${KEY}`,
  'token.md': 'Use ghp_0123456789.',
}

function readAny(raw: Raw, more: Partial<InputSources> = {}): ReturnType<typeof parseInputs> {
  return parseInputs(
    { ...NOTHING, ...GOOD, ...raw },
    {
      redact: createRedactor((raw['api-key'] ?? KEY).trim()),
      readPromptFile: (path) => {
        const text = FILES[path]
        if (text === undefined) throw unfit('does not exist. Check the path.')
        return text
      },
      given: {},
      missingSecrets: undefined,
      hasIssue: false,
      eventName: 'schedule',
      now: new Date('2026-11-20T12:00:00Z'),
      ...more,
    },
  )
}

function read(raw: Raw = {}, more?: Partial<InputSources>): Inputs {
  const { inputs, problem } = readAny(raw, more)
  if (problem !== undefined) throw problem
  return inputs
}

function readBad(raw: Raw, more?: Partial<InputSources>): InputError {
  const { problem } = readAny(raw, more)
  if (problem === undefined) throw new Error(`${JSON.stringify(raw)} is not bad`)
  return problem
}

/** One line per problem. */
const problems = (raw: Raw, more?: Partial<InputSources>): string[] =>
  readBad(raw, more).message.split('\n')

test('with only a prompt, a project and a key, everything else has its default [input.values] [input.blank.default]', () => {
  expect(read()).toEqual({
    ...INPUTS,
    task: { kind: 'create', prompt: 'Fix the docs' },
    apiKey: KEY,
    failOn: new Set(DEFAULT_FAIL_ON),
  })
  expect(Object.isFrozen(read())).toBe(true)
})

const EMPTY_MEANS_NONE = ['github-token', 'job-key', 'skip-authors']
const OPTIONAL = (Object.keys(DEFAULTS) as InputName[]).filter(
  (name) => !(name in GOOD) && !EMPTY_MEANS_NONE.includes(name),
)

test.each(OPTIONAL)(
  '%s means its default if it is blank, and accepts its default [input.blank.default]',
  (name) => {
    for (const value of [' ', ' \t\r\n ', DEFAULTS[name]])
      expect(read({ [name]: value })).toEqual(read())
  },
)

describe('the task [input.task]', () => {
  const PROMPT = { kind: 'create', prompt: 'Fix the docs' }
  const FILE = { prompt: '', 'prompt-file': 'prompt.md' }
  const inside = 'a\r\n\r\n  b\t\u00a0c  \u202e d'
  test.each<[Raw, object]>([
    [{}, PROMPT],
    [FILE, { kind: 'create', prompt: 'From the file' }],
    [{ 'prompt-file': 'prompt.md' }, { kind: 'create', prompt: 'Fix the docs\n\nFrom the file' }],
    [{ 'job-id': 'j' }, { ...PROMPT, kind: 'message', jobId: 'j' }],
    [
      { ...FILE, 'job-id': 'j' },
      { kind: 'message', jobId: 'j', prompt: 'From the file' },
    ],
    [
      { prompt: ' \n', 'job-id': ' j ' },
      { kind: 'attach', jobId: 'j' },
    ],
    [{ prompt: ` \r\n${inside}\n\t` }, { kind: 'create', prompt: inside }],
  ])('is read from %j [input.task]', (raw, task) => {
    expect(read(raw).task).toEqual(task)
  })
})

/** What the values of an input keep, if that isn't [input.values] alone. */
const RULES: Partial<Record<InputName, string>> = {
  'project-id': '[input.id]',
  'job-id': '[input.id]',
  prompt: '[input.task]',
  'prompt-file': '[input.file.inside]',
  'job-scope': '[input.scope]',
  'issue-number': '[range.number]',
  since: '[range.since]',
  'fail-on': '[output.exit-code]',
  'allow-users': '[input.logins]',
  'skip-authors': '[input.logins]',
  'base-url': '[input.base-url]',
  'api-key': '[input.key.kind]',
  'previous-api-key': '[input.key.kind]',
  'github-token': '[input.key.kind]',
  'docs-token': '[input.key.kind]',
}

const LONG_URL = `https://agent.example.com/${'p'.repeat(2048 - 26)}`

const ACCEPTED: [InputName, values: string[], parsed: Partial<Inputs>][] = [
  ['wait', ['false', 'False', 'FALSE', ' false\n'], { wait: false }],
  ['dry-run', ['true', 'True', 'TRUE'], { dryRun: true }],
  ['comment', ['true'], { comment: true }],
  ['context', ['event'], { context: 'event' }],
  ['context', ['diff'], { context: 'diff' }],
  ['job-scope', ['pull-request'], { jobScope: 'pull-request' }],
  ['project-id', [' .p-1:@\n'], { projectId: '.p-1:@' }],
  ['project-id', ['mint_docs'], { projectId: 'mint_docs' }],
  ['issue-number', [' 120 '], { issueNumber: 120 }],
  ['timeout-minutes', ['1440', '1440.0'], { timeoutMs: 86_400_000 }],
  ['timeout-minutes', ['.50', '0.5', '000.5'], { timeoutMs: 30_000 }],
  ['timeout-minutes', ['5.', '5', '05'], { timeoutMs: 300_000 }],
  ['timeout-minutes', ['0.001'], { timeoutMs: 60 }],
  ['poll-interval-seconds', ['0.1'], { pollIntervalMs: 100 }],
  ['poll-interval-seconds', [' 2.5 '], { pollIntervalMs: 2500 }],
  ['poll-interval-seconds', ['3600'], { pollIntervalMs: 3_600_000 }],
  ['fail-on', ['no-changes', 'no-changes,\n'], { failOn: new Set<FailOn>(['no-changes']) }],
  [
    'fail-on',
    [' failed archived\r\n\nfailed, '],
    { failOn: new Set<FailOn>(['failed', 'archived']) },
  ],
  ['fail-on', ['none', ' none,'], { failOn: new Set() }],
  ['allow-users', ['*'], { allowUsers: new Set('*') }],
  [
    'allow-users',
    ['Octocat, a[bot]\n7up b-2_c'],
    { allowUsers: new Set(['octocat', 'a[bot]', '7up', 'b-2_c']) },
  ],
  ['since', ['v1.2.0', ' v1.2.0\n'], { since: 'v1.2.0' }],
  ['since', ['refs/tags/größe@2'], { since: 'refs/tags/größe@2' }],
  ['since', ['r'.repeat(255)], { since: 'r'.repeat(255) }],
  // The name of a tag or a branch.
  ['since', ['2026-11-01'], { since: '2026-11-01' }],
  [
    'skip-labels',
    ['No Docs,\nBUG', 'bug\r\n no docs \n,, '],
    { skipLabels: new Set(['no docs', 'bug']) },
  ],
  ['base-url', ['https://a.example', 'https://a.example///'], { baseUrl: 'https://a.example' }],
  ['base-url', ['HTTPS://A.Example:443/A/b//'], { baseUrl: 'https://a.example/A/b' }],
  [
    'base-url',
    ['https://a.example:8443/v2/agents'],
    { baseUrl: 'https://a.example:8443/v2/agents' },
  ],
  ['base-url', ['http://LOCALHOST:3000/'], { baseUrl: 'http://localhost:3000' }],
  ['base-url', ['http://127.255.255.254'], { baseUrl: 'http://127.255.255.254' }],
  ['base-url', ['http://[::1]'], { baseUrl: 'http://[::1]' }],
  ['base-url', [LONG_URL], { baseUrl: LONG_URL }],
]
test.each(
  ACCEPTED.map(([input, values, parsed]) => {
    const rule = RULES[input] ?? ''
    return [
      `${input} accepts ${JSON.stringify(values)} [input.values] ${rule}`,
      input,
      values,
      parsed,
    ] as const
  }),
)('%s', (_, input, values, parsed) => {
  for (const value of values) expect(read({ [input]: value })).toEqual({ ...read(), ...parsed })
})

test('context-paths are patterns, one per line [context.paths.page]', () => {
  expect(read({ 'context-paths': ' docs/** \n\n!docs/a.md\n' }).contextPaths).toHaveLength(2)
})

const COPY_PROJECT = 'Copy it from the service (Mintlify: from the API keys page of its dashboard).'
const URL_EXPECTED = "expected the service's base URL, such as https://agent.example.com/prefix"
const NO_URL = `${URL_EXPECTED}, got %. That is not a valid URL.`
const NOT_NUMBERS = [
  '5 min',
  ...'-1 +5 0x10 1e2 Infinity 1,5 . 1..2 1_000 \u0663'.split(' '),
  '9'.repeat(400),
]
const NO_PROMPT =
  'no instruction for the agent. Set prompt or prompt-file, or job-id to wait for an existing docs job.'
const KEY_MUST_NOT = 'the secret contains white space, control characters or non-ASCII characters.'
const KEY_LINE = `${KEY_MUST_NOT} Store the secret again, without quotes or line breaks.`

/**
 * For each input, the line that its bad values get, with `%` for the value in quotes; a pair is a
 * value and how it is shown.
 */
type Rejected = [InputName, line: string, values: (string | [value: string, shown: string])[]]
const REJECTED: Rejected[] = [
  ['prompt', NO_PROMPT, ['', ' ']],
  ['prompt-file', '% does not exist. Check the path.', ['gone.md']],
  ['project-id', `required. ${COPY_PROJECT}`, ['', ' \n']],
  [
    'project-id',
    `expected a project ID, got a key. ${COPY_PROJECT}`,
    ['mint_0ther_secret_of_ours'],
  ],
  ...(
    [
      ['project-id', COPY_PROJECT],
      ['job-id', 'Copy it again.'],
    ] as const
  ).map(
    ([input, advice]): Rejected => [
      input,
      `expected an ID as the service writes it, got %. ${advice}`,
      [[' .. ', '".."'], 'x'.repeat(513), ['a\nb\u0000', '"a b\\u{0}"']],
    ],
  ),
  ...(['wait', 'dry-run', 'comment'] as const).map(
    (input): Rejected => [
      input,
      'expected true or false, got %.',
      ['true false', ['"true"', `"'true'"`], 'yes', '1', 'tRUE', 'true, true', 'false, false'],
    ],
  ),
  ['job-scope', 'expected one of run, pull-request, issue, got %.', ['Run', 'run, issue']],
  [
    'job-scope',
    '% needs an issue or a pull request, and the event has neither. Set issue-number.',
    ['issue'],
  ],
  [
    'issue-number',
    'expected the number of a pull request or an issue, such as 7, got %.',
    ['#7', '0', '07', '1.5', '1e3', '7 8', '9'.repeat(17)],
  ],
  ['context', 'expected one of none, event, diff, got %.', ['even', 'event diff']],
  ['since', 'expected a tag, a branch or a commit, got %.', ['a..b', '../../../user']],
  [
    'timeout-minutes',
    'expected a number of minutes above 0 and at most 1440, such as 30, or 0.5 for half a minute, got %.',
    ['0', '0.0', '1440.1', `0.${'0'.repeat(400)}1`, ...NOT_NUMBERS],
  ],
  [
    'poll-interval-seconds',
    'expected a number of seconds from 0.1 to 3600, such as 10, or an empty value for adaptive polling, got %.',
    ['0', '0.0999', '3600.1', ...NOT_NUMBERS],
  ],
  [
    'fail-on',
    `expected any of ${FAIL_ON.join(', ')}, separated by commas, spaces or line breaks; or the ` +
      'word none alone, got %. error and cancelled always fail the step.',
    ['none, failed', 'none none', 'error', 'Failed', 'failed;archived', ','],
  ],
  [
    'allow-users',
    'expected logins separated by commas, spaces or line breaks, such as octocat or renovate[bot], or * for ' +
      'everyone, got %. Write whole logins, without "@"; a team can\'t be named.',
    ['@octocat', 'mona octocat@', '-octocat', 'octocat[bot]s', '[bot]', '**'],
  ],
  [
    'skip-authors',
    'expected logins separated by commas, spaces or line breaks, such as octocat or renovate[bot], got %. Write ' +
      'whole logins, without "@"; a team can\'t be named.',
    ['@octocat', '*[bot]', '*', 'app/renovate', "['renovate[bot]']", 'a@b.example'],
  ],
  ['base-url', NO_URL, ['a.example', 'https://a.example:99999', `${LONG_URL}p`]],
  [
    'base-url',
    `${URL_EXPECTED}, without user name, password, query, fragment or /v2/agent, got %.`,
    [
      'https://agent.example.com/?',
      'https://agent.example.com/prefix/v2/agent/p-1/job',
      'https://agent.example.com/v2/agent',
      ['https://agent.example.com/?token=hunter2', '"https://agent.example.com/?***"'],
      ['https://agent.example.com/#hunter2\nhunter2', '"https://agent.example.com/#***"'],
      ['https://hunter2@agent.example.com/prefix', '"https://***@agent.example.com/prefix"'],
      ['https://:hunter2@agent.example.com', '"https://***@agent.example.com"'],
      ['HTTP://user:hunter2@x@agent.example.com', '"HTTP://***@agent.example.com"'],
      ['https:\\\\user:hunter2@agent.example.com', '"***@agent.example.com"'],
    ],
  ],
  ['base-url', NO_URL, [['https://user:hun\nter2@a b', '"https://***@a b"']]],
  [
    'base-url',
    "expected a base URL with https (http only on loopback), so that the key isn't sent unencrypted, got %.",
    [
      ...'http://127.0.0.1.evil.example http://evil-localhost http://localhost.evil.example'.split(
        ' ',
      ),
      ...'http://[::2] http://128.0.0.1 ftp://localhost file:///etc/passwd'.split(' '),
      ['user:hunter2@agent.example.com', '"***@agent.example.com"'],
    ],
  ],
  [
    'api-key',
    'required. Set it from a secret: `api-key: ${{ secrets.AGENT_API_KEY }}`. GitHub passes an empty string ' +
      "if the workflow job can't have the secret. Check its name, which repositories can use it, the " +
      'environment of the workflow job, and what a calling workflow passes on (the secrets of an ' +
      'environment only with `secrets: inherit`).',
    ['', ' \n'],
  ],
  ...(['api-key', 'previous-api-key', 'github-token', 'docs-token'] as const).map(
    (input): Rejected => [input, KEY_LINE, ['mint_a b', 'mint_a\nb', 'mint_a\u007fb', 'mint_äb']],
  ),
  [
    'api-key',
    'expected an admin API key, which starts with mint_. Check which secret you pass, and that it ' +
      'holds nothing else, or set base-url for another service.',
    ['MINT_abc123', 'mint-abc123', 'KEY=mint_x'],
  ],
  ...['mint_dsc_', 'mint_us_'].map(
    (kind): Rejected => [
      kind === 'mint_us_' ? 'previous-api-key' : 'api-key',
      `expected an admin API key, got a different kind of key (${kind}…). ` +
        'Create one on the API keys page of the dashboard.',
      [`${kind}abc123`],
    ],
  ),
  [
    'api-key',
    'the secret is longer than 4,096 characters. Pass one secret, not all of them.',
    [`mint_${'x'.repeat(4092)}`],
  ],
]

test.each(
  REJECTED.map(([input, line, values]) => {
    const rule = RULES[input] ?? '[input.values]'
    return [
      `${input} is rejected: ${line} ${rule} [input.problems.together]`,
      input,
      line,
      values,
    ] as const
  }),
)('%s', (_, input, line, values) => {
  for (const item of values) {
    const [value, shown] =
      typeof item === 'string'
        ? [item, item.length > 80 ? `"${item.slice(0, 80)}…"` : `"${item}"`]
        : item
    const text = line.replace(/%/, () => shown)
    expect([value, ...problems({ [input]: value })]).toEqual([value, `${input}: ${text}`])
  }
})

test.each(['dry_run', 'DRYRUN', 'Dry--Run_'])(
  'an input with the name %s is meant [input.misspelt]',
  (name) => {
    const given = { 'DRY-RUN': 'false', DRIED_RUN: 'true', WAIT_: 'true', [name]: 'true\n' }
    const line = `${name.toLowerCase()}: no such input. Write "dry-run" instead.`
    expect(problems({}, { given })).toEqual([line])
    // By a composite action around the step, under nektos/act.
    expect(readAny({ 'dry-run': 'true' }, { given }).problem).toBeUndefined()
  },
)

test('a bad pattern is named with its line [context.paths.slips]', () => {
  const [line] = problems({ 'context-paths': 'docs/**\nsrc/[a' })
  expect(line).toMatch(/^context-paths: invalid pattern "src\/\[a", line 2: .*\.$/)
})

test.each(['timeout-minutes', 'poll-interval-seconds'])(
  '%s: a very long value is rejected fast [text.cheap] [input.values]',
  (input) => {
    const start = performance.now()
    expect(problems({ [input]: `${'9'.repeat(200_000)}x` })).toHaveLength(1)
    // A pattern that backtracks takes minutes.
    expect(performance.now() - start).toBeLessThan(scaled(5_000))
  },
)

describe('api-key [input.key.kind]', () => {
  test.each<[string, Raw]>([
    [' mint_ghs_abc\n', {}],
    [`mint_${'x'.repeat(4091)}`, {}],
    ['mint_!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~', {}],
    ['mint_dsc_abc', ELSEWHERE],
    ['i', ELSEWHERE], // Too short to be unique: it may be part of other inputs.
  ])('accepts %j with %j [input.key.kind]', (value, raw) => {
    expect(read({ 'api-key': value, ...raw }).apiKey).toBe(value.trim())
  })

  test('is checked at every base-url, and its kind at each spelling of the default [input.key.kind]', () => {
    expect(problems({ 'api-key': 'mint_a b', ...ELSEWHERE })).toEqual([
      expect.stringContaining(KEY_MUST_NOT),
    ])
    expect(
      problems({ 'api-key': 'abc', 'base-url': 'https://API.mintlify.com:443/' }),
    ).toHaveLength(1)
  })

  test('is not said to be of another kind beside a base-url that is bad [input.key.kind]', () => {
    const raw: Raw = {
      'api-key': 'other-service-key',
      'project-id': '',
      'base-url': 'http://agent.example.com',
    }
    const [url = '', project = '', ...more] = problems(raw)
    expect([url.split(':')[0], more]).toEqual(['base-url', []])
    expect(project).toBe(`project-id: required. ${COPY_PROJECT}`)
  })

  test.each([
    ...['ghp', 'gho', 'ghu', 'ghs', 'ghr', 'github_pat'].map(
      (prefix) => `${prefix}_0123456789abcdef`,
    ),
  ])('is no token of GitHub, whatever the service is: %s [input.key.kind]', (token) => {
    const why = "expected the service's key, got a GitHub token. Check which secret you pass."
    for (const service of [ELSEWHERE, {}]) {
      expect(problems({ ...service, 'api-key': token, 'github-token': token })).toEqual([
        `api-key: ${why}`,
      ])
      expect(problems({ ...service, 'previous-api-key': token })).toEqual([
        `previous-api-key: ${why}`,
      ])
    }
  })

  test('that is empty is explained by the missing secrets, if known [input.key.empty]', () => {
    const missingSecrets = 'It is a fork.'
    expect(problems({ 'api-key': '' }, { missingSecrets })).toEqual([
      'api-key: required. It is a fork.',
    ])
  })
})

describe('the key [secret.input]', () => {
  const TEXT = 'contains the value of api-key. Pass it as api-key only.'
  const others = (Object.keys(DEFAULTS) as InputName[]).filter((name) => name !== 'api-key')

  test.each(others)('in %s is a problem, and not shown', (input) => {
    for (const value of [`a ${KEY} b`, KEY.replace('_', '%5F')]) {
      expect(problems({ [input]: value })).toEqual([`${input}: ${TEXT}`])
    }
  })

  test.each(['github-token', 'docs-token'] as const)(
    'in %s is not used as one [secret.input]',
    (input) => {
      const { inputs } = readAny({ [input]: KEY })
      expect([inputs.githubToken, inputs.docsToken]).toEqual(['', ''])
    },
  )

  test.each(['previous-api-key', 'github-token', 'docs-token'] as const)(
    'is not the only secret that must be nowhere else: nor must %s',
    (input) => {
      const secret = 'mint_0ther_secret'
      const raw = { [input]: secret, prompt: `a ${secret}`, 'project-id': secret }
      const text = `contains the value of ${input}. Pass it as ${input} only.`
      expect(problems(raw).toSorted()).toEqual([`project-id: ${text}`, `prompt: ${text}`])
    },
  )

  test('before this one is no token, and one token may do for both [input.key.same] [secret.input]', () => {
    const [previous, token] = ['mint_0ld_key', 'ghp_0123456789']
    expect(problems({ 'previous-api-key': previous, 'github-token': previous })).toEqual([
      'github-token: contains the value of previous-api-key. Pass it as previous-api-key only.',
    ])
    const both = { 'github-token': token, 'docs-token': token, 'previous-api-key': KEY }
    expect(read(both)).toMatchObject({ githubToken: token, docsToken: '', previousApiKey: '' })
  })

  test.each([
    ['key.md', 'api-key'],
    ['token.md', 'docs-token'],
  ])('in the prompt file is a problem: %s [secret.input] [input.file.text]', (file, input) => {
    expect(problems({ 'prompt-file': file, 'docs-token': 'ghp_0123456789' })).toEqual([
      `prompt-file: contains the value of ${input}. Pass it as ${input} only.`,
    ])
  })

  test('of eight characters is one, with white space around it, too [secret.input] [context.secret.none]', () => {
    expect(problems({ 'api-key': ' mint_abc\n', prompt: 'a mint_abc b' })).toEqual([
      `prompt: ${TEXT}`,
    ])
  })

  test.each<[string, Raw]>([
    ['of seven characters, as in any text', { 'api-key': 'mint_ab', prompt: 'a mint_ab b' }],
    [
      'in part',
      { 'api-key': 'mint_abc_def', 'project-id': 'int_abc_', prompt: 'Keys start with mint_abc_' },
    ],
    [
      'of another service in a default, also if the runner filled it in',
      { 'api-key': 'mintlify', 'skip-authors': DEFAULTS['skip-authors'], ...ELSEWHERE },
    ],
  ])('%s is none [secret.input] [context.secret.none]', (_, raw) => {
    expect(read(raw).projectId).toBeDefined()
  })

  test('is not shown by half if a value is truncated [secret.redacted]', () => {
    const redact = createRedactor('s3cr3t_key')
    expect(problems({ wait: `${'x'.repeat(75)}s3cr3t_key` }, { redact }).join()).not.toContain(
      's3cr3',
    )
  })
})

describe('problems [input.problems.together]', () => {
  /** The first bad value of each. */
  const first = REJECTED.map(([name, , [value = '']]) => [name, [value].flat()[0]])
  const BAD: Raw = {
    ...Object.fromEntries(first.reverse()),
    'context-paths': '[',
    'docs-token': 'a b',
  }
  const named = Object.keys(BAD).filter((name) => name !== 'prompt')

  test('are reported together, one line each, and say that nothing was sent [input.problems.together] [input.problems.rerun]', () => {
    const error = readBad(BAD)
    const lines = error.message.split('\n').map((line) => line.split(':')[0])
    expect(lines.toSorted()).toEqual(named.toSorted())
    expect(error).toMatchObject({
      code: 'input',
      advice:
        'Fix the inputs. If only a secret was wrong, re-run. After a change to the workflow file, start a new run: a re-run uses the old file.',
    })
    expect(readBad({ wait: 'api-key: maybe' }).advice).not.toContain('secret')
  })

  test('are a prompt-file that can not be read, and not a missing prompt as well [input.task]', () => {
    expect(problems({ prompt: '', 'prompt-file': 'gone.md' })).toEqual([
      expect.stringMatching(/^prompt-file/),
    ])
  })

  test('leave the job ID, unless it is bad, too [input.task] [input.id]', () => {
    const tasks = ['job-1', '', '..'].map(
      (given) => readAny({ 'job-id': given, wait: 'maybe' }).inputs.task,
    )
    expect(tasks).toMatchObject([{ jobId: 'job-1' }, { kind: 'create' }, { kind: 'create' }])
  })

  test.each(['pull-request', 'issue'])(
    'are job-scope: %s and job-id together [input.scope]',
    (scope) => {
      expect(problems({ 'job-scope': scope, 'job-id': 'job-1', 'issue-number': '7' })).toEqual([
        `job-scope: "${scope}" can't be combined with job-id. Remove one of the two.`,
      ])
      expect(read({ 'job-scope': 'run', 'job-id': 'job-1' }).jobScope).toBe('run')
    },
  )

  test('of the action itself are passed on [cancel.exception]', () => {
    const broken = new Error('broken')
    const readPromptFile = () => {
      throw broken
    }
    expect(() => read({ 'prompt-file': 'x' }, { readPromptFile })).toThrow(broken)
  })
})

test.each([
  ['7', false],
  ['', true],
])(
  'job-scope: issue has the issue of the number "%s" or of its event: %s [input.scope]',
  (number, hasIssue) => {
    expect(read({ 'job-scope': 'issue', 'issue-number': number }, { hasIssue }).jobScope).toBe(
      'issue',
    )
  },
)

test.each([
  ['', ''],
  ['[docs] fr', '[docs] fr'],
  ['{\n  "lang": "fr",\n  "node": 24\n}', 'fr, 24'],
  ['{"lang": "fr\\n"}', 'fr'],
  ['{"lang": ""}', '{"lang": ""}'],
  ['{"config": {"a": 1}}', '{"a":1}'],
  [`a\n  b\t${'x'.repeat(99)}`, `a b ${'x'.repeat(95)}…`],
])('job-key %j is read as %j [memory.leg-named]', (jobKey, text) => {
  expect(describeJobKey(jobKey)).toBe(text)
})

const ATTACH = { prompt: '', 'job-id': 'j' }
test.each<[Raw, boolean]>([
  [{}, false],
  [{ 'job-scope': 'pull-request' }, true],
  [{ comment: 'true', ...ATTACH }, true],
  [{ context: 'diff', 'job-id': 'j' }, true],
  [{ context: 'event', ...ATTACH }, false],
  [{ 'context-paths': 'docs/**' }, true],
  [{ 'context-paths': 'docs/**', ...ATTACH }, false],
])('%j needs GitHub: %s [net.cheap]', (raw, needed) => {
  expect(needsGitHub(read(raw))).toBe(needed)
})

describe('what is needed even if other inputs are bad [access.refused.first]', () => {
  test.each<[Raw, Partial<Inputs>, rule: string]>([
    [{ 'project-id': '..' }, { projectId: '' }, '[input.id]'],
    [{ 'api-key': 'a b' }, { apiKey: '' }, '[input.key.kind]'],
    [
      { 'github-token': ' t\n', 'docs-token': ' d\n' },
      { githubToken: 't', docsToken: 'd' },
      '[input.values]',
    ],
    [
      { 'github-token': '', 'docs-token': ' ' },
      { githubToken: '', docsToken: '' },
      '[input.blank.default]',
    ],
    [{ 'job-key': 'null\n' }, { jobKey: '' }, '[input.job-key.matrix]'],
    [{ 'job-key': '{}' }, { jobKey: '' }, '[input.job-key.matrix]'],
    [{ 'job-key': ' {"os":"x"}' }, { jobKey: '{"os":"x"}' }, '[input.values]'],
    [{ 'allow-users': 'Octocat, @b' }, { allowUsers: new Set() }, '[input.logins]'],
    [{ 'skip-authors': ' \n' }, { skipAuthors: new Set() }, '[skip.authors.always]'],
    [
      { 'skip-authors': ', ,' },
      { skipAuthors: new Set(['mintlify[bot]']) },
      '[skip.authors.always]',
    ],
    [
      { 'skip-authors': 'Octocat\nb[bot]' },
      { skipAuthors: new Set(['mintlify[bot]', 'octocat', 'octocat[bot]', 'b[bot]']) },
      '[skip.authors.always]',
    ],
    [
      { 'skip-authors': '*[bot]' },
      { skipAuthors: new Set(['mintlify[bot]']) },
      '[skip.authors.always]',
    ],
    [{ 'prompt-file': ' gone.md ' }, { hasPromptFile: true }, '[input.file.warned]'],
    [{ 'prompt-file': '\n' }, { hasPromptFile: false }, '[input.file.warned]'],
  ])('%j gives %j [access.refused.first] %s', (raw, expected) => {
    expect(readAny({ wait: 'maybe', ...ELSEWHERE, ...raw }).inputs).toMatchObject(expected)
  })
})
