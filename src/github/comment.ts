/** The one comment of a step on a pull request: what the next run remembers, and what a reader sees. */

import type { PullRequest } from '../job.js'
import { pages, repositoryOf } from './changes.js'
import type { GitHub } from './client.js'
import { GitHubFault } from './client.js'
import type { RunEnvironment } from './event.js'
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

export interface StepComment {
  /**
   * Finds this step's comment, and how many claim to be it and can't be verified.
   *
   * @param decides asks again for up to 60 s where the fault may pass
   */
  find(decides: boolean): Promise<{ readonly found: Found | undefined; readonly foreign: number }>
  /** Writes a first comment, without a marker: that needs the comment's own id. Returns the id. */
  create(text: string, decides: boolean): Promise<number>
  /** Replaces the comment's text, and its marker with what is to be remembered. */
  update(
    id: number,
    text: string,
    memory: Memory,
    options: { decides: boolean; signal?: AbortSignal },
  ): Promise<void>
}

export function stepComment({ run, identity, key, github, nonce: random }: CommentOptions): StepComment {
  const where = repositoryOf(run)
  const issue_number = identity.pullRequest
  const reading = {
    what: `reading the comments of pull request ${issue_number}`,
    permission: 'pull-requests: write',
  }
  const writing = {
    what: `writing the comment on pull request ${issue_number}`,
    permission: 'pull-requests: write',
  }
  const asking = (decides: boolean): GitHub['decide'] => (decides ? github.decide : github.ask)

  const list = (decides: boolean) =>
    pages(100, COMMENTS_LIMIT / 100, (page) =>
      asking(decides)(reading, (rest, signal) =>
        rest.issues.listComments({ ...where, issue_number, per_page: 100, page, request: { signal } }),
      ),
    )

  const find: StepComment['find'] = async (decides) => {
    const read = (await list(decides)).map(({ id, body }) => ({
      id,
      memory: readMarker(body ?? '', id, identity, key),
    }))
    // The last one, where two runs met.
    const found = read.findLast((comment): comment is Found => typeof comment.memory === 'object')
    return { found, foreign: read.filter(({ memory }) => memory === 'foreign').length }
  }

  const create: StepComment['create'] = async (text, decides) => {
    // A comment whose answer was lost is found by its nonce in place of being written twice.
    const nonce = `<!-- ${random()} -->`
    let lost = false
    const { data } = await asking(decides)<{ id: number }>(writing, async (rest, signal) => {
      if (lost) {
        const again = (await list(false)).find(({ body }) => body?.includes(nonce))
        if (again !== undefined) return { data: again }
      }
      lost = true
      const body = `${text}\n\n${nonce}`
      return rest.issues.createComment({ ...where, issue_number, body, request: { signal } })
    })
    return data.id
  }

  const update: StepComment['update'] = async (id, text, memory, { decides, signal }) => {
    const body = `${text}\n\n${writeMarker(memory, id, identity, key)}`
    const call = (rest: Parameters<Parameters<GitHub['ask']>[1]>[0], abort: AbortSignal) =>
      rest.issues.updateComment({ ...where, comment_id: id, body, request: { signal: abort } })
    if (decides) await github.decide(writing, call)
    else await github.ask(writing, call, signal)
  }

  return { find, create, update }
}

/** The docs pull request is known to be merged or closed. Where it can't be read, it is not. */
export async function isClosed(link: PullRequest, run: RunEnvironment, github: GitHub): Promise<boolean> {
  if (link.number === '') return false
  try {
    const { data } = await github.ask(
      { what: `reading pull request ${link.repository}#${link.number}`, permission: 'pull-requests: read' },
      (rest, signal) =>
        rest.pulls.get({
          ...repositoryOf({ ...run, repository: link.repository }),
          pull_number: Number(link.number),
          request: { signal },
        }),
    )
    return data.state === 'closed'
  } catch (thrown) {
    if (thrown instanceof GitHubFault) return false
    throw thrown
  }
}
