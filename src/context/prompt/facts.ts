/** Describes what triggered the run, in facts for the prompt. Others wrote all of them. Pure. */

import {
  type Commit,
  PUSH_COMMITS_LIMIT,
  pushedCommits,
  type RunEnvironment,
  type RunEvent,
} from '../../event/event.js'
import { getPath, getString } from '../../event/payload.js'
import { truncate } from '../../text/escape.js'
import { formatInteger, shortSha } from '../../text/format.js'
import type { Redact } from '../../text/redact.js'
import type { CommitList, Findings } from '../changes/types.js'
import { normalizeNewlines } from './fence.js'
import { noteHidden, showInvisible } from './hidden.js'

export interface Fact {
  /** One of the action's own words, such as `title`. */
  readonly name: string
  /** Written by others. */
  readonly value: string
  /** GitHub renders it as Markdown, which can hide some of it: that is noted. */
  readonly isProse?: boolean
}

export type Trigger = Readonly<{
  event: string
  repository: string
  facts: readonly Fact[]
}>

/**
 * What triggered the run; facts without a value are left out.
 *
 * @param redact applied to whole texts, before a part of them is hidden or cut: half a key would
 * not be found
 */
export function describeTrigger(
  environment: RunEnvironment,
  event: RunEvent,
  findings: Findings,
  redact: Redact,
): Trigger {
  const { changes, thread } = findings
  const reported = readFacts(event.name, event.payload)
  // GitHub makes up the ref of a pull request, and that of an issue says nothing.
  const isOfThread = reported.some(({ name }) => name === 'number')
  const { repository, ref, sha } = environment
  const facts: readonly Fact[] = [
    { name: 'ref', value: isOfThread ? '' : ref },
    { name: 'commit', value: isOfThread ? '' : sha },
    ...reported,
    ...readPart(thread?.data, PARTS.issue),
    { name: 'previous release', value: getString(changes, 'previousRelease') },
    { name: 'since', value: getString(changes, 'since') },
    ...findCommits(event, findings).map((list) => commitsFact(list, redact)),
  ]
  return {
    event: event.name,
    repository,
    facts: facts
      .filter(({ value }) => value !== '')
      // Names of refs and of people can have invisible characters, too.
      .map(({ name, value, isProse }) => {
        const text = redact(value)
        return { name, value: showInvisible(isProse ? noteHidden(text) : text) }
      }),
  }
}

/**
 * The commits to tell of. The payload of a push has more of them than a comparison, which has 100
 * at most. But with `since`, or since the last release, the range has others, too.
 * [context.facts.commits]
 */
function findCommits(event: RunEvent, { changes, bySince }: Findings): readonly CommitList[] {
  const isLonger = bySince || getString(changes, 'previousRelease') !== ''
  const commits = isLonger ? [] : pushedCommits(event)
  const ofPush = { commits, complete: commits.length < PUSH_COMMITS_LIMIT }
  return (commits.length === 0 && changes.kind === 'listed' && changes.commits) || [ofPush]
}

/** In the words of another repository, `#12` is its own, and would be this one's. [code.names] */
function commitsFact({ commits, complete, of = '' }: CommitList, redact: Redact): Fact {
  const count = complete ? '' : ` (the first ${formatInteger(commits.length)}; there may be more)`
  const repository = of.replace(/@.*/, '')
  const lines = commits.map(
    (commit) =>
      of.replace(/[^@]*$/, '') +
      commitLine(commit, redact).replace(/(?<![\w/&])#(?=\d+\b)/g, `${repository}#`),
  )
  return { name: `commits${of && ` of ${of}`}${count}`, value: lines.join('\n') }
}

/** How much of a commit's message is told, in characters: none uses up the room of the others. */
const COMMIT_LIMIT = 200

function commitLine({ sha, message, author, authorName }: Commit, redact: Redact): string {
  const firstLine = (text: string): string => {
    const [line = ''] = normalizeNewlines(text).split('\n')
    // The line is redacted as a whole before it is cut.
    return truncate(redact(line), COMMIT_LIMIT)
  }
  return `${shortSha(sha)} ${firstLine(message)} (${firstLine(author || authorName) || 'unknown author'})`
}

/**
 * What each part of a payload says, in this order: `name=path`, or the name alone if it is the
 * path; `|` separates paths of which the first that has a value counts. Which parts there are
 * depends on the event (docs.github.com/en/webhooks/webhook-events-and-payloads).
 * [context.facts.event]
 */
const PARTS = {
  pull_request:
    'number, title, author=user.login, state, draft, merged, base=base.ref, head=head.label|head.ref, labels, milestone=milestone.title, link=html_url, body',
  // This may be a pull request: in the payload of a comment on one, and as GitHub's API returns it.
  issue:
    'number, title, author=user.login, state, draft, merged=merged_at|pull_request.merged_at, base=base.ref, head=head.label|head.ref, labels, milestone=milestone.title, link=html_url, body',
  discussion:
    'number, title, author=user.login, state, category=category.name, labels, link=html_url, body',
  answer: 'answer by=user.login, answer=body',
  label: 'label=name',
  review: 'review by=user.login, review state=state, review=body',
  comment:
    'comment by=user.login, comment link=html_url, commented commit=commit_id, file=path, line=line|original_line, comment=body',
  release:
    'tag=tag_name, name, author=author.login, draft, pre-release=prerelease, link=html_url, notes=body',
  workflow_run:
    'workflow=name, run=display_title, event of the run=event, actor=actor.login, branch=head_branch, head commit=head_sha, status, conclusion, link=html_url',
  merge_group: 'base=base_ref, head=head_ref, head commit=head_sha, message=head_commit.message',
}

/** What stands at the top of a payload, where the same name has several meanings. */
const TOP: Readonly<Record<string, string>> = {
  create: 'type of ref=ref_type, ref name=ref',
  delete: 'type of ref=ref_type, ref name=ref',
  repository_dispatch: 'type=action, payload=client_payload',
  schedule: 'schedule',
  workflow_dispatch: 'inputs',
}

function readFacts(eventName: string, payload: unknown): Fact[] {
  const top = (Object.hasOwn(TOP, eventName) && TOP[eventName]) || ''
  const action = eventName === 'repository_dispatch' ? '' : 'action'
  return [
    ...[action, top, 'sender=sender.login'].flatMap((sources) => readPart(payload, sources)),
    ...Object.entries(PARTS).flatMap(([part, sources]) =>
      readPart(getPath(payload, part), sources),
    ),
  ]
}

function readPart(part: unknown, sources: string): Fact[] {
  return sources.split(', ').flatMap((source) => {
    const [name = '', paths = name] = source.split('=')
    const facts = paths
      .split('|')
      // A `body` is Markdown, which can hide words.
      .map((path) => ({ name, value: toText(getPath(part, path)), isProse: path === 'body' }))
    return facts.find(({ value }) => value !== '') ?? []
  })
}

function toText(value: unknown): string {
  if (typeof value === 'string') return normalizeNewlines(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map((label) => getString(label, 'name')).join(', ')
  const hasContent = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  // It stays on one line: indentation makes a megabyte of a few kilobytes that are deeply nested.
  return hasContent ? JSON.stringify(value) : ''
}
