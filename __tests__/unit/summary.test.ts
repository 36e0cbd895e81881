// The step summary and the comment: the text for every outcome and every moment before it, and that no text from outside
// is markup.
import { describe, expect, test } from '@jest/globals'
import { type Job, OUTCOMES, type Outcome } from '../../src/agent/job.js'
import { ActionError } from '../../src/errors.js'
import { quote } from '../../src/escape.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { createRedactor } from '../../src/redact.js'
import { describeOutcome } from '../../src/report/outcome.js'
import { createCommentText, createSummary, type SummaryOptions } from '../../src/report/summary.js'
import type { RunResult } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK, INPUTS as PLAIN } from './scripted-run.js'

const KEY = 'mint_s3cr3t'
const redact = createRedactor(KEY)

const INPUTS: Inputs = {
  ...PLAIN,
  task: { kind: 'create', prompt: 'A secret plan' },
  projectId: 'project-1',
  apiKey: KEY,
  baseUrl: 'https://agent.example.com/prefix',
}

function createProgress(...jobs: Job[]): Progress {
  const clock = new FakeClock('2025-03-01T12:00:00.000Z')
  const progress = new Progress(clock)
  for (const one of jobs) {
    clock.advance(5000)
    progress.update(one)
  }
  return progress
}

/** A result with what each outcome needs. */
function resultOf(outcome: Outcome): RunResult {
  switch (outcome) {
    case 'error':
      return { outcome, error: new ActionError('auth', 'What happened.', 'What to do.') }
    case 'skipped':
      return { outcome, reason: 'a reason' }
    default:
      return { outcome }
  }
}

const DEFAULTS = { inputs: INPUTS, result: undefined, redact }
const summaryOf = (progress: Progress, options: Partial<SummaryOptions> = {}): string =>
  createSummary({ ...DEFAULTS, progress, ...options })
const commentOf = (progress: Progress, options: Partial<SummaryOptions> = {}): string =>
  createCommentText({ ...DEFAULTS, progress, ...options })

const TITLES: Record<Outcome, RegExp> = {
  'pr-opened': /opened a pull request/,
  'no-changes': /completed without a pull request/,
  started: /was started/,
  failed: /job failed/,
  archived: /archived/,
  'timed-out': /did not finish in time/,
  cancelled: /cancelled/,
  skipped: /Skipped.*nothing was sent/,
  'dry-run': /Dry run.*nothing was sent/,
  error: /could not be started or tracked/,
}

describe('the summary of a result', () => {
  test.each(OUTCOMES)(
    '%s has its title first, the link, the job, the status changes, and what to do next',
    (outcome) => {
      const progress = createProgress(job('active'), job('completed', { prLink: LINK }))
      const result = resultOf(outcome)
      const text = summaryOf(progress, { result })
      expect(text.split('\n')[0]).toMatch(/^### /)
      expect(text.split('\n')[0]).toMatch(TITLES[outcome])
      expect(text).toContain(`](<${LINK}>)`)
      expect(text).toContain('\n- Job: `job-1`\n')
      expect(text).toContain('\n- Project: `project-1`\n')
      expect(text).toContain('\n- Service: `https://agent.example.com/prefix`\n')
      expect(text).toContain('| 2025-03-01 12:00:05 | 5 s | active |')
      expect(text).toContain('| 2025-03-01 12:00:10 | 10 s | completed |')
      const next = describeOutcome(progress, result, (shown) => `\`${shown}\``).next
      expect(text).toContain(`**What to do next:** ${next}\n`)
      expect(text).not.toMatch(/undefined|\bnull\b|secret plan/)
    },
  )

  test('no two outcomes have the same title', () => {
    const titles = OUTCOMES.map(
      (outcome) => summaryOf(createProgress(), { result: resultOf(outcome) }).split('\n')[0],
    )
    expect(new Set(titles).size).toBe(OUTCOMES.length)
  })

  test('a pull request is shown as its repository and number, another link as itself', () => {
    const text = (prLink: string): string =>
      summaryOf(createProgress(job('completed', { prLink })), { result: { outcome: 'pr-opened' } })
    expect(text(LINK)).toContain(`[\`your-org/docs#7\`](<${LINK}>)`)
    expect(text('https://example.com/x')).toContain('[`https://example.com/x`](<https://example.com/x>)')
  })

  test('without job, link and inputs there are no empty lines for them', () => {
    const error = new ActionError(
      'input',
      'wait: expected b, got "a".\nprompt: required.',
      'Nothing was sent.',
    )
    const text = summaryOf(createProgress(), { inputs: undefined, result: { outcome: 'error', error } })
    expect(text).not.toMatch(/Pull request|Job:|Project:|Service:|Run:|Time \(UTC\)|undefined/)
    expect(text).toMatch(/^- .*wait: expected b, got "a"\..*$/m)
    expect(text).toMatch(/^- .*prompt: required\..*$/m)
    expect(text).toContain('`input`')
  })

  test('of a step that did not wait says what it did', () => {
    const titleAfter = (change: (progress: Progress) => void): string | undefined => {
      const progress = createProgress(job('active'))
      change(progress)
      return summaryOf(progress, { result: { outcome: 'started' } }).split('\n')[0]
    }
    expect(titleAfter(() => undefined)).toBe('### 🚀 The docs job was started')
    expect(titleAfter((progress) => progress.messageAccepted())).toBe(
      '### 🚀 The docs job accepted the message',
    )
    expect(titleAfter((progress) => progress.attach())).toBe('### ⏳ The docs job is still running')
  })

  test('an error says what happened, its code, and what to do', () => {
    const text = summaryOf(createProgress(), { result: resultOf('error') })
    expect(text).toMatch(/What happened\.[\s\S]*`auth`[\s\S]*What to do\./)
  })
})

describe('a link that the service returned, but that is not passed on', () => {
  const progress = createProgress({ ...job('completed'), linkRejected: true })
  const titleOf = (outcome: Outcome, failOn: Inputs['failOn'] = new Set()): string | undefined =>
    summaryOf(progress, { inputs: { ...INPUTS, failOn }, result: resultOf(outcome) }).split('\n')[0]

  test('is named in the title of a job without changes, and of no other', () => {
    const text = 'The docs job completed with an unusable pull request link'
    expect(titleOf('no-changes')).toBe(`### ✅ ${text}`)
    expect(titleOf('no-changes', new Set(['no-changes']))).toBe(`### ❌ ${text}`)
    expect(titleOf('failed')).toBe('### ❌ The docs job failed')
  })
})

test('the pull request of an earlier run is shown until the end is reported', () => {
  const progress = createProgress(job('completed'))
  expect(summaryOf(progress, { previousLink: LINK })).toContain('your-org/docs#7')
  expect(summaryOf(progress, { previousLink: LINK, result: { outcome: 'no-changes' } })).not.toContain('#7')
})

test('notes are shown one below the other', () => {
  const progress = createProgress(job('active'))
  progress.notes.push('one *note*', 'another')
  expect(summaryOf(progress)).toContain('\n\nNote: `one *note*`\n\nNote: `another`\n\n')
})

describe('the exact text', () => {
  const RUN = 'https://github.com/your-org/your-repo/actions/runs/1234567890'
  const STATUSES = [
    '| Time (UTC) | Elapsed | Status |',
    '| --- | --- | --- |',
    '| 2025-03-01 12:00:05 | 5 s | active |',
  ]
  const FACTS = ['- Project: `project-1`', '- Service: `https://agent.example.com/prefix`']

  test('of a pull request', () => {
    const progress = createProgress(job('active'), job('completed', { prLink: LINK }))
    const details = [
      '- Job: `job-1`',
      ...FACTS,
      '- Elapsed: 10 s',
      '',
      ...STATUSES,
      '| 2025-03-01 12:00:10 | 10 s | completed |',
      '',
      '**What to do next:** Review the pull request, then merge it.',
    ]
    const link = `[\`your-org/docs#7\`](<${LINK}>)`
    const result: RunResult = { outcome: 'pr-opened' }
    expect(summaryOf(progress, { result }).split('\n')).toEqual([
      '### ✅ The docs job opened a pull request',
      '',
      `**Pull request:** ${link}`,
      '',
      ...details,
      '',
    ])
    expect(commentOf(progress, { result }).split('\n')).toEqual([
      `✅ The docs job opened a pull request: ${link}`,
      '',
      '<details>',
      '<summary>Details</summary>',
      '',
      ...details,
      '',
      '</details>',
      '',
    ])
  })

  test('of a skipped run', () => {
    const result: RunResult = { outcome: 'skipped', reason: 'a reason' }
    expect(summaryOf(createProgress(), { result }).split('\n')).toEqual([
      '### ⏭️ Skipped: nothing was sent',
      '',
      'Reason: `a reason`',
      '',
      ...FACTS,
      '- Elapsed: 0 ms',
      '',
      '**What to do next:** There is nothing to do.',
      '',
    ])
  })

  test('of bad input: one line per problem', () => {
    const error = new ActionError('input', 'wait: a.\nprompt: b.', 'What to do.')
    const result: RunResult = { outcome: 'error', error }
    expect(summaryOf(createProgress(), { inputs: undefined, result }).split('\n')).toEqual([
      '### ❌ The docs job could not be started or tracked',
      '',
      '- `wait: a.`',
      '- `prompt: b.`',
      '- Error code: `input`',
      '',
      '- Elapsed: 0 ms',
      '',
      '**What to do next:** What to do.',
      '',
    ])
  })

  const WAIT_FOR_IT = 'to wait for it, run a step with `job-id: job-1` and no prompt.'
  const KILLED = 'If this text is never updated, the step was killed before'
  const followed = (sending: boolean): Progress => {
    const progress = createProgress()
    progress.follow('job-1')
    progress.sending = sending
    return progress
  }
  const sending = createProgress()
  sending.sending = true
  test.each([
    [
      'before anything was sent',
      createProgress(),
      {},
      '⏳ The service has not accepted the request yet',
      `${KILLED} the service accepted anything: run it again.`,
    ],
    [
      'before a message was sent',
      followed(false),
      {},
      '⏳ The service has not accepted the request yet',
      `${KILLED} the service accepted anything: run it again.`,
    ],
    [
      'while a create request is in flight',
      sending,
      {},
      '⏳ The request is being sent',
      `${KILLED} a response arrived, and a job may exist: check the agent's jobs in the service's dashboard before ` +
        'you run it again.',
    ],
    [
      'if a create request will be in flight when it is read',
      createProgress(),
      { sending: true },
      '⏳ The request is being sent',
      `${KILLED} a response arrived, and a job may exist: check the agent's jobs in the service's dashboard before ` +
        'you run it again.',
    ],
    [
      'while a message is in flight',
      followed(true),
      {},
      '⏳ The request is being sent',
      `${KILLED} a response arrived, and the job may have received the message: ${WAIT_FOR_IT}`,
    ],
    [
      'with a job',
      createProgress(job('active')),
      {},
      '⏳ The docs job is running',
      `If this step ends first, the job keeps running: ${WAIT_FOR_IT}`,
    ],
  ])('%s', (_, progress, options, title, next) => {
    const lines = summaryOf(progress, options).split('\n')
    expect(lines[0]).toBe(`### ${title}`)
    expect(lines.at(-2)).toBe(`**What to do next:** ${next}`)
    expect(commentOf(progress, options).split('\n')[0]).toBe(title)
    expect(commentOf(progress, options)).toContain(`**What to do next:** ${next}\n\n</details>\n`)
  })

  test('has no table of status changes before the first', () => {
    expect(summaryOf(createProgress(job('queued')))).not.toContain('|')
  })

  test('links the run for readers elsewhere', () => {
    const text = commentOf(createProgress(job('active')), { runUrl: RUN })
    expect(text).toContain(`\n- Run: [\`1234567890\`](<${RUN}>)\n- Elapsed: 5 s\n`)
  })

  test.each([
    ['no-changes', '✅', '❌'],
    ['failed', '❌', '❌'],
    ['timed-out', '⌛', '⌛'],
    ['archived', '🗄️', '🗄️'],
  ] as const)('of %s begins with %s, or with %s if it fails the step', (outcome, passes, fails) => {
    const title = (failOn: Inputs['failOn']): string =>
      commentOf(createProgress(), { inputs: { ...INPUTS, failOn }, result: { outcome } })
    expect(title(new Set())).toMatch(new RegExp(`^${passes} `, 'u'))
    expect(title(new Set([outcome]))).toMatch(new RegExp(`^${fails} `, 'u'))
  })
})

describe('the summary while the run goes on, which must be true if the step is killed right after', () => {
  const soFar = (change: (progress: Progress) => void): string => {
    const progress = createProgress()
    change(progress)
    return summaryOf(progress)
  }

  test('before anything was accepted: run it again', () => {
    expect(soFar(() => undefined)).toMatch(/has not accepted the request yet[\s\S]*run it again/)
  })

  test('while the request is in flight: a job may exist', () => {
    const text = soFar((progress) => {
      progress.sending = true
    })
    expect(text).toMatch(/is being sent[\s\S]*a job may exist[\s\S]*before you run it again/)
  })

  test('with a job: which one, and how to wait for it', () => {
    const text = soFar((progress) => progress.update(job('active')))
    expect(text).toMatch(
      /is running[\s\S]*- Job: `job-1`\n[\s\S]*to wait for it, run a step with `job-id: job-1` and no prompt/,
    )
  })

  test('with a message that was accepted, or a step that only waits: the same', () => {
    const text = soFar((progress) => {
      progress.follow('job-1')
      progress.messageAccepted()
    })
    expect(text).toMatch(
      /### ⏳ Waiting for the docs job\n[\s\S]*that doesn't stop the job: to wait for it, run a step with `job-id: job-1` and no prompt/,
    )
  })
})

describe('text from outside', () => {
  const HOSTILE = [
    '@octocat',
    '[click](javascript:alert(1))',
    '![x](https://evil.example/pixel)',
    '<img src=x onerror=alert(1)>',
    '</code><script>alert(1)</script>',
    '` `` ``` ~~~',
    'a | b \\| c |',
    '\n\n# A title\n\n| a | b |\n| - | - |',
    '**bold** _it_ ~~gone~~ $x$',
    '<!-- hidden',
    '\r\n::error::x\n##[error]x',
    '&lt;b&gt;',
    'reversed \u202e text',
  ]

  /** Markdown without its code: only the action's own words. */
  const outsideOfCode = (markdown: string): string =>
    markdown.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')

  test.each(OUTCOMES.flatMap((outcome) => HOSTILE.map((text) => [outcome, text] as const)))(
    'of %s, %j stays code on its line',
    (outcome, hostile) => {
      /** The same texts with `text` wherever text from outside is shown. */
      const textsWith = (text: string): string[] => {
        const progress = createProgress(job(text, { id: text }))
        const inputs = { ...INPUTS, projectId: text, baseUrl: text }
        const error = new ActionError('rejected', `It said ${quote(text)}.`, 'What to do.')
        const result = resultOf(outcome)
        if (outcome === 'error' || outcome === 'cancelled') Object.assign(result, { error })
        if (outcome === 'skipped') Object.assign(result, { reason: text })
        const options = { inputs, result }
        return [summaryOf(progress, options), commentOf(progress, options)]
      }
      const harmless = textsWith('x')
      for (const [index, markdown] of textsWith(`${hostile} WORD`).entries()) {
        expect(markdown).toContain('WORD')
        expect(outsideOfCode(markdown)).toBe(outsideOfCode(harmless[index] ?? ''))
        expect(markdown).not.toMatch(/[\r\u202e]/)
      }
    },
  )

  test('is redacted, however the key is written', () => {
    const encoded = KEY.replace('_', '%5F')
    const progress = createProgress(job('active', { id: `a${KEY}` }))
    const error = new ActionError('rejected', `It said ${KEY} <b> ${encoded}.`, 'What to do.')
    const options: Partial<SummaryOptions> = {
      inputs: { ...INPUTS, projectId: KEY },
      result: { outcome: 'error', error },
    }
    for (const markdown of [summaryOf(progress, options), commentOf(progress, options)]) {
      expect(markdown).not.toMatch(/s3cr3t/)
      expect(markdown).toContain('***')
    }
  })
})
