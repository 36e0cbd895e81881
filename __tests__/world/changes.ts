/** What changed: the files of the pull requests, the commits of `main`, and what was released. */

import { type CommitState, type FileState, file, joinFiles, sha } from '../support/github-state.js'
import { MATCHES, OTHER_PULL, PULL_REQUEST } from './draw.js'
import { BEFORE, COMMIT, HABITS, isOfRelease, mayMerge, numberOf } from './events.js'
import type { Facts } from './facts.js'
import type { GitHubPlan } from './github-plan.js'
import type { PullPlan } from './plan.js'

/** The commit of an earlier run than the last one. */
export const OLDER = sha('older')
/** The file of the other pull request. */
export const OTHER_FILE = 'src/other.ts'
/** GitHub lists no more files of a pull request or a commit. */
export const MOST_LISTED = 3_000
/** Nor of a range. */
const MOST_COMPARED = 300
/** One commit changes it, another changes it back. */
const UNDONE = 'src/undone.ts'
/** Two commits change it. In the alphabet, it is the last one. */
export const REPEATED = 'src/z.ts'

/** Of a pull request, or of everything since the last run. */
export function filesOf(
  plan: Pick<GitHubPlan, 'file' | 'patch' | 'files' | 'lines' | 'renames' | 'isBinary'>,
  pull: Partial<PullPlan> = {},
  name: string = plan.file,
): FileState[] {
  const { lines = 0, patch: edits = 0, files: more = 0 } = pull
  const line = 1 + 10 * lines
  const edited = plan.patch.replace('-1 +1', `-${line} +${line}`) + '\n+more'.repeat(edits)
  const renamed = { status: 'renamed', previous_filename: 'docs/old.md' } as const
  const own = file(name, plan.isBinary ? null : edited, {
    sha: sha(`blob ${edits}`),
    ...(plan.renames && renamed),
  })
  const patch = `@@ -1 +1 @@\n-old\n+new${'\n+longer'.repeat(plan.lines)}`
  // So long that there is no room for all.
  const end = plan.files > 330 && plan.files < MOST_LISTED ? '-long'.repeat(40) : ''
  const others = Array.from({ length: plan.files - 1 }, (_, index) => `docs/${index}${end}.md`)
  const added = Array.from({ length: more }, (_, index) => `docs/more-${index}.md`)
  const all = [own, ...[...others, ...added].map((one) => file(one, patch))]
  return all.sort((one, other) => (one.filename < other.filename ? -1 : 1))
}

/**
 * The commits of `main` since the run before, oldest first. A branch that was merged may have begun
 * before that run.
 */
export function historyOf(plan: GitHubPlan): CommitState[] {
  const { committers, spread } = plan
  const isLong = committers.length > 2
  const line = committers.flatMap((who) => Array(isLong ? 1 : spread).fill(who))
  const all = filesOf(plan)
  const size = Math.ceil(all.length / line.length)
  const more = (index: number): FileState[] => {
    if (spread === 1 || isLong || all.length >= 299) return []
    if (index === 0) return [file(UNDONE, '+x'), file(REPEATED, '@@ -1 +1 @@\n+once')]
    if (index < line.length - 1) return []
    return [file(UNDONE, '-x'), file(REPEATED, '@@ -9 +9 @@\n+again')]
  }
  let parent = BEFORE
  return line.flatMap((who, index) => {
    const isMerge = who === 'merge'
    const files = [...all.slice(index * size, (index + 1) * size), ...more(index)]
    const common = { message: 'Change the API', author: isMerge ? 'octocat' : who }
    const begins = [plan.forks === 'before' ? OLDER : BEFORE]
    const side = {
      ...common,
      sha: sha(`side ${index}`),
      author: committers[0],
      parents: begins,
      files,
    }
    const parents = [parent, ...(isMerge ? [isLong ? sha('other') : side.sha] : [])]
    parent = index === line.length - 1 ? COMMIT : sha(`since ${index}`)
    const own = { ...common, sha: parent, parents }
    return isMerge && !isLong ? [side, own] : [{ ...own, files }]
  })
}

/** The first part of a range that begins earlier. */
export const EARLIER: CommitState = {
  sha: BEFORE,
  message: 'Earlier',
  author: 'mintlify[bot]',
  parents: [OLDER],
  files: [file('src/older.ts')],
}

/** The releases before the one that an event is about, and the commits of those with a branch. */
export function releasesOf({ habit }: Facts['step']['plan']['event']) {
  const { before, releases } = HABITS[habit]
  const hasBranches = habit === 'an older version' || habit === 'several lines'
  return releases.map((tag, index) => {
    const at = tag === before ? BEFORE : OLDER
    const own = { sha: sha(`release ${tag}`), parents: [at], files: [file('src/backport.ts')] }
    return {
      tag,
      at: hasBranches ? own.sha : at,
      commit: hasBranches ? own : undefined,
      date: `2025-0${index + 1}-01T00:00:00Z`,
    }
  })
}

/** What a step asks for, each file that changed; undefined if there is no list. */
export function changesOf(
  facts: Facts,
  pull: PullPlan = facts.step.plan.pull,
): readonly FileState[] | undefined {
  const { github, event, inputs, lastRun, compared } = facts
  const number = pullOf(facts)
  if (!github || !facts.hasEvent || lacksList(github, number)) return undefined
  if (number !== undefined)
    return filesOf(github, pull, number === OTHER_PULL ? OTHER_FILE : undefined)
  if (!hasRange(facts)) return undefined
  const isSinceRun = inputs.since === undefined && /^schedule|^workflow_d/.test(event.name)
  if (isSinceRun && ['none', 'lost'].includes(lastRun)) return undefined
  const isBehind = inputs.since !== undefined && compared === 'behind'
  const isOld = isSinceRun && lastRun === 'later'
  if (compared === 'identical' || compared === 'undone' || isBehind || isOld) return []
  if (compared !== 'ahead' && inputs.since === undefined) return undefined
  return joinFiles(historyOf(github))
}

/** Whether GitHub lists all of them: it cuts the list of a pull request, or of a commit. */
export function isWhole(facts: Facts): boolean {
  const { github } = facts
  const lists =
    github && pullOf(facts) === undefined ? historyOf(github) : [{ files: changesOf(facts) }]
  return lists.every(({ files = [] }) => files.length < MOST_LISTED)
}

/** Whether GitHub's list of a range has not all of its files. */
export function isCut(facts: Facts): boolean {
  return pullOf(facts) === undefined && (changesOf(facts)?.length ?? 0) >= MOST_COMPARED
}

/** Those that count. */
export function countedIn(
  files: readonly FileState[],
  { 'context-paths': paths = '' }: Facts['inputs'],
): FileState[] {
  const pattern = MATCHES[paths]
  return files.filter(({ filename, previous_filename: old = filename }) =>
    [filename, old].some((name) => pattern?.test(name) ?? true),
  )
}

/** The pull request whose files are asked for. */
export function pullOf({ number, event }: Facts): number | undefined {
  return [numberOf(event), number].find((one) => [PULL_REQUEST, OTHER_PULL].includes(one ?? 0))
}

/** Whether GitHub can't ever list the files: only the other pull request has a list then. */
export function lacksList({ undiffable }: GitHubPlan, pull?: number): boolean {
  return undiffable !== undefined && pull !== OTHER_PULL
}

/** Whether commits belong to the event. */
export function hasRange({ inputs, step: { plan } }: Facts): boolean {
  const { event } = plan
  const isPush = mayMerge(event) || ['group', 'release branch', 'tag'].includes(event.push)
  const isFrom = event.push.endsWith('branch') && inputs.since !== undefined
  if (event.name === 'push') return isPush || isFrom
  return inputs.since !== undefined || RANGES.includes(event.name) || isOfRelease(event)
}

const RANGES = ['schedule', 'workflow_dispatch', 'merge_group']
