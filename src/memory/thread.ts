/** The pull request or the issue that the step's comment is on, and the comments there. */

import type { RunEvent } from '../event/event.js'
import { getString } from '../event/payload.js'
import { asking, type GitHubRepo, type RequestMode, readPages } from '../github/client.js'

/** No more comments than this are read. */
const COMMENTS_LIMIT = 5000

/** The permission that it takes to write there. A number alone doesn't tell which of two it is. */
const PERMISSIONS = {
  'pull request': 'pull-requests: write',
  issue: 'issues: write',
  'issue or pull request': 'issues: write or pull-requests: write',
}

/** Where the comment is. */
type Place = Readonly<{ kind: keyof typeof PERMISSIONS; number: number }>

/**
 * Finds what the comment is on, if the run is about anything.
 *
 * @param isMerged `issueNumber` is that of the pull request that a push has merged
 */
export function findThread(
  { pullRequest, issue }: RunEvent,
  issueNumber: number | undefined,
  isMerged: boolean,
): Place | undefined {
  const number = issueNumber ?? pullRequest?.number ?? issue
  if (number === undefined) return undefined
  if (isMerged || number === pullRequest?.number) return { kind: 'pull request', number }
  return { kind: number === issue ? 'issue' : 'issue or pull request', number }
}

export type Comments = ReturnType<typeof openComments>

/**
 * The comments there. If the answer to a creation is lost, the comment is found by its nonce, as
 * GitHub mails each. [memory.one-comment.no-twin]
 *
 * @param nonce what a comment that is created here ends in until it has its marker
 */
export function openComments(
  repo: GitHubRepo,
  { kind, number: issue_number }: Place,
  nonce: string,
) {
  const mark = `<!-- ${nonce} -->`
  let isCreated = false
  const writing = (mode: RequestMode) =>
    asking(repo, `writing the comment on ${kind} ${issue_number}`, {
      ...mode,
      needs: PERMISSIONS[kind],
      expects: ({ id }) => Number.isSafeInteger(id),
    })

  function list(mode: RequestMode) {
    return readPages(COMMENTS_LIMIT / 100, (page) =>
      repo.github.issues.listComments({
        ...asking(repo, `reading the comments of ${kind} ${issue_number}`, {
          ...mode,
          needs: PERMISSIONS[kind],
          early: true,
          expects: Array.isArray,
        }),
        ...page,
        issue_number,
      }),
    )
  }

  /** Finds what a creation has made whose response was lost, or that may not have been sent. */
  async function findCreated(mode: RequestMode): Promise<{ id: number } | undefined> {
    if (!isCreated) return undefined
    const { items } = await list({ ...mode, retried: false })
    return items.find((item) => getString(item, 'body').includes(mark))
  }

  return {
    list,
    /**
     * Creates a comment without a marker, because the marker needs its id. If the response was
     * lost, now or before, the comment is found by its nonce instead of being created twice.
     */
    async create(text: string, mode: RequestMode): Promise<{ id: number }> {
      const made = await findCreated(mode)
      if (made !== undefined) return made
      isCreated = true
      const { data } = await repo.github.issues.createComment({
        ...writing({ ...mode, early: true, find: () => findCreated(mode) }),
        issue_number,
        body: `${text}\n\n${mark}`,
      })
      return data
    },
    findCreated,
    async edit(comment_id: number, text: string, marker: string, mode: RequestMode): Promise<void> {
      await repo.github.issues.updateComment({
        ...writing(mode),
        comment_id,
        body: `${text}\n\n${marker}`,
      })
    },
  }
}
