/** Describes what triggered the run, for the prompt. Pure. */

import { truncate } from '../escape.js'
import {
  type Commit,
  PUSH_COMMITS_LIMIT,
  pushedCommits,
  type RunEnvironment,
  type RunEvent,
} from '../event/event.js'
import { formatInteger, shortSha } from '../format.js'
import type { Trigger } from './compose.js'
import { type Fact, readFacts, readIssueFacts } from './facts.js'
import type { Changes, CommitList } from './files.js'
import { showInvisible } from './hidden.js'

export function describeTrigger(run: RunEnvironment, event: RunEvent, changes: Changes): Trigger {
  const told = readFacts(event.name, event.payload)
  const facts = [
    ...refFacts(run, told),
    ...told,
    ...readIssueFacts(changes.named),
    { name: 'previous release', value: changes.previousRelease ?? '' },
    ...commitsFacts(commitList(event, changes)),
  ]
  return {
    event: event.name,
    repository: run.repository,
    // Names of refs and of people can have invisible characters, too.
    facts: facts
      .filter(({ value }) => value !== '')
      .map(({ name, value }) => ({ name, value: showInvisible(value) })),
  }
}

/** Of a pull request, an issue and a discussion, the payload says more: the ref would be one that GitHub made up. */
function refFacts({ ref, sha }: RunEnvironment, told: readonly Fact[]): Fact[] {
  if (told.some(({ name }) => name === 'number')) return []
  return [
    { name: 'ref', value: ref },
    { name: 'commit', value: sha },
  ]
}

/** Of a push, the payload says more than a comparison: that has no more than 100 commits. */
function commitList(event: RunEvent, changes: Changes): CommitList | undefined {
  const commits = pushedCommits(event)
  const ofPush = { commits, complete: commits.length < PUSH_COMMITS_LIMIT }
  return commits.length === 0 || changes.bySince ? changes.commits : ofPush
}

const LINE_END = /\r\n|[\r\n\x85\u2028\u2029]/

/** Each commit's first line and author. */
function commitsFacts(list: CommitList | undefined): Fact[] {
  if (list === undefined || list.commits.length === 0) return []
  const { commits, complete } = list
  const name = complete
    ? 'commits'
    : `commits (the first ${formatInteger(commits.length)}; there may be more)`
  return [{ name, value: commits.map(commitLine).join('\n') }]
}

/** So that no commit uses up the room of the others, in characters. */
const COMMIT_LIMIT = 200

function commitLine({ sha, message, author, authorName }: Commit): string {
  const [firstLine = ''] = message.trim().split(LINE_END)
  const [who = ''] = (author || authorName).trim().split(LINE_END)
  return `${shortSha(sha)} ${truncate(firstLine, COMMIT_LIMIT)} (${truncate(who, COMMIT_LIMIT) || 'unknown author'})`
}
