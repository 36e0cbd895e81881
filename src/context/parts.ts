/** Reads a comparison in parts, if GitHub left out files or diffs of the whole. */

import { type GitHubRepo, readPages, requestParams } from '../github/client.js'
import { isMissing } from '../github/errors.js'
import { shortSha } from '../text/format.js'
import { compareCommits, FILES_LIMIT, FILES_PAGE, isFileList, toFile } from './compare.js'
import type { ChangedFile, Changes } from './files.js'

/** How many requests it takes, about: a repository has 1,000 an hour. */
const REQUESTS = 64

/** @throws ActionError `github` */
export async function readParts(repo: GitHubRepo, whole: Changes): Promise<Changes> {
  let left = REQUESTS
  const read = async (part: Changes): Promise<Changes> => {
    const [base, middle, head = ''] = part.halves ?? []
    if (!base || !middle || base === middle || left <= 0) return part
    if (middle === head) {
      const read = await readCommit(head, repo)
      left -= read.files.length / FILES_PAGE
      return { ...part, ...read }
    }
    left -= 2
    const compare = async (base: string, head: string): Promise<Changes> => {
      const comparison = await compareCommits(repo, { base, head, range: part.range })
      // What can't be read is missing, whichever way GitHub cut the whole.
      const none = { ...part, files: [], truncated: true }
      return 'changes' in comparison ? read(comparison.changes) : none
    }
    const [one, other] = [await compare(base, middle), await compare(middle, head)]
    const truncated = one.truncated || other.truncated
    return { ...part, files: join([...one.files, ...other.files]), truncated }
  }
  return read(whole)
}

async function readCommit(ref: string, repo: GitHubRepo) {
  const doing = `reading commit ${shortSha(ref)}`
  const hasFiles = ({ files }: { files?: unknown }) => isFileList(files)
  const common = requestParams(
    { ...repo, ofFiles: true, isEarly: isMissing },
    doing,
    'contents: read',
    hasFiles,
  )
  const { items, truncated } = await readPages(
    FILES_LIMIT / FILES_PAGE,
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
