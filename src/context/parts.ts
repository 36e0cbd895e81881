/** Reads a comparison in parts, if GitHub left out files or diffs of the whole. */

import { type GitHubRepo, readPages, requestParams } from '../github/client.js'
import { GitHubError, isMissing } from '../github/errors.js'
import { shortSha } from '../text/format.js'
import { compareCommits, FILES_LIMIT, FILES_PAGE, isFileList, toFile } from './compare.js'
import type { ChangedFile, Changes } from './files.js'

/** How many requests it takes at most: a repository has 1,000 an hour. */
const REQUESTS = 64

/** @throws ActionError `github` */
export async function readParts(repo: GitHubRepo, whole: Changes): Promise<Changes> {
  let left = REQUESTS
  const read = async (part: Changes): Promise<Changes> => {
    const [base, middle, head = ''] = part.halves ?? []
    if (!base || !middle || base === middle || left <= 0) return part
    const found = await (middle === head ? ofCommit(head) : ofHalves(base, middle, head)).catch(
      toNone,
    )
    return { ...part, ...complete(part, found) }
  }
  const ofCommit = async (head: string): Promise<Part> => {
    const found = await readCommit(head, left, repo)
    left -= Math.ceil(found.files.length / FILES_PAGE)
    return found
  }
  const ofHalves = async (base: string, middle: string, head: string): Promise<Part> => {
    left -= 2
    const compare = async (base: string, head: string): Promise<Part> => {
      const comparison = await compareCommits(repo, { base, head, range: whole.range })
      return 'changes' in comparison ? read(comparison.changes) : NONE
    }
    const [one, other] = [await compare(base, middle), await compare(middle, head)]
    const truncated = one.truncated || other.truncated
    return { files: join([...one.files, ...other.files]), truncated }
  }
  return read(whole)
}

type Part = Pick<Changes, 'files' | 'truncated'>

const NONE: Part = { files: [], truncated: true }

/** GitHub may have no list of a part, though it has one of the whole. */
function toNone(thrown: unknown): Part {
  if (thrown instanceof GitHubError && thrown.kind === 'no-files') return NONE
  throw thrown
}

/**
 * The list of a range leads that of its parts: in it are no files that were changed back, and the
 * diffs that it has are those from its beginning to its end.
 */
function complete({ files, truncated }: Part, found: Part): Part {
  const byPath = new Map(found.files.map((file) => [file.path, file]))
  const known = files.map((file) => (file.patch ? file : (byPath.get(file.path) ?? file)))
  if (!truncated) return { files: known, truncated }
  for (const { path } of files) byPath.delete(path)
  const isShorter = found.files.length < files.length
  return { files: [...known, ...byPath.values()], truncated: found.truncated || isShorter }
}

async function readCommit(ref: string, requests: number, repo: GitHubRepo): Promise<Part> {
  const doing = `reading commit ${shortSha(ref)}`
  const hasFiles = ({ files }: { files?: unknown }) => isFileList(files)
  const common = requestParams(
    { ...repo, ofFiles: true, isEarly: isMissing },
    doing,
    'contents: read',
    hasFiles,
  )
  const { items, truncated } = await readPages(
    Math.min(requests, FILES_LIMIT / FILES_PAGE),
    async (page) => {
      const { data, headers } = await repo.github.repos.getCommit({ ...common, ...page, ref })
      return { data: data.files ?? [], headers }
    },
    FILES_PAGE,
  )
  return { files: items.map(toFile), truncated }
}

/** A file that several parts change has their diffs, oldest first, or none if one is missing. */
function join(files: readonly ChangedFile[]): readonly ChangedFile[] {
  const joined = new Map<string, ChangedFile>()
  for (const file of files) {
    const { path, status, previousPath = path } = file
    const from = status === 'renamed' ? previousPath : path
    const before = joined.get(from)
    joined.delete(from)
    joined.set(path, before === undefined ? file : add(before, file))
  }
  return [...joined.values()]
}

function add(before: ChangedFile, file: ChangedFile): ChangedFile {
  const both = [before, file]
  const isWhole = both.every(({ patch, status }) => patch || status === 'renamed')
  return {
    ...before,
    ...file,
    status: file.status === 'modified' ? before.status : file.status,
    additions: before.additions + file.additions,
    deletions: before.deletions + file.deletions,
    patch: isWhole ? both.flatMap(({ patch }) => patch || []).join('\n') : '',
  }
}
