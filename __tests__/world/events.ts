/** What triggers a run: the events, their payloads, and whose permission they need. */

import { sha } from '../support/github.js'
import { type Draw, ISSUE, OTHER_PULL, PULL_REQUEST, REPOSITORY } from './draw.js'

/** `gone` is null in a payload. */
export type Person = 'gone' | 'writer' | 'reader' | 'stranger' | 'app[bot]' | 'mintlify[bot]'
export type EventPlan = ReturnType<typeof createEvent>

/** Whoever causes one of these can write to the repository. */
const WRITERS_ONLY =
  'push create delete release schedule workflow_dispatch repository_dispatch merge_group'.split(' ')

/** GITHUB_SHA of every run. */
export const COMMIT = '0123456789abcdef0123456789abcdef01234567'
export const HEAD = sha('head')
export const BEFORE = sha('before')
const NONE = '0'.repeat(40)
export const TAG = 'v1.0.0'
/** When the release that an event is about was published. */
export const RELEASED = '2026-01-02T03:00:00Z'

/**
 * How projects release: what is released, which release came before it, and all releases, oldest
 * first. Each older version has a branch of its own.
 */
export const HABITS = {
  'one line': { tag: 'v2.0.0', before: TAG, releases: ['v0.9.0', TAG] },
  'an older version': {
    tag: 'v1.2.3-p1',
    before: 'v1.2.3',
    releases: ['v1.2.2', 'v1.2.3', 'v2.0.0'],
  },
  'several lines': {
    tag: 'v3.1.0',
    before: 'v3.0.5',
    releases: ['v3.0.5', 'v2.9.9', 'v4.0.0'],
  },
  packages: {
    tag: 'core-v1.2.0',
    before: 'core-v1.1.0',
    releases: ['core-v1.1.0', 'core-v1.1.1-rc.1', 'cli-v1.1.9'],
  },
  'after candidates': {
    tag: 'v2.0.0',
    before: 'v1.9.0',
    releases: ['v1.9.0', 'v1.10.0-rc.1', 'v2.0.0-rc.1'],
  },
  'a candidate': {
    tag: 'v2.0.0-rc.2',
    before: 'v2.0.0-rc.1',
    releases: ['v1.9.0', 'v2.0.0-rc.1'],
  },
  dates: {
    tag: '2026.10.1',
    before: '2026.9.30',
    releases: ['2026.9.30', 'chart-4.0.0'],
  },
} as const
/** The message of the first of several commits that are pushed. */
export const FIRST_MESSAGE = 'First'

/**
 * The first commit of a rebased pull request: it has another name than before, and the same
 * message.
 */
export const REBASED = sha('rebased')

/**
 * What the payload of a push says. `many` has the head of the pull request, with a commit on top: a
 * merge of it, or of another branch that has it, or somebody's own. `head` has it alone. `group` is
 * a merge queue's: it merged the other pull request as well; `queue` is before it has.
 */
const USUAL = { before: BEFORE, after: COMMIT, ref: 'refs/heads/main', count: 1 }
const MANY = { ...USUAL, count: 2 }
const PUSHES = {
  usual: USUAL,
  many: MANY,
  rebased: MANY,
  head: { ...USUAL, after: HEAD },
  group: MANY,
  'release branch': { ...USUAL, ref: 'refs/heads/release' },
  queue: { ...MANY, ref: `refs/heads/gh-readonly-queue/main/pr-1-${BEFORE}` },
  'new branch': { ...USUAL, before: NONE },
  'empty branch': { ...USUAL, before: NONE, count: 0 },
  deleted: { ...USUAL, after: NONE, count: 0 },
  tag: { ...USUAL, before: NONE, ref: 'refs/tags', count: 0 },
}

/** What the message of the last pushed commit names. */
const NAMES = { pull: PULL_REQUEST, other: OTHER_PULL, nothing: undefined }

/** The first commit of a merge queue's group, which merges the other pull request. */
export const MERGED = sha('merged')

/**
 * How those who merge name what they merge: GitHub, bors, a script such as Coq's, homu; and GitHub
 * in a squash.
 */
const MESSAGES = {
  github: (number: number) => `Merge pull request #${number} from your-org/change`,
  bors: (number: number) => `Merge #${number}\n\n${number}: Change the API`,
  script: (number: number) => `Merge PR #${number}: Change the API`,
  homu: (number: number) => `Auto merge of #${number} - octocat:change, r=writer`,
  squash: (number: number) => `Change the API (#4) (#${number})`,
}

const OF_PULLS = ['synchronize', 'synchronize', 'opened', 'reopened', 'labeled', 'edited', 'closed']
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  pull_request: OF_PULLS,
  pull_request_target: OF_PULLS,
  release: ['published', 'published', 'created', 'deleted'],
  issues: ['opened', 'labeled'],
  pull_request_review: ['submitted'],
  merge_group: ['checks_requested'],
  workflow_run: ['completed'],
}

/** Their payloads have no action. */
const WITHOUT_ACTION = ['push', 'create', 'delete', 'schedule', 'workflow_dispatch']

/** How often the title and the description were edited, and labels taken away or put back. */
const FIRST_WORDS = { title: 0, body: 0, labels: 0 }

export function createEvent({ random, usesGitHub }: Draw) {
  const person = (): Person =>
    random.name({
      writer: 170,
      reader: 10,
      stranger: 10,
      'app[bot]': 10,
      'mintlify[bot]': 3,
    })
  const name = usesGitHub
    ? random.name({
        pull_request: 60,
        issues: 25,
        issue_comment: 25,
        workflow_dispatch: 20,
        push: 24,
        pull_request_target: 6,
        pull_request_review: 6,
        pull_request_review_comment: 4,
        schedule: 22,
        release: 5,
        workflow_run: 4,
        merge_group: 3,
        repository_dispatch: 3,
        discussion_comment: 2,
        create: 1,
        delete: 1,
        deployment_status: 1,
        an_event_to_come: 1,
      })
    : 'workflow_dispatch'
  const action = random.pick(...(ACTIONS[name] ?? ['created']))
  return {
    name,
    action,
    /** Who triggered it. */
    sender: person(),
    /** What was pushed. */
    push: random.name({
      usual: 4,
      many: 2,
      rebased: 1,
      head: 1,
      group: 2,
      'release branch': 1,
      queue: 1,
      'new branch': 1,
      'empty branch': 1,
      deleted: 1,
      tag: 1,
    }),
    names: random.pick<keyof typeof NAMES>('pull', 'nothing', 'other'),
    message: random.pick(...(Object.keys(MESSAGES) as (keyof typeof MESSAGES)[])),
    habit: random.pick(...(Object.keys(HABITS) as (keyof typeof HABITS)[])),
    /** Of a pull request: which it is, and its head before the push and after it. */
    pull: PULL_REQUEST,
    before: sha('head before'),
    head: HEAD,
    /** The words and the labels of the pull request, as the payload has them. */
    words: FIRST_WORDS,
    /** Who wrote the pull request, the comment, the review or the commit. */
    author: random.chance(0.02) ? ('gone' as const) : person(),
    /** The pull request's head is in a fork. */
    fromFork: name.startsWith('pull_request') && random.chance(0.1),
    /** The comment is on the pull request, not on the issue. */
    onPull: random.chance(0.4),
    /** What triggered the run before this one, of `workflow_run`. */
    earlier: random.pick('push', 'pull_request', 'schedule'),
    /** The event is about the comment that an earlier step of the plan has written. */
    isOwnComment: false,
    /** A person's comment quotes it. */
    isQuoted: false,
  }
}

/** The pull request or the issue that an event is about. */
export function numberOf({ name, onPull, pull }: EventPlan): number | undefined {
  if (name === 'issues') return ISSUE
  if (name === 'issue_comment') return onPull ? PULL_REQUEST : ISSUE
  return name.startsWith('pull_request') ? pull : undefined
}

/**
 * Those who need write access. A push shows it already, and so does an app on a branch of the
 * repository.
 */
export function askedFor(event: EventPlan, allowUsers: string): readonly Person[] {
  const allowed = allowUsers.toLowerCase().split(/[\s,]+/)
  if (allowed.includes('*')) return []
  return peopleBehind(event).filter((person) => !allowed.includes(person))
}

function peopleBehind(event: EventPlan): readonly Person[] {
  const { name, sender, author, fromFork, earlier } = event
  if (WRITERS_ONLY.includes(name)) return []
  if (name === 'workflow_run') return WRITERS_ONLY.includes(earlier) && !fromFork ? [] : [author]
  if (isPush(event)) return author === sender || isApp(author) ? [] : [author]
  const hasText = name.endsWith('_comment') || name === 'pull_request_review'
  const isPushed =
    name.startsWith('pull_request') && event.action === 'synchronize' && !isApp(author)
  return (hasText || isPushed) && author !== sender ? [sender, author] : [sender]
}

/** To the branch of a pull request: it is no consent to the words of whoever opened that. */
function isPush({ name, action, sender, fromFork }: EventPlan): boolean {
  return name === 'pull_request' && !fromFork && (action === 'synchronize' || isApp(sender))
}

const isApp = (person: Person): boolean => person.endsWith('[bot]')

/**
 * Whether one of these accounts is the cause, which starts nothing.
 *
 * @param isMerge the last commit of a push is one
 */
export function isBy(
  accounts: readonly string[],
  { name, sender, author, push }: EventPlan,
  isMerge: boolean,
): boolean {
  const authors: readonly Person[] = [author, 'reader']
  const pushed = authors.slice(0, PUSHES[push].count)
  const isTheirs = (person: Person) => accounts.includes(person)
  if (name === 'push' && sender !== 'mintlify[bot]')
    return (
      pushed.some(isTheirs) && pushed.every((one, at) => isTheirs(one) || (isMerge && at === 0))
    )
  if (isTheirs(sender)) return true
  return /^pull_request|_comment$/.test(name) && isTheirs(author)
}

/** The head of a pull request after so many pushes of each kind. */
export function headOf(pull: Readonly<Record<'lines' | 'patch' | 'files', number>>): string {
  const { lines, patch, files } = pull
  return lines + patch + files === 0 ? HEAD : sha(`head ${lines} ${patch} ${files}`)
}

/** Whether a push may be the merge of the pull request. */
export function mayMerge({ name, push }: EventPlan): boolean {
  return name === 'push' && ['usual', 'many', 'rebased', 'head'].includes(push)
}

/**
 * Whether it speaks for the pull request that it merges: a push of that one's own head has to name
 * it.
 */
export function isConsent({ push, names }: EventPlan): boolean {
  return ['usual', 'rebased'].includes(push) || (push === 'many' && names === 'pull')
}

/** GITHUB_REF of its run. */
export function refOf(event: EventPlan): string {
  if (isOfRelease(event)) return `refs/tags/${HABITS[event.habit].tag}`
  return event.name === 'push' ? PUSHES[event.push].ref : 'refs/heads/main'
}

/** Whether the range begins at the release before. */
export function isOfRelease({ name, push, action }: EventPlan): boolean {
  return name === 'release' ? action !== 'deleted' : name === 'push' && push === 'tag'
}

/** GITHUB_SHA of its run. */
export function shaOf({ name, push }: EventPlan): string {
  return name === 'push' && push === 'head' ? HEAD : COMMIT
}

const account = (login: Person) =>
  login === 'gone' ? null : { login, type: isApp(login) ? 'Bot' : 'User' }

interface Told {
  title: string
  body: string
  /** Of the pull request. */
  labels: readonly string[]
  /** The id of the comment. */
  commentId: number
  /** Pull requests are turned on. */
  hasPulls: boolean
}

export function payloadOf(
  event: EventPlan,
  { title, body, labels, commentId, hasPulls }: Told,
): object {
  const { name, action, author, fromFork, onPull, earlier } = event
  const user = account(author)
  const repository = {
    full_name: REPOSITORY,
    private: true,
    ...(!hasPulls && { has_pull_requests: false }),
  }
  const html_url = `https://github.com/${REPOSITORY}`
  const about = { title, body, user }
  const labelled = { labels: labels.map((name) => ({ name })) }
  const headRepository = { full_name: fromFork ? 'somebody/your-repo' : REPOSITORY }
  const pull_request = {
    number: event.pull,
    ...about,
    ...labelled,
    html_url: `${html_url}/pull/${event.pull}`,
    base: { ref: 'main', repo: repository },
    head: { ref: 'change', label: 'your-org:change', sha: event.head, repo: headRepository },
  }
  const plainIssue = { number: ISSUE, ...about, html_url: `${html_url}/issues/${ISSUE}` }
  const pullAsIssue = {
    ...plainIssue,
    ...labelled,
    number: PULL_REQUEST,
    pull_request: { url: html_url },
  }
  const comment = { id: commentId, body, user, html_url }
  const byline = (username: Person) => ({ name: 'Somebody', username })
  const named = NAMES[event.names]
  const say = MESSAGES[event.message]
  const message = named === undefined ? title : say(named)
  const { count, ...pushed } = PUSHES[event.push]
  const last = { id: event.push === 'head' ? HEAD : COMMIT, message, author: byline(author) }
  const isRebased = event.push === 'rebased'
  const ofGroup = event.push === 'group' && { id: MERGED, message: say(OTHER_PULL) }
  const first = {
    id: isRebased ? REBASED : HEAD,
    message: FIRST_MESSAGE,
    author: byline('reader'),
    ...ofGroup,
  }
  const commits = [first, last].slice(2 - count)
  const writer = account('writer')
  // Somebody else wrote the issue and the pull request that a comment is on.
  const parts: Record<string, object> = {
    issues: { issue: plainIssue },
    issue_comment: { issue: { ...(onPull ? pullAsIssue : plainIssue), user: writer }, comment },
    pull_request: { pull_request },
    pull_request_target: { pull_request },
    pull_request_review: { pull_request: { ...pull_request, user: writer }, review: comment },
    pull_request_review_comment: { pull_request: { ...pull_request, user: writer }, comment },
    discussion_comment: { discussion: { ...plainIssue, user: writer }, comment },
    push: { ...pushed, ref: refOf(event), commits, head_commit: commits.at(-1) ?? null },
    release: {
      release: {
        tag_name: HABITS[event.habit].tag,
        name: title,
        body,
        published_at: RELEASED,
        prerelease: event.habit === 'a candidate',
      },
    },
    merge_group: { merge_group: { base_sha: BEFORE, head_sha: HEAD } },
    workflow_run: {
      workflow_run: {
        event: earlier,
        actor: user,
        head_sha: HEAD,
        head_repository: headRepository,
      },
    },
    repository_dispatch: { client_payload: { title, body } },
  }
  const does = WITHOUT_ACTION.includes(name) ? {} : { action }
  const { before, head: after } = event
  const moved = name.startsWith('pull_request') && action === 'synchronize' ? { before, after } : {}
  return { ...does, ...moved, sender: account(event.sender), repository, ...parts[name] }
}
