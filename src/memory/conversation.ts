/** The pull request or the issue that the step's comment is on, and the comments there. */

import type { RunEvent } from '../event/event.js'
import { getString } from '../event/payload.js'
import { type GitHub, type RequestMode, readPages, requestParams } from '../github/client.js'
import type { Inputs } from '../inputs/inputs.js'

/** No more comments than this are read. [memory.one-comment] */
const COMMENTS_LIMIT = 5000

export type Conversation = Readonly<{
  kind: 'pull request' | 'issue' | 'issue or pull request'
  number: number
  /** What it takes to write there. */
  permission: string
}>

/**
 * [range.number.either]
 *
 * @param isMerged `issueNumber` is that of the pull request that a push has merged
 */
export function findConversation(
  { pullRequest, issue }: RunEvent,
  scope: Inputs['jobScope'],
  issueNumber: number | undefined,
  isMerged: boolean,
): Conversation | undefined {
  const number = issueNumber ?? pullRequest?.number ?? issue
  if (number === undefined) return undefined
  const pull = { kind: 'pull request', number, permission: 'pull-requests: write' } as const
  const plain = { kind: 'issue', number, permission: 'issues: write' } as const
  if (isMerged || number === pullRequest?.number) return pull
  if (number === issue)
    return scope === 'pull-request' && issueNumber === undefined ? undefined : plain
  // The number alone doesn't tell which of the two it is, and each needs a permission of its own.
  const permission = `${plain.permission} or ${pull.permission}`
  return { kind: 'issue or pull request', number, permission }
}

export type Comments = ReturnType<typeof openComments>

/**
 * [memory.one-comment.no-twin]
 *
 * @param nonce what a comment that is created here ends in until it has its marker
 */
export function openComments(
  github: GitHub,
  repository: string,
  { kind, number: issue_number, permission }: Conversation,
  nonce: string,
) {
  const mark = `<!-- ${nonce} -->`
  const writing = (mode: RequestMode) =>
    requestParams(
      { repository, ...mode },
      `writing the comment on ${kind} ${issue_number}`,
      permission,
      ({ id }: { id?: unknown }) => Number.isSafeInteger(id),
    )

  // [memory.one-comment]
  async function list(mode: RequestMode) {
    const doing = `reading the comments of ${kind} ${issue_number}`
    const common = requestParams({ repository, ...mode }, doing, permission, Array.isArray)
    const { items, truncated } = await readPages(COMMENTS_LIMIT / 100, (page) =>
      github.issues.listComments({ ...common, ...page, issue_number }),
    )
    return {
      items: items.map((item) => ({ id: item.id, body: getString(item, 'body') })),
      truncated,
    }
  }

  /** Finds what a creation has made whose response was lost, or that may not have been sent. */
  async function findCreated(mode: RequestMode): Promise<{ id: number } | undefined> {
    const { items } = await list({ ...mode, retried: false })
    return items.find(({ body }) => body.includes(mark))
  }

  return {
    list,
    /**
     * Creates a comment without a marker, because the marker needs its id. If the response was
     * lost, the comment is found by its nonce instead of being created twice.
     */
    async create(text: string, mode: RequestMode): Promise<number> {
      const params = {
        ...writing({ ...mode, find: () => findCreated(mode) }),
        issue_number,
        body: `${text}\n\n${mark}`,
      }
      return (await github.issues.createComment(params)).data.id
    },
    findCreated,
    // [memory.edit.retried]
    async edit(comment_id: number, text: string, marker: string, mode: RequestMode): Promise<void> {
      const body = `${text}\n\n${marker}`
      await github.issues.updateComment({ ...writing(mode), comment_id, body })
    },
  }
}
