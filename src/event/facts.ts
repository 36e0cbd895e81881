/** The facts of an event: what a person would say has happened. Others wrote all of them. Pure. */

import { getPath, getString } from './payload.js'

export interface Fact {
  /** One of the action's own words, such as `title`. */
  readonly name: string
  /** Written by others. */
  readonly value: string
}

/** A fact's name, and where its value is: the first of the paths that has one. */
type Source = readonly [name: string, ...paths: string[]]

/** A part of the payload, and the facts in it. */
type Part = readonly [path: string, sources: readonly Source[]]

const TITLE: readonly Source[] = [
  ['title', 'title'],
  ['author', 'user.login'],
  ['state', 'state'],
]
const TEXT: readonly Source[] = [
  ['labels', 'labels'],
  ['link', 'html_url'],
  ['body', 'body'],
]
const RUN: readonly Source[] = [
  ['branch', 'head_branch'],
  ['head commit', 'head_sha'],
  ['status', 'status'],
  ['conclusion', 'conclusion'],
]

/**
 * What each part of a payload says, in this order. Which parts there are depends on the event
 * (docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
const PARTS: readonly Part[] = [
  [
    'pull_request',
    [
      ['number', 'number'],
      ...TITLE,
      ['draft', 'draft'],
      ['merged', 'merged'],
      ['base', 'base.ref'],
      ['head', 'head.label', 'head.ref'],
      ...TEXT,
    ],
  ],
  // Also a pull request, in the payload of a comment on one.
  ['issue', [['number', 'number'], ...TITLE, ...TEXT]],
  ['discussion', [['number', 'number'], ...TITLE, ['category', 'category.name'], ...TEXT]],
  [
    'answer',
    [
      ['answer by', 'user.login'],
      ['answer', 'body'],
    ],
  ],
  ['label', [['label', 'name']]],
  ['milestone', [['milestone', 'title']]],
  [
    'review',
    [
      ['review by', 'user.login'],
      ['review state', 'state'],
      ['review', 'body'],
    ],
  ],
  [
    'comment',
    [
      ['comment by', 'user.login'],
      ['comment link', 'html_url'],
      ['commented commit', 'commit_id'],
      ['file', 'path'],
      ['line', 'line', 'original_line'],
      ['comment', 'body'],
    ],
  ],
  [
    'release',
    [
      ['tag', 'tag_name'],
      ['name', 'name'],
      ['author', 'author.login'],
      ['draft', 'draft'],
      ['pre-release', 'prerelease'],
      ['link', 'html_url'],
      ['notes', 'body'],
    ],
  ],
  [
    'workflow_run',
    [
      ['workflow', 'name'],
      ['run', 'display_title'],
      ['event of the run', 'event'],
      ['actor', 'actor.login'],
      ...RUN,
      ['link', 'html_url'],
    ],
  ],
  ['check_suite', [['app', 'app.name'], ...RUN]],
  [
    'check_run',
    [
      ['check', 'name'],
      ['app', 'app.name'],
      ['branch', 'check_suite.head_branch'],
      ['head commit', 'head_sha'],
      ['status', 'status'],
      ['conclusion', 'conclusion'],
      ['result', 'output.title'],
      ['link', 'html_url'],
    ],
  ],
  [
    'deployment',
    [
      ['environment', 'environment'],
      ['deployed ref', 'ref'],
      ['deployed commit', 'sha'],
      ['task', 'task'],
    ],
  ],
  [
    'deployment_status',
    [
      ['state', 'state'],
      ['description', 'description'],
      ['link', 'environment_url', 'target_url'],
    ],
  ],
  [
    'merge_group',
    [
      ['base', 'base_ref'],
      ['head', 'head_ref'],
      ['head commit', 'head_sha'],
      ['message', 'head_commit.message'],
    ],
  ],
  ['forkee', [['fork', 'full_name']]],
  [
    'package',
    [
      ['package', 'name'],
      ['version', 'package_version.version'],
    ],
  ],
  [
    'registry_package',
    [
      ['package', 'name'],
      ['version', 'package_version.version'],
    ],
  ],
  ['rule', [['rule', 'name']]],
]

/** What stands at the top of a payload, by event: the same name means something else in another one. */
const TOP: Readonly<Record<string, readonly Source[]>> = {
  create: [
    ['type of ref', 'ref_type'],
    ['ref name', 'ref'],
  ],
  delete: [
    ['type of ref', 'ref_type'],
    ['ref name', 'ref'],
  ],
  gollum: [['pages', 'pages']],
  repository_dispatch: [
    ['type', 'action'],
    ['payload', 'client_payload'],
  ],
  schedule: [['schedule', 'schedule']],
  status: [
    ['status check', 'context'],
    ['state', 'state'],
    ['description', 'description'],
    ['head commit', 'sha'],
    ['link', 'target_url'],
  ],
  workflow_dispatch: [['inputs', 'inputs']],
}

/** The facts of a payload. */
export function readFacts(eventName: string, payload: unknown): Fact[] {
  const top = Object.hasOwn(TOP, eventName) ? (TOP[eventName] ?? []) : []
  const action: readonly Source[] = eventName === 'repository_dispatch' ? [] : [['action', 'action']]
  return [
    ...readPart(payload, [...action, ...top, ['sender', 'sender.login']]),
    ...PARTS.flatMap(([path, sources]) => readPart(getPath(payload, path), sources)),
  ]
}

function readPart(part: unknown, sources: readonly Source[]): Fact[] {
  return sources
    .map(([name, ...paths]) => ({ name, value: valueAt(part, paths) }))
    .filter(({ value }) => value !== '')
}

function valueAt(part: unknown, paths: readonly string[]): string {
  return paths.map((path) => toText(getPath(part, path))).find((text) => text !== '') ?? ''
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(itemText).join(', ')
  const hasContent = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  return hasContent ? JSON.stringify(value, null, 2) : ''
}

/** A label has a name; a page of the wiki has a title, and what was done to it. */
function itemText(item: unknown): string {
  return getString(item, 'name') || `${getString(item, 'action')} ${getString(item, 'title')}`.trim()
}
