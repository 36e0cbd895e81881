/**
 * Adapter to the GitHub runner: inputs, outputs, log, summary, annotations, signals, clock and
 * randomness. [house.layers]
 */

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

// [input.values] [input.blank.default]
export function rawInputs(): RawInputs {
  return Object.fromEntries(NAMES.map((name) => [name, core.getInput(name)])) as RawInputs
}

/**
 * All inputs that the step has: with a warning, the runner also passes on unknown ones.
 * [input.misspelt] [input.blank.default]
 */
export function givenInputs(): Readonly<Record<string, string>> {
  const names = Object.keys(process.env).filter((name) => /^INPUT_/i.test(name))
  return Object.fromEntries(
    names.map((name) => [name.slice('INPUT_'.length), process.env[name] ?? '']),
  )
}

// [memory.identity] [github.event]
export function runEnvironment(): RunEnvironment {
  const env = (name: string): string => process.env[name] ?? ''
  return {
    // [github.event] [access.refused.green]
    eventName: env('GITHUB_EVENT_NAME'),
    // [github.event] [merge.unreadable]
    eventPath: env('GITHUB_EVENT_PATH'),
    // [input.key.empty] [access.refused.no-key]
    actor: env('GITHUB_ACTOR'),
    // [memory.marker.signed]
    repository: env('GITHUB_REPOSITORY'),
    // [range.schedule.last-success] [context.facts.event]
    ref: env('GITHUB_REF'),
    // [range.schedule.last-success] [skip.schedule.no-commits]
    sha: env('GITHUB_SHA'),
    // [memory.identity.same-attempt] [range.schedule.last-success]
    runId: env('GITHUB_RUN_ID'),
    runAttempt: Number(env('GITHUB_RUN_ATTEMPT') || 1),
    // [range.schedule.unlisted]
    runNumber: Number(env('GITHUB_RUN_NUMBER')),
    // [memory.identity]
    workflowRef: env('GITHUB_WORKFLOW_REF'),
    // [memory.identity] [memory.leg-named]
    workflow: env('GITHUB_WORKFLOW'),
    // [memory.identity]
    job: env('GITHUB_JOB'),
    step: env('GITHUB_ACTION'),
    // [secret.key.where]
    apiUrl: env('GITHUB_API_URL') || 'https://api.github.com',
    // [secret.key.where] [docs.open.unreadable] [docs.files.told]
    serverUrl: env('GITHUB_SERVER_URL') || 'https://github.com',
  }
}

// [input.file.inside]
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
  // [net.proxy]
  return { proxy: proxyVariable(process.env), unverifiedTlsRequested }
}

/**
 * Tells the runner to hide a secret in every log line from now on, including its percent-encoded
 * form. [secret.masked]
 */
export function mask(secret: string): void {
  if (secret === '') return
  core.setSecret(secret)
  const encoded = encodeURIComponent(secret)
  if (encoded !== secret) core.setSecret(encoded)
}

/** Writes the log, annotations, outputs and summary, redacted. [text.command] [secret.redacted] */
export function createReporter(redact: Redact): ReportWriter {
  const toLine = (text: string): string => escapeCommands(redact(text))
  return {
    // [report.log.lines] [text.command]
    log: (line) => core.info(toLine(line)),
    // Without debugging, no stack trace. [report.annotation.one]
    isDebug: core.isDebug(),
    // [report.log.lines] [text.command]
    debug(text) {
      for (const line of text.split('\n')) core.debug(toLine(line))
    },
    // [report.annotation.one] [text.command]
    warn: (line) => core.warning(toLine(line)),
    notice: (line) => core.notice(toLine(line)),
    /**
     * Truncated before the runner's own limit of 4,096 characters.
     * [report.annotation.one] [input.problems.together]
     */
    error: (text) => core.error(truncate(text.split('\n').map(toLine).join('\n'), 4000)),
    // [output.dry-run] [text.command]
    group(title, text) {
      core.startGroup(toLine(title))
      for (const line of escapeCommandLines(redact(text))) core.info(line)
      core.endGroup()
    },
    /**
     * Writes all outputs or none, so that the file is well-formed whatever happens: a malformed one
     * fails the step. [output.unwritable]
     */
    outputs(values) {
      const path = process.env.GITHUB_OUTPUT
      const before = path ? statSync(path, { throwIfNoEntry: false }) : undefined
      try {
        for (const [name, value] of Object.entries(values)) core.setOutput(name, value)
      } catch (thrown) {
        // [output.unwritable]
        if (path && before?.isFile()) truncateSync(path, before.size)
        throw thrown
      }
    },
    // [report.summary] [secret.redacted]
    summary(markdown) {
      const path = process.env.GITHUB_STEP_SUMMARY
      if (path) replaceFile(path, redact(markdown))
    },
  }
}

/**
 * Replaces a file's content so that it is never empty in between: the process may be killed at any
 * time. [report.summary]
 */
function replaceFile(path: string, text: string): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT)
  try {
    const bytes = Buffer.from(text)
    writeFileSync(descriptor, bytes)
    // /dev/null can't be truncated. [report.summary]
    if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor, bytes.length)
  } finally {
    closeSync(descriptor)
  }
}

// [house.layers]
export const clock: Clock = {
  // [net.cheap]
  now: () => process.uptime() * 1000, // `performance` would load ten more of Node's modules.
  // [house.layers]
  date: () => new Date(),
  // [net.deadline]
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => undefined),
  // [report.log.lines]
  every(milliseconds, call) {
    const timer = setInterval(call, milliseconds)
    return () => clearInterval(timer)
  },
}

/** 0 to 1, for jitter. [house.layers] */
export const random = (): number => Math.random()

/** Random digits that nobody can guess. [context.fence.data] [memory.one-comment.no-twin] */
export const nonce = (): string => randomBytes(16).toString('hex')

/**
 * Handles the signals of a cancel: the runner sends SIGINT, 7.5 s later SIGTERM, on Windows Ctrl-C
 * and Ctrl-Break (actions/runner, ProcessInvoker.cs). [cancel.first]
 *
 * @returns each is aborted by the signal that it is named after
 */
export function onSignals() {
  const first = new AbortController()
  // [cancel.second]
  const second = new AbortController()
  const onSignal = (): void => (first.signal.aborted ? second : first).abort()
  // [cancel.first]
  for (const name of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(name, onSignal)
  return { first: first.signal, second: second.signal }
}

/**
 * Handles uncaught exceptions instead of letting Node exit with a stack trace. From here on the
 * process exits with a failure unless `exit` says otherwise. [cancel.exception]
 */
export function onUncaughtException(call: (thrown: unknown) => void): void {
  // [output.exit-code]
  process.exitCode = 1
  process.stdout.on('error', () => undefined) // Nobody has to read the log to its end.
  // [cancel.exception]
  process.on('uncaughtException', call)
}

/**
 * Ends the process once all output is written, whatever is still pending. Only a DNS lookup that
 * hangs may hold it until the runner ends it. [output.exit-code]
 */
export function exit(exitCode: 0 | 1): void {
  process.stdout.write('', () => {
    process.exit(exitCode)
  })
}
