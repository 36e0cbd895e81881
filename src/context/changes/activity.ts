/**
 * Where a branch of another repository was at a time. GitHub's list of its activity says so, and
 * goes on saying the same: so the end of one run's range is the beginning of the next one's,
 * without a gap or an overlap, and no run has to store it.
 */

import { ZERO_SHA } from '../../event/event.js'
import { getString } from '../../event/payload.js'
import { asking, readPages } from '../../github/client.js'
import type { OpenedRepository } from './code-access.js'
import { compareCommits } from './compare.js'

/** A push, a merge, a forced push: what moved the branch, and when. */
export type Move = Readonly<{ before: string; after: string; timestamp: string }>

/** How many pages of moves are read, at most. */
const MOVE_PAGES = 50

/** After so long (ms) without a push, GitHub doesn't list what is missing any more. */
const UNLISTED_MS = 24 * 3_600_000

/**
 * Where a branch was at a time: where the last move up to then had led, or the first one after it
 * began. And where the next move began: elsewhere, if one between them isn't listed yet.
 *
 * @param moves the newest first
 * @param tip where the branch is now
 */
export function headAt(moves: readonly Move[], time: number, tip: string) {
  const isUpTo = ({ timestamp }: Move): boolean => Date.parse(timestamp) <= time
  const last = moves.find(isUpTo)
  const next = moves.findLast((move) => !isUpTo(move))?.before ?? (last && tip)
  return { last, next, head: last?.after ?? next ?? '0' }
}

/** The parameter of a page that a `link` header names. */
const linked = (link = '', name: string, rel: string): string =>
  decodeURIComponent(RegExp(`[?&]${name}=([^&>]+)[^>]*>; rel="${rel}"`).exec(link)?.[1] ?? '')

/**
 * Where the branch was at both ends, and what that range lacks. [code.range]
 *
 * @param until the upper end, like the lower one in milliseconds since 1970
 * @throws ActionError `github`, also if what moved it up to then isn't listed for 90 s [code.late]
 */
export async function readHeads(code: OpenedRepository, from: number, until: number) {
  // The branch's name is GitHub's: it redirects from the one that a branch had before.
  const { github, about, head: now } = code
  const [branch, tip] = [now.name, now.commit.sha]
  const moves: Move[] = []
  /** From then on, what isn't listed never will be: the branch is believed. [code.unlisted] */
  const settledAt = Date.parse(about.pushed_at) + UNLISTED_MS
  const isComplete = async (page: readonly Move[]): Promise<boolean> => {
    // GitHub's own description names the time in two ways.
    if (!Array.isArray(page) || page.some((move) => !Date.parse(getString(move, 'timestamp'))))
      return false
    const { head, next = head } = headAt([...moves, ...page], until, tip)
    if (head === next || settledAt <= until) return true
    const found = await compareCommits(code, { base: head, head: tip, range: branch })
    // What isn't listed came later.
    const [list] = ('changes' in found && found.changes.commits) || []
    if (Date.parse(list?.commits[0]?.date ?? '') > until) return true
    throw new Error(`it is late, and ends with ${head}`)
  }
  let after: string | undefined
  await readPages(MOVE_PAGES, async ({ per_page }) => {
    const { data, headers } = await github.repos.listActivities({
      ...asking(code, `listing the activity of ${branch}`, {
        needs: 'contents: read; GitHub Enterprise Server has it from version 3.17 on',
        expects: isComplete,
      }),
      ref: `refs/heads/${branch}`,
      per_page,
      after,
    })
    moves.push(...data)
    // Its pages have no numbers.
    after = linked(headers.link, 'after', 'next')
    return { data, headers: headAt(data, from, tip).last ? { link: '' } : headers }
  })
  const list = (params: object) =>
    github.repos.listCommits({
      ...asking(code, `listing commits of ${branch}`, {
        needs: 'contents: read',
        expects: Array.isArray,
      }),
      sha: tip,
      per_page: 1,
      ...params,
    })
  let lacks = ''
  const find = async (time: number): Promise<string> => {
    const { head, next } = headAt(moves, time, tip)
    if (head !== next && settledAt <= time) {
      lacks = 'GitHub does not list what moved the branch, which is believed.'
      return tip
    }
    // Of a new branch, or one that was deleted, no move says it.
    if (!ZERO_SHA.test(head)) return head
    const { data } = await list({ until: new Date(time).toISOString() })
    if (data[0] !== undefined) return data[0].sha
    lacks = 'It is new: there is no diff of its first commit.'
    const page = linked((await list({})).headers.link, 'page', 'last') || 1
    return (await list({ page })).data[0]?.sha ?? tip
  }
  return { base: await find(from), head: await find(until), lacks }
}
