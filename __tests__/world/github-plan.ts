/**
 * How GitHub is on the day of a run: what its texts say, what goes wrong, how late it shows what
 * was written.
 */

import {
  type Fault,
  type FaultAnswer,
  primaryLimit,
  type Received,
  secondaryLimit,
} from '../support/github.js'
import { type Draw, HOSTILE_LABEL } from './draw.js'
import { INJECTED } from './hostile.js'
import { STRANGERS } from './memory.js'
import { EPOCH } from './timers.js'

export type GitHubPlan = ReturnType<typeof createGitHubPlan>

export function createGitHubPlan(draw: Draw) {
  const { random, hostile, theme } = draw
  /** It shows at once what was written, and nobody comes between. */
  const isQuiet = ['well', 'lost', 'pushes', 'ranges'].includes(theme)
  const isOfPushes = theme === 'pushes'
  const losesEdits = isOfPushes && random.chance(0.2)
  const healthy = theme !== 'lost' && !losesEdits && (isQuiet || random.chance(0.5))
  const renamed = random.chance(0.1)
  const behind = isOfPushes ? 40 : 16
  const closes = theme === 'well' ? 'never' : random.name({ never: 78, before: 6, behind })
  const faults =
    theme === 'lost'
      ? [LOST]
      : losesEdits
        ? [
            {
              ...LOST,
              step: random.pick(1, 2),
              times: 1_000,
              takesEffect: false,
              answer: UNAVAILABLE,
            },
          ]
        : random.times(healthy ? 0 : random.int(1, 4), () => createFault(draw))
  return {
    title: `Title ${hostile()}`.slice(0, 1000),
    body: hostile(),
    file: random.pick('docs/a.md', 'src/a.ts', `src/${INJECTED}\n::error::x.ts`, '@x/<img>`|.md'),
    patch: `@@ -1 +1 @@\n-old\n+${hostile()}`,
    /**
     * Lists come in pages that are shorter than asked for, or the last page comes again and again.
     */
    pages: random.pick('usual', 'usual', 'short'),
    /** A stranger copies the comment of the first step, with another job in its marker. */
    copies: random.chance(0.5),
    /** Before which step, from 0, the comments with a genuine marker become whose. */
    seizes: random.chance(0.08) ? random.pick(1, 2) : undefined,
    seizedBy: random.pick(...STRANGERS),
    /**
     * Somebody closes the pull request while the runs wait: for a runner, or behind a refusal of
     * the service's.
     */
    closes,
    /** The docs pull request. */
    docsPull: random.name({
      open: isOfPushes ? 10 : 3,
      merged: isOfPushes ? 3 : 1,
      closed: isOfPushes ? 4 : 2,
      unreadable: 1,
    }),
    /** How somebody ends it, if it is open, after the agent has got a message. */
    docsEnd: random.chance(isOfPushes ? 0.9 : 0.1)
      ? {
          how: random.pick('merged', 'merged', 'merged', 'closed'),
          afterMs: random.weighted([2, 0], [1, random.int(0, 5_000)], [1, random.int(0, 60_000)]),
        }
      : undefined,
    /**
     * Whether what was pushed to `main` merged the pull request, or in a fork that was synced one
     * of the repository that it comes from; with how many of its commits, whose it is, and where
     * that shows: in lists, in fields.
     */
    merges: random.name({ here: closes === 'never' ? 6 : 0, upstream: 1, nowhere: 3 }),
    mergesAll: random.chance(0.6),
    /** Its conversation is locked by the time of a push. */
    isLocked: random.chance(0.15),
    pullAuthor: random.name({ octocat: 8, 'mintlify[bot]': 1 }),
    /** How often the list of a commit's pull requests is empty at first. */
    unindexed: random.weighted(
      [theme === 'ranges' ? 30 : 3, 0],
      [5, random.pick(1, 2)],
      [3, 1_000],
    ),
    /** Pull requests are turned off, and whether the payload says so. */
    turnsOffPulls: random.weighted([14, undefined], [1, 'told'], [1, 'untold']),
    /** What GitHub says of a commit that is some seconds old. */
    newCommit: random.chance(0.15) ? random.pick(...NEW_COMMIT) : undefined,
    /** How many requests of the first step have a token that GitHub doesn't know yet. */
    newToken: random.weighted([6, 0], [2, 1], [1, 2]),
    /** Lists that GitHub can't make by the hundred. */
    isSlow: random.chance(0.1),
    /** What it doesn't make of a range that it cut: its second half, and single commits. */
    lacksParts: random.chance(0.25),
    omitsMerges: random.chance(0.3),
    /** Of the pull request, and of the other one. */
    labels: random.weighted([14, []], [5, ['bug', 'No Docs']], [1, [HOSTILE_LABEL]]),
    otherLabels: random.pick([], ['bug', 'No Docs']),
    runs: createRuns(draw),
    /** Who wrote the commits since the workflow ran last. */
    committers: random.weighted<readonly Committer[]>(
      // Of a single commit that is cut, the pages are read.
      [theme === 'ranges' ? 3 : 1, ['octocat']],
      [2, ['mintlify[bot]', 'merge']],
      [1, ['octocat', 'mintlify[bot]']],
      // GitHub lists 100.
      [0.3, [...Array.from({ length: 100 }, () => 'merge' as const), 'octocat']],
    ),
    /** The repository has another name now, or the issue is in another one. */
    renamed,
    transferred: !renamed && random.chance(0.1),
    compresses: random.chance(0.3),
    /**
     * How a commit relates to the one before: `diverged` after a push of rewritten history,
     * `undone` if the commits between undo each other.
     */
    compared: random.name({
      ahead: theme === 'ranges' ? 6 : 12,
      diverged: 1,
      behind: 1,
      identical: 1,
      undone: 1,
    }),
    ...createSize(draw),
    /** How many commits each of the committers made, and where the merged branches begin. */
    spread: random.weighted([theme === 'ranges' ? 4 : 10, 1], [1, 2], [2, random.int(3, 8)]),
    forks: random.pick('after', 'before'),
    /** What the file's name was; and GitHub sends no diff of it, as it is binary. */
    renames: random.chance(0.15),
    isBinary: random.chance(isOfPushes ? 0.3 : 0.1),
    /** How many the docs pull request has. */
    docsFiles: random.pick(1, 1, 20, 21, 120),
    /** What GitHub says of a diff that it can't ever make. */
    undiffable: random.chance(0.03) ? random.pick(...UNDIFFABLE) : undefined,
    /** How late the lists show what was written. */
    lagMs: isQuiet
      ? 0
      : random.weighted([6, 0], [1, random.int(1, 100)], [1, random.int(100, 20_000)]),
    /** When an idle connection is closed. */
    keepAliveMs: isQuiet ? 60_000 : random.pick(60_000, 60_000, random.int(1, 3_000)),
    /** What somebody else does at the nth request. */
    others: isQuiet
      ? []
      : random.times(random.weighted([4, 0], [1, 2]), () => ({
          nth: random.int(1, 8),
          what: random.pick('comments', 'deletes', 'deletes own', 'edits own'),
        })),
    /** The nth read of a step before it sends something fails, on any day: once, or each time. */
    failing: random.chance(0.3) ? [createFailure(draw)] : [],
    /** Whether every request is answered as GitHub would. */
    healthy,
    faults,
  }
}

/**
 * How many files the pull request and the other changes have, and of how many lines each is: GitHub
 * cuts what has many of either.
 */
function createSize({ random, theme }: Draw) {
  const isMany = theme === 'pushes' ? 50 : 8
  const [files, lines] = random.weighted<[number, number]>(
    [theme === 'ranges' ? 10 : 300, [1, 0]],
    [8, [random.int(90, 299), 0]],
    [isMany, [random.int(300, 330), 0]],
    [6, [random.int(331, 700), 0]],
    [12, [random.int(9, 14), random.int(2_000, 2_900)]],
    [1, [3_001, 0]],
  )
  return { files, lines }
}

/** What was at other commits, branches or repositories, and is no mark. */
export const OTHER_RUNS = {
  failed: { conclusion: 'failure' },
  'of a fork': { head_repository: 'somebody/your-repo' },
  'of another branch': { event: 'push', head_branch: 'release' },
  'of a pull request': { event: 'pull_request' },
} as const

/**
 * The earlier runs of the workflow, as GitHub lists them. Its filters are a search, which may be
 * behind (github.com/nrwl/nx-set-shas/issues/219); and people delete old runs.
 */
function createRuns({ random, theme }: Draw) {
  const others = Object.keys(OTHER_RUNS) as (keyof typeof OTHER_RUNS)[]
  return {
    /** How many of them succeeded, each at a commit of its own. */
    succeeded: random.weighted([1, 0], [2, 1], [3, 2]),
    /** Those, and how many more of other kinds came after them. */
    others: others.filter(() => random.chance(0.3)),
    many: random.chance(0.25) ? 120 : 0,
    /** All that succeeded were deleted. */
    areDeleted: random.chance(0.2),
    /** For a moment, the last one that succeeded hasn't ended yet, if nothing came behind it. */
    isLate: random.chance(0.8),
    /** The default branch had another name then. */
    areOnMaster: random.chance(theme === 'ranges' ? 0.3 : 0.12),
    search: random.name({ right: 3, old: 1, empty: 2 }),
    /** By the time of a re-run, a later one has succeeded; or others have begun at any time. */
    later: random.name({ none: 4, succeeded: 3, running: 3 }),
  }
}

/** `merge` is one by a person. */
export type Committer = 'octocat' | 'mintlify[bot]' | 'merge'

/**
 * GitHub's words, as public logs have them, such as in
 * github.com/github-changelog-generator/github-changelog-generator/issues/920.
 */
const UNDIFFABLE = [
  { status: 500, body: { message: 'Sorry, this diff is taking too long to generate.' } },
  { status: 422, body: { message: 'Sorry, there was a problem generating this diff.' } },
  {
    status: 406,
    body: { message: 'Sorry, the diff exceeded the maximum number of lines (20000)' },
  },
]

/** As in github.com/rust-lang/triagebot/issues/1949. */
const NEW_COMMIT = [
  { status: 404, body: { message: 'Not Found' } },
  { status: 422, body: { message: 'No commit found for SHA: 0123456' } },
]

const UNAVAILABLE = { status: 502, body: {} }

/** A page of a proxy or a gateway, whatever its status. */
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<html>Unicorn</html>' }

/**
 * Whether a gateway has answered in place of GitHub, and knows nothing of what was asked for: with
 * a page, or an empty refusal. A redirect is one, whatever it contains.
 */
export function isByGateway({ status, answered }: Received): boolean {
  if (answered === PAGE.body) return status !== 301
  return answered === '' && [401, 403, 404].includes(Number(status))
}

function createFailure({ random, theme }: Draw) {
  return {
    step: random.pick(0, 1, 1, 2),
    // The third one is of the docs pull request, after a push.
    nth: random.pick(1, 2, 3, 3, 3, 4, 5),
    times: theme === 'well' || random.chance(0.5) ? 1 : 1_000,
    answer: random.pick<Fault['answer']>(
      'silence',
      'reset',
      'cut off',
      { status: 502, ...PAGE },
      { status: 404, ...PAGE },
      { status: 503, body: {} },
      { status: 200, ...PAGE },
    ),
  }
}

const PATHS =
  ' /comments /files /comments/\\d+$ /issues/ /pulls/ /pulls$ /commits /permission /compare/'.split(
    ' ',
  )

/**
 * GitHub's text:
 * docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations.
 */
const LOCKED = {
  status: 403,
  body: { message: 'Unable to create comment because issue is locked.' },
}

/** The first edit of the third step's comment gets through, without a response. */
const LOST: ReturnType<typeof createFault> = {
  ...{
    step: 2,
    method: 'PATCH',
    path: '/comments/\\d+$',
    times: 1,
    takesEffect: true,
    answer: 'silence',
  },
}

function createFault({ random, hostile }: Draw) {
  const status = random.pick(500, 502, 503, 401, 401, 403, 403, 404, 404, 422, 429, 301)
  const message = JSON.stringify({ message: hostile() })
  const retryAfter = status === 429 ? { 'retry-after': random.pick('0', '1', '60') } : {}
  const texts = [message, '{}', '[]', 'null', '', hostile()].map((body) => ({ body, headers: {} }))
  const { headers, body } = random.pick<Pick<FaultAnswer, 'body' | 'headers'>>(...texts, PAGE)
  const refusal = { status, headers: { ...headers, ...retryAfter }, body }
  const resetAt = EPOCH / 1_000 + random.int(-10, 120)
  const limit = random.pick(
    primaryLimit(resetAt),
    primaryLimit(resetAt, 429),
    secondaryLimit(random.int(0, 70)),
  )
  return {
    /** The only one that meets it, from 0. */
    step: random.pick(undefined, undefined, undefined, 0, 1, 2),
    method: random.pick(undefined, 'GET', 'POST', 'PATCH'),
    path: random.pick(...PATHS),
    times: random.pick(1, 1, 2, 1000),
    takesEffect: random.chance(0.5),
    answer: random.weighted<Fault['answer']>(
      [1, 'silence'],
      [2, 'reset'],
      [2, 'cut off'],
      [2, { delayMs: random.int(0, 4_000) }],
      [4, refusal],
      [1, limit],
      [0.5, { ...limit, headers: {} }],
      [0.5, LOCKED],
    ),
  }
}
