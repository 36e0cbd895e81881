/** The check run of a step on a commit: each attempt makes its own, and finds those of the attempts before. */

import type { RunEnvironment } from '../event/event.js'
import { shortSha } from '../format.js'
import type { Conclusion, StatusUpdate } from '../status-update.js'
import {
  expecting,
  type GitHub,
  GitHubError,
  ownerAndRepo,
  type Rest,
  readPages,
  requestWith,
} from './client.js'
import { createMarker, type Identity, readMarker, type StoredState } from './marker.js'
import type { Found, StateStore, WriteOptions } from './state-writer.js'

/** No more check runs of the name than this are read. */
const CHECK_RUNS_LIMIT = 1000

/** The maximum length of a check run's summary, in bytes. */
export const SUMMARY_LIMIT = 65_535

export interface CheckOptions {
  readonly run: RunEnvironment
  /** The commit. */
  readonly sha: string
  readonly name: string
  readonly identity: Identity
  /** Undefined if nothing can be stored, because the key is missing. */
  readonly markerKey: Buffer | undefined
  readonly github: GitHub
  /** Random hexadecimal digits. */
  readonly nonce: () => string
}

export function createCheckStore(options: CheckOptions): StateStore {
  const { run, sha, name, identity, markerKey, github, nonce } = options
  const repository = ownerAndRepo(run)
  const commit = `commit ${shortSha(sha)}`
  const permission = 'checks: write'
  const reading = { description: `reading the checks of ${commit}`, permission }
  const writing = { description: `writing the check on ${commit}`, permission }
  let id: number | undefined
  let dead: readonly ApiCheck[] = []

  const list = (how: WriteOptions) =>
    readPages(100, CHECK_RUNS_LIMIT / 100, (page) =>
      requestWith(github, how)(reading, async (rest, signal) => {
        // `latest`, the default, hides the check runs of earlier attempts.
        const { data, headers } = await rest.checks
          .listForRef({
            ...repository,
            ref: sha,
            check_name: name,
            filter: 'all',
            per_page: 100,
            page,
            request: { signal },
          })
          .then(expecting(Array.isArray, 'check_runs'))
        return { data: data.check_runs, headers }
      }),
    )

  const find = async (how: WriteOptions): Promise<Found> => {
    if (markerKey === undefined) return { state: undefined, unverified: 0 }
    const all = (await list(how)).map((check) => {
      const [line = ''] = (check.output?.text ?? '').split('\n')
      return { check, state: readMarker(line, check.id, identity, markerKey) }
    })
    // Another run on the same commit has a check run of its own.
    const own = all
      .filter((entry): entry is typeof entry & { state: StoredState } => typeof entry.state === 'object')
      .filter(({ state }) => state.run === run.runId)
      .sort((one, other) => other.check.id - one.check.id)
    dead = own
      .filter(({ check, state }) => check.status !== 'completed' && state.attempt < Number(run.runAttempt))
      .map(({ check }) => check)
    return { state: own[0]?.state, unverified: all.filter(({ state }) => state === 'unverified').length }
  }

  /** Concludes the check runs of earlier attempts that died. This only informs, so an error is left at that. */
  const concludeDead = async (how: WriteOptions): Promise<void> => {
    const [first, ...others] = dead
    if (first === undefined) return
    dead = others
    const { summary, text } = first.output
    const title = '🛑 The step ended before it could report its result'
    const output = { title, summary: summary ?? '', text: text ?? '' }
    const content: Content = { status: 'completed', conclusion: 'cancelled', output }
    await edit(first.id, content, { ...how, required: false }).catch((thrown) => {
      if (!(thrown instanceof GitHubError)) throw thrown
    })
    await concludeDead(how)
  }

  // If the response to creating a check run is lost, it is found by its nonce instead of being created twice.
  const external_id = nonce()
  let mayExist = false
  const create = async (content: Content, how: WriteOptions): Promise<number> => {
    const { data } = await requestWith(github, how)<{ id: number }>(writing, async (rest, signal) => {
      if (mayExist) {
        const checks = await list({ ...how, required: false })
        const existing = checks.find((check) => check.external_id === external_id)
        if (existing !== undefined) return { data: existing }
      }
      mayExist = true
      return rest.checks
        .create({ ...repository, name, head_sha: sha, external_id, ...content, request: { signal } })
        .then(expecting(Number.isSafeInteger, 'id'))
    })
    mayExist = false
    return data.id
  }

  const write: StateStore['write'] = async (update, state, how) => {
    await concludeDead(how)
    if (state === undefined || markerKey === undefined) {
      // Nothing to remember: one request is enough.
      if (id === undefined) id = await create(contentOf(update), how)
      else await edit(id, contentOf(update), how)
      return
    }
    const content = (check: number): Content =>
      contentOf(update, createMarker(state, check, identity, markerKey))
    const existing = id
    // Without a marker, because the marker needs the check run's id; and a completed check run can't be reopened.
    id ??= await create(contentOf({ ...update, conclusion: undefined }), how)
    try {
      await edit(id, content(id), how)
    } catch (thrown) {
      const wasDeleted = existing !== undefined && thrown instanceof GitHubError && thrown.status === 404
      if (!wasDeleted) throw thrown
      id = await create(contentOf({ ...update, conclusion: undefined }), how)
      await edit(id, content(id), how)
    }
  }

  const edit = async (check_run_id: number, content: Content, how: WriteOptions): Promise<void> => {
    await requestWith(github, how)(writing, (rest, signal) =>
      rest.checks
        .update({ ...repository, check_run_id, ...content, request: { signal } })
        .then(expecting(Number.isSafeInteger, 'id')),
    )
  }

  return { edits: false, find, write }
}

type ApiCheck = Awaited<ReturnType<Rest['checks']['listForRef']>>['data']['check_runs'][number]

/** What a request brings. An edit replaces the whole output. */
type Content = (
  | { readonly status: 'in_progress' }
  | { readonly status: 'completed'; readonly conclusion: Conclusion }
) & { readonly output: { title: string; summary: string; text?: string } }

function contentOf({ title, summary, conclusion }: StatusUpdate, marker?: string): Content {
  const text = marker === undefined ? {} : { text: marker }
  const output = { title, summary: cutLines(summary, SUMMARY_LIMIT), ...text }
  return conclusion === undefined
    ? { status: 'in_progress', output }
    : { status: 'completed', conclusion, output }
}

const CUT = '…\n'

/** Cuts a text to a number of bytes at the end of a line, and marks it with an ellipsis. */
export function cutLines(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text
  const bytes = Buffer.from(text).subarray(0, limit - Buffer.byteLength(CUT))
  const end = bytes.lastIndexOf('\n') + 1
  // A first line that is too long is cut inside, between two characters.
  const whole = end > 0 ? bytes.subarray(0, end) : bytes
  return `${new TextDecoder().decode(whole).replace(/\ufffd+$/, '')}${CUT}`
}
