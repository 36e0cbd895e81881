/**
 * What a reader sees, at any moment and at every end: log, annotation, outputs, summary and
 * comment. The texts are one snapshot, so that a changed word is a diff that a reviewer reads:
 * `npm run jest -- texts -u` accepts a change. What has to hold for every text is a rule, and no
 * update accepts a text that breaks it.
 */

import { describe, expect, jest, test } from '@jest/globals'
import { marked } from 'marked'
import { OUTCOMES, STATUSES } from '../../src/agent/job.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import { formatStartLine } from '../../src/report/start-line.js'
import { showSentences } from '../../src/report/summary.js'
import type { StatusUpdate } from '../../src/run/status-update.js'
import type { Task } from '../../src/run/task.js'
import { createReporter } from '../../src/runner.js'
import { createRedactor } from '../../src/text/redact.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, OUTPUT_NAMES } from './scripted-run.js'
import { type Outside, ROWS, type Row } from './text-table.js'

expect.addSnapshotSerializer({
  test: (value) => typeof value === 'string',
  serialize: (text) => text,
})

const KEY = 'mint_s3cr3t'
const RUN = {
  workflow: 'Docs',
  serverUrl: 'https://github.com',
  repository: 'your-org/your-repo',
  runId: '100',
}
const RUN_TARGET = '(<https://github.com/your-org/your-repo/actions/runs/100>)'
const PLAIN = { id: 'job-1', project: 'p-1', url: 'https://agent.example.com', words: 'its words' }

/**
 * Texts that would act in the log, in Markdown or in a shell: `inlineCode` has a way of its own for
 * each.
 */
const MARKUP = `\n@octocat #1 https://evil.example **bold** _it_ ~~gone~~ $x$ ${KEY.replace('_', '%5F')} a${KEY}WORD`
const CODE_ENDS =
  '\r\n::error::x\n##[error]y\u2028::warning::z \u202e @octocat ![x](https://evil.example) ' +
  `<img src=x onerror=a()> </code> \` \`\` ~~~ a \\| b |\n\n# A title\n\n| a |\n| - |\n&lt;b&gt; " @x <!-- ${KEY} WORD`
const HOSTILE = { id: MARKUP, project: MARKUP, url: CODE_ENDS, words: CODE_ENDS }

/** Plays a row of the table, and returns all that it told. */
function play(row: Row, outside: Outside = PLAIN) {
  const clock = new FakeClock()
  clock.advance(5_000)
  const log: string[] = []
  let outputs: Readonly<Record<string, string>> = {}
  const updates: StatusUpdate[] = []
  let summary = ''
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    log.push(...String(text).replace(/\n$/, '').split('\n'))
    return true
  })
  try {
    const redact = createRedactor(KEY)
    const writer: ReportWriter = Object.assign(createReporter(redact), {
      outputs: (values: Readonly<Record<string, string>>) => {
        if (row.brokenOutputs && report.facts.result !== undefined) throw new Error('ENOSPC')
        outputs = values
      },
      summary: (markdown: string) => {
        summary = markdown
      },
    })
    const { failOn, waits: wait, given: kind } = row
    const given = { projectId: outside.project, baseUrl: outside.url, failOn, wait }
    const bad = row.badInput && { projectId: '', baseUrl: '' }
    const task = kind && { task: { kind, jobId: outside.id, prompt: 'Do more' } }
    const inputs = { ...INPUTS, ...given, ...bad, ...task }
    const report = new StepReport({ writer, clock, redact, environment: RUN, inputs })
    report.tell({ kind: 'code-is-open' })
    report.comment = {
      failure: undefined,
      memory: row.stored ? 'stored' : 'none',
      writePlaceholder: async (update) => void updates.push(update),
      enqueue: (update) => updates.push(update),
      close: async () => undefined,
    }
    for (const happening of row.happens(outside)) {
      if (typeof happening === 'number') clock.advance(happening)
      else report.tell(happening)
    }
    clock.advance(60_999)
    if (row.end === undefined) report.tell({ kind: 'heartbeat' })
    else report.tell({ kind: 'ended', result: row.end(outside, report) })
    report.endLog()
    if (row.end !== undefined) report.update()
    const { text: comment, first: mail, isEnd, ...update } = updates.at(-1) as StatusUpdate
    const { stored: memory, ...more } = update
    const stored = { ...memory, ...more }
    const lines = log.filter((line) => !line.startsWith('::debug::'))
    const { exitCode } = report
    return { log, lines, outputs, summary, comment, mail, stored, isEnd, exitCode }
  } finally {
    stdout.mockRestore()
  }
}

/**
 * The sections of a Markdown text that say what this row is about: not its heading, the facts and
 * the table.
 */
const ownSections = (markdown: string): string[] =>
  markdown
    .trim()
    .split('\n\n')
    .slice(1)
    .filter(
      (section) => !/^(?:\*\*Docs pull|- Docs job|- Project|- Sent|- Elapsed|\|)/.test(section),
    )

const titleOf = (summary: string): string => /^### (.+)\n\n/.exec(summary)?.[1] ?? ''

const notEmpty = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== '' && value !== false && value !== undefined)
    .map((entry) => entry.join('='))
    .join(' ')

test('the table has every outcome [output.outcome]', () => {
  const outcomes = ROWS.filter(({ end }) => end !== undefined).map(
    (row) => play(row).outputs.outcome,
  )
  expect(outcomes).toEqual(expect.arrayContaining([...OUTCOMES]))
})

test('the comment before a create request [send.placeholder.first] [memory.first-text] [memory.leg-named] [secret.redacted] [memory.later-run] [report.facts.one]', async () => {
  const report = new StepReport({
    writer: createReporter(String),
    clock: new FakeClock(),
    redact: createRedactor(KEY),
    environment: RUN,
    // Cut after half of the key, if it were still there.
    inputs: { ...INPUTS, jobKey: JSON.stringify({ os: 'linux', url: `${'x'.repeat(85)}${KEY}` }) },
  })
  const texts: string[] = []
  report.comment = {
    failure: undefined,
    memory: 'none',
    writePlaceholder: async ({ stored, created, first, text }) =>
      void texts.push(stored.state, `created: ${created}`, first, text),
    enqueue: () => undefined,
    close: async () => undefined,
  }
  await report.writePlaceholder()
  expect(texts.join('\n')).toMatchSnapshot()
})

test.each([
  [
    "10. and 2) are no list, nor is - + 9% a/b; it’s isn't high-5 a_b 1234567x…",
    "`10.` and 2) are no list, nor is - + 9% a/b; it’s isn't high-5 a_b 1234567x…",
  ],
  ['+=-', '`+=-`'],
  ['1) or this', '`1)` or this'],
  [
    '_a b_ :t-a: #1; @x, GH-1 www.x.y (y/z#1).',
    '`_a` `b_` `:t-a`: `#1`; `@x`, `GH-1` `www.x.y` `(y/z#1`).',
  ],
  [
    '1.5 s later - it succeeded in 0a1b2c3, see https://example.com/x.',
    '1.5 s later - it succeeded in `0a1b2c3`, see `https://example.com/x`.',
  ],
  [
    'Set (`issues: write`, `a b`) ("No @x.", "y z").',
    'Set (`issues: write`, `a b`) (`No @x.`, `y z`).',
  ],
  ['"" " `', '`""` `"` <code>&#96;</code>'],
])(
  'a sentence is shown as it reads, and what Markdown reads as code: %j [text.markdown]',
  (text, shown) => {
    expect(showSentences(text)).toBe(shown)
  },
)

test('the first line [report.log.lines]', () => {
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
        formatStartLine(task, { ...INPUTS, projectId: project, baseUrl: url, wait, dryRun }),
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
const wholeOf = ({ lines, summary, comment }: ReturnType<typeof play>): string =>
  [...lines, summary, comment].join('\n')

/** What is seen of a comment that tells of a failure; nobody opens its details. */
const shownOf = ({ comment, isEnd, exitCode }: ReturnType<typeof play>): string =>
  isEnd && exitCode === 1 ? comment.replace(/<details>.*/s, '') : comment

/** What people read long after the step has ended. */
const keptOf = ({ summary, comment, mail }: Played): string[] => [summary, comment, mail]

/** The last words in the log, the summary and the comment. */
const placesOf = (told: ReturnType<typeof play>): string[] => [
  told.lines
    .filter((line) => !/^(?:Finished|Docs job|::notice::Docs pull)/.test(line))
    .join('\n')
    .replaceAll('%0A', '\n'),
  ...[told.summary, shownOf(told)],
]

/** What each place says on how to go on; the log only once it ends with an error. */
const adviceOf = (told: ReturnType<typeof play>): string[] => [
  ...[told.summary, shownOf(told)].map(
    (text) => /\*\*What to do next:\*\* (.*)/.exec(text)?.[1] ?? '',
  ),
  ...told.lines.filter((line) => line.startsWith('::error::')),
]

/** Markdown without its code: only the action's own words. */
const outsideOfCode = (markdown: string): string =>
  markdown.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')

/** What Markdown and GitHub read in a text: markup, mentions, references, links, emoji. */
const marksIn = (markdown: string): readonly string[] =>
  outsideOfCode(markdown).match(
    /[@#*~$|!\\`<>[\]&]|\bgh-\d|:\/\/|www\.|:\w+:|\b_|_\b|[\da-f]{7}/gi,
  ) ?? []

const htmlOf = ({ summary, comment }: ReturnType<typeof play>): string[] =>
  [summary, comment].map((markdown) => marked.parse(markdown, { async: false }))
const tagsIn = (html: readonly string[]) => html.map((one) => one.match(/<(?!\/?code)[^>]+>/g))

type Played = ReturnType<typeof play>

/** Played in a test: what throws there turns tests red that have names. */
let played: Map<Row, Played>

/**
 * A rule for all rows that it is about, of which there must be some: those that break it are
 * listed.
 */
function rule(
  name: string,
  isAbout: (row: Row, told: Played) => unknown,
  check: (row: Row, told: Played) => void,
): void {
  test(name, () => {
    played ??= new Map(ROWS.map((row) => [row, play(row)]))
    const rows = [...played].filter(([row, told]) => isAbout(row, told))
    const broken = rows.flatMap(([row, told]) => {
      try {
        check(row, told)
        return []
      } catch (thrown) {
        return [`${row.name}: ${(thrown as Error).message}`]
      }
    })
    expect(broken).toEqual([])
    expect(rows.length).toBeGreaterThan(0)
  })
}

const everyRow = (): boolean => true
const isEnded = ({ end }: Row): boolean => end !== undefined
const hasOutputs = ({ brokenOutputs }: Row): boolean => !brokenOutputs

describe('of requests and the job, what is said is known:', () => {
  rule(
    'not that nothing was sent, once something was [report.true]',
    ({ posted, unknown }) => posted || unknown,
    (_, told) => expect(wholeOf(told)).not.toMatch(/nothing (?:was|has been|is) sent/i),
  )
  rule(
    'not that nothing was accepted, if nobody knows [report.true]',
    ({ unknown }) => unknown,
    (_, told) => expect(wholeOf(told)).not.toMatch(/not accepted|nothing was accepted/i),
  )
  rule(
    'not that a docs job may exist, unless a create may have been accepted [report.true]',
    ({ unknown }) => unknown !== 'create',
    (_, told) => expect(wholeOf(told)).not.toMatch(/a docs job may exist/i),
  )
  rule(
    'that a docs job may exist [report.where-to-look]',
    ({ unknown }) => unknown === 'create',
    (row, told) => {
      // The log says it at the end.
      const places = placesOf(told).slice(isEnded(row) ? 0 : 1)
      for (const text of places) expect(text).toMatch(/a docs job may exist/i)
    },
  )
  rule(
    'in the title of an error or a cancel, what has been accepted [report.title.accepted]',
    ({ job }, { lines }) => {
      const [, outcome] = /^Finished .*: (error|cancelled)\b/.exec(lines.at(-1) ?? '') ?? []
      return outcome === 'error' || (outcome === 'cancelled' && job !== 'ended')
    },
    ({ name, unknown, job }, { summary }) => {
      const mayBe =
        unknown === 'create' ? /a docs job may have been/i : /the message may have been/i
      const isNot = name.startsWith('message refused')
        ? /the message was not accepted/i
        : /no docs job was started/i
      const known =
        job === undefined
          ? isNot
          : job === 'ended'
            ? /the step failed/i
            : /the docs job's result is unknown|the message was accepted/i
      expect(titleOf(summary)).toMatch(unknown === undefined ? known : mayBe)
    },
  )
  rule(
    'in the title, until something is accepted, that it is not yet [report.title.accepted]',
    (row) => !isEnded(row) && row.job === undefined && row.unknown === undefined,
    (_, { summary }) => expect(titleOf(summary)).toMatch(/not accepted the request yet/),
  )
  rule(
    'not that the job is running, unless the last request said so [report.true]',
    ({ job }) => job !== 'runs',
    (_, told) =>
      expect(wholeOf(told)).not.toMatch(/\b(?:is|is still|keeps|was still) (?:running|active)\b/),
  )
  rule(
    'not how to wait for a job that has ended [report.advice.followed]',
    ({ job }) => job === 'ended',
    (_, told) => expect(wholeOf(told)).not.toMatch(/to wait for|may still be/i),
  )
  rule('from the end of the step, in what is kept [report.past]', isEnded, (_, told) => {
    for (const text of [...told.lines.filter((line) => /^::/.test(line)), ...keptOf(told)])
      expect(text).not.toMatch(
        /\bdocs job (?:\S+ )?(?:is|has an)\b|\bis still (?!here)|\bago\b|\byet\b|\bmay (?:still )?be (?!found)/i,
      )
  })
  rule(
    'how the job is, while the step waits for it [report.true] [report.log.lines]',
    (row) => !isEnded(row) && row.job !== undefined,
    ({ job = 'ended' }, { lines }) => {
      const known = {
        runs: /is still running\.$/,
        missed: /when last seen, .* ago; since then: .*503/,
        undocumented: /has an undocumented status: .*its words/,
        unseen: /has an unknown status/,
        ended: /./,
      }
      expect(lines.at(-1)).toMatch(known[job])
      if (job === 'runs')
        expect(lines.join('\n')).toMatch(
          /^Docs job "job-1": active after 5 s(?:, docs pull request \S+)?\.$/m,
        )
    },
  )
  rule(
    'how the job was when it was last seen, if the step ends before [report.true] [report.past]',
    ({ job }, { outputs }) =>
      job !== undefined && /^(?:timed-out|cancelled)$/.test(outputs.outcome ?? ''),
    ({ job = 'ended' }, told) => {
      const known = {
        runs: /was still running when this step ended\./,
        missed: /when last seen, .* before this step ended; since then: .*503/,
        undocumented: /had an undocumented status when this step ended: .*its words/,
        unseen: /./,
        ended: /./,
      }
      for (const text of placesOf(told)) expect(text).toMatch(known[job])
    },
  )
  rule(
    'once that nothing was sent, if nothing was [report.true]',
    (row) => isEnded(row) && !row.posted && !row.unknown && !row.job,
    (_, told) => {
      const count = (text: string) => text.match(/\bnothing (?:was|has been) sent\b/gi)?.length ?? 0
      expect(placesOf(told).map(count)).toEqual([1, 1, 1])
    },
  )
})

const HOW_TO_WAIT =
  /to wait for (?:it|the docs job), (?:run .* .job-id: job-1. and no prompt|re-run the workflow job: this step then sends nothing)\./i

/** What an advice names, by the error code. */
const ABOUT = {
  input: /inputs/,
  auth: /\bkey\b/,
  'not-found': /project-id|may have been deleted/,
  rejected: /that the service reports|the docs job's status|Wait for the docs job/,
  'rate-limited': /later|less often/,
  network: /base-url|HTTPS_PROXY|NODE_EXTRA_CA_CERTS/,
  'create-unknown': /look for a new pull request|check on it/i,
  contract: /base-url|To wait for the docs job/,
  github: /permissions/,
  internal: /Report this error|GITHUB_OUTPUT/,
}

describe('every text', () => {
  rule(
    'says nothing twice, and never to run the same again [report.words]',
    everyRow,
    (_, told) => {
      expect(wholeOf(told)).not.toMatch(/\brun (?:it|this|the step) again\b/i)
      for (const text of placesOf(told)) {
        const sentences = text.split(/(?<=\.)\s|\n\n/).filter((sentence) => sentence.length > 12)
        expect(
          sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index),
        ).toEqual([])
      }
    },
  )
  rule(
    'names the pull request once [report.words]',
    // Why nothing is sent names it in the log, too.
    ({ link, name }) => link !== undefined && !name.endsWith('docs closed'),
    ({ link = '' }, told) => {
      const [annotation = '', summary = ''] = placesOf(told)
      expect(annotation.split(link).length).toBeLessThanOrEqual(2)
      expect(summary.replace(/\[[^\]]*\]\([^)]*\)/g, '')).not.toContain(link)
    },
  )
  rule(
    'has code only around what is not a sentence of its own, and tight lists [report.accessible]',
    everyRow,
    (_, told) => {
      const html = htmlOf(told).join('')
      const codes = [...html.matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) => code)
      expect(codes.filter((code) => /\b(?:the|a|is|was|of|expected)\b/i.test(code))).toEqual([])
      expect(html).not.toMatch(/<li>\s*<p>/)
    },
  )
  rule(
    'has neither a value that is missing nor a stack trace [report.words] [report.annotation.one]',
    everyRow,
    (_, told) =>
      expect(wholeOf(told)).not.toMatch(
        /undefined|\bnull\b|NaN|\[object|\bat .*:\d+:\d+|\S {2}|\n{3}|\w\.[A-Z]|\S\*\*What/,
      ),
  )
  rule('ends its advice with a full stop [report.advice.followed]', everyRow, (_, told) => {
    for (const advice of adviceOf(told)) expect(advice).toMatch(/\.$/)
  })
  rule(
    'says how to wait for a job that may run [report.advice.rerun] [report.advice.followed]',
    ({ job, gone }) => (job === 'runs' || job === 'unseen') && !gone,
    (_, told) => {
      for (const advice of adviceOf(told)) expect(advice).toMatch(HOW_TO_WAIT)
    },
  )
  rule(
    'names a re-run without its price only where it costs nothing, or was asked for [report.advice.rerun]',
    ({ job }) => job !== undefined && job !== 'ended',
    (_, told) => {
      const free =
        /re-run the workflow job: this step then sends nothing|A re-run (?:starts another docs job|sends the message again)/g
      const again = /To start a new docs job, re-run the workflow job/
      for (const advice of adviceOf(told))
        expect(advice.replace(free, '').replace(again, '')).not.toMatch(/re-run/i)
    },
  )
  rule(
    'has no word in its advice that can be read in two ways [report.words]',
    everyRow,
    (_, told) => {
      for (const advice of adviceOf(told)) {
        expect(advice).not.toMatch(/\bonce\b/)
        // On a pull request, that is the one that is read.
        expect(advice).not.toMatch(/\bthe pull request\b(?! in the docs repository)/)
      }
    },
  )
  rule(
    'has no full stop right behind something to copy in its advice [report.advice.followed]',
    everyRow,
    (_, told) => {
      for (const advice of adviceOf(told).slice(0, 2)) expect(advice).not.toMatch(/`\.(?:\s|$)/)
    },
  )
  rule(
    'says what was wrong, gives advice about it, and ends the log with the code [output.error-code] [report.log.lines] [report.advice.followed]',
    (_, { outputs }) => outputs['error-code'] !== '' && outputs['error-code'] !== undefined,
    (_, told) => {
      const code = told.outputs['error-code'] as keyof typeof ABOUT
      const first = '^::error::(?:Docs pull request: \\S+ )?(?:The|A|Reading|Writing|wait)\\b'
      const last = new RegExp(`${first}.*\\nFinished after .* \\(${code}\\)\\. Sent`, 'ms')
      expect(told.lines.join('\n')).toMatch(last)
      for (const advice of adviceOf(told).slice(0, 2)) expect(advice).toMatch(ABOUT[code])
    },
  )
  rule(
    'says how to check on a message of which nobody knows [report.advice.rerun] [report.advice.followed]',
    ({ unknown }) => unknown === 'message',
    (_, told) => {
      for (const advice of adviceOf(told))
        expect(advice).toMatch(/job-id.* and no prompt\.|re-run the workflow job: /)
    },
  )
  rule(
    'says where a docs job may show of which nobody knows [report.where-to-look]',
    ({ unknown }) => unknown === 'create',
    (_, told) => {
      for (const advice of adviceOf(told))
        expect(advice).toMatch(
          /for a new pull request in the docs repository: it takes some minutes to appear\. Then look in the service's dashboard, if it lists .* activity log of its Usage page/,
        )
    },
  )
})

describe('the annotation [report.annotation.one]', () => {
  const annotationsOf = ({ lines }: Played): string[] =>
    lines.filter((line) => line.startsWith('::'))
  rule(
    'is missing while the step runs',
    (row) => !isEnded(row),
    (_, told) => expect(annotationsOf(told)).toEqual([]),
  )
  rule(
    'is one error if the step fails, which begins with what there is to review',
    (row, { exitCode }) => isEnded(row) && exitCode === 1,
    (row, told) => {
      const link = told.outputs['pr-link'] && row.job ? 'Docs pull request: ' : ''
      expect(annotationsOf(told)).toEqual([expect.stringMatching(`^::error::${link}`)])
    },
  )
  rule(
    'is the pull request if there is one, else at most a warning',
    (row, { exitCode }) => isEnded(row) && exitCode === 0,
    (row, told) => {
      const annotations = annotationsOf(told)
      if (told.outputs['pr-link'] && row.job !== undefined)
        expect(annotations).toEqual([`::notice::Docs pull request: ${row.link}`])
      else
        expect(['', '::warning::']).toContain(annotations.map((line) => line.slice(0, 11)).join())
    },
  )
})

describe('the summary and the comment', () => {
  rule(
    'show what happened and what to do next at first sight in the comment of a step that failed, and only there [report.advice.in-sight]',
    everyRow,
    (row, { summary, comment, exitCode }) => {
      const [shown = ''] = comment.split('<details>')
      for (const text of ownSections(summary).filter((section) => !/^Error code/.test(section)))
        expect(shown.includes(`\n\n${text}\n`)).toBe(isEnded(row) && exitCode === 1)
    },
  )
  rule('say the same [report.facts.one]', everyRow, (row, { summary, comment, exitCode }) => {
    const title = titleOf(summary)
    expect(comment.startsWith(title)).toBe(true)
    for (const section of ownSections(summary)) expect(comment).toContain(`\n\n${section}\n`)
    if (isEnded(row) && exitCode === 1) expect(title).not.toContain('✅')
  })
  rule(
    'say what was sent, in the words of the log [output.sent]',
    (row) => isEnded(row) && hasOutputs(row),
    ({ unknown }, { lines, outputs, summary, comment }) => {
      if (unknown) expect(outputs.sent).toBe(unknown === 'create' ? 'job' : unknown)
      const words = { job: 'a new docs job', message: 'a message', nothing: 'nothing' }[
        outputs.sent ?? ''
      ]
      expect(lines.at(-1)).toMatch(new RegExp(`^Finished after .*\\. Sent: ${words}\\.$`))
      for (const text of [summary, comment]) expect(text).toContain(`\n- Sent: ${words}\n`)
    },
  )
  rule(
    'say of a link that it is the docs pull request, unless it is the result [report.link.label]',
    ({ link }) => link !== undefined,
    (_, { lines, summary, comment, outputs }) => {
      expect(lines.join('\n').replace(/ocs pull request:? https/g, '')).not.toContain('https://git')
      const [before] = comment.split('[')
      const label = outputs.outcome === 'pr-opened' ? ': ' : '. Docs pull request: '
      expect(before).toBe(`${titleOf(summary)}${label}`)
      expect(summary).toContain('\n\n**Docs pull request:** [')
    },
  )
  rule(
    'name the project and the service only where GitHub masks what a secret holds [report.comment.private]',
    ({ badInput }) => !badInput,
    (_, { summary, comment }) => {
      expect(summary).toMatch(/- Project: `p-1`\n- Service: `https:\/\/agent\.example\.com`\n/)
      expect(comment).not.toMatch(/\bp-1\b|agent\.example\.com/)
    },
  )
  rule(
    'mail a letter: no HTML, no list of facts, one link [memory.first-text]',
    (_, { stored }) => !['unsent', 'skipped', 'dry-run'].includes(stored.state),
    (row, { mail }) => {
      expect(outsideOfCode(mail).replace(/<https:[^<>]*>/g, '')).not.toMatch(/[<>]|^[-|]/m)
      expect(mail.match(/<https:/g)).toHaveLength(1)
      const ended = /^[^\n]+\n\n(?:.+\n\n)*\*\*What to do next:\*\* /
      const begun = new RegExp(`^⏳ ${row.job ? 'Wait' : 'Ask'}ing .*not mailed\\.`, 's')
      expect(mail).toMatch(isEnded(row) ? ended : begun)
    },
  )
  rule(
    'link the run and the pull request, and nothing else, while a follow-up runs that of the open one [memory.run.open-pull] [report.comment.quiet]',
    everyRow,
    (row, { summary, comment }) => {
      const links = [summary, comment].map((text) => text.match(/!?\[[^\]\n]*\]\([^)\n]*\)/g) ?? [])
      const pull = row.link === undefined ? [] : [`(<${row.link}>)`]
      const targets = links.map((found) =>
        found.map((link) => link.replace(/^\[`[\w./:#-]+`(?: 100)?\]/, '')),
      )
      expect(targets).toEqual([pull, [...pull, RUN_TARGET]])
    },
  )
})

rule(
  'the comment stores which docs job a re-run has to wait for, if any, whose it is, and the end [memory.rerun.waits] [memory.rerun.unknown] [memory.nothing-sent] [memory.later-run] [memory.silent]',
  everyRow,
  (row, { stored, isEnd, outputs }) => {
    const none = row.job
      ? /^(?!unsent|sending|unknown|skipped|dry)/
      : /^(?:unsent|sending|skipped|dry-run)$/
    expect(stored.state).toMatch(row.unknown ? /^(?:sending|unknown)$/ : none)
    if (row.job !== 'unseen') expect(stored.isJobSeen).toBe(row.job !== undefined)
    expect(stored.created).toBe(row.job !== undefined && outputs.sent === 'job')
    expect(isEnd).toBe(isEnded(row))
  },
)

describe('the outputs', () => {
  rule(
    'are complete at the end, and have all that is known before [output.early]',
    hasOutputs,
    (row, { outputs }) => {
      const late = ['outcome', 'error-code']
      const expected = OUTPUT_NAMES.filter((name) => isEnded(row) || !late.includes(name))
      expect(Object.keys(outputs).toSorted()).toEqual(expected.toSorted())
    },
  )
  rule('have the last documented status [output.status]', everyRow, ({ job }, { outputs }) => {
    expect(['', undefined, ...STATUSES].slice(job === 'runs' ? 2 : 0)).toContain(outputs.status)
    if (outputs.outcome === 'pr-opened') expect(outputs.status).toBe('completed')
  })
  rule(
    'have the job [output.job-id]',
    ({ job }) => job !== undefined,
    (_, { outputs }) => expect(['job-1', undefined]).toContain(outputs['job-id']),
  )
})

describe('text from outside', () => {
  const commands = (log: readonly string[]) => log.map((line) => /^\s*::\w+::/.exec(line)?.[0])
  const PLACES = ['summary', 'comment'] as const
  let hostile: typeof played
  const withHostile =
    (check: (row: Row, plain: Played, hostile: Played) => void) => (row: Row, told: Played) => {
      hostile ??= new Map(ROWS.map((one) => [one, play(one, HOSTILE)]))
      check(row, told, hostile.get(row) as Played)
    }

  rule(
    'never acts in the log [text.command]',
    everyRow,
    withHostile((_, told, { lines }) => {
      expect(commands(lines)).toEqual(commands(told.lines))
      expect(lines.join('')).not.toMatch(/##\[|[\p{Cc}\p{Cf}\u2028\u2029]/u)
    }),
  )
  rule(
    'never acts in Markdown [text.markdown]',
    everyRow,
    withHostile((_, told, hostile) => {
      for (const place of PLACES) {
        expect(marksIn(hostile[place])).toEqual(marksIn(told[place]))
        expect(hostile[place]).not.toMatch(/[\r\u2028\u202e]/)
        if (told[place].includes(PLAIN.words)) expect(hostile[place]).toContain('WORD')
      }
      expect(tagsIn(htmlOf(hostile))).toEqual(tagsIn(htmlOf(told)))
    }),
  )
  rule(
    "is quoted, but for the system's own words for a failed connection [text.one-line]",
    (_, { outputs }) => outputs['error-code'] !== 'network',
    withHostile((_, told, hostile) => {
      for (const place of PLACES)
        expect(outsideOfCode(hostile[place])).toBe(outsideOfCode(told[place]))
    }),
  )
  rule(
    'shows and stores no key [secret.redacted] [memory.marker.no-key]',
    everyRow,
    withHostile((_, __, hostile) => {
      expect(hostile.stored.jobId).toBe('') // Not '***', which a re-run would ask for.
      expect(JSON.stringify(hostile)).not.toContain('s3cr3t')
    }),
  )
})

// Last: of the tests that turn red, those above name the broken promise more precisely.
test.each(ROWS)('$name $rule', (row) => {
  const { outputs, summary, exitCode } = play(row)
  const said = [`title: ${titleOf(summary)}`]
  if (row.end !== undefined) said.push(`exit: ${exitCode}`)
  const others = [`outputs: ${notEmpty(outputs)}`, ...ownSections(summary)]
  expect([...said, ...(row.brief ? [] : others)].join('\n')).toMatchSnapshot()
})

test.each(ROWS)('log: $name $rule [report.log.lines] [report.annotation.one]', (row) =>
  expect(play(row).lines.join('\n')).toMatchSnapshot(),
)

test.each(ROWS)(
  'stored: $name [memory.rerun.waits] [memory.rerun.unknown] [memory.nothing-sent]',
  (row) => expect(notEmpty(play(row).stored)).toMatchSnapshot(),
)

const WHOLE = [
  'start: bad input',
  'create in flight: so far',
  'created: so far',
  'pull request: pr-opened',
]

describe.each(ROWS.filter(({ name }) => WHOLE.includes(name)))('whole: $name', (row) => {
  test.each([
    ['the summary [report.summary]', 'summary'],
    [
      'the comment [report.comment.quiet] [report.advice.in-sight] [report.comment.private] [report.advice.rerun]',
      'comment',
    ],
    ['the mail [memory.first-text] [report.comment.private]', 'mail'],
  ] as const)('%s', (_, place) => expect(play(row)[place]).toMatchSnapshot())
})
