/** What changed, or why nobody can tell; and what a number names. */

import type { Commit } from '../../event/event.js'

/** A changed file, as GitHub's API returns it. Others wrote its names and its patch. */
export type ChangedFile = Readonly<{
  path: string
  previousPath?: string | undefined
  status: string
  additions: number
  deletions: number
  /**
   * Unified diff hunks without file header; empty of a file that was only renamed. Missing if
   * GitHub sent none: of binary files, large diffs, and of all files after many lines.
   */
  patch?: string | undefined
  /** The hash of the content; only a file without a patch has it. */
  sha?: string | undefined
}>

/** What changed, or why there is no list of it. Reasons are in the action's own words. */
export type Changes =
  | ListedChanges
  /** There is certainly no commit in the range. */
  | Readonly<{ kind: 'none' } & Range>
  /** There is nothing to compare with yet: the next run begins here. The reason is a clause. */
  | Readonly<{ kind: 'first'; reason: string }>
  /** `unexpected`: GitHub should have had a list. Of an issue, for example, there is none. */
  | Readonly<{ kind: 'unknown'; reason: string; unexpected?: boolean }>

export type Unlisted = Extract<Changes, { reason: string }>

export type Range = Readonly<{
  /** What the changes belong to, such as "the commits abc1234..def5678". */
  range: string
  /** The tag of the release that the changes came after. Others wrote it. */
  previousRelease?: string
  /** What the input of that name says. */
  since?: string
}>

export type ListedChanges = Readonly<
  {
    kind: 'listed'
    files: readonly ChangedFile[]
    /** GitHub cut the list: there are more. */
    truncated: boolean
    /**
     * Why more changed than what the list is of. A list with a gap never decides that there is
     * nothing to do.
     */
    gap?: string | undefined
    /** What the log and the summary say of it, if not the same. */
    shownGap?: string | undefined
    /** The commits of the range, of each repository. Others wrote their texts. */
    commits?: readonly CommitList[]
    /** If GitHub cut the list or its diffs: where to halve the range. */
    halves?: Halves | undefined
  } & Range
>

/**
 * The two halves of a range are `base..middle` and `middle..head`. If the middle is the head, the
 * range is one commit.
 */
export type Halves = Readonly<{ base: string; middle: string; head: string }>

export interface CommitList {
  readonly commits: readonly Commit[]
  /** There are certainly no more. */
  readonly complete: boolean
  /** If it is another repository than the run's: `owner/repo@abc1234..def5678`. */
  readonly of?: string
}

/** What a number names, as GitHub returned it. Others wrote its words. */
export interface Thread {
  readonly isPull: boolean
  readonly data: unknown
}

/** What GitHub was asked for the context of the prompt. */
export type Findings = Readonly<{
  changes: Changes
  /**
   * What `issue-number` names, if that isn't what triggered the run; or the branches of the pull
   * request that did, if the payload lacks them.
   */
  thread?: Thread | undefined
  /** The range begins where `since` says, so it isn't that of the payload's commits. */
  bySince?: boolean
  /** Code that whoever reads the log may not read is among the changes. */
  isPrivate?: boolean
  /** If this run succeeds, the next one begins where it ends. */
  isMark?: boolean
}>

/** Why there is no list, as a sentence. */
export function explainMissing({ reason }: Unlisted): string {
  return `${reason.replace(/^./, (first) => first.toUpperCase())}.`
}

/** There is no list of what changed, for this reason, a clause. */
export function unknownChanges(reason: string): Unlisted {
  return { kind: 'unknown', reason }
}
