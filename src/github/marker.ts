/** The hidden marker in a comment: what a run leaves for the next one, signed so that nobody else can. Pure. */

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Whose memory it is: a comment counts for the one step that wrote it, whatever the ref it ran on. */
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

/** What is remembered. */
export interface Memory {
  readonly jobId: string
  readonly run: string
  readonly attempt: number
  /** The last state that was told: a status or an outcome, or `sending`. */
  readonly state: string
}

/** A longer marker than this, in characters, is none. */
const MARKER_LIMIT = 8192

const MARKER = /<!-- agent-job-action:1 ([\w-]{22}) ([\w-]+) ([\w-]{43}) -->/g

/** A key for markers alone, so that no marker says anything of the API key (RFC 5869). */
export function markerKey(apiKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', apiKey, '', 'agent-job-action marker 1', 32))
}

/** Writes the marker of the comment with this id. */
export function writeMarker(memory: Memory, commentId: number, identity: Identity, key: Buffer): string {
  const data = Buffer.from(
    JSON.stringify([identity.project, memory.jobId, memory.run, memory.attempt, memory.state]),
  ).toString('base64url')
  return `<!-- agent-job-action:1 ${nameOf(identity)} ${data} ${sign(data, commentId, identity, key)} -->`
}

/**
 * Reads the marker of a comment.
 *
 * It counts only in the comment whose id it signs: anyone can write a comment, copy a genuine marker, or get a bot to
 * repeat it.
 *
 * @returns `foreign` for a comment that claims to be this step's and can't be verified; undefined for any other.
 */
export function readMarker(
  body: string,
  commentId: number,
  identity: Identity,
  key: Buffer,
): Memory | 'foreign' | undefined {
  let claimed = false
  for (const [marker, name, data = '', signature = ''] of body.matchAll(MARKER)) {
    if (name !== nameOf(identity) || marker.length > MARKER_LIMIT) continue
    claimed = true
    if (!equal(signature, sign(data, commentId, identity, key))) continue
    const memory = parse(data)
    if (memory !== undefined) return memory
  }
  return claimed ? 'foreign' : undefined
}

/** A short public name of the step: it only tells its own comments from others', also copied ones. */
function nameOf(identity: Identity): string {
  return createHash('sha256')
    .update(JSON.stringify(stepOf(identity)))
    .digest('base64url')
    .slice(0, 22)
}

function sign(data: string, commentId: number, identity: Identity, key: Buffer): string {
  const { repository, pullRequest } = identity
  return createHmac('sha256', key)
    .update(JSON.stringify([repository.toLowerCase(), pullRequest, ...stepOf(identity), commentId, data]))
    .digest('base64url')
}

function stepOf({ workflow, job, step, project, jobKey }: Identity): readonly string[] {
  return [workflow, job, step, project, jobKey]
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function parse(data: string): Memory | undefined {
  const [, jobId, run, attempt, state] = JSON.parse(Buffer.from(data, 'base64url').toString()) as unknown[]
  const texts = typeof jobId === 'string' && typeof run === 'string' && typeof state === 'string'
  return texts && typeof attempt === 'number' ? { jobId, run, attempt, state } : undefined
}
