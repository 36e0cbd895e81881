/** The comments on a pull request or an issue. */

import { getString } from '../event/payload.js'
import { type GitHub, type RequestMode, readPages, requestParams } from '../github/client.js'
import type { Place } from './stored-text.js'

/** No more comments than this are read. */
const COMMENTS_LIMIT = 5000

export interface Conversation {
  readonly kind: 'pull request' | 'issue'
  readonly number: number
  /** What it takes to write there. */
  readonly permission: string
}

const NONCE = /<!-- ([0-9a-f]+) -->/

export function openComments(
  github: GitHub,
  repository: string,
  { kind, number: issue_number, permission }: Conversation,
): Place {
  const writing = (mode: RequestMode) =>
    requestParams(
      { repository, ...mode },
      `writing the comment on ${kind} ${issue_number}`,
      permission,
      hasId,
    )

  return {
    kind: 'comment',
    perAttempt: false,
    async list(mode) {
      const doing = `reading the comments of ${kind} ${issue_number}`
      const common = requestParams({ repository, ...mode }, doing, permission, Array.isArray)
      const { items, truncated } = await readPages(COMMENTS_LIMIT / 100, (page) =>
        github.issues.listComments({ ...common, ...page, issue_number }),
      )
      const toText = (comment: { readonly id: number }) => {
        const markers = getString(comment, 'body')
        return { id: comment.id, markers, nonce: NONCE.exec(markers)?.[1] ?? '' }
      }
      return { items: items.map(toText), truncated }
    },
    async create({ comment }, nonce, mode) {
      const body = `${comment}\n\n<!-- ${nonce} -->`
      const { data } = await github.issues.createComment({ ...writing(mode), issue_number, body })
      return data.id
    },
    async edit(comment_id, { comment }, marker, mode) {
      await github.issues.updateComment({
        ...writing(mode),
        comment_id,
        body: `${comment}\n\n${marker}`,
      })
    },
  }
}

export function hasId({ id }: { readonly id?: unknown }): boolean {
  return Number.isSafeInteger(id)
}
