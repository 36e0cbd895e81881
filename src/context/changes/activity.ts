/**
 * Where a branch of another repository was at a time. GitHub's list of its activity says so, and
 * goes on saying the same: so the end of one run's range is the beginning of the next one's,
 * without a gap or an overlap, and no run has to store it.
 */

import { ZERO_SHA } from '../../event/event.js'
import { getString } from '../../event/payload.js'
import { asking, type Call, readPages } from '../../github/client.js'
import type { OpenedRepository } from './code-access.js'

/** A push, a merge, a forced push: what moved the branch, and when. */
export type Move = Readonly<{ before: string; after: string; timestamp: string }>

/** How many pages of moves, or of commits, are read, at most. */
const MOVE_PAGES = 50

/** After so long (ms) without a push, GitHub doesn't list what is missing any more. */
const UNLISTED_MS = 24 * 3_600_000

/**
 * Where a branch was at a time: where the last move up to then had led, or the first one after it
 * began. And where the next move began: elsewhere, if one between them isn't listed yet. The list
 * may have those of one second in any order. [code.chain]
 *
 * @param moves the newest first
 * @param tip where the branch is now
 */
export function headAt(moves: readonly Move[], time: number, tip: string) {
  const isUpTo = ({ timestamp }: Move) => Date.parse(timestamp) <= time
  // They are a chain: its end is where no other begins, its beginning where no other ends.
  const isAlone = ({ timestamp }: Move, sha: keyof Move, at: string) =>
    !moves.some((move) => move.timestamp === timestamp && move[sha] === at)
  const last = moves.find((move) => isUpTo(move) && isAlone(move, 'before', move.after))
  const first = moves.findLast((move) => !isUpTo(move) && isAlone(move, 'after', move.before))
  const next = first?.before ?? (last && tip)
  return { last, next, head: last?.after ?? next ?? '0' }
}

/** The cursor of the next page that a `link` header names. */
const cursorIn = (link = '') =>
  decodeURIComponent(/[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(link)?.[1] ?? '')

/**
 * Where the branch was at both ends, and what that range lacks. [code.range]
 *
 * @param until the upper end, like the lower one in milliseconds since 1970
 * @throws ActionError `github`, also if what moved it up to then isn't listed for 90 s [code.late]
 */
export async function readHeads(code: OpenedRepository, from: number, until: number) {
  const { github, branch, tip, pushedAt } = code
  const moves: Move[] = []
  let lacks = ''
  /** From then on, what isn't listed never will be: the branch is believed. [code.unlisted] */
  const settledAt = pushedAt + UNLISTED_MS
  let commits: ReadonlyMap<string, unknown> | undefined
  /** Along first parents: the commits of what was merged are older than its merge. [code.young] */
  const headByDate = async (time: number) => {
    commits ??= new Map(
      (
        await readPages(MOVE_PAGES, (page) =>
          github.repos.listCommits({
            ...asking(code, `listing commits of ${branch}`, {
              needs: 'contents: read',
              expects: Array.isArray,
              early: true,
            }),
            sha: tip,
            since: new Date(from).toISOString(),
            ...page,
          }),
        )
      ).items.map((commit) => [commit.sha, commit]),
    )
    let at = tip
    const textOf = (path: string) => getString(commits?.get(at), path)
    const isLater = () => Date.parse(textOf('commit.committer.date')) > time
    while (isLater() && textOf('parents.0.sha')) at = textOf('parents.0.sha')
    lacks = isLater()
      ? 'It is younger than the range: there is no diff of its first commit.'
      : 'GitHub lists no move of the branch before the range, which begins by the dates of commits.'
    return at
  }
  const list = (params: object, expects: NonNullable<Call['expects']>) =>
    github.repos.listActivities({
      ...asking(code, `listing the activity of ${branch}`, {
        needs: 'contents: read; on GitHub Enterprise Server, its list needs version 3.14',
        expects,
        early: true,
        instead:
          'If that does not help, push to the branch, or take it out of code-repositories, and start a run by hand with since when it is back.',
      }),
      ...params,
    })
  const isComplete = async (page: unknown) => {
    // GitHub's own description names the time in two ways.
    if (!Array.isArray(page) || page.some((move) => !Date.parse(getString(move, 'timestamp'))))
      return false
    const { head, next } = headAt([...moves, ...page], until, tip)
    if (head === next || settledAt <= until) return true
    // Without any move, both ends are the same, and if somebody pushed since, another branch has
    // one; else, what isn't listed came later.
    const isNone = head === '0'
    const end = isNone ? await headByDate(from) : head
    const isListed =
      !isNone || pushedAt <= from || (await list({ per_page: 1 }, Array.isArray)).data.length > 0
    if (isListed && (await headByDate(until)) === end) return true
    throw new Error('the list lacks what moved it last')
  }
  let after: string | undefined
  const { truncated } = await readPages(MOVE_PAGES, async ({ page, per_page }) => {
    // They may be read anew, by fewer.
    if (page === 1) {
      moves.length = 0
      after = undefined
    }
    const { data, headers } = await list(
      { ref: `refs/heads/${branch}`, per_page, after },
      isComplete,
    )
    moves.push(...data)
    // Its pages have no numbers.
    after = cursorIn(headers.link)
    return { data, headers: headAt(data, from, tip).last ? { link: '' } : headers }
  })
  lacks = ''
  const find = async (time: number) => {
    const { head, next, last } = headAt(moves, time, tip)
    if (head !== next && settledAt <= time) {
      lacks = 'GitHub does not list what moved the branch, so its head is believed.'
      return tip
    }
    // Of a new branch, one that was deleted, or behind the last page, no move says it.
    return ZERO_SHA.test(head) || (truncated && !last) ? headByDate(time) : head
  }
  return { head: await find(until), base: await find(from), lacks }
}
