// The step summary and the comment: the text for every outcome and every moment before it, and that no text from outside
// is markup.
import { describe, expect, test } from '@jest/globals'
import { type Job, OUTCOMES, type Outcome } from '../../src/agent/job.js'
import { ActionError } from '../../src/errors.js'
import { createRedactor, quote } from '../../src/escape.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { nextStep } from '../../src/report/messages.js'
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
      const next = nextStep(progress, result, (shown) => `\`${shown}\``)
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

  test('an error says what happened, its code, and what to do', () => {
    const text = summaryOf(createProgress(), { result: resultOf('error') })
    expect(text).toMatch(/What happened\.[\s\S]*`auth`[\s\S]*What to do\./)
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
      progress.reuse()
    })
    expect(text).toMatch(/is running[\s\S]*to wait for it, run a step with `job-id: job-1` and no prompt/)
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
