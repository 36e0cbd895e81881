/** The runner: inputs, outputs, log, summary, annotations, signals, clock and randomness. */

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import * as core from '@actions/core'
import type { RunEnvironment } from './event/event.js'
import { NAMES, type RawInputs } from './inputs/inputs.js'
import type { PromptRoots } from './inputs/prompt-file.js'
import type { Clock } from './net/deadline.js'
import { type NetworkSettings, proxyVariable } from './net/proxy.js'
import type { ReportWriter } from './report/report.js'
import { escapeCommandLines, escapeCommands, truncate } from './text/escape.js'
import type { Redact } from './text/redact.js'

export function rawInputs(): RawInputs {
  return Object.fromEntries(NAMES.map((name) => [name, core.getInput(name)])) as RawInputs
}

/** All inputs that the step has: with a warning, the runner also passes on unknown ones. */
export function givenInputs(): Readonly<Record<string, string>> {
  const names = Object.keys(process.env).filter((name) => /^INPUT_/i.test(name))
  return Object.fromEntries(
    names.map((name) => [name.slice('INPUT_'.length), process.env[name] ?? '']),
  )
}

export function runEnvironment(): RunEnvironment {
  const env = (name: string) => process.env[name] ?? ''
  return {
    eventName: env('GITHUB_EVENT_NAME'),
    eventPath: env('GITHUB_EVENT_PATH'),
    actor: env('GITHUB_ACTOR'),
    repository: env('GITHUB_REPOSITORY'),
    ref: env('GITHUB_REF'),
    sha: env('GITHUB_SHA'),
    runId: env('GITHUB_RUN_ID'),
    runAttempt: Number(env('GITHUB_RUN_ATTEMPT') || 1),
    runNumber: Number(env('GITHUB_RUN_NUMBER')),
    workflowRef: env('GITHUB_WORKFLOW_REF'),
    workflow: env('GITHUB_WORKFLOW'),
    job: env('GITHUB_JOB'),
    step: env('GITHUB_ACTION'),
    apiUrl: env('GITHUB_API_URL') || 'https://api.github.com',
    serverUrl: env('GITHUB_SERVER_URL') || 'https://github.com',
  }
}

export function promptRoots(): PromptRoots {
  const { GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp } = process.env
  return { workspace: workspace || process.cwd(), temp: temp ?? '' }
}

/**
 * Reads the network settings, once. NODE_TLS_REJECT_UNAUTHORIZED is not honoured, so Node must not
 * warn about it. [net.tls.verified]
 */
export function readNetworkSettings(): NetworkSettings {
  const unverifiedTlsRequested = process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  return { proxy: proxyVariable(process.env), unverifiedTlsRequested }
}

/** Hides a secret in every later line of the log, also percent-encoded. [secret.masked] */
export function mask(secret: string): void {
  if (secret === '') return
  core.setSecret(secret)
  const encoded = encodeURIComponent(secret)
  if (encoded !== secret) core.setSecret(encoded)
}

/** Writes the log, annotations, outputs and summary, redacted. */
export function createReporter(redact: Redact): ReportWriter {
  const toLine = (text: string) => escapeCommands(redact(text))
  return {
    log: (line) => core.info(toLine(line)),
    // A stack trace is for debugging alone.
    isDebug: core.isDebug(),
    debug(text) {
      for (const line of text.split('\n')) core.debug(toLine(line))
    },
    warn: (line) => core.warning(toLine(line)),
    notice: (line) => core.notice(toLine(line)),
    /** Truncated before the runner's own limit of 4,096 characters. */
    error: (text) => core.error(truncate(text.split('\n').map(toLine).join('\n'), 4000)),
    group(title, text) {
      core.startGroup(toLine(title))
      for (const line of escapeCommandLines(redact(text))) core.info(line)
      core.endGroup()
    },
    /** All of them or none: a malformed file fails the step. [output.unwritable] */
    outputs(values) {
      const path = process.env.GITHUB_OUTPUT
      const before = path ? statSync(path, { throwIfNoEntry: false }) : undefined
      try {
        for (const [name, value] of Object.entries(values)) core.setOutput(name, value)
      } catch (thrown) {
        if (path && before?.isFile()) truncateSync(path, before.size)
        throw thrown
      }
    },
    summary(markdown) {
      const path = process.env.GITHUB_STEP_SUMMARY
      if (path) replaceFile(path, redact(markdown))
    },
  }
}

/** The file is never empty in between: a kill may come at any time. [report.summary] */
function replaceFile(path: string, text: string): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT)
  try {
    const bytes = Buffer.from(text)
    writeFileSync(descriptor, bytes)
    // /dev/null can't be truncated.
    if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor, bytes.length)
  } finally {
    closeSync(descriptor)
  }
}

/** Nobody else reads the time, so that a step can be simulated. [house.layers] */
export const clock: Clock = {
  now: () => process.uptime() * 1000, // `performance` would load ten more of Node's modules.
  date: () => new Date(),
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => undefined),
  every(milliseconds, call) {
    const timer = setInterval(call, milliseconds)
    return () => clearInterval(timer)
  },
}

/** 0 to 1, for jitter. */
export const random = Math.random

/** Random digits that nobody can guess. */
export const nonce = (): string => randomBytes(16).toString('hex')

/**
 * Handles the signals of a cancel: the runner sends SIGINT, 7.5 s later SIGTERM, on Windows Ctrl-C
 * and Ctrl-Break (actions/runner, ProcessInvoker.cs). [cancel.first]
 *
 * @returns each is aborted by the signal that it is named after
 */
export function onSignals() {
  const first = new AbortController()
  const second = new AbortController()
  const onSignal = () => (first.signal.aborted ? second : first).abort()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(name, onSignal)
  return { first: first.signal, second: second.signal }
}

/**
 * Handles uncaught exceptions instead of letting Node exit with a stack trace. From here on the
 * process exits with a failure unless `exit` says otherwise.
 */
export function onUncaughtException(call: (thrown: unknown) => void): void {
  process.exitCode = 1
  process.stdout.on('error', () => undefined) // Nobody has to read the log to its end.
  process.on('uncaughtException', call)
}

/**
 * Ends the process once all output is written, whatever is still pending. Only a DNS lookup that
 * hangs may hold it until the runner ends it.
 */
export function exit(exitCode: 0 | 1): void {
  process.stdout.write('', () => {
    process.exit(exitCode)
  })
}
