/** Reads a comparison in parts, if GitHub left out files or diffs of the whole. */

import { asking, type GitHubRepo } from '../../github/client.js'
import { GitHubError } from '../../github/errors.js'
import { shortSha } from '../../text/format.js'
import { compareCommits, isFileList, readFiles } from './compare.js'
import type { ChangedFile, ListedChanges } from './types.js'

/** How many requests it takes at most: a repository has 1,000 an hour. [range.cut.requests] */
export const MAX_REQUESTS = 64

type Part = Pick<ListedChanges, 'files' | 'truncated'>

/**
 * Parts are a gift: if GitHub doesn't give one, the list of the whole stays as it is, and what it
 * lacks is told; only a limit is an error. [range.cut.parts]
 * [range.cut.gift]
 *
 * @param counts whether the diff of a file is needed
 * @throws ActionError `github`
 */
export async function readParts(
  repo: GitHubRepo,
  whole: ListedChanges,
  counts: (file: ChangedFile) => boolean,
): Promise<ListedChanges> {
  const gift = repo.elsewhere ?? { requests: MAX_REQUESTS }
  const lacksDiff = (file: ChangedFile) => file.patch === undefined && counts(file)
  const read = async (changes: ListedChanges): Promise<ListedChanges> => {
    const { halves, files, truncated } = changes
    if (halves === undefined || !(truncated || files.some(lacksDiff))) return changes
    const { base, middle, head } = halves
    try {
      const found = middle === head ? await ofCommit(head) : await ofHalves(base, middle, head)
      return { ...changes, ...complete(changes, found) }
    } catch (thrown) {
      const isLimit = !(thrown instanceof GitHubError) || thrown.retryAfterMs !== undefined
      if (isLimit) throw thrown
      return changes
    }
  }
  const ofCommit = async (ref: string): Promise<Part> => {
    // It reads no more pages than requests are left.
    return readFiles(
      async (page) => {
        const { data, headers } = await repo.github.repos.getCommit({
          ...asking(repo, `reading commit ${shortSha(ref)}`, {
            needs: 'contents: read',
            ofFiles: true,
            early: true,
            expects: ({ files }) => isFileList(files),
            gift,
          }),
          ...page,
          ref,
        })
        return { data: data.files ?? [], headers }
      },
      repo,
      gift.requests,
    )
  }
  const ofHalves = async (base: string, middle: string, head: string): Promise<Part> => {
    const [one, other] = [await compare(base, middle), await compare(middle, head)]
    const [before, after] = [await read(one), await read(other)]
    const truncated = before.truncated || after.truncated
    return { files: join([...before.files, ...after.files]), truncated }
  }
  const compare = async (base: string, head: string): Promise<ListedChanges> => {
    const comparison = await compareCommits(repo, { base, head, range: whole.range }, gift)
    if ('error' in comparison) throw comparison.error
    return comparison.changes
  }
  return read(whole)
}

/**
 * The list of a range leads those of its parts: it has no file that was changed back, and its diffs
 * are those from its beginning to its end. [range.cut.whole-leads]
 */
function complete({ files, truncated }: Part, found: Part): Part {
  const byPath = new Map(found.files.map((file) => [file.path, file]))
  const known = files.map((file) => {
    const { patch, additions, deletions } = byPath.get(file.path) ?? file
    const isUnknown = patch === undefined && additions + deletions === 0
    return file.patch !== undefined || isUnknown ? file : { ...file, additions, deletions, patch }
  })
  if (!truncated) return { files: known, truncated }
  for (const { path } of files) byPath.delete(path)
  // A part that GitHub cut, too, hides files.
  const isShorter = found.files.length < files.length
  return { files: [...known, ...byPath.values()], truncated: found.truncated || isShorter }
}

/** A file that several parts change has all their diffs, or none. [range.cut.joined] */
function join(files: readonly ChangedFile[]): readonly ChangedFile[] {
  const joined = new Map<string, ChangedFile>()
  for (const file of files) {
    const { path, status, previousPath = path } = file
    const from = status === 'renamed' ? previousPath : path
    const before = joined.get(from)
    joined.delete(from)
    if (before?.status !== 'added' || status !== 'removed')
      joined.set(path, before === undefined ? file : add(before, file))
  }
  return [...joined.values()]
}

function add(before: ChangedFile, file: ChangedFile): ChangedFile {
  const patches = [before.patch, file.patch]
  return {
    ...file,
    previousPath: before.previousPath ?? file.previousPath,
    status: file.status === 'modified' ? before.status : file.status,
    additions: before.additions + file.additions,
    deletions: before.deletions + file.deletions,
    patch: patches.includes(undefined) ? undefined : patches.filter(Boolean).join('\n'),
  }
}
