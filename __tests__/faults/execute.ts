/** Runs the bundle as planned, and records everything that happened, with times of `performance.now()`. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inputEnvironment, runnerEnvironment } from '../../emulator/runner.mjs'
import type { Certificate } from '../support/certificate.js'
import {
  type Fault,
  file,
  type GitHub,
  type Received,
  type Repository,
  sha,
  startGitHub,
} from '../support/github.js'
import type { CheckState } from '../support/github-state.js'
import { connectProxy } from '../support/proxy.js'
import { markerIn } from './memory.js'
import {
  type ActionPlan,
  DOCS_REPOSITORY,
  DOCS_TOKEN,
  type GitHubPlan,
  ISSUE,
  type Plan,
  PULL_REQUEST,
  REPOSITORY,
  type StepPlan,
  TOKEN,
} from './plan.js'
import { type Entry, startMisbehavingService } from './service.js'

/** What was done to the process. */
export interface Done {
  readonly what: ActionPlan['what'] | 'thaw'
  readonly at: number
}

export interface StepRecord {
  readonly plan: StepPlan
  /** What `timeout-minutes` said. */
  readonly timeoutMs: number
  readonly spawnedAt: number
  /** When the process first wrote something; undefined if it never did. */
  readonly firstOutputAt: number | undefined
  readonly endedAt: number
  readonly done: readonly Done[]
  /** Undefined if a signal ended the process. */
  readonly exitCode: number | undefined
  readonly signal: NodeJS.Signals | undefined
  readonly stdout: string
  readonly stderr: string
  /** The output file as it is. */
  readonly outputFile: string
  readonly summary: string
  /** The service's requests in this step. */
  readonly entries: readonly Entry[]
  /** GitHub's. */
  readonly githubRequests: readonly Received[]
  /** All comments after the step, oldest first. */
  readonly comments: readonly string[]
  /** All checks after the step, oldest first. */
  readonly checks: readonly CheckState[]
}

export interface RunRecord {
  readonly plan: Plan
  readonly steps: readonly StepRecord[]
}

export interface RunOptions {
  readonly bundle: string
  readonly node: string
  /** An address of this machine that no other run uses at the same time. */
  readonly host: string
  readonly certificate: Certificate
  /** What a process takes to start at the moment. */
  readonly startupMs: number
  readonly log: (line: string) => void
}

/** A name that only the proxy knows. */
const SERVICE_NAME = 'service.test'

/** A process that still runs after this hangs. */
const HANG_MS = 180_000

export async function runPlan(plan: Plan, options: RunOptions): Promise<RunRecord> {
  const { log, certificate } = options
  const { transport } = plan
  const secure = transport.kind !== 'http'
  const triggers = new Triggers()
  const service = await startMisbehavingService({
    plan: plan.service,
    host: secure ? '127.0.0.1' : options.host,
    tls: secure ? certificate : undefined,
    onEntry: (kind) => triggers.count(kind),
    log,
  })
  const proxy =
    transport.kind === 'proxy'
      ? await connectProxy(service.port, (nth) => {
          const what = transport.connects[Math.min(nth, transport.connects.length) - 1] ?? 'open'
          log(`Proxy: CONNECT ${nth}: ${what}`)
          return what
        })
      : undefined
  const github = plan.github === undefined ? undefined : await startPlannedGitHub(plan.github)
  const host = { http: options.host, https: '127.0.0.1', proxy: SERVICE_NAME }[transport.kind]
  const context: StepContext = {
    baseUrl: `${secure ? 'https' : 'http'}://${host}:${service.port}${transport.prefix}`,
    environment: {
      ...transport.environment,
      ...(secure && transport.trusted && { NODE_EXTRA_CA_CERTS: certificate.file }),
      ...(proxy && { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }),
    },
    github,
    payload: (step) => (github === undefined ? {} : payloadOf(github, step)),
    triggers,
    options,
  }
  const steps: StepRecord[] = []
  try {
    for (const step of plan.steps) {
      const before = service.entries.length
      const record = await runStep(step, context)
      steps.push({ ...record, entries: service.entries.slice(before) })
    }
    return { plan, steps }
  } finally {
    await Promise.all([service.close(), proxy?.close(), github?.close()])
  }
}

type Trigger = ActionPlan['after']

/** Counts what happens, and calls those who wait for the nth of it. */
class Triggers {
  readonly #counts = new Map<Trigger, number>()
  #waiting: { readonly after: Trigger; readonly nth: number; readonly call: () => void }[] = []

  reset(): void {
    this.#counts.clear()
    this.#waiting = []
  }

  on(after: Trigger, nth: number, call: () => void): void {
    this.#waiting.push({ after, nth, call })
  }

  count(what: Trigger): void {
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    for (const { after, nth, call } of this.#waiting) if (after === what && nth === count) call()
  }
}

interface StepContext {
  readonly baseUrl: string
  readonly environment: Readonly<Record<string, string>>
  readonly github: PlannedGitHub | undefined
  readonly payload: (step: StepPlan) => object
  readonly triggers: Triggers
  readonly options: RunOptions
}

async function runStep(step: StepPlan, context: StepContext): Promise<Omit<StepRecord, 'entries'>> {
  const { baseUrl, github, triggers, options } = context
  const folder = await mkdtemp(path.join(tmpdir(), 'faults-'))
  const puppet = new Puppet(options.log)
  triggers.reset()
  for (const { after, nth, delayMs, what, forMs } of step.actions) {
    triggers.on(after, nth, () => puppet.later(delayMs, what, forMs))
  }
  const requestsBefore = github?.requests.length ?? 0
  const timeoutMs = Math.round(step.timeoutMs + (step.plusStartup ? options.startupMs : 0))
  const stopWatching = watchGitHub(github, () => triggers.count('github'))
  try {
    const env = {
      ...(await runnerEnvironment(folder, context.payload(step))),
      ...inputEnvironment({
        'base-url': baseUrl,
        'timeout-minutes': String(timeoutMs / 60_000),
        ...step.inputs,
      }),
      ...context.environment,
      RUNNER_DEBUG: '1',
      GITHUB_EVENT_NAME: step.event,
      GITHUB_RUN_ID: String(step.runId),
      GITHUB_RUN_ATTEMPT: String(step.attempt),
      ...(github && { GITHUB_API_URL: github.url }),
      ...(step.fullDisk && { GITHUB_OUTPUT: '/dev/full' }),
    }
    const spawnedAt = performance.now()
    const child = spawn(options.node, [options.bundle], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    puppet.child = child
    const hang = setTimeout(() => child.kill('SIGKILL'), HANG_MS)
    let firstOutputAt: number | undefined
    child.stdout.once('data', () => {
      firstOutputAt = performance.now()
      triggers.count('start')
    })
    let endedAt = 0
    child.once('exit', () => {
      endedAt = performance.now()
    })
    const streams = [collect(child.stdout), collect(child.stderr)] as const
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    clearTimeout(hang)
    const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8')
    return {
      plan: step,
      timeoutMs,
      spawnedAt,
      firstOutputAt,
      endedAt,
      done: puppet.done,
      exitCode: code ?? undefined,
      signal: signal ?? undefined,
      stdout: streams[0](),
      stderr: streams[1](),
      outputFile: await read('GITHUB_OUTPUT'),
      summary: await read('GITHUB_STEP_SUMMARY'),
      githubRequests: (github?.requests ?? []).slice(requestsBefore),
      comments: [...(github?.repository.comments.values() ?? [])].map(({ body }) => body),
      checks: [...(github?.repository.checks.values() ?? [])].map((check) => ({ ...check })),
    }
  } finally {
    puppet.stop()
    stopWatching()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Kept as it comes: the child may be killed in the middle of a character. */
function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

/** The fake GitHub tells nobody of its requests. */
function watchGitHub(github: GitHub | undefined, call: () => void): () => void {
  let seen = github?.requests.length ?? 0
  const timer = setInterval(() => {
    for (; seen < (github?.requests.length ?? 0); seen++) call()
  }, 10)
  return () => clearInterval(timer)
}

/** The process, and what is done to it. */
class Puppet {
  child: ChildProcess | undefined
  readonly done: Done[] = []
  readonly #timers: NodeJS.Timeout[] = []
  readonly #log: (line: string) => void
  #freezes = 0

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  later(delayMs: number, what: ActionPlan['what'], forMs: number): void {
    // At once is before the service goes on.
    if (delayMs === 0) this.#act(what, forMs)
    else this.#timers.push(setTimeout(() => this.#act(what, forMs), delayMs))
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #act(what: ActionPlan['what'], forMs: number): void {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.#log(`=== ${what}${what === 'freeze' ? ` for ${forMs} ms` : ''}`)
    this.done.push({ what, at: performance.now() })
    if (what === 'close-log') child.stdout?.destroy()
    else if (what !== 'freeze') child.kill(what)
    else {
      this.#freezes++
      child.kill('SIGSTOP')
      this.#timers.push(setTimeout(() => this.#thaw(), forMs))
    }
  }

  #thaw(): void {
    if (--this.#freezes > 0) return
    this.#log('=== thaw')
    this.done.push({ what: 'thaw', at: performance.now() })
    this.child?.kill('SIGCONT')
  }
}

function payloadOf(
  { plan: { title, body }, repository: { comments } }: PlannedGitHub,
  step: StepPlan,
): object {
  const { action, sender, before, author, ownComment } = step.cause
  const user = { login: author }
  const repository = { full_name: REPOSITORY }
  const html_url = `https://github.com/${REPOSITORY}`
  const issue = { number: ISSUE, title, body, user, html_url: `${html_url}/issues/${ISSUE}` }
  const all = { sender: { login: sender, type: sender === 'app[bot]' ? 'Bot' : 'User' }, repository }
  const pull_request = {
    number: PULL_REQUEST,
    title,
    body,
    user,
    html_url: `${html_url}/pull/${PULL_REQUEST}`,
    base: { ref: 'main', repo: repository },
    head: { ref: 'change', label: 'your-org:change', sha: sha('head'), repo: repository },
  }
  switch (step.event) {
    case 'workflow_dispatch':
      return all
    case 'workflow_run': {
      const head = { head_branch: 'main', head_sha: sha('head'), head_repository: repository }
      const workflow_run = { id: 1, name: title, event: before, conclusion: 'success', html_url, ...head }
      return { ...all, action: 'completed', workflow_run: { ...workflow_run, actor: all.sender } }
    }
    case 'issues':
      return { ...all, action: 'opened', issue }
    case 'issue_comment': {
      const own = ownComment && [...comments.values()].findLast((comment) => markerIn(comment.body))
      if (own && ownComment === 'marker') comments.delete(own.id)
      const text = own && ownComment === 'marker' ? own.body : body
      return { ...all, action: 'created', issue, comment: { id: own?.id ?? 1, body: text, user, html_url } }
    }
    case 'pull_request':
      return { ...all, action, pull_request }
    case 'pull_request_review':
      return {
        ...all,
        action: 'submitted',
        pull_request,
        review: { id: 1, state: 'commented', body, user, html_url },
      }
  }
}

interface PlannedGitHub extends GitHub {
  readonly repository: Repository
  readonly plan: GitHubPlan
}

async function startPlannedGitHub(plan: GitHubPlan): Promise<PlannedGitHub> {
  const { title, body, file: name, patch, pages, docsPull, faults } = plan
  const docsAccess = { repositories: [DOCS_REPOSITORY], permissions: { pull_requests: 'read' } } as const
  const github = await startGitHub({ token: TOKEN, otherTokens: { [DOCS_TOKEN]: docsAccess } })
  github
    .addRepository(DOCS_REPOSITORY, { private: true, foreign: true })
    .addPull({ number: 17, state: docsPull, merged: docsPull === 'closed' })
  const repository = github.addRepository(REPOSITORY, { private: true })
  repository.addPull({ number: PULL_REQUEST, title, body, author: 'octocat', files: [file(name, patch)] })
  repository.issues.add(ISSUE)
  // What the runner's environment names.
  repository.addComparison(repository.addRun().head_sha, '0123456789abcdef0123456789abcdef01234567')
  repository.collaborators.set('writer', { permission: 'write', role_name: 'write' })
  repository.collaborators.set('reader', { permission: 'read', role_name: 'read' })
  // The comment that the first step adds fills a page; or there are two on each.
  for (const issue of [PULL_REQUEST, ISSUE])
    for (let count = 0; count < { usual: 0, short: 4, repeated: 99 }[pages]; count++)
      repository.addComment(issue)
  if (pages === 'short') repository.paging.most = 2
  repository.paging.repeats = pages === 'repeated'
  github.faults.push(
    ...faults.map(
      ({ method, path: pattern, ...fault }): Fault => ({
        ...fault,
        ...(method && { method }),
        path: new RegExp(pattern),
      }),
    ),
  )
  return { ...github, repository, plan }
}
