/** The one comment of a step on a pull request: finds, writes and edits it. */

import type { PullRequest } from '../agent/job.js'
import type { RunEnvironment } from '../event/event.js'
import { expecting, type GitHub, GitHubFault, pages, repositoryOf } from './client.js'
import { type Identity, type Memory, readMarker, writeMarker } from './marker.js'

/** More comments than this are not read. */
const COMMENTS_LIMIT = 5000

/** What stood in a step's comment. */
export interface Found {
  readonly id: number
  readonly memory: Memory
}

export interface CommentOptions {
  readonly run: RunEnvironment
  readonly identity: Identity
  readonly key: Buffer
  readonly github: GitHub
  /** Random hexadecimal digits. */
  readonly nonce: () => string
}

/** How GitHub is asked. */
export interface How {
  /** Again for a while, where the fault may pass. */
  readonly decides: boolean
  /** What ends it; the deadline and the cancel where there is none. */
  readonly signal?: AbortSignal
}

export interface StepComment {
  /** Finds this step's comment, and how many claim to be it and can't be verified. */
  find(how: How): Promise<{ readonly found: Found | undefined; readonly foreign: number }>
  /** Writes a first comment, without a marker: that needs the comment's own id. Returns the id. */
  create(text: string, how: How): Promise<number>
  /** Replaces the comment's text, and its marker with what is to be remembered. */
  update(id: number, text: string, memory: Memory, how: How): Promise<void>
}

export function stepComment({ run, identity, key, github, nonce }: CommentOptions): StepComment {
  const where = repositoryOf(run)
  const issue_number = identity.pullRequest
  const permission = 'pull-requests: write'
  const reading = { what: `reading the comments of pull request ${issue_number}`, permission }
  const writing = { what: `writing the comment on pull request ${issue_number}`, permission }
  const asking = ({ decides, signal }: How): GitHub['ask'] => {
    const ask = decides ? github.decide : github.ask
    return (question, call) => ask(question, call, signal)
  }

  const list = (how: How) =>
    pages(100, COMMENTS_LIMIT / 100, (page) =>
      asking(how)(reading, (rest, signal) =>
        rest.issues
          .listComments({ ...where, issue_number, per_page: 100, page, request: { signal } })
          .then(expecting(Array.isArray)),
      ),
    )

  const find: StepComment['find'] = async (how) => {
    const read = (await list(how)).map(({ id, body }) => ({
      id,
      memory: readMarker(body ?? '', id, identity, key),
    }))
    // The last one, where two runs met.
    const found = read.findLast((comment): comment is Found => typeof comment.memory === 'object')
    return { found, foreign: read.filter(({ memory }) => memory === 'foreign').length }
  }

  // A comment whose answer was lost is found by its nonce, in place of being written twice.
  const mark = `<!-- ${nonce()} -->`
  let lost = false
  const create: StepComment['create'] = async (text, how) => {
    const { data } = await asking(how)<{ id: number }>(writing, async (rest, signal) => {
      if (lost) {
        const again = (await list({ ...how, decides: false })).find(({ body }) => body?.includes(mark))
        if (again !== undefined) return { data: again }
      }
      lost = true
      const body = `${text}\n\n${mark}`
      return rest.issues
        .createComment({ ...where, issue_number, body, request: { signal } })
        .then(expecting(Number.isSafeInteger, 'id'))
    })
    lost = false
    return data.id
  }

  const update: StepComment['update'] = async (comment_id, text, memory, how) => {
    const body = `${text}\n\n${writeMarker(memory, comment_id, identity, key)}`
    await asking(how)(writing, (rest, signal) =>
      rest.issues.updateComment({ ...where, comment_id, body, request: { signal } }),
    )
  }

  return { find, create, update }
}

/** The docs pull request is known to be merged or closed. Where it can't be read, it is not. */
export async function isClosed(link: PullRequest, run: RunEnvironment, github: GitHub): Promise<boolean> {
  if (link.number === '') return false
  const question = {
    what: `reading pull request ${link.repository}#${link.number}`,
    permission: 'pull-requests: read',
  }
  const where = repositoryOf({ ...run, repository: link.repository })
  try {
    const { data } = await github.ask(question, (rest, signal) =>
      rest.pulls.get({ ...where, pull_number: Number(link.number), request: { signal } }),
    )
    return data.state === 'closed'
  } catch (thrown) {
    if (thrown instanceof GitHubFault) return false
    throw thrown
  }
}
