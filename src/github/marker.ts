/** The hidden marker in a comment: the state that a run leaves for the next one, signed so that nobody else can. Pure. */

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The step that the state belongs to, whatever ref it ran on. */
export interface Identity {
  readonly repository: string
  readonly pullRequest: number
  /** The workflow's path, without its ref. */
  readonly workflow: string
  readonly job: string
  readonly step: string
  readonly project: string
  readonly jobKey: string
}

export interface StoredState {
  readonly jobId: string
  readonly run: string
  readonly attempt: number
  /** The last state that was reported: a status or an outcome, or `sending`. */
  readonly state: string
}

const MARKER = /<!-- agent-job-action:1 ([\w-]{22}) ([\w-]+) ([\w-]{43}) -->/g

/** A key for markers alone, so that no marker reveals anything about the API key (RFC 5869). */
export function deriveMarkerKey(apiKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', apiKey, '', 'agent-job-action marker 1', 32))
}

/** The marker for the comment with this id. */
export function createMarker(
  stored: StoredState,
  commentId: number,
  identity: Identity,
  key: Buffer,
): string {
  const { jobId, run, attempt, state } = stored
  const data = Buffer.from(JSON.stringify([identity.project, jobId, run, attempt, state])).toString(
    'base64url',
  )
  return `<!-- agent-job-action:1 ${publicName(identity)} ${data} ${sign(data, commentId, identity, key)} -->`
}

/**
 * Reads the marker of a comment.
 *
 * It counts only in the comment whose id it signs: anyone can write a comment, copy a genuine marker, or get a bot to
 * repeat it.
 *
 * @returns `unverified` for a comment that claims to be this step's but can't be verified; undefined for any other.
 */
export function readMarker(
  body: string,
  commentId: number,
  identity: Identity,
  key: Buffer,
): StoredState | 'unverified' | undefined {
  let claimed = false
  for (const [, name, data = '', signature = ''] of body.matchAll(MARKER)) {
    if (name !== publicName(identity)) continue
    claimed = true
    const expected = sign(data, commentId, identity, key)
    if (timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return parse(data)
  }
  return claimed ? 'unverified' : undefined
}

/** A short public name of the step: it only tells its own comments from others', including copied ones. */
function publicName(identity: Identity): string {
  return createHash('sha256')
    .update(JSON.stringify(stepKey(identity)))
    .digest('base64url')
    .slice(0, 22)
}

function sign(data: string, commentId: number, identity: Identity, key: Buffer): string {
  const { repository, pullRequest } = identity
  return createHmac('sha256', key)
    .update(JSON.stringify([repository.toLowerCase(), pullRequest, ...stepKey(identity), commentId, data]))
    .digest('base64url')
}

function stepKey({ workflow, job, step, project, jobKey }: Identity): readonly string[] {
  return [workflow, job, step, project, jobKey]
}

/** Only verified data is parsed, so it has the shape that `createMarker` gave it. */
function parse(data: string): StoredState {
  const [, jobId, run, attempt, state] = JSON.parse(Buffer.from(data, 'base64url').toString())
  return { jobId, run, attempt, state }
}
