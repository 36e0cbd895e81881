/**
 * What a reader sees, at any moment and at every end: log, annotation, outputs, summary, comment and check. The texts are
 * one snapshot, so that a changed word is a diff that a reviewer reads: `npm run jest -- texts -u` accepts a change.
 * What has to hold for every text is a rule, and no update accepts a text that breaks it.
 */

import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { marked } from 'marked'
import { STATUSES } from '../../src/agent/job.js'
import type { Task } from '../../src/inputs/inputs.js'
import { formatHeartbeatLine, formatStartLine, OUTPUTS } from '../../src/report/messages.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import { showSentences } from '../../src/report/summary.js'
import { Progress } from '../../src/run/progress.js'
import type { StatusUpdate } from '../../src/run/status-update.js'
import { createReporter } from '../../src/runner.js'
import { createRedactor } from '../../src/text/redact.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS } from './scripted-run.js'
import { type Outside, ROWS, type Row } from './text-table.js'

expect.addSnapshotSerializer({ test: (value) => typeof value === 'string', serialize: (text) => text })

const KEY = 'mint_s3cr3t'
const RUN = {
  workflow: 'Docs',
  serverUrl: 'https://github.com',
  repository: 'your-org/your-repo',
  runId: '100',
}
const RUN_TARGET = '(<https://github.com/your-org/your-repo/actions/runs/100>)'
const PLAIN = { id: 'job-1', project: 'p-1', url: 'https://agent.example.com', words: 'its words' }

/** Texts that would act in the log, in Markdown or in a shell: `inlineCode` has a way of its own for each. */
const MARKUP = `\n@octocat #1 https://evil.example **bold** _it_ ~~gone~~ $x$ ${KEY.replace('_', '%5F')} a${KEY}WORD`
const CODE_ENDS =
  '\r\n::error::x\n##[error]y\u2028::warning::z \u202e @octocat ![x](https://evil.example) ' +
  `<img src=x onerror=a()> </code> \` \`\` ~~~ a \\| b |\n\n# A title\n\n| a |\n| - |\n&lt;b&gt; <!-- ${KEY} WORD`
const HOSTILE = { id: MARKUP, project: MARKUP, url: CODE_ENDS, words: CODE_ENDS }

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
      jobKey: '',
    })
    report.status.writers.push({
      failure: '',
      writePlaceholder: async (update) => void updates.push(update),
      enqueue: (update) => updates.push(update),
      close: async () => undefined,
    })
    const step = { outside, clock, progress, report }
    row.happens(step)
    clock.advance(60_999)
    if (row.end === undefined) {
      report.publish()
      writer.log(formatHeartbeatLine(progress))
    } else report.end(row.end(step))
    const { comment, summary: check, ...stored } = updates.at(-1) as StatusUpdate
    const lines = log.filter((line) => !line.startsWith('::debug::'))
    return { log, lines, outputs, summary, comment, check, stored, exitCode: report.exitCode }
  } finally {
    stdout.mockRestore()
  }
}

/** The sections of a Markdown text that say what this row is about: not its heading, the facts and the table. */
const ownSections = (markdown: string): string[] =>
  markdown
    .trim()
    .split('\n\n')
    .slice(1)
    .filter((section) => !/^(?:\*\*Pull|- Docs job|- Project|- Elapsed|\|)/.test(section))

const notEmpty = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== '' && value !== false && value !== undefined)
    .map((entry) => entry.join('='))
    .join(' ')

test.each(ROWS)('$name', (row) => {
  const { lines, outputs, summary, stored, exitCode } = play(row)
  const { job, ...values } = outputs
  const { title, conclusion, ...memory } = stored
  const said = [...lines, `check: ${title} (${conclusion ?? 'in progress'})`]
  if (row.end !== undefined) said.push(`exit: ${exitCode}`)
  const others = [`outputs: ${notEmpty(values)}`, `stored: ${notEmpty(memory)}`, ...ownSections(summary)]
  expect([...said, ...(row.brief ? [] : others)].join('\n')).toMatchSnapshot()
})

const WHOLE = ['start: bad input', 'create in flight: so far', 'created: so far', 'pull request: pr-opened']

test.each(ROWS.filter(({ name }) => WHOLE.includes(name)))('whole: $name', (row) => {
  const told = play(row)
  expect([told.summary, told.comment, told.check].join('-----\n')).toMatchSnapshot()
})

test('the comment before a create request', async () => {
  const report = new StepReport({
    ...{ writer: createReporter(String), progress: new Progress(new FakeClock()), redact: String, run: RUN },
    inputs: INPUTS,
    jobKey: '',
  })
  const texts: string[] = []
  report.status.writers.push({
    failure: '',
    writePlaceholder: async ({ state, comment }) => void texts.push(state, comment),
    enqueue: () => undefined,
    close: async () => undefined,
  })
  await report.status.writePlaceholder()
  expect(texts.join('\n')).toMatchSnapshot()
})

test.each([
  ['1) and 2. are no list, nor is - this', '`1)` and 2. are no list, nor is - this'],
  ['- or this', '`-` or this'],
  ['_a b_ :tada: #1, @x y/z#1.', '`_a` `b_` `:tada`: `#1`, `@x` `y/z#1`.'],
  [
    'It succeeded in 0a1b2c3, see https://example.com/x.',
    'It succeeded in `0a1b2c3`, see `https://example.com/x`.',
  ],
  ['Set `permissions: checks: write` (403: "No.").', 'Set `permissions: checks: write` (403: `No.`).'],
  ['"" " `', '`""` `"` <code>&#96;</code>'],
])('the sentence %j is shown as %j', (text, shown) => {
  expect(showSentences(text)).toBe(shown)
})

test('the first line', () => {
  const lines = (prompt: string, { id, project, url }: Outside): string[] => {
    const attach: Task = { kind: 'attach', jobId: id }
    const tasks: readonly [Task, boolean][] = [
      [{ kind: 'create', prompt }, true],
      [{ kind: 'message', jobId: id, prompt }, true],
      [attach, true],
      [attach, false],
    ]
    return tasks.flatMap(([task, wait]) =>
      [false, true].map((dryRun) =>
        formatStartLine(task, { projectId: project, baseUrl: url, wait, dryRun }),
      ),
    )
  }
  const plain = lines('ü'.repeat(1500), PLAIN).join('\n')
  expect(plain).toMatchSnapshot()
  expect(plain).not.toContain('üü')
  expect(lines('x', PLAIN)[0]).toContain('1 character (1 byte)')
  expect(lines('', HOSTILE).join('')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
})

/** All that a reader reads, without the outputs. */
const wholeOf = ({ lines, summary, comment, check, stored }: ReturnType<typeof play>): string =>
  [...lines, summary, comment, check, stored.title].join('\n')

/** The last words in the log, the summary, the comment and the check. */
const placesOf = ({ lines, summary, comment, check }: ReturnType<typeof play>): string[] => [
  lines
    .filter((line) => !/^(?:Finished|Docs job|::notice::Pull)/.test(line))
    .join('\n')
    .replaceAll('%0A', '\n'),
  ...[summary, comment, check],
]

/** What each place says on how to go on; the log only once it ends with an error. */
const adviceOf = ({ lines, summary, comment, check }: ReturnType<typeof play>): string[] => [
  ...[summary, comment, check].map((text) => /\*\*What to do next:\*\* (.*)/.exec(text)?.[1] ?? ''),
  ...lines.filter((line) => line.startsWith('::error::')),
]

/** Markdown without its code: only the action's own words. */
const outsideOfCode = (markdown: string): string =>
  markdown.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')

/** What Markdown and GitHub read in a text: markup, mentions, references, links, emoji. */
const marksIn = (markdown: string): readonly string[] =>
  outsideOfCode(markdown).match(/[@#*~$|!\\`<>[\]&]|\bgh-\d|:\/\/|www\.|:\w+:|\b_|_\b|[\da-f]{7}/gi) ?? []

/** The check has all that the summary has: it isn't parsed a second time. */
const htmlOf = ({ comment, check }: ReturnType<typeof play>): string[] =>
  [comment, check].map((markdown) => marked.parse(markdown, { async: false }))
const tagsIn = (html: readonly string[]) => html.map((one) => one.match(/<(?!\/?code)[^>]+>/g))

describe.each(ROWS)('$name', (row) => {
  const isEnded = row.end !== undefined
  let told: ReturnType<typeof play>
  let html: string[]
  beforeAll(() => {
    told = play(row)
    html = htmlOf(told)
  })

  test('says of the requests and the job only what is known', () => {
    const whole = wholeOf(told)
    if (row.posted || row.unknown) expect(whole).not.toMatch(/nothing (?:was|has been|is) sent/i)
    if (row.unknown) expect(whole).not.toMatch(/not accepted|nothing was accepted/i)
    if (row.unknown === 'create') expect(whole).toMatch(/a docs job may exist/i)
    if (row.job !== 'runs') expect(whole).not.toMatch(/\b(?:is|keeps)(?: still)? (?:running|active)\b/)
    if (row.job === 'ended') expect(whole).not.toMatch(/to wait for|may still be/i)
    const { outputs } = told
    if (outputs.outcome !== 'timed-out' && outputs.outcome !== 'cancelled') return
    const now = { runs: /is still running/, missed: /when last seen, .* ago; since then: .*503/ }
    const known = { ...now, undocumented: /has an undocumented status: .*its words/, unseen: /./, ended: /./ }
    for (const text of placesOf(told)) if (row.job !== undefined) expect(text).toMatch(known[row.job])
  })

  test('says once that nothing was sent, if nothing was', () => {
    // An exception of its own doesn't let the action say so.
    const isKnown = isEnded && !row.name.includes('an exception')
    const isUnsent = isKnown && !row.posted && !row.unknown && row.job === undefined
    const saysNothing = (text: string) => text.match(/\bnothing (?:was|has been) sent\b/gi)?.length ?? 0
    if (isUnsent) expect(placesOf(told).map(saysNothing)).toEqual([1, 1, 1, 1])
  })

  test('says nothing twice, and never to run the same again', () => {
    expect(wholeOf(told)).not.toMatch(/\brun (?:it|this|the step) again\b/i)
    for (const text of placesOf(told)) {
      const sentences = text.split(/(?<=\.)\s|\n\n/).filter((sentence) => sentence.length > 12)
      expect(sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index)).toEqual([])
    }
    const [annotation = '', summary = ''] = placesOf(told)
    if (row.link === undefined) return
    expect(annotation.split(row.link).length).toBeLessThanOrEqual(2)
    expect(summary.replace(/\[[^\]]*\]\([^)]*\)/g, '')).not.toContain(row.link)
  })

  test('has code only around what is not a sentence of its own, and tight lists', () => {
    const codes = [...html.join('').matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) => code)
    expect(codes.filter((code) => /\b(?:the|a|is|was|of|expected)\b/i.test(code))).toEqual([])
    expect(html.join('')).not.toMatch(/<li>\s*<p>/)
  })

  test('says how to go on', () => {
    const mayRun = row.job === 'runs' || row.job === 'unseen'
    for (const advice of adviceOf(told)) {
      expect(advice).toMatch(/\.$/)
      if (mayRun && !row.gone)
        expect(advice).toMatch(/to wait for (?:it|the docs job), run .* .job-id: job-1. and no prompt\./i)
      if (row.unknown === 'message') expect(advice).toMatch(/job-id.* and no prompt\./)
      if (row.unknown === 'create') expect(advice).toContain("service's dashboard")
    }
  })

  test('has one annotation at most: an error if the step fails, else the pull request', () => {
    const { lines, outputs, exitCode } = told
    const annotations = lines.filter((line) => line.startsWith('::'))
    if (!isEnded) expect(annotations).toEqual([])
    else if (exitCode === 1) expect(annotations).toEqual([expect.stringMatching(/^::error::/)])
    else if (outputs['pr-link'] && row.job !== undefined)
      expect(annotations).toEqual([`::notice::Pull request: ${row.link}`])
    else expect(['', '::warning::']).toContain(annotations.map((line) => line.slice(0, 11)).join())
  })

  test('says the same in the summary, the comment and the check', () => {
    const { summary, comment, check, stored, outputs, exitCode } = told
    const title = /^### (.+)\n\n/.exec(summary)?.[1] ?? ''
    expect([comment, stored.title].map((text) => text.startsWith(title))).toEqual([true, true])
    for (const section of ownSections(summary)) {
      expect(comment).toContain(`\n\n${section}\n`)
      expect(check).toContain(`\n\n${section}\n`)
    }
    if (isEnded && exitCode === 1) expect(title).not.toContain('✅')
    const fails = { 'timed-out': 'timed_out', cancelled: 'cancelled' }[outputs.outcome ?? ''] ?? 'failure'
    const passes = { 'pr-opened': 'success', skipped: 'skipped' }[outputs.outcome ?? ''] ?? 'neutral'
    expect(stored.conclusion).toBe(isEnded ? (exitCode === 1 ? fails : passes) : undefined)
  })

  test('links the run and the pull request, and nothing else', () => {
    const { summary, comment, check } = told
    const links = [summary, comment, check].map((text) => text.match(/!?\[[^\]\n]*\]\([^)\n]*\)/g) ?? [])
    const pull = row.link === undefined ? [] : [`(<${row.link}>)`]
    const targets = links.map((found) => found.map((link) => link.replace(/^\[(?:Run )?`[\w./:#-]+`\]/, '')))
    expect(targets).toEqual([pull, [...pull, RUN_TARGET], [...pull, RUN_TARGET, ...pull, RUN_TARGET]])
  })

  test('has outputs that later steps can use', () => {
    const { outputs } = told
    const early = OUTPUTS.filter((name) => !['outcome', 'error-code', 'elapsed-seconds'].includes(name))
    const isComplete = isEnded && !row.brokenOutputs
    if (!row.brokenOutputs) {
      expect(Object.keys(outputs).toSorted()).toEqual((isComplete ? [...OUTPUTS] : early).toSorted())
    }
    expect(['', undefined, ...STATUSES]).toContain(outputs.status)
    if (row.job !== undefined) expect(['job-1', undefined]).toContain(outputs['job-id'])
  })

  test('has neither a value that is missing nor a stack trace', () => {
    expect(wholeOf(told)).not.toMatch(/undefined|\bnull\b|NaN|\[object|\bat .*:\d+:\d+/)
  })

  test('passes nothing from outside on that acts, and no key', () => {
    const hostile = play(row, HOSTILE)
    const commands = (log: string[]) => log.map((line) => /^\s*::\w+::/.exec(line)?.[0])
    for (const place of ['summary', 'comment', 'check'] as const) {
      expect(marksIn(hostile[place])).toEqual(marksIn(told[place]))
      // The system's own words for a failed connection aren't quoted.
      if (!row.name.includes('no connection'))
        expect(outsideOfCode(hostile[place])).toBe(outsideOfCode(told[place]))
      expect(hostile[place]).not.toMatch(/[\r\u2028\u202e]/)
      if (told[place].includes(PLAIN.words)) expect(hostile[place]).toContain('WORD')
    }
    expect(tagsIn(htmlOf(hostile))).toEqual(tagsIn(html))
    expect(commands(hostile.lines)).toEqual(commands(told.lines))
    expect(hostile.lines.join('')).not.toMatch(/##\[|[\p{Cc}\p{Cf}\u2028\u2029]/u)
    expect(hostile.stored.jobId).toBe('') // Not '***', which a re-run would ask for.
    expect(JSON.stringify(hostile)).not.toContain('s3cr3t')
  })
})
