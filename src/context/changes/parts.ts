/** Reads a comparison in parts, if GitHub left out files or diffs of the whole. */

import { asking, type Gift, type GitHubRepo, type ReadPage } from '../../github/client.js'
import { isWithheld } from '../../github/errors.js'
import type { ApiFile } from '../../github/types.js'
import { shortSha } from '../../text/format.js'
import {
  type CutPage,
  compareCommits,
  isFileList,
  type Listing,
  readFiles,
  toFiles,
} from './compare.js'
import type { ChangedFile, ListedChanges, ReadMore } from './types.js'

/** How many requests it takes at most: a repository has 1,000 an hour. [range.cut.requests] */
export const MAX_REQUESTS = 64

/** Into how many pages one is divided that GitHub cut. */
const PAGE_PARTS = 5

type Part = Pick<ListedChanges, 'files' | 'truncated'>
type Counts = Parameters<ReadMore>[0]

/** What a comparison lists, and how more of it is read. */
export function withParts(repo: GitHubRepo, whole: Listing): ListedChanges {
  const readMore = whole.halves && ((counts: Counts) => readParts(repo, whole, counts))
  return { ...whole.changes, readMore }
}

/**
 * Parts are a gift: if GitHub has no list of a part, or fails, that of the whole stays as it is,
 * and what it lacks is told; a limit, or no answer at all, is an error. [range.cut.parts]
 * [range.cut.gift]
 *
 * @throws ActionError `github`
 */
async function readParts(repo: GitHubRepo, whole: Listing, counts: Counts): Promise<ListedChanges> {
  const { range } = whole.changes
  const gift: Gift = repo.elsewhere ?? { requests: MAX_REQUESTS }
  const isWanted = lacksDiff(counts)
  const read = async ({ changes, halves }: Listing): Promise<ListedChanges> => {
    if (halves === undefined || gift.requests < 2) return changes
    if (!changes.truncated && !changes.files.some(isWanted)) return changes
    const { base, middle, head } = halves
    const found = middle === head ? ofCommit(head) : ofHalves(base, middle, head)
    return found
      .then((part) => ({ ...changes, ...complete(changes, part) }))
      .catch((thrown) => {
        if (isWithheld(thrown)) return changes
        throw thrown
      })
  }
  const ofCommit = async (ref: string): Promise<Part> => {
    const readPage: ReadPage<ApiFile> = async (page) => {
      const { data, headers } = await repo.github.repos.getCommit({
        ...asking(repo, `reading commit ${shortSha(ref)}`, {
          needs: 'contents: read',
          ofFiles: true,
          early: true,
          expects: ({ files }: { files?: unknown }) => isFileList(files),
          gift,
        }),
        ...page,
        ref,
      })
      return { data: data.files ?? [], headers }
    }
    // No more pages than requests are left.
    const list = await readFiles(readPage, gift.requests)
    return readCutPages(list, readPage, counts)
  }
  const ofHalves = async (base: string, middle: string, head: string): Promise<Part> => {
    const [one, other] = [await compare(base, middle), await compare(middle, head)]
    const [before, after] = [await read(one), await read(other)]
    const truncated = before.truncated || after.truncated
    return { files: join([...before.files, ...after.files]), truncated }
  }
  const compare = async (base: string, head: string): Promise<Listing> => {
    const comparison = await compareCommits(repo, { base, head, range }, { gift })
    if ('error' in comparison) throw comparison.error
    return comparison
  }
  return read(whole)
}

function lacksDiff(counts: Counts): Counts {
  return (file) => file.patch === undefined && counts(file)
}

/**
 * The list with the diffs that GitHub left out at the end of a page, read by a fifth of its files.
 * [range.cut.pages]
 *
 * @throws ActionError `github`
 */
export async function readCutPages(
  { files, truncated, cut }: Part & { readonly cut: readonly CutPage[] },
  readPage: ReadPage<ApiFile>,
  counts: Counts,
): Promise<Part> {
  const found: ChangedFile[] = []
  for (const whole of cut) {
    const per_page = Math.ceil(whole.per_page / PAGE_PARTS)
    const first = (whole.page - 1) * PAGE_PARTS + 1
    for (let nth = 0; nth < PAGE_PARTS; nth++) {
      const part = whole.files.slice(nth * per_page, (nth + 1) * per_page)
      if (!part.some(lacksDiff(counts))) continue
      const answer = await readPage({ page: first + nth, per_page }).catch((thrown) => {
        if (isWithheld(thrown)) return { data: [] }
        throw thrown
      })
      found.push(...toFiles(answer.data).files)
    }
  }
  return complete({ files, truncated }, { files: [...files, ...found], truncated })
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
