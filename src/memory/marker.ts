/**
 * The hidden marker: the state that a run leaves for the next one, signed so that nobody else can.
 * Pure.
 */

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { isId, safeLink } from '../agent/job.js'
import { type RunEnvironment, withoutRef } from '../event/event.js'
import type { Stored } from '../run/status-update.js'
import type { Step } from '../run/step.js'

export type Identity = Readonly<{
  repository: string
  /** Of the pull request or the issue: they share their numbers. */
  number: number
  /** What it is called: its workflow's repository and path, without its ref, its job and so on. */
  step: readonly string[]
}>

export interface StoredState extends Stored {
  readonly run: string
  readonly attempt: number
}

/**
 * Then it isn't what an earlier attempt has left: a re-run has a higher one.
 * [memory.identity.same-attempt]
 */
export function isOfThisAttempt(
  { run, attempt }: StoredState,
  { runId, runAttempt }: RunEnvironment,
): boolean {
  return run === runId && attempt === runAttempt
}

// [memory.nothing-sent]
export const NOTHING_SENT: readonly Stored['state'][] = ['unsent', 'skipped']

// [memory.marker.stable]
const MARKER = /^<!-- agent-job-action:2 ([\w-]{22}) ([\w-]+) ([\w-]{43}) -->/

/**
 * Which step it is, whose comment is on the pull request or the issue with this number. An
 * organisation's required workflow has the path of another repository. [memory.identity]
 */
export function identify({ environment, inputs }: Step, number: number): Identity {
  const { repository, workflowRef, workflow, job, step } = environment
  const { projectId, jobKey } = inputs
  const workflowId = withoutRef(workflowRef) || workflow
  // [memory.identity] [memory.marker.signed]
  return { repository, number, step: [workflowId, job, step, projectId, jobKey] }
}

/** The key that signs; and the one before it, which is only verified with. */
export type MarkerKeys = readonly [current: Buffer, ...previous: Buffer[]]

/**
 * Keys for markers alone, so that no marker reveals anything about an API key (RFC 5869).
 * [memory.marker.signed] [memory.previous-key]
 */
export function deriveMarkerKeys(apiKey: string, previousApiKey: string): MarkerKeys {
  // [memory.marker.signed] [memory.marker.stable]
  const derive = (key: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', 'agent-job-action marker 2', 32))
  // [memory.previous-key]
  return previousApiKey === '' ? [derive(apiKey)] : [derive(apiKey), derive(previousApiKey)]
}

/**
 * A fingerprint as it is stored, where anyone can read it: without the key, nobody can test guesses
 * of what was sent against it. Then, as an earlier step may have stored it, with the key before.
 * [paid.fingerprint.keyed] [memory.previous-key]
 */
export function keyed(
  fingerprint: string,
  [key, ...previous]: MarkerKeys,
): readonly [string, ...string[]] {
  const by = (one: Buffer): string =>
    createHmac('sha256', one).update(fingerprint).digest('base64url')
  // [memory.previous-key] [paid.fingerprint.keyed]
  return [by(key), ...previous.map(by)]
}

/**
 * The marker for the comment with this id.
 *
 * Base64 hides a secret from every redactor, so what is stored must not contain one.
 * [memory.marker.signed] [memory.marker.no-key]
 */
export function createMarker(
  stored: StoredState,
  id: number,
  identity: Identity,
  [key]: MarkerKeys,
): string {
  // [memory.marker.stable]
  const { jobId, link, run, attempt, state, fingerprint } = stored
  const data = Buffer.from(
    JSON.stringify([jobId, link ?? '', run, attempt, state, fingerprint]),
  ).toString('base64url')
  // [memory.marker.stable] [memory.marker.signed]
  return `<!-- agent-job-action:2 ${publicName(identity)} ${data} ${sign(data, id, identity, key)} -->`
}

/**
 * Reads the last marker in the text of the comment with this id: a step puts its own at the end.
 *
 * It counts only where its signature says: anyone can write a comment, copy a genuine marker, or
 * get a bot to repeat it. [memory.marker.signed]
 */
export function readMarker(
  text: string,
  id: number,
  identity: Identity,
  keys: MarkerKeys,
): StoredState | 'unverified' | undefined {
  const last = text.slice(Math.max(0, text.lastIndexOf('<!-- agent-job-action:2 '))) // [memory.marker.last]
  // [memory.marker.stable]
  const [, name, data = '', signature = ''] = MARKER.exec(last) ?? []
  // [memory.identity]
  if (name !== publicName(identity)) return undefined
  // [memory.previous-key]
  const isVerified = keys.some((key) =>
    // [memory.marker.signed]
    timingSafeEqual(Buffer.from(signature), Buffer.from(sign(data, id, identity, key))),
  )
  // [memory.unverified] [memory.marker.signed]
  return isVerified ? parse(data) : 'unverified'
}

/**
 * A short public name of the step: it only tells its own texts from others', including copied ones.
 * [memory.identity]
 */
function publicName({ step }: Identity): string {
  // [memory.marker.stable]
  return createHash('sha256').update(JSON.stringify(step)).digest('base64url').slice(0, 22)
}

// [memory.marker.signed]
function sign(data: string, id: number, identity: Identity, key: Buffer): string {
  const { repository, number, step } = identity
  // [memory.marker.signed] [memory.marker.stable]
  return createHmac('sha256', key)
    .update(JSON.stringify([repository.toLowerCase(), String(number), ...step, id, data]))
    .digest('base64url')
}

/**
 * Only verified data is parsed; but a previous key may have leaked, and the prompt and the comment
 * repeat these. [memory.marker.untrusted]
 */
function parse(data: string): StoredState {
  // [memory.marker.stable]
  const [jobId, link, run, attempt, state, fingerprint = ''] = JSON.parse(
    Buffer.from(data, 'base64url').toString(),
  )
  // [memory.marker.untrusted]
  const id = String(jobId)
  return {
    jobId: isId(id) ? id : '',
    link: safeLink(String(link)),
    // [memory.marker.stable]
    run,
    attempt,
    state,
    fingerprint,
  }
}
