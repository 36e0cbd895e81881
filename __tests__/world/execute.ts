/**
 * Runs the steps as planned, and records everything that happened, with times of
 * `performance.now()`.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { file, type Repository, sha, startGitHub } from '../support/github.js'
import { joinFiles, type PullState } from '../support/github-state.js'
import { connectProxy } from '../support/proxy.js'
import { EARLIER, filesOf, historyOf, OLDER, OTHER_FILE, releasesOf } from './changes.js'
import {
  DOCS_REPOSITORY,
  DOCS_TOKEN,
  ISSUE,
  OTHER_PULL,
  PULL_REQUEST,
  REPOSITORY,
  TOKEN,
} from './draw.js'
import {
  BEFORE,
  COMMIT,
  FIRST_MESSAGE,
  HABITS,
  HEAD,
  headOf,
  isOfRelease,
  MERGED,
  numberOf,
  payloadOf,
  REBASED,
  RELEASED,
  refOf,
  shaOf,
  TAG,
} from './events.js'
import { type GitHubPlan, OTHER_RUNS } from './github-plan.js'
import { isStrangers, MARKER, markerIn, STRANGERS } from './memory.js'
import { FIRST_PORT } from './network.js'
import type { ActionPlan, Plan, StepPlan, Trigger } from './plan.js'
import type { SimulatedProcess } from './process.js'
import { startPlannedService, stepPrefix } from './service.js'
import { beginRun, startStep, time } from './simulation.js'

/** What was done to the process. */
export interface Done {
  readonly what: ActionPlan['what']
  readonly at: number
  /** When a freeze ended; undefined if the process ended first. */
  until?: number
}

export type StepRecord = Awaited<ReturnType<typeof runStep>>

/** With what GitHub holds in the end, and when somebody ended the docs pull request. */
export type RunRecord = Awaited<ReturnType<typeof runPlan>>

/** Told what happens, as it happens: who, and what. */
type Tell = (who: string, what: string) => void

/** @throws Error if a step never ends */
export function simulatePlan(
  plan: Plan,
  tell: (at: number, ...what: Parameters<Tell>) => void = () => undefined,
): Promise<RunRecord> {
  const [service, github] = [[...plan.connecting.service], [...plan.connecting.github]]
  beginRun({
    seed: plan.seed,
    plan: plan.network,
    // GitHub listens after the service.
    connecting: (port) => (port === FIRST_PORT ? service : github).shift() ?? 'open',
  })
  const running = runPlan(plan, (who, what) => tell(time.now, who, what))
  return time.finish(running, `the run of seed ${plan.seed}`)
}

async function runPlan(plan: Plan, tell: Tell) {
  const world = await startWorld(plan, tell)
  const ends: Promise<StepRecord>[] = []
  try {
    for (const step of plan.steps) {
      const { after, delayMs } = step.starts
      if (after === 'end') await Promise.all(ends)
      if (delayMs > 0) await sleep(delayMs)
      if (world.github?.plan.copies) copyComments(world.github.repository)
      if (world.github?.plan.seizes === ends.length) seizeComments(world.github)
      world.github?.begin(step)
      ends.push(runStep(step, ends.length, world, tell))
    }
    const steps = await Promise.all(ends)
    const never = Number.POSITIVE_INFINITY
    const { docsEndedAt = never, closedAt = never } = world.github?.happened ?? {}
    return { plan, steps, comments: commentsOf(world), docsEndedAt, closedAt }
  } finally {
    await world.close()
  }
}

type World = Awaited<ReturnType<typeof startWorld>>

/** What the steps meet. */
async function startWorld(plan: Plan, tell: Tell) {
  const puppets: Puppet[] = []
  const count = (what: Trigger, step: number): void => puppets[step]?.count(what)
  const deadlineOf = (step: number) =>
    (puppets[step]?.child.startedAt ?? 0) + (plan.steps[step]?.timeoutMs ?? 0)
  let github: PlannedGitHub | undefined
  const service = await startPlannedService({
    plan,
    deadlineOf,
    count,
    onMessage: () => github?.endDocs(),
    onLimit: () => github?.closePull(),
    tell,
  })
  const proxy =
    plan.proxy &&
    (await connectProxy(service.port, (nth) => {
      const what = plan.proxy?.[nth - 1] ?? plan.proxy?.at(-1) ?? 'open'
      tell('proxy', `gets CONNECT ${nth}: ${what}`)
      return what
    }))
  const hasSent = (step: number) =>
    service.entries.some((entry) => entry.step === step && entry.method === 'POST')
  github =
    plan.github &&
    (await startPlannedGitHub(plan.github, { seed: plan.seed, count, hasSent, tell }))
  return {
    service,
    github,
    /** What happens to the processes, in the order of the steps. */
    puppets,
    // A name that only the proxy knows.
    baseUrl: proxy ? `https://service.test:${service.port}` : service.url,
    environment: proxy && { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
    close: () => Promise.all([service.close(), proxy?.close(), github?.close()]),
  }
}

async function runStep(plan: StepPlan, index: number, world: World, tell: Tell) {
  const { service, github, puppets, baseUrl, environment } = world
  const say = (what: string): void => tell(`step ${index + 1}`, what)
  const wrote: { readonly at: number; readonly line: string }[] = []
  const own = plan.event.isOwnComment ? findOwnComment(github, numberOf(plan.event)) : undefined
  const child = startStep({
    inputs: {
      'base-url': baseUrl + stepPrefix(index),
      'timeout-minutes': String(plan.timeoutMs / 60_000),
      ...plan.inputs,
    },
    eventFile:
      plan.eventFile ?? JSON.stringify(github === undefined ? {} : eventOf(github.plan, plan, own)),
    env: {
      ...environment,
      RUNNER_DEBUG: '1',
      GITHUB_EVENT_NAME: plan.event.name,
      GITHUB_REF: refOf(plan.event),
      GITHUB_SHA: shaOf(plan.event),
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/${plan.workflow}@refs/heads/main`,
      GITHUB_RUN_ID: String(plan.runId),
      GITHUB_RUN_NUMBER: String(github?.runNumberOf(plan) ?? 1),
      GITHUB_RUN_ATTEMPT: String(plan.attempt),
      ...(github && { GITHUB_API_URL: `${github.url}${stepPrefix(index)}/api/v3` }),
    },
    onLine: (line) => {
      if (wrote.length === 0) puppet.count('start')
      wrote.push({ at: performance.now(), line })
      say(`writes ${line}`)
    },
  })
  const puppet = new Puppet(child, plan.actions, say)
  puppets.push(puppet)
  const endedAt = await child.ended
  const conclusion = child.exitCode === 0 ? 'success' : 'failure'
  github?.repository.attempts.set(`${plan.runId} ${plan.attempt}`, conclusion)
  const { startedAt, exitCode, signal, stdout, stderr, outputFile, summary } = child
  say(`ends with ${signal ?? exitCode}`)
  return {
    plan,
    /** The event is about a comment that an earlier step has written. */
    isAboutOwn: own !== undefined && !plan.event.isQuoted,
    spawnedAt: startedAt,
    endedAt,
    done: puppet.done,
    exitCode,
    signal,
    stdout,
    stderr,
    wrote,
    outputFile,
    summary,
    /** The service's requests of this step. */
    entries: service.entries.filter(({ step }) => step === index),
    /** GitHub's: what a step had sent when it was killed may come later. */
    get githubRequests() {
      return (github?.requests ?? []).filter(({ prefix }) =>
        prefix.startsWith(`${stepPrefix(index)}/`),
      )
    },
    /** All comments after the step but a stranger's, oldest first. */
    comments: commentsOf(world),
  }
}

function commentsOf({ github }: World): string[] {
  const all = [...(github?.repository.comments.values() ?? [])]
  return all.filter(({ author }) => !isStrangers(author)).map(({ body }) => body)
}

/** The process of a step, and what is done to it, some time after the nth of something else. */
class Puppet {
  readonly done: Done[] = []
  readonly #counts = new Map<Trigger, number>()

  constructor(
    readonly child: SimulatedProcess,
    readonly actions: readonly ActionPlan[],
    readonly tell: (what: string) => void,
  ) {}

  count(what: Trigger): void {
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    for (const action of this.actions) {
      if (action.after !== what || action.nth !== count) continue
      // At once is before the service goes on.
      if (action.delayMs === 0) this.#act(action)
      else setTimeout(() => this.#act(action), action.delayMs).unref()
    }
  }

  #act({ what, forMs }: ActionPlan): void {
    const { child } = this
    const isFreeze = what === 'freeze'
    if (child.isDead || (isFreeze && child.isFrozen)) return
    // As the runner does.
    const signal = this.done.some((done) => done.what === 'cancel') ? 'SIGTERM' : 'SIGINT'
    this.tell(`gets ${what}`)
    const done: Done = { what, at: performance.now() }
    this.done.push(done)
    if (what === 'jump') child.jumpedMs += forMs
    else if (what === 'disk full' || what === 'log closed' || what === 'exception')
      child.suffer(what)
    else child.kill(isFreeze ? 'SIGSTOP' : what === 'cancel' ? signal : what)
    if (!isFreeze) return
    setTimeout(() => this.#thaw(done), forMs).unref()
  }

  #thaw(freeze: Done): void {
    if (this.child.isDead) return
    freeze.until = performance.now()
    this.tell('goes on')
    this.child.kill('SIGCONT')
  }
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
}

/** One who has the key, for example as it leaked, signs as well as the step does. */
function seizeComments({ repository: { comments }, plan }: PlannedGitHub): void {
  // A list that is late shows who wrote them.
  if (plan.lagMs > 0) return
  for (const [id, comment] of comments)
    if (markerIn(comment.body)) comments.set(id, { ...comment, author: plan.seizedBy })
}

function copyComments(repository: Repository): void {
  for (const { issue, body, author } of [...repository.comments.values()]) {
    const marker = markerIn(body)
    if (marker === undefined || isStrangers(author)) continue
    const { link, run, attempt, state } = marker
    const data = JSON.stringify(['forged', link, run, attempt, state])
    const forged = body.replace(MARKER, `$1${Buffer.from(data).toString('base64url')}$3`)
    repository.addComment(issue, { author: STRANGERS[0], body: forged })
  }
}

function findOwnComment(github: PlannedGitHub | undefined, number: number | undefined) {
  const comments = [...(github?.repository.comments.values() ?? [])]
  return comments.find(
    ({ issue, author, body }) => issue === number && !isStrangers(author) && markerIn(body),
  )
}

function eventOf(
  plan: GitHubPlan,
  { event }: StepPlan,
  own: ReturnType<typeof findOwnComment>,
): object {
  return payloadOf(event, {
    ...wordsOf(plan, event.words),
    labels: labelsOf(plan, event.pull, event.words.labels),
    commentId: 1,
    hasPulls: plan.turnsOffPulls !== 'told',
    ...(own && { body: event.isQuoted ? `> ${own.body}\n\nAnd -q?` : own.body, commentId: own.id }),
  })
}

/** After so many edits. */
function wordsOf({ title, body }: GitHubPlan, edits: StepPlan['event']['words']) {
  const edited = (text: string, count: number) => (count === 0 ? text : `${text} (edit ${count})`)
  return { title: edited(title, edits.title), body: edited(body, edits.body) }
}

/** They are taken away, and put back. */
export function labelsOf(
  { labels, otherLabels }: GitHubPlan,
  number: number,
  changes: number,
): readonly string[] {
  if (number === OTHER_PULL) return otherLabels
  return number === PULL_REQUEST && changes % 2 === 0 ? labels : []
}

const LATER = sha('later')
const RUNNING = { status: 'in_progress', conclusion: null }
/** Whatever the step did, something behind it has failed: the mark stays. */
const OVER = { conclusion: 'failure' }
/** GitHub doesn't know a token that an app has just made. */
const UNKNOWN_TOKEN = { status: 401, body: { message: 'Bad credentials' } }

type PlannedGitHub = Awaited<ReturnType<typeof startPlannedGitHub>>

interface GitHubOptions {
  tell: Tell
  seed: number
  count: (what: Trigger, step: number) => void
  /** Whether the step has sent something to the service. */
  hasSent: (step: number) => boolean
}

async function startPlannedGitHub(plan: GitHubPlan, { seed, count, hasSent, tell }: GitHubOptions) {
  const { pages, faults, undiffable } = plan
  const docsAccess = {
    repositories: [DOCS_REPOSITORY],
    permissions: { pull_requests: 'read' },
  } as const
  const github = await startGitHub({
    token: TOKEN,
    otherTokens: { [DOCS_TOKEN]: docsAccess },
    prefix: /^\/step-\d+\/api\/v3/,
    keepAliveMs: plan.keepAliveMs,
    renamed: plan.renamed,
    compresses: plan.compresses,
    checks: seed % 4 === 0,
    version: plan.omitsMerges ? '2026-03-10' : '2022-11-28',
    onRequest: ({ method, path, prefix }) => {
      setRuns(began[stepOf(prefix)])
      tell('GitHub', `gets ${method} ${path} of step ${stepOf(prefix) + 1}`)
      count('github', stepOf(prefix))
      if (method !== 'GET') count('write', stepOf(prefix))
      else if (!hasSent(stepOf(prefix))) failReads(stepOf(prefix), path)
      requests++
      for (const { nth, what } of plan.others) if (nth === requests) act(what)
    },
    onAnswer: ({ method, path, prefix, status }) => {
      tell('GitHub', `has answered ${method} ${path}: ${status}`)
      if (method !== 'GET') count('written', stepOf(prefix))
    },
  })
  const stepOf = (prefix: string) => Number(/\d+/.exec(prefix)?.[0] ?? 0)
  /** What somebody else does meanwhile. */
  const act = (what: GitHubPlan['others'][number]['what']): void => {
    tell('somebody', what)
    const isOwn = what.endsWith(' own')
    const first = [...repository.comments.values()].find(
      ({ author }) => isOwn !== (author === 'octocat'),
    )
    if (what.startsWith('deletes') && first) repository.comments.delete(first.id)
    if (what === 'edits own' && first)
      first.body = first.body.replace('\n', '\nEdited by a person.\n')
    if (what === 'comments') for (const issue of [PULL_REQUEST, ISSUE]) repository.addComment(issue)
  }
  const reads = new Map<number, number>()
  /** This one fails if it is the nth of its step. */
  const failReads = (step: number, path: string): void => {
    const count = (reads.get(step) ?? 0) + 1
    reads.set(step, count)
    const matching = plan.failing.filter((one) => one.step === step && one.nth === count)
    for (const { times, answer } of matching)
      github.faults.unshift({ method: 'GET', ...ofStep(step), path: exactly(path), times, answer })
  }
  const ofStep = (step: number) => ({ prefix: new RegExp(`^${stepPrefix(step)}/`) })
  let requests = 0
  const repository = github.addRepository(REPOSITORY, { private: true })
  const files = filesOf(plan)
  const docsFiles = filesOf({ ...plan, files: plan.docsFiles, lines: 0 })
  const docsPulls: PullState[] = []
  if (plan.docsPull !== 'unreadable') {
    const docs = github.addRepository(DOCS_REPOSITORY, { private: true, foreign: true })
    const state = plan.docsPull === 'open' ? 'open' : 'closed'
    for (const one of [docs, repository])
      docsPulls.push(
        one.addPull({ number: 17, state, merged: plan.docsPull === 'merged', files: docsFiles }),
      )
  }
  const happened: { docsEndedAt?: number; closedAt?: number } =
    plan.closes === 'before' ? { closedAt: 0 } : {}
  const closePull = (): void => {
    if (plan.closes !== 'behind') return
    happened.closedAt ??= performance.now()
    Object.assign(repository.pulls.get(PULL_REQUEST) ?? {}, { state: 'closed' })
  }
  /** Once, some time after this. */
  const endDocs = (): void => {
    const { docsPull, docsEnd } = plan
    if (docsPull !== 'open' || docsEnd === undefined) return
    const end = (): void => {
      happened.docsEndedAt ??= performance.now()
      for (const pull of docsPulls)
        Object.assign(pull, { state: 'closed', merged: docsEnd.how === 'merged' })
    }
    setTimeout(end, docsEnd.afterMs).unref()
  }
  const commits = [{ sha: HEAD, message: plan.mergesAll ? FIRST_MESSAGE : 'Another' }]
  const setPulls = (step: StepPlan): void => {
    const { event, pull } = step
    const isPush = event.name === 'push'
    const merge = { state: 'closed', merged: true, mergeCommit: shaOf(event) } as const
    const ofGroup = event.push === 'group' ? MERGED : sha('elsewhere')
    const add = (number: number, fields: Parameters<Repository['addPull']>[0]): void => {
      const labels = new Set(labelsOf(plan, number, pull.labels))
      const before = beforePush(step, repository.pulls.get(number))
      const isLate = before && event.pull === number
      repository.addPull({
        number,
        labels,
        head: headOf(pull),
        ...wordsOf(plan, pull),
        ...fields,
        ...(isLate && { before }),
      })
    }
    add(PULL_REQUEST, {
      author: plan.pullAuthor,
      ...(happened.closedAt !== undefined && { state: 'closed' }),
      files: filesOf(plan, pull),
      commits,
      ...(isPush && { head: HEAD, locked: plan.isLocked }),
      ...(plan.merges === 'here' && merge),
    })
    add(OTHER_PULL, {
      files: filesOf(plan, pull, OTHER_FILE),
      ...(isPush && { ...merge, head: sha('other head'), mergeCommit: ofGroup }),
    })
    if (plan.merges === 'upstream')
      repository.addPull({
        ...merge,
        number: 9,
        commits,
        base: ['main', 'upstream/your-repo'],
        files,
      })
  }
  const began: StepPlan[] = []
  const runIds = (): number[] => [...new Set(began.map(({ runId }) => runId))]
  const isOver = (id: number): boolean => {
    const last = began.findLast((step) => step.runId === id)
    return repository.attempts.has(`${id} ${last?.attempt}`)
  }
  /** When the run before ends that GitHub still lists as one in progress. */
  let endsAt: number | undefined
  /** As this step sees them: runs that have begun are in the list as well. */
  const setRuns = ({ runId = 0, attempt = 1 }: Partial<StepPlan> = {}): void => {
    const { later, search } = plan.runs
    repository.runs.splice(0)
    for (const path of ['docs.yml', 'other.yml'].map((name) => `.github/workflows/${name}`)) {
      for (const [id, run] of pastRuns(plan.runs).entries())
        if (run !== undefined) repository.addRun({ id, path, head_sha: COMMIT, ...run })
      for (const id of runIds())
        repository.addRun({ id, path, head_sha: COMMIT, ...(isOver(id) ? OVER : RUNNING) })
      const fields = { path, head_sha: LATER, ...(later === 'running' && RUNNING) }
      if (later === 'running' || (later === 'succeeded' && attempt > 1))
        for (const id of [runId + 1_000, runId + 2_000]) repository.addRun({ id, ...fields })
    }
    // Nothing came behind it that has ended.
    const isLast = later === 'none' && runIds().length < 2 && !plan.runs.others.includes('failed')
    const mark = repository.runs.find((run) => run.head_sha === BEFORE)
    endsAt ??= performance.now() + 4_000
    if (plan.runs.isLate && isLast && mark && performance.now() < endsAt)
      Object.assign(mark, RUNNING)
    repository.searchable = { right: 1_000, old: 1, empty: 0 }[search]
  }
  /** Everything comes from the run before; or somebody has rewritten or undone it. */
  const setRanges = ({ event }: StepPlan): void => {
    const isKnown = plan.compared === 'identical' || !isOfRelease(event)
    for (const head of [COMMIT, HEAD]) {
      repository.comparisons.delete(`${BEFORE}...${head}`)
      if (plan.compared !== 'ahead' && isKnown) repository.addComparison(BEFORE, head, comparison)
    }
    repository.releases.splice(0)
    for (const { tag, at, commit, date } of releasesOf(event)) {
      if (commit) repository.addCommit(commit)
      repository.addRelease(tag, date, { prerelease: tag.includes('-rc') })
      repository.tags.set(tag, at)
    }
    repository.addRelease('v3.0.0-rc.1', null, { prerelease: true })
    if (event.name === 'release') {
      const { tag } = HABITS[event.habit]
      const prerelease = event.habit === 'a candidate'
      repository.releases.push({ tag_name: tag, published_at: RELEASED, draft: false, prerelease })
    }
  }
  /** As it is when a step begins. */
  const begin = (step: StepPlan): void => {
    // Nobody names a pull request where there are none.
    const isNamed = step.inputs['issue-number'] !== undefined
    repository.hasPulls = !(plan.turnsOffPulls && step.event.name === 'push' && !isNamed)
    setPulls(step)
    setRanges(step)
    began.push(step)
  }
  const runNumberOf = ({ runId }: StepPlan) =>
    pastRuns(plan.runs).length + runIds().indexOf(runId) + 1
  repository.issues.add(ISSUE)
  repository.lagMs = plan.lagMs
  repository.tags.set(TAG, BEFORE)
  const history = historyOf(plan)
  const comparison = {
    status: plan.compared === 'undone' ? 'ahead' : plan.compared,
    files: plan.compared === 'diverged' ? joinFiles(history) : [],
    commits: ['diverged', 'undone'].includes(plan.compared) ? history : [],
  } as const
  for (const one of [OLDER, REBASED, MERGED]) repository.addCommit({ sha: one })
  for (const one of [EARLIER, ...history]) repository.addCommit(one)
  repository.addCommit({ sha: HEAD, parents: [BEFORE], files: joinFiles(history) })
  repository.addCommit({ sha: LATER, parents: [COMMIT] })
  repository.collaborators.set('writer', { permission: 'write', role_name: 'write' })
  repository.collaborators.set('reader', { permission: 'read', role_name: 'read' })
  // The comment that the first step adds fills a page; or there are two on each.
  for (const issue of [PULL_REQUEST, ISSUE])
    for (let count = 0; count < { usual: 0, short: 4 }[pages]; count++) repository.addComment(issue)
  if (pages === 'short') repository.pageSize = 2
  if (undiffable)
    github.faults.push({ path: /\/pulls\/1\/files|\/compare\//, times: 1000, answer: undiffable })
  if (plan.transferred) {
    github.addRepository('your-org/other', { private: true }).issues.add(5)
    const answer = { status: 301, headers: { location: '../../other/issues/5' }, body: {} }
    github.faults.push({ method: 'GET', path: /\/issues\/2$/, times: 1000, answer })
  }
  const answer = { status: 200, body: [] }
  const ofPulls = { method: 'GET', path: /\/commits\/\w+\/pulls/ }
  const { unindexed: times, newCommit } = plan
  const isSome = times < 1_000 && ofStep(0)
  github.faults.push({ ...ofPulls, ...isSome, times, answer })
  const ofCommit = { ...ofStep(0), method: 'GET', path: /\/compare\/|\/commits\/\w+\/pulls/ }
  // One moment at a time.
  if (newCommit && times === 0) github.faults.push({ ...ofCommit, times: 2, answer: newCommit })
  else if (plan.newToken > 0 && times === 0)
    github.faults.push({ ...ofStep(0), times: plan.newToken, answer: UNKNOWN_TOKEN })
  const ever = { method: 'GET', times: 1_000, answer: { status: 502, body: {} } }
  // A page of a comparison, or of what is only told, isn't asked for by fewer.
  if (plan.isSlow) github.faults.push({ ...ever, path: /^(?!.*\/(?:compare|files)).*page=100/ })
  // What begins within the range, and the files of one commit, however many are asked for.
  const parts = `/compare/(?:${history.map((one) => one.sha).join('|')})|/commits/\\w+\\?.*page=\\d\\d`
  if (plan.lacksParts) github.faults.push({ ...ever, path: new RegExp(parts) })
  for (const { step, method, path, ...fault } of faults) {
    const from = step !== undefined && ofStep(step)
    github.faults.push({ ...fault, ...(method && { method }), ...from, path: new RegExp(path) })
  }
  return { ...github, repository, plan, begin, runNumberOf, endDocs, closePull, happened }
}

/** What GitHub's list of files still shows after a push. */
function beforePush({ event, lateMs }: StepPlan, pull?: PullState): PullState['before'] {
  const { head = event.before, files = [file('src/early.ts')] } = pull ?? {}
  const isMoved = event.action === 'synchronize' && head === event.before && head !== event.head
  return isMoved ? { head, files, until: performance.now() + lateMs } : undefined
}

/** Oldest first; undefined for one that was deleted. */
function pastRuns({ succeeded, others, many, areDeleted, areOnMaster }: GitHubPlan['runs']) {
  const branch = areOnMaster && { head_branch: 'master' }
  const marks = [{ head_sha: OLDER }, { head_sha: BEFORE }]
    .slice(2 - succeeded)
    .map((mark) => ({ ...mark, ...branch }))
  const busy = Array.from({ length: many }, () => OTHER_RUNS['of a pull request'])
  return [
    ...marks.map((mark) => (areDeleted ? undefined : mark)),
    ...others.map((kind) => OTHER_RUNS[kind]),
    ...busy,
  ]
}
