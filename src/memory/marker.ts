/** The hidden marker: the state that a run leaves for the next one, signed. Pure. */

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import * as z from 'zod/mini'
import { jobSchema } from '../agent/schemas.js'
import { type RunEnvironment, withoutRef } from '../event/event.js'
import type { Stored } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { parseJson, safeLink } from '../text/safe.js'

export type Identity = Readonly<{
  repository: string
  /** The number of the pull request or the issue: they share their numbers. */
  number: number
  /** What it is called: its workflow's repository and path, without its ref, its job and so on. */
  step: readonly string[]
}>

/**
 * What a marker holds: `Stored`, and the run and the attempt that wrote it. Later versions may know
 * more states, and add more at the end. A previous key may have leaked, and the prompt and the
 * comment repeat the id and the link: these are read like the service's. [memory.marker.untrusted]
 */
const storedSchema = z.pipe(
  z.tuple(
    [
      z.catch(jobSchema.shape.id, ''),
      z.string(),
      z.string(),
      z.number(),
      z.string(),
      z.optional(z.string()),
    ],
    z.unknown(),
  ),
  z.transform(([jobId, link, run, attempt, state, fingerprint = '']) => {
    return { jobId, link: safeLink(link), run, attempt, state, fingerprint }
  }),
)
export type StoredState = Readonly<z.infer<typeof storedSchema>>

/** An earlier attempt has not left it: a re-run is a later one. [memory.identity.same-attempt] */
export function isOfThisAttempt(
  { run, attempt }: StoredState,
  { runId, runAttempt }: RunEnvironment,
): boolean {
  return run === runId && attempt === runAttempt
}

/** The states of a run that sent nothing. */
export const NOTHING_SENT: readonly string[] = ['unsent', 'skipped'] satisfies Stored['state'][]

/** Each later version reads it: else open pull requests are paid again. [memory.marker.stable] */
const MARKER = /^<!-- agent-job-action:2 ([\w-]{22}) ([\w-]+) ([\w-]{43}) -->/

/**
 * Which step it is, whose comment is on the pull request or the issue with this number. An
 * organisation's required workflow has the path of another repository. [memory.identity]
 */
export function identify({ environment, inputs }: Step, number: number): Identity {
  const { repository, workflowRef, workflow, job, step } = environment
  const { projectId, jobKey } = inputs
  const workflowId = withoutRef(workflowRef) || workflow
  return { repository, number, step: [workflowId, job, step, projectId, jobKey] }
}

/** The key that signs; and the one before it, which is only verified with. */
export type MarkerKeys = readonly [current: Buffer, ...previous: Buffer[]]

/** Keys for markers alone, which reveal nothing of an API key (RFC 5869). [memory.previous-key] */
export function deriveMarkerKeys(apiKey: string, previousApiKey: string): MarkerKeys {
  const derive = (key: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', 'agent-job-action marker 2', 32))
  return previousApiKey === '' ? [derive(apiKey)] : [derive(apiKey), derive(previousApiKey)]
}

/**
 * A fingerprint as it is stored, where anyone can read it: without the key, nobody can test guesses
 * of what was sent against it. Then, as an earlier step may have stored it, with the key before.
 * [paid.fingerprint.keyed]
 */
export function keyed(
  fingerprint: string,
  [key, ...previous]: MarkerKeys,
): readonly [string, ...string[]] {
  const by = (one: Buffer) => createHmac('sha256', one).update(fingerprint).digest('base64url')
  return [by(key), ...previous.map(by)]
}

/**
 * The marker for the comment with this id.
 *
 * Base64 hides a secret from every redactor, so what is stored must not contain one.
 * [memory.marker.no-key]
 */
export function createMarker(
  stored: StoredState,
  id: number,
  identity: Identity,
  [key]: MarkerKeys,
): string {
  const { jobId, link, run, attempt, state, fingerprint } = stored
  const data = Buffer.from(
    JSON.stringify([jobId, link ?? '', run, attempt, state, fingerprint]),
  ).toString('base64url')
  return `<!-- agent-job-action:2 ${publicName(identity)} ${data} ${sign(data, id, identity, key)} -->`
}

/**
 * Reads the last marker in the text of the comment with this id: a step puts its own at the end.
 * [memory.marker.last]
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
  const last = text.slice(Math.max(0, text.lastIndexOf('<!-- agent-job-action:2 ')))
  const [, name, data = '', signature = ''] = MARKER.exec(last) ?? []
  if (name !== publicName(identity)) return undefined
  const isVerified = keys.some((key) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(sign(data, id, identity, key))),
  )
  // Only signed data is parsed: a key that leaked can have signed anything.
  const stored = isVerified ? parseJson(Buffer.from(data, 'base64url').toString()) : undefined
  return storedSchema.safeParse(stored).data ?? 'unverified'
}

/** A short public name of the step, which tells its own texts from others'. */
function publicName({ step }: Identity): string {
  return createHash('sha256').update(JSON.stringify(step)).digest('base64url').slice(0, 22)
}

function sign(data: string, id: number, identity: Identity, key: Buffer): string {
  const { repository, number, step } = identity
  return createHmac('sha256', key)
    .update(JSON.stringify([repository.toLowerCase(), String(number), ...step, id, data]))
    .digest('base64url')
}
