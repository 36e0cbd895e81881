/** The edge to the runner: inputs in; outputs, log, summary and annotations out; signals, clock, chance. */

import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import * as core from '@actions/core'
import { clip, inert, inertLines, type Redact } from './escape.js'
import type { RunEnvironment } from './event/event.js'
import { DEFAULTS, type InputName, type RawInputs } from './inputs/inputs.js'
import type { Roots } from './inputs/prompt-file.js'
import type { Clock } from './net/deadline.js'
import type { ProxyVariables } from './net/proxy.js'

/** Reads every input as the runner hands it over. */
export function rawInputs(): RawInputs {
  const names = Object.keys(DEFAULTS) as InputName[]
  return Object.fromEntries(names.map((name) => [name, core.getInput(name)])) as RawInputs
}

export function runEnvironment(): RunEnvironment {
  const of = (name: string): string => process.env[name] ?? ''
  return {
    eventName: of('GITHUB_EVENT_NAME'),
    eventPath: of('GITHUB_EVENT_PATH'),
    actor: of('GITHUB_ACTOR'),
    repository: of('GITHUB_REPOSITORY'),
    ref: of('GITHUB_REF'),
    sha: of('GITHUB_SHA'),
    runId: of('GITHUB_RUN_ID'),
    runAttempt: of('GITHUB_RUN_ATTEMPT') || '1',
    workflowRef: of('GITHUB_WORKFLOW_REF'),
    job: of('GITHUB_JOB'),
    step: of('GITHUB_ACTION'),
    apiUrl: of('GITHUB_API_URL') || 'https://api.github.com',
    serverUrl: of('GITHUB_SERVER_URL') || 'https://github.com',
  }
}

/** Hides an event's file that can't be read: `@actions/github` reads it as it is loaded, and fails. */
export function forgetEvent(): void {
  delete process.env.GITHUB_EVENT_PATH
}

export function promptRoots(): Roots {
  const { GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp } = process.env
  return { workspace: workspace || process.cwd(), temp: temp ?? '' }
}

/** HTTP_PROXY alone stands for https too, as undici's own agent has it (undici docs, EnvHttpProxyAgent). */
export function proxyVariables(): ProxyVariables {
  const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']
  return names.map((name) => ({ name, value: process.env[name] ?? '' }))
}

/** Tells the runner to hide a secret in every log line from now on, also where it stands percent-encoded. */
export function mask(secret: string): void {
  if (secret === '') return
  core.setSecret(secret)
  const encoded = encodeURIComponent(secret)
  if (encoded !== secret) core.setSecret(encoded)
}

/** Everything that is written for a reader or a later step goes through here, and the key stays out of it. */
export class Reporter {
  constructor(private readonly redact: Redact) {}

  log(line: string): void {
    core.info(this.#line(line))
  }

  debug(text: string): void {
    for (const line of text.split('\n')) core.debug(this.#line(line))
  }

  warn(line: string): void {
    core.warning(this.#line(line))
  }

  notice(line: string): void {
    core.notice(this.#line(line))
  }

  /** Takes several lines; cut before the runner cuts an annotation, at 4,096 characters. */
  error(text: string): void {
    const lines = text.split('\n').map((line) => this.#line(line))
    core.error(clip(lines.join('\n'), 4000))
  }

  /** Shows a text of many lines, each behind a bar, in a group that folds. */
  group(title: string, text: string): void {
    core.startGroup(this.#line(title))
    for (const line of inertLines(this.redact(text))) core.info(line)
    core.endGroup()
  }

  /** Takes values without the key. */
  output(name: string, value: string): void {
    core.setOutput(name, value)
  }

  /** Replaces the step summary; does nothing where the runner has none. */
  summary(markdown: string): void {
    const path = process.env.GITHUB_STEP_SUMMARY
    if (path) replaceFile(path, this.redact(markdown))
  }

  #line(text: string): string {
    return inert(this.redact(text))
  }
}

/** Replaces a file's text without a moment in which it is empty: the process may be killed at any time. */
function replaceFile(path: string, text: string): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT)
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written, bytes.length - written, written)
    }
    if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor, bytes.length) // And not /dev/null.
  } finally {
    closeSync(descriptor)
  }
}

export const clock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => undefined),
  every(milliseconds, call) {
    const timer = setInterval(call, milliseconds)
    return () => clearInterval(timer)
  },
}

/** From 0 to 1, for jitter. */
export const random = (): number => Math.random()

/** Hexadecimal digits that nobody can guess. */
export const nonce = (): string => randomBytes(16).toString('hex')

/**
 * Signals of a cancel: the runner sends SIGINT, 7.5 s later SIGTERM, on Windows Ctrl-C and Ctrl-Break
 * (actions/runner, ProcessInvoker.cs).
 */
export interface Signals {
  /** Raised by the first. */
  readonly first: AbortSignal
  /** Raised by the second. */
  readonly second: AbortSignal
}

export function catchSignals(): Signals {
  const first = new AbortController()
  const second = new AbortController()
  const onSignal = (): void => (first.signal.aborted ? second : first).abort()
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  process.on('SIGBREAK', onSignal)
  return { first: first.signal, second: second.signal }
}

/**
 * Calls for exceptions that nothing caught, in place of Node's own end with a stack trace. From now on the process ends
 * as a failure, unless `exit` says otherwise.
 */
export function catchFaults(call: (thrown: unknown) => void): void {
  process.exitCode = 1
  process.stdout.on('error', () => undefined) // A log that nobody reads any more is no fault.
  process.on('uncaughtException', call)
}

/** Ends the process once all that was printed is written, whatever is still under way. */
export function exit(exitCode: 0 | 1): void {
  process.stdout.write('', () => {
    // process.exit waits for the look-up of an address, which may hang for long: libuv joins its threads.
    const hangs = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')
    if (hangs && exitCode === 1) process.kill(process.pid, 'SIGKILL')
    process.exit(exitCode)
  })
}
