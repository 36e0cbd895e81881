/**
 * Runs a step in the simulated world: the real action, but no process, and a report that is only
 * recorded.
 */

import { setImmediate } from 'node:timers/promises'
import { expect } from '@jest/globals'
import { inputEnvironment } from '../../emulator/runner.mjs'
import { createStep, type WholeStep } from '../../src/create-step.js'
import { runStep } from '../../src/main.js'
import type { Clock } from '../../src/net/deadline.js'
import type { ReportWriter } from '../../src/report/report.js'
import * as runner from '../../src/runner.js'
import { escapeCommandLines, escapeCommands } from '../../src/text/escape.js'
import type { Redact } from '../../src/text/redact.js'
import { inSimulation } from '../world/story.js'
import { type Ended, expectNoKey, KEY, withService } from './action.js'
import type { Script, ScriptedService } from './service.js'
// The action loads these when it needs them: then Stryker would take their constants for those of a
// single test.
import '../../src/context/other-repositories.js'
import '../../src/plan.js'
import '../../src/plan-and-run.js'

/** A step that runs. */
export interface Telling {
  /** The log and the annotations, so far. */
  readonly lines: readonly string[]
  /** As it is now: what is left of a step that is killed. */
  readonly summary: () => string
  /** Cancels the step, as the first signal does. */
  readonly cancel: () => void
  /** What talks to GitHub. */
  readonly loadGitHub: WholeStep['loadGitHub']
}

export interface StoryOptions {
  readonly env?: Record<string, string>
  /** What happens while the step runs. */
  readonly meanwhile?: (step: Telling) => Promise<void>
}

type Level = 'notice' | 'warning' | 'error'

/**
 * What a library wrote to the console: no line of the log is one. `console.log` is left to whoever
 * looks for a bug.
 */
const written: string[] = []
for (const level of ['debug', 'info', 'warn', 'error'] as const)
  console[level] = (...parts: unknown[]) => void written.push(parts.join(' '))

/**
 * Runs one step. The inputs are added to a project and a key.
 *
 * Not for `test.concurrent`: jest refuses the action's `import()` whenever another test has just
 * ended.
 */
export const tell = (inputs: Record<string, string>, options: StoryOptions = {}): Promise<Ended> =>
  inSimulation(() => run(inputs, options))

async function run(
  inputs: Record<string, string>,
  { env = {}, meanwhile = async () => undefined }: StoryOptions,
): Promise<Ended> {
  const all = { 'project-id': 'docs', 'api-key': KEY, ...inputs }
  const cancel = new AbortController()
  const recording: Recording = { lines: [], annotations: [], outputs: {}, summary: '' }
  const createReporter = (redact: Redact): ReportWriter => createRecorder(recording, redact)
  const startedAt = performance.now()
  let cancelledAt = Number.NaN
  const step = withEnvironment({ ...inputEnvironment(all), ...env }, () =>
    createStep(
      { ...runner, clock: createClock(), createReporter, mask: () => undefined },
      cancel.signal,
    ),
  )
  const ended = runStep(step)
  const onCancel = (): void => {
    cancelledAt = performance.now()
    cancel.abort()
  }
  const telling = {
    lines: recording.lines,
    summary: () => recording.summary,
    cancel: onCancel,
    loadGitHub: step.loadGitHub,
  }
  const happened = meanwhile(telling).then(() => true)
  const isInTime = await Promise.race([happened, ended.then(() => setImmediate(false))])
  if (!isInTime) throw new Error(`The step ended too early:\n${recording.lines.join('\n')}`)
  await ended
  const endedAt = performance.now()
  const { outputs, summary, lines, annotations } = recording
  const result = {
    exitCode: step.report.exitCode,
    outputs: { ...outputs },
    summary,
    log: lines.join('\n'),
  }
  expectNoKey(result, all['api-key'])
  expect(written.splice(0)).toEqual([])
  return {
    ...result,
    commands: (level) => annotations.flatMap((one) => (one.level === level ? [one.text] : [])),
    milliseconds: endedAt - startedAt,
    sinceSignalMs: endedAt - cancelledAt,
  }
}

/** Tells one fast step against a service of its own. */
export const tellAgainst = (
  script: Script,
  inputs: Record<string, string>,
  options?: StoryOptions,
): Promise<Ended & { readonly service: ScriptedService }> =>
  inSimulation(() => withService(script, (defaults) => tell({ ...defaults, ...inputs }, options)))

/** Everything is read from the environment at once, so that steps can run side by side. */
function withEnvironment<T>(env: Record<string, string>, call: () => T): T {
  const before = process.env
  process.env = env
  try {
    return call()
  } finally {
    process.env = before
  }
}

/** As in a process, it starts at 0. */
function createClock(): Clock {
  const startedAt = performance.now()
  return { ...runner.clock, now: () => performance.now() - startedAt }
}

interface Recording {
  readonly lines: string[]
  readonly annotations: { readonly level: Level; readonly text: string }[]
  readonly outputs: Record<string, string>
  summary: string
}

/** Records what the runner would get: redacted, and without commands. */
function createRecorder(recording: Recording, redact: Redact): ReportWriter {
  const { lines, annotations, outputs } = recording
  const add = (text: string): void =>
    void lines.push(...redact(text).split('\n').map(escapeCommands))
  const annotate = (level: Level) => (text: string) => {
    annotations.push({ level, text: redact(text) })
    add(text)
  }
  return {
    log: add,
    isDebug: true,
    debug: add,
    warn: annotate('warning'),
    notice: annotate('notice'),
    error: annotate('error'),
    outputs: (values) => void Object.assign(outputs, values),
    summary: (markdown) => {
      recording.summary = redact(markdown)
    },
    group: (title, text) => lines.push(title, ...escapeCommandLines(redact(text))),
  }
}
