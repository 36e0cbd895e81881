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

export function describeTrigger(run: RunEnvironment, event: RunEvent, changes?: Changes): Trigger {
  const told = readFacts(event.name, event.payload)
  const facts = [
    ...refFacts(run, told),
    ...told,
    ...readIssueFacts(changes?.named),
    ...(changes?.previousRelease === undefined
      ? []
      : [{ name: 'previous release', value: changes.previousRelease }]),
    ...commitsFacts(commitList(event, changes)),
  ]
  return {
    event: event.name,
    repository: run.repository,
    facts: facts.filter(({ value }) => value !== ''),
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
function commitList(event: RunEvent, changes?: Changes): CommitList | undefined {
  const commits = pushedCommits(event)
  const ofPush = { commits, complete: commits.length < PUSH_COMMITS_LIMIT }
  return commits.length === 0 || changes?.bySince ? changes?.commits : ofPush
}

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
  const [firstLine = ''] = message.trim().split(/\r\n|\r|\n/)
  const line = showInvisible(truncate(firstLine, COMMIT_LIMIT))
  return `${shortSha(sha)} ${line} (${truncate(author || authorName, COMMIT_LIMIT) || 'unknown author'})`
}
