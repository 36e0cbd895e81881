/**
 * What is written for people and for the runner: no commands, no markup, no secrets from outside,
 * and nothing untrue.
 */

import { DOCS_TOKEN, FILED_PROMPT, TOKEN } from './draw.js'
import type { Facts } from './facts.js'
import { INJECTED, keyForms } from './hostile.js'
import type { Rule } from './rules.js'
import { fateOf, jobIn } from './service.js'

const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]/

export const TEXT_RULES = {
  *'no line of the log is a command from outside [text.command]'({ lines }) {
    let masks = true
    for (const line of lines) {
      if (CONTROL_CHARACTERS.test(line)) yield `control characters: ${JSON.stringify(line)}`
      const [, name = '', data = ''] = /^\s*::(.*?)(?: .*?)?::(.*)$/.exec(line) ?? []
      const isMask = name === 'add-mask'
      if (!isMask && line.includes('##[')) yield `a command: ${line}`
      if (isMask && !masks) yield `a mask in the middle: ${line}`
      masks &&= isMask
      const isOwn = /^::(?:add-mask|debug|notice|warning|error|group|endgroup)(?: [^:]*)?::/.test(
        line,
      )
      if (line.trimStart().startsWith('::') && (!isOwn || data.startsWith(INJECTED)))
        yield `a command: ${line}`
    }
  },

  *"no line of the log is another program's [github.quiet]"({ step: { stderr } }) {
    if (stderr !== '') yield stderr.slice(0, 500)
  },

  *'there is one annotation [report.annotation.one]'({
    step,
    wasKilled,
    isUntold,
    lines,
    finished,
    outputs,
  }) {
    if (wasKilled) return
    const { exitCode } = step
    const [errors, notices] = [commands(lines, 'error'), commands(lines, 'notice')]
    if (errors.length !== (exitCode === 1 ? 1 : 0))
      yield `${errors.length} error annotations with exit code ${exitCode}`
    if (errors.length + notices.length > 1) yield 'a notice and an error'
    const outcome = isUntold ? 'error' : outputs.outcome
    if (finished.length !== 1 || !finished[0]?.line.includes(`: ${outcome}`))
      yield `the log ends ${finished.length} times: ${finished[0]?.line}`
  },

  *'markup from outside is not live [text.markdown]'({ step: { summary, comments } }) {
    yield* liveMarkup(summary, 'the summary')
    for (const text of comments) yield* liveMarkup(text.replace(/<!--[^<>]*-->/g, ''), 'a comment')
  },

  *'every text is true [report.true]'(facts) {
    if (facts.isUntold) return
    yield* untruths(facts, facts.step.summary, 'the summary')
    for (const text of [...commands(facts.lines, 'error'), ...commands(facts.lines, 'notice')])
      yield* untruths(facts, text, 'the annotation')
  },

  /** In no form, neither in base64 nor as entities, and no large part of it. */
  *'the key is nowhere [secret.redacted]'({ step, record }) {
    const { stderr, outputFile, summary, githubRequests } = step
    const places = {
      'the log': step.stdout.replace(/^::add-mask::.*$/gm, ''),
      stderr,
      'the outputs': outputFile,
      'the summary': summary,
      'a request to GitHub': githubRequests
        .flatMap(({ path, body }) => [path, ...textsIn(body)])
        .join('\n'),
    }
    const keys = new Set(
      record.steps.flatMap(({ plan: { inputs } }) => [
        inputs['api-key'],
        inputs['previous-api-key'],
      ]),
    )
    // A key that this step was not given is nothing that it could hide.
    const own = [step.plan.inputs['api-key'], step.plan.inputs['previous-api-key']]
    const known = [...keys].filter((key) => key && own.includes(key)) as string[]
    // Half a key is a leak, too.
    const forms = known.flatMap((key) => [...keyForms(key), key.slice(5, 21)])
    for (const [where, text] of Object.entries(places)) {
      for (const token of [TOKEN, DOCS_TOKEN])
        if (text.includes(token)) yield `a token is in ${where}`
      for (const decoded of decodings(text)) {
        const form = forms.find((candidate) => decoded.includes(candidate))
        if (form !== undefined) yield `the key is in ${where}: ${form}`
      }
    }
  },

  /** The user's words as they are, and after them a frame around the words of others. */
  *'the prompt has the words of others as data alone [context.fence.data]'({ posts, inputs }) {
    const parts = [inputs.prompt, inputs['prompt-file'] && FILED_PROMPT].map((part) =>
      part?.trim().toWellFormed(),
    )
    const own = parts.filter((part) => part).join('\n\n')
    for (const { body } of posts) {
      const prompt: string = JSON.parse(body).prompt
      if (!prompt.startsWith(own)) yield `the prompt begins with ${prompt.slice(0, 100)}`
      const context = prompt.slice(own.length)
      const frame = context.replace(/^<data (\w+)>\n[\s\S]*?\n<\/data \1>$/gm, '')
      if (frame.includes(INJECTED)) yield `outside of the fence: ${frame.slice(0, 500)}`
      for (const key of [inputs['api-key'], inputs['previous-api-key']])
        if (key && keyForms(key).some((form) => context.includes(form)))
          yield 'a key is in the context'
      if (inputs.context === 'none' && frame.includes('# What')) yield 'nobody asked for a context'
    }
  },

  *'secrets are masked first [secret.masked]'({ step, inputs, wasKilled }) {
    const masks = step.stdout.split('\n').filter((line) => line.startsWith('::add-mask::'))
    if (wasKilled) return
    for (const input of [
      'api-key',
      'previous-api-key',
      'github-token',
      'code-token',
      'docs-token',
    ]) {
      const secret = inputs[input]
      const isMasked = masks.some(
        (line) => line === `::add-mask::${secret?.replaceAll('%', '%25')}`,
      )
      if (secret && !isMasked) yield `${input} is not masked`
    }
  },
} satisfies Record<string, Rule>

/** Where it is not said: in the log, in the summary. */
export function* unsaid({ step }: Facts, words: RegExp): Iterable<string> {
  if (!words.test(step.stdout)) yield 'the log does not say it'
  if (!words.test(step.summary)) yield 'the summary does not say it'
}

function commands(lines: readonly string[], name: string): string[] {
  return lines.flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
}

/** "Nothing was sent" only if that is so, "was still running" only if the last response said so. */
function* untruths(facts: Facts, text: string, where: string): Iterable<string> {
  const running = /\b(?:keeps|(?:is|was) still) running\b/.exec(text)?.[0]
  const last = facts.step.entries.at(-1)
  if (running !== undefined && (last === undefined || fateOf(last) !== 'any')) {
    const isActive = last !== undefined && facts.statusIn(last) === 'active'
    if (!isActive || jobIn(last)?.id !== facts.jobId)
      yield `${where} says "${running}" without knowing`
  }
  const nothing = /nothing was sent|had not accepted anything/i.exec(text)?.[0]
  if (nothing === undefined) return
  const sent = /sent/i.test(nothing)
    ? facts.posts
    : facts.posts.filter((post) => !facts.mayBeRefused(post))
  if (sent.length > 0) yield `${where} says "${nothing}", but it was`
}

function* liveMarkup(text: string, where: string): Iterable<string> {
  // Text in code is not markup; entities are no tags.
  const live = text.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')
  if (live.includes(INJECTED)) yield `${where} has live markup from outside`
  if (CONTROL_CHARACTERS.test(text)) yield `${where} has control characters`
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

export function* decodings(text: string): Generator<string> {
  yield text
  yield text
    .replaceAll('%0A', '\n')
    .replaceAll('%0D', '\r')
    .replaceAll('%25', '%')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_=-]{24,}/g)) {
    yield Buffer.from(run, 'base64url').toString('latin1')
    yield Buffer.from(run, 'base64').toString('latin1')
  }
}
