/**
 * What a reader sees, at any moment and at every end: log, annotation, outputs, summary, comment and check. The texts are
 * one snapshot, so that a changed word is a diff that a reviewer reads: `npm run jest -- texts -u` accepts a change.
 * What has to hold for every text is a rule, and no update accepts a text that breaks it.
 */

import { describe, expect, jest, test } from '@jest/globals'
import { STATUSES } from '../../src/agent/job.js'
import type { Inputs, Task } from '../../src/inputs/inputs.js'
import { createRedactor } from '../../src/redact.js'
import { heartbeatLine, OUTPUTS, startLine } from '../../src/report/messages.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import type { StatusUpdate } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { createReporter } from '../../src/runner.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS } from './scripted-run.js'
import { type Outside, ROWS, type Row } from './text-table.js'

expect.addSnapshotSerializer({ test: (value) => typeof value === 'string', serialize: (text) => text })

const KEY = 'mint_s3cr3t'
const RUN = { serverUrl: 'https://github.com', repository: 'your-org/your-repo', runId: '100' }
const RUN_LINK = '[Run `100`](<https://github.com/your-org/your-repo/actions/runs/100>)'
const PLAIN = { id: 'job-1', project: 'p-1', url: 'https://agent.example.com', words: 'its words' }

/** Plays a row of the table, and returns all that it told. */
function play(row: Row, outside: Outside = PLAIN) {
  const clock = new FakeClock()
  clock.advance(5_000)
  const progress = new Progress(clock)
  const log: string[] = []
  const outputs: Record<string, string> = {}
  const updates: StatusUpdate[] = []
  let summary = ''
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    log.push(...String(text).replace(/\n$/, '').split('\n'))
    return true
  })
  try {
    const redact = createRedactor(KEY)
    const writer: ReportWriter = Object.assign(createReporter(redact), {
      outputs: (values: readonly (readonly [name: string, value: string])[]) => {
        if (row.brokenOutputs && progress.result !== undefined) throw new Error('ENOSPC')
        Object.assign(outputs, Object.fromEntries(values))
      },
      summary: (markdown: string) => {
        summary = markdown
      },
    })
    const inputs = { ...INPUTS, projectId: outside.project, baseUrl: outside.url, failOn: row.failOn }
    const report = new StepReport({
      ...{ writer, progress, redact, run: RUN },
      inputs: row.badInput ? undefined : inputs,
    })
    report.status.writers.push({
      writePlaceholder: async (update) => void updates.push(update),
      enqueue: (update) => updates.push(update),
      close: async () => undefined,
    })
    const step = { outside, progress, report }
    row.happens(step)
    clock.advance(60_999)
    if (row.end === undefined) {
      report.publish()
      writer.log(heartbeatLine(progress))
    } else report.end(row.end(step))
    const { comment, summary: check, ...stored } = updates.at(-1) as StatusUpdate
    const lines = log.filter((line) => !line.startsWith('::debug::'))
    return { log, lines, outputs, summary, comment, check, stored, exitCode: report.exitCode }
  } finally {
    stdout.mockRestore()
  }
}

const PLAYED = ROWS.map((row) => [row.name, row, play(row)] as const)

/** The sections of a Markdown text that say what this row is about: not its heading, the facts and the table. */
const ownSections = (markdown: string): string[] =>
  markdown
    .trim()
    .split('\n\n')
    .slice(1)
    .filter((section) => !/^(?:\*\*Pull|- Job|- Project|- Elapsed|\|)/.test(section))

const notEmpty = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== '' && value !== false && value !== undefined)
    .map((entry) => entry.join('='))
    .join(' ')

test.each(PLAYED)('%s', (_, row, { lines, outputs, summary, stored, exitCode }) => {
  const { job, ...values } = outputs
  const { title, conclusion, ...memory } = stored
  const said = [...lines, `check: ${title} (${conclusion ?? 'in progress'})`]
  if (row.end !== undefined) said.push(`exit: ${exitCode}`)
  const others = [`outputs: ${notEmpty(values)}`, `stored: ${notEmpty(memory)}`, ...ownSections(summary)]
  expect([...said, ...(row.brief ? [] : others)].join('\n')).toMatchSnapshot()
})

const WHOLE = ['start: bad input', 'create in flight: so far', 'created: so far', 'pull request: pr-opened']

test.each(PLAYED.filter(([name]) => WHOLE.includes(name)))('whole: %s', (_, __, told) => {
  expect([told.summary, told.comment, told.check].join('-----\n')).toMatchSnapshot()
})

test('the comment before a create request', async () => {
  const report = new StepReport({
    ...{ writer: createReporter(String), progress: new Progress(new FakeClock()), redact: String, run: RUN },
    inputs: INPUTS,
  })
  const texts: string[] = []
  report.status.writers.push({
    writePlaceholder: async ({ state, comment }) => void texts.push(state, comment),
    enqueue: () => undefined,
    close: async () => undefined,
  })
  await report.status.writePlaceholder()
  expect(texts.join('\n')).toMatchSnapshot()
})

const TASKS: readonly [Task, Partial<Inputs>][] = [
  [{ kind: 'create', prompt: 'ü'.repeat(1500) }, {}],
  [{ kind: 'message', jobId: 'job-1', prompt: 'Secret plan' }, {}],
  [{ kind: 'attach', jobId: 'job-1' }, {}],
  [{ kind: 'attach', jobId: 'job-1' }, { wait: false }],
]

test('the first line', () => {
  const lines = TASKS.flatMap(([task, more]) =>
    [false, true].map((dryRun) => startLine(task, { ...INPUTS, ...more, dryRun })),
  )
  expect(lines.join('\n')).toMatchSnapshot()
  expect(lines.join('\n')).not.toMatch(/üü|plan/)
})

/** What a reader reads, without the outputs. */
const textsOf = ({ lines, summary, comment, check, stored }: ReturnType<typeof play>): string[] => [
  ...lines,
  summary,
  comment,
  check,
  String(stored.title),
]

/** What each text says on how to go on: `**What to do next:**`, and the annotation at the end. */
const adviceOf = ({ lines, summary, comment, check }: ReturnType<typeof play>): string[] => [
  ...[summary, comment, check].map((text) => /\*\*What to do next:\*\* (.*)/.exec(text)?.[1] ?? ''),
  ...lines.filter((line) => /^::(error|warning)::/.test(line)),
]

describe.each(PLAYED)('%s', (_, row, told) => {
  test('holds to the rules', () => {
    const whole = textsOf(told).join('\n')
    const isEnded = row.end !== undefined

    // Words
    expect(whole).not.toMatch(/undefined(?!\.$)|\bnull\b|NaN|\[object|\.\.(?!\.)| {2}(?! )|\bat .*:\d+:\d+/)
    for (const advice of adviceOf(told)) expect(advice).toMatch(/\.$/)

    // What was sent
    if (row.posted || row.unknown) expect(whole).not.toMatch(/nothing (?:was|has been|is) sent/i)
    if (row.unknown) {
      expect(whole).not.toMatch(/not accepted|nothing was accepted/i)
      const howToGoOn = row.unknown === 'create' ? /service's dashboard/ : /job-id.* and no prompt/
      for (const advice of adviceOf(told)) expect(advice).toMatch(howToGoOn)
      expect(whole).toMatch(row.unknown === 'create' ? /a job may exist/i : /job may (?:have|be)/)
    }

    // What the job does
    if (row.job !== 'runs') expect(whole).not.toMatch(/\b(?:is|keeps)(?: still)? (?:running|active)\b/)
    if (row.job === 'ended') expect(whole).not.toMatch(/wait for it|may still be/)
    if ((row.job === 'runs' || row.job === 'unseen') && !row.gone) {
      for (const advice of adviceOf(told)) {
        expect(advice).toMatch(/[Tt]o wait for it, run a step with .job-id: job-1. and no prompt\./)
      }
    }

    // One annotation at most: an error if the step fails, else the pull request
    const annotations = told.lines.filter((line) => line.startsWith('::'))
    if (!isEnded) expect(annotations).toEqual([])
    else if (told.exitCode === 1) expect(annotations).toEqual([expect.stringMatching(/^::error::/)])
    else if (told.outputs['pr-link']) expect(annotations).toEqual([`::notice::Pull request: ${row.link}`])
    else expect(annotations.filter((line) => !line.startsWith('::warning::')).length).toBe(0)
    expect(annotations.length).toBeLessThanOrEqual(1)
  })

  test('is told in the same words everywhere', () => {
    const { summary, comment, check, stored, exitCode } = told
    const [heading = '', ...sections] = summary.trimEnd().split('\n\n')
    const title = heading.replace(/^### /, '')
    expect(title).not.toBe(heading)
    const link = row.link === undefined ? '' : String(/\*\*Pull request:\*\* (.*)/.exec(summary)?.[1])
    const isLink = (section: string): boolean => section.startsWith('**Pull request:**')
    expect(sections.findIndex(isLink)).toBe(row.link === undefined ? -1 : 0)

    const runFact = RUN_LINK.replace('Run ', '')
    const withRun = (text: string): string => text.replace(/^- Elapsed: /m, `- Run: ${runFact}\n$&`)
    const details = sections.filter((section) => !isLink(section)).map(withRun)
    const first = [title, link].filter((text) => text !== '').join(': ')
    const open = '<details>\n<summary>Details</summary>'
    expect(comment).toBe(`${[first, open, ...details, '</details>'].join('\n\n')}\n`)
    const links = [link, RUN_LINK].filter((text) => text !== '').join(' · ')
    expect(check).toBe(`${links}\n\n${withRun(summary)}`)
    expect(stored.title).toBe(first.replace(/\[`(.*)`\]\(<.*>\)$/, '$1'))

    // Links
    for (const [text] of `${comment}\n${check}`.matchAll(/!?\[?[^[\n]*\]\(.*?\)/g)) {
      expect(text).toMatch(/^\[(?:Run )?`[\w./:#-]+`\]\(<https:\/\/[\w./:-]+>\)$/)
      expect([row.link, RUN_LINK.match(/<(.*)>/)?.[1]]).toContain(text.match(/<(.*)>/)?.[1])
    }

    // The check
    const outcome = told.outputs.outcome ?? ''
    const fails = { 'timed-out': 'timed_out', cancelled: 'cancelled' }[outcome] ?? 'failure'
    const passes = { 'pr-opened': 'success', skipped: 'skipped' }[outcome] ?? 'neutral'
    if (row.end === undefined) expect(stored.conclusion).toBeUndefined()
    else if (!row.brokenOutputs) expect(stored.conclusion).toBe(exitCode === 1 ? fails : passes)
    if (exitCode === 1 && row.end !== undefined) expect(title).not.toContain('✅')
  })

  test('has outputs that later steps can use', () => {
    const { outputs } = told
    const atEnd = ['outcome', 'error-code', 'elapsed-seconds']
    const isComplete = row.end !== undefined && !row.brokenOutputs
    const expected = isComplete ? OUTPUTS : OUTPUTS.filter((name) => !atEnd.includes(name))
    if (row.end === undefined || isComplete)
      expect(Object.keys(outputs).toSorted()).toEqual(expected.toSorted())
    expect(['', ...STATUSES]).toContain(outputs.status ?? '')
    expect(Object.values(outputs)).not.toContain('null')
    if (row.job !== undefined) expect(outputs['job-id'] ?? 'job-1').toBe('job-1')
  })
})

/** Texts that would act in the log, in Markdown or in a shell; `inlineCode` writes the last one in another way. */
const HOSTILE = [
  `\r\n::error::x\n##[error]y\u2028::warning::z \u202e reversed ${KEY} WORD`,
  '@octocat [click](javascript:alert(1)) ![x](https://evil.example/pixel) <img src=x onerror=alert(1)> ' +
    `</code><script>alert(1)</script> \` \`\` ~~~ | a \\| b |\n\n# A title\n\n| a |\n| - |\n&lt;b&gt; <!-- ${KEY} WORD`,
  `\n@octocat #1 https://evil.example **bold** _it_ ~~gone~~ $x$ ${KEY.replace('_', '%5F')} WORD`,
]

/** Markdown without its code: only the action's own words. */
const outsideOfCode = (markdown: string): string =>
  markdown.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')

const everywhere = (text: string): Outside => ({ id: text, project: text, url: text, words: text })

describe.each(ROWS.map((row) => [row.name, row] as const))('text from outside: %s', (_, row) => {
  const harmless = play(row, everywhere('WORD'))
  test.each(HOSTILE.map((text) => [text]))('%j acts nowhere, and the key is nowhere', (text) => {
    const told = play(row, everywhere(text))
    for (const name of ['summary', 'comment', 'check'] as const) {
      expect(outsideOfCode(told[name])).toBe(outsideOfCode(harmless[name]))
      expect(told[name]).not.toMatch(/[\r\u2028\u202e]/)
    }
    const commands = ({ log }: typeof told): string[] =>
      log.map((line) => /^\s*::\w+::/.exec(line)?.[0] ?? '').filter((command) => command !== '::debug::')
    expect(commands(told)).toEqual(commands(harmless))
    expect(told.lines.join('\n')).not.toMatch(/##\[|[\p{Cc}\p{Cf}\u2028\u2029](?<!\n)/u)
    expect(JSON.stringify(told)).not.toContain('s3cr3t')
    if (harmless.summary.includes('WORD')) expect(told.summary).toContain('WORD')
  })

  test('has no key in an id', () => {
    const told = play(row, everywhere(`a${KEY}`))
    expect(JSON.stringify(told)).not.toContain('s3cr3t')
  })
})
