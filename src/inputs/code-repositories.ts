/** Parses which repositories' changes are sent, and what reads them. Pure. */

import { invalid, parseKeyText, splitLines, unexpected } from './values.js'

/** It is the default branch, if none is named. */
export type CodeRepository = Readonly<{ name: string; branch: string | undefined }>

/** The events that only say when to look: each other one is about changes of this repository. */
export const CODE_EVENTS = ['schedule', 'workflow_dispatch', 'repository_dispatch']

/** As `uses:` names a repository. A branch can't have the characters that git forbids in one. */
const LINE = /^([a-z\d][\w-]*\/(?!\.\.?(?:@|$))[\w.-]+)(?:@((?!.*\.\.)[^\s~^:?*[\\]+))?$/i

/** A night of more repositories would come near GitHub's limit of requests. */
const LIMIT = 50

/**
 * Their changes are sent, in place of this repository's. [code.where]
 *
 * @param hasChanges the step sends the changes, or decides by them
 * @throws InvalidInput
 */
export function parseCodeRepositories(
  value: string,
  eventName: string,
  hasChanges: boolean,
): readonly CodeRepository[] {
  if (value === '') return []
  const repositories = splitLines(value.replace(/(?:^|\s)#.*/g, '')).map((line) => {
    const [, name, branch] = LINE.exec(line) ?? []
    if (name === undefined) throw unexpected('owner/name or owner/name@branch', '', line)
    return { name, branch }
  })
  const { size } = new Set(repositories.map(({ name }) => name.toLowerCase()))
  if (size === 0 || size > LIMIT || size < repositories.length)
    throw invalid(`expected 1 to ${LIMIT} repositories, none of them twice.`)
  if (!CODE_EVENTS.includes(eventName))
    throw invalid(`only works on ${CODE_EVENTS.join(', ')}, and this is ${eventName}.`)
  if (!hasChanges) throw invalid('needs context (event or diff) or context-paths.')
  return repositories
}

/**
 * A fine-grained token reads the repositories of one owner, so there may be several, each a secret
 * of its own. [code.token]
 *
 * @throws InvalidInput
 */
export function parseCodeTokens(value: string, hasCode: boolean): readonly string[] {
  if (value !== '' && !hasCode) throw invalid('has no effect without code-repositories.')
  return splitLines(value).map((token) => {
    if (/["'[\],]/.test(token))
      throw invalid('expected one token per line, without quotes, brackets and commas.')
    if (token.startsWith('mint_')) throw invalid("expected GitHub's tokens, got the service's key.")
    return parseKeyText(token)
  })
}

/**
 * A day, which begins at midnight UTC, or a time: a tag or a commit means nothing to several
 * repositories. [code.since]
 *
 * @param now no later one has a past
 * @throws InvalidInput
 */
export function parseTime(value: string, now: Date): string {
  const time = new Date(value)
  const isTime =
    /^(?:19[7-9]|2\d\d)\d-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z)?$/.test(value) && time <= now
  // Of February 30, JavaScript makes March 2.
  if (isTime && time.toISOString().startsWith(value.slice(0, 10))) return value
  throw unexpected('a past date or time in UTC, such as 2026-11-20 or 2026-11-20T14:00:00Z')
}
