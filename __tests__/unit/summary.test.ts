// The step summary: what it says for every outcome and at every moment before, and that no text from outside is markup.
import { describe, expect, test } from '@jest/globals'
import { type Job, OUTCOMES, type Outcome } from '../../src/agent/job.js'
import { ActionError } from '../../src/errors.js'
import { quote, createRedactor } from '../../src/escape.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { nextStep } from '../../src/report/messages.js'
import { summary } from '../../src/report/summary.js'
import type { End } from '../../src/run/ports.js'
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

function progressed(...jobs: Job[]) {
  const clock = new FakeClock('2025-03-01T12:00:00.000Z')
  const progress = new Progress(clock)
  for (const one of jobs) {
    clock.advance(5000)
    progress.see(one)
  }
  return progress
}

const endWith = (outcome: Outcome): End =>
  outcome === 'error'
    ? { outcome, error: new ActionError('auth', 'What happened.', 'What to do.') }
    : { outcome }

const TITLES: Record<Outcome, RegExp> = {
  'pr-opened': /opened a pull request/,
  'no-changes': /no changes/,
  started: /on its way/,
  failed: /job failed/,
  archived: /archived/,
  'timed-out': /time was over/,
  cancelled: /cancelled/,
  skipped: /Skipped.*nothing was sent/,
  'dry-run': /Dry run.*nothing was sent/,
  error: /could not be run or followed/,
}

describe('at the end', () => {
  test.each(OUTCOMES)(
    '%s has its title first, the link, the job, the states, and what to do next',
    (outcome) => {
      const progress = progressed(job('active'), job('completed', { prLink: LINK }))
      const end = endWith(outcome)
      const text = summary(INPUTS, progress, end, redact)
      expect(text.split('\n')[0]).toMatch(/^### /)
      expect(text.split('\n')[0]).toMatch(TITLES[outcome])
      expect(text).toContain(`](<${LINK}>)`)
      expect(text).toContain('| Job | `job-1` |')
      expect(text).toContain('| Project | `project-1` |')
      expect(text).toContain('`https://agent.example.com/prefix`')
      expect(text).toContain('| 2025-03-01 12:00:05 | 5 s | active |')
      expect(text).toContain('| 2025-03-01 12:00:10 | 10 s | completed |')
      const todo = nextStep(progress, end, (shown) => `\`${shown}\``)
      if (todo !== '') expect(text).toContain(todo)
      expect(text).not.toMatch(/undefined|\bnull\b|secret plan/)
    },
  )

  test('no two outcomes have the same title', () => {
    const titles = OUTCOMES.map(
      (outcome) => summary(INPUTS, progressed(), endWith(outcome), redact).split('\n')[0],
    )
    expect(new Set(titles).size).toBe(OUTCOMES.length)
  })

  test('a pull request is named by its repository and number, another link by itself', () => {
    const text = (prLink: string): string =>
      summary(INPUTS, progressed(job('completed', { prLink })), { outcome: 'pr-opened' }, redact)
    expect(text(LINK)).toContain(`[\`your-org/docs#7\`](<${LINK}>)`)
    expect(text('https://example.com/x')).toContain('[`https://example.com/x`](<https://example.com/x>)')
  })

  test('without job, link and inputs there are no empty rows', () => {
    const error = new ActionError('input', 'wait: got "a".\nprompt: got nothing.', 'Nothing was sent.')
    const text = summary(undefined, progressed(), { outcome: 'error', error }, redact)
    expect(text).not.toMatch(/Pull request|\| Job|\| Project|\| Service|Time \(UTC\)|undefined/)
    expect(text).toMatch(/^- .*wait: got "a"\..*$/m)
    expect(text).toMatch(/^- .*prompt: got nothing\..*$/m)
    expect(text).toContain('`input`')
  })

  test('an error says what happened, its code, and what to do', () => {
    const text = summary(INPUTS, progressed(), endWith('error'), redact)
    expect(text).toMatch(/What happened\.[\s\S]*`auth`[\s\S]*What to do\./)
  })
})

describe('on the way, as if it were the last word', () => {
  const soFar = (change: (progress: Progress) => void): string => {
    const progress = progressed()
    change(progress)
    return summary(INPUTS, progress, undefined, redact)
  }

  test('before anything was taken: run it again', () => {
    expect(soFar(() => undefined)).toMatch(/Nothing was taken[\s\S]*run it again/)
  })

  test('while it is sent: a job may exist', () => {
    const text = soFar((progress) => {
      progress.sending = true
    })
    expect(text).toMatch(/is being sent[\s\S]*a job may exist[\s\S]*before you run it again/)
  })

  test('with a job: which one, and how it is picked up', () => {
    const text = soFar((progress) => progress.see(job('active')))
    expect(text).toMatch(
      /on its way[\s\S]*\| Job \| `job-1` \|[\s\S]*`job-id: job-1` and no prompt picks it up/,
    )
  })

  test('with a message that was taken, or a wait: the same', () => {
    const text = soFar((progress) => {
      progress.jobId = 'job-1'
      progress.reused = true
    })
    expect(text).toMatch(/on its way[\s\S]*`job-id: job-1` and no prompt picks it up/)
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
    'turned \u202e text',
  ]

  /** What is left of Markdown once its code is taken out: only the action's own words. */
  const outsideOfCode = (markdown: string): string =>
    markdown.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')

  test.each(OUTCOMES.flatMap((outcome) => HOSTILE.map((text) => [outcome, text] as const)))(
    'in the summary of %s, %j stays code on its line',
    (outcome, text) => {
      const word = `${text} WORD`
      const progress = progressed(job(word, { id: word }))
      progress.jobId = word
      const error = new ActionError('rejected', `It said ${quote(word)}.`, 'What to do.')
      const end: End = outcome === 'error' || outcome === 'cancelled' ? { outcome, error } : { outcome }
      const markdown = summary({ ...INPUTS, projectId: word, baseUrl: word }, progress, end, redact)
      const calm = summary(
        { ...INPUTS, projectId: 'p', baseUrl: 'b' },
        Object.assign(progressed(job('x')), { jobId: 'j' }),
        'error' in end ? { ...end, error: new ActionError('rejected', 'It.', 'What to do.') } : end,
        redact,
      )
      expect(markdown).toContain('WORD')
      expect(outsideOfCode(markdown)).toBe(outsideOfCode(calm))
      expect(markdown).not.toMatch(/[\r\u202e]/)
    },
  )

  test('has no key in it, nor half of one', () => {
    const encoded = KEY.replace('_', '%5F')
    const progress = progressed(job('active', { id: `a${KEY}` }))
    const error = new ActionError('rejected', `It said ${KEY} <b> ${encoded}.`, 'What to do.')
    const markdown = summary({ ...INPUTS, projectId: KEY }, progress, { outcome: 'error', error }, redact)
    expect(markdown).not.toMatch(/s3cr3t/)
    expect(markdown).toContain('***')
  })
})
