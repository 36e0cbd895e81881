/** The one comment of a step on a pull request: finds it, and creates or edits it. */

import type { PullRequest } from '../agent/job.js'
import type { RunEnvironment } from '../event/event.js'
import { expecting, type GitHub, GitHubError, type GitHubRequest, ownerAndRepo, readPages } from './client.js'
import { createMarker, type Identity, readMarker, type StoredState } from './marker.js'
import type { StateStore, WriteOptions } from './state-writer.js'

/** No more comments than this are read. */
const COMMENTS_LIMIT = 5000

export interface CommentOptions {
  readonly run: RunEnvironment
  readonly identity: Identity
  readonly markerKey: Buffer
  readonly github: GitHub
  /** Random hexadecimal digits. */
  readonly nonce: () => string
}

export function createCommentStore({ run, identity, markerKey, github, nonce }: CommentOptions): StateStore {
  const repository = ownerAndRepo(run)
  const issue_number = identity.pullRequest
  const permission = 'pull-requests: write'
  const reading = { description: `reading the comments of pull request ${issue_number}`, permission }
  const writing = { description: `writing the comment on pull request ${issue_number}`, permission }
  const requestWith = ({ required, signal }: WriteOptions): GitHubRequest => {
    const request = required ? github.requestWithRetry : github.requestOnce
    return (operation, call) => request(operation, call, signal)
  }
  let id: number | undefined
  let searched = false

  const list = (options: WriteOptions) =>
    readPages(100, COMMENTS_LIMIT / 100, (page) =>
      requestWith(options)(reading, (rest, signal) =>
        rest.issues
          .listComments({ ...repository, issue_number, per_page: 100, page, request: { signal } })
          .then(expecting(Array.isArray)),
      ),
    )

  const find = async (options: WriteOptions) => {
    const comments = (await list(options)).map((comment) => ({
      id: comment.id,
      state: readMarker(comment.body ?? '', comment.id, identity, markerKey),
    }))
    // If two runs raced and created two comments, the newer one wins.
    const found = comments.findLast((comment): comment is { id: number; state: StoredState } => {
      return typeof comment.state === 'object'
    })
    id = found?.id
    searched = true
    return {
      state: found?.state,
      unverified: comments.filter(({ state }) => state === 'unverified').length,
    }
  }

  // If the response to creating a comment is lost, the comment is found by its nonce instead of being created twice.
  const mark = `<!-- ${nonce()} -->`
  let mayExist = false
  /** Creates the comment without a marker, because the marker needs the comment's id. */
  const create = async (text: string, options: WriteOptions): Promise<number> => {
    const { data } = await requestWith(options)<{ id: number }>(writing, async (rest, signal) => {
      if (mayExist) {
        const comments = await list({ ...options, required: false })
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

  const update = async (comment_id: number, text: string, state: StoredState, options: WriteOptions) => {
    const body = `${text}\n\n${createMarker(state, comment_id, identity, markerKey)}`
    await requestWith(options)(writing, (rest, signal) =>
      rest.issues.updateComment({ ...repository, comment_id, body, request: { signal } }),
    )
  }

  const write = async (text: string, state: StoredState, options: WriteOptions): Promise<void> => {
    if (!searched) await find(options)
    const existing = id
    id ??= await create(text, options)
    try {
      await update(id, text, state, options)
    } catch (thrown) {
      const wasDeleted = existing !== undefined && thrown instanceof GitHubError && thrown.status === 404
      if (!wasDeleted) throw thrown
      id = await create(text, options)
      await update(id, text, state, options)
    }
  }

  return { find, write }
}

/** True if the docs pull request is known to be merged or closed; false if it can't be read. */
export async function isClosed(link: PullRequest, run: RunEnvironment, github: GitHub): Promise<boolean> {
  if (link.number === '') return false
  const operation = {
    description: `reading pull request ${link.repository}#${link.number}`,
    permission: 'pull-requests: read',
  }
  const repository = ownerAndRepo({ ...run, repository: link.repository })
  try {
    const { data } = await github.requestOnce(operation, (rest, signal) =>
      rest.pulls.get({ ...repository, pull_number: Number(link.number), request: { signal } }),
    )
    return data.state === 'closed'
  } catch (thrown) {
    if (thrown instanceof GitHubError) return false
    throw thrown
  }
}
