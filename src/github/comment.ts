/** The one comment of a step on a pull request or an issue: finds it, and creates or edits it. */

import type { RunEnvironment } from '../event/event.js'
import { expecting, type GitHub, GitHubError, ownerAndRepo, readPages, requestWith } from './client.js'
import { createMarker, type Identity, readMarker, type StoredState } from './marker.js'
import type { Found, StateStore, WriteOptions } from './state-writer.js'

/** No more comments than this are read. */
const COMMENTS_LIMIT = 5000

/** What the comment is on. */
export interface Conversation {
  readonly kind: 'pull request' | 'issue'
  readonly number: number
  /** What it takes to write there. */
  readonly permission: string
}

export interface CommentOptions {
  readonly run: RunEnvironment
  readonly conversation: Conversation
  readonly identity: Identity
  readonly markerKey: Buffer
  readonly github: GitHub
  /** Random hexadecimal digits. */
  readonly nonce: () => string
}

export function createCommentStore(options: CommentOptions): StateStore {
  const { run, conversation, identity, markerKey, github, nonce } = options
  const { kind, number: issue_number, permission } = conversation
  const repository = ownerAndRepo(run)
  const reading = { description: `reading the comments of ${kind} ${issue_number}`, permission }
  const writing = { description: `writing the comment on ${kind} ${issue_number}`, permission }
  let id: number | undefined

  const list = (how: WriteOptions) =>
    readPages(100, COMMENTS_LIMIT / 100, (page) =>
      requestWith(github, how)(reading, (rest, signal) =>
        rest.issues
          .listComments({ ...repository, issue_number, per_page: 100, page, request: { signal } })
          .then(expecting(Array.isArray)),
      ),
    )

  const find = async (how: WriteOptions): Promise<Found> => {
    const comments = (await list(how)).map((comment) => ({
      id: comment.id,
      state: readMarker(comment.body ?? '', comment.id, identity, markerKey),
    }))
    // If two runs raced and created two comments, the newer one wins.
    const found = comments.findLast((comment): comment is { id: number; state: StoredState } => {
      return typeof comment.state === 'object'
    })
    id = found?.id
    return {
      state: found?.state,
      unverified: comments.filter(({ state }) => state === 'unverified').length,
    }
  }

  // If the response to creating a comment is lost, the comment is found by its nonce instead of being created twice.
  const mark = `<!-- ${nonce()} -->`
  let mayExist = false
  /** Creates the comment without a marker, because the marker needs the comment's id. */
  const create = async (text: string, how: WriteOptions): Promise<number> => {
    const { data } = await requestWith(github, how)<{ id: number }>(writing, async (rest, signal) => {
      if (mayExist) {
        const comments = await list({ ...how, required: false })
        const existing = comments.find(({ body }) => body?.includes(mark))
        if (existing !== undefined) return { data: existing }
      }
      mayExist = true
      return rest.issues
        .createComment({ ...repository, issue_number, body: `${text}\n\n${mark}`, request: { signal } })
        .then(expecting(Number.isSafeInteger, 'id'))
    })
    mayExist = false
    return data.id
  }

  const edit = async (comment_id: number, text: string, state: StoredState, how: WriteOptions) => {
    const body = `${text}\n\n${createMarker(state, comment_id, identity, markerKey)}`
    await requestWith(github, how)(writing, (rest, signal) =>
      rest.issues
        .updateComment({ ...repository, comment_id, body, request: { signal } })
        .then(expecting(Number.isSafeInteger, 'id')),
    )
  }

  const write: StateStore['write'] = async ({ comment: text }, state, how) => {
    if (state === undefined) return // It was not found first, so it would hide what is stored.
    const existing = id
    id ??= await create(text, how)
    try {
      await edit(id, text, state, how)
    } catch (thrown) {
      const wasDeleted = existing !== undefined && thrown instanceof GitHubError && thrown.status === 404
      if (!wasDeleted) throw thrown
      id = await create(text, how)
      await edit(id, text, state, how)
    }
  }

  return { edits: true, find, write }
}
