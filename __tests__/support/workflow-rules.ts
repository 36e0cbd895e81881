/** Rules that keep a workflow's token and scripts safe, beyond what the syntax checkers check. */

import { isScalar, parse, parseDocument, visit } from 'yaml'
import { HOME, type Workflow } from './workflows.js'

interface Job {
  readonly uses?: string
  readonly permissions?: unknown
  readonly 'timeout-minutes'?: number
  readonly steps?: readonly {
    readonly uses?: string
    readonly run?: string
    readonly shell?: string
    readonly with?: Record<string, unknown>
  }[]
}

/**
 * Events that our own workflows may run on: only people with write access trigger them, or, for
 * `pull_request`, a fork's run gets no secrets and a read-only token. Strangers trigger most
 * others, with secrets and a token that may write.
 */
const EVENTS = ['push', 'pull_request', 'merge_group', 'schedule', 'release', 'workflow_dispatch']

/** What the jobs of our own workflows may write, by workflow and job. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  '.github/workflows/release.yml draft': ['contents', 'id-token', 'attestations'],
  '.github/workflows/major.yml major': ['contents'],
  '.github/workflows/try-github.yml try': ['issues'],
  '.github/workflows/security.yml code': ['security-events'],
  '.github/workflows/security.yml project': ['security-events'],
}

/** Which rules a workflow breaks, a line for each. */
export function brokenRules({ name, text }: Workflow): string[] {
  const { on, permissions, jobs } = parse(text)
  const isOurs = name.startsWith('.github/')
  // Its callers grant the permissions, and `{}` here would take them away.
  const isCalled = permissions === undefined && eventsOf(on).join() === 'workflow_call'
  return [
    ...(grantsNothing(permissions) || isCalled ? [] : ['grants permissions to every job']),
    ...eventsOf(on).flatMap((event) =>
      isOurs && !EVENTS.includes(event) ? [`runs on ${event}`] : [],
    ),
    ...Object.entries<Job>(jobs).flatMap(([id, job]) =>
      [...brokenByJob(job, isOurs), ...(isOurs ? brokenByWrites(job, `${name} ${id}`) : [])].map(
        (broken) => `${id} ${broken}`,
      ),
    ),
    ...brokenByPins(text, isOurs),
  ]
}

function* brokenByJob(job: Job, isOurs: boolean): Generator<string> {
  if (typeof job.permissions === 'string') yield `has ${job.permissions}`
  if (isOurs && job.uses === undefined && typeof job['timeout-minutes'] !== 'number')
    yield 'has no time limit'
  for (const { uses = '', run = '', shell = '', with: inputs = {} } of job.steps ?? []) {
    // What actions/github-script runs is its input `script`.
    for (const script of [run, shell, String(inputs.script ?? '')])
      if (script.includes('${{'))
        yield `has an expression in a script: ${script.trim().split('\n')[0]}`
    if (uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false)
      yield 'persists the credentials of the checkout'
  }
}

function brokenByWrites({ permissions }: Job, place: string): string[] {
  const writes = Object.entries(permissions ?? {}).filter(([, access]) => access === 'write')
  return writes
    .filter(([name]) => !WRITES[place]?.includes(name))
    .map(([name]) => `may write ${name}`)
}

/** Which rules one of our actions breaks. */
export const brokenByAction = (text: string): string[] => brokenByPins(text, false)

/**
 * The third-party actions that a workflow or an action uses: name, ref, and the version in the
 * comment after it.
 */
export function pinsOf(text: string): { name: string; ref: string; version: string }[] {
  const pins: ReturnType<typeof pinsOf> = []
  visit(parseDocument(text), {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== 'uses' || !isScalar(value)) return
      const [name = '', ref = ''] = String(value.value).split('@')
      if (!name.startsWith('./') && !isHosted(name))
        pins.push({ name, ref, version: (value.comment ?? '').trim() })
    },
  })
  return pins
}

function brokenByPins(text: string, isOurs: boolean): string[] {
  const loose = pinsOf(text).filter(
    ({ ref, version }) => !/^[\da-f]{40}$/.test(ref) || !/^v\d+\.\d+\.\d+$/.test(version),
  )
  return [
    ...loose.map(({ name }) => `does not pin ${name} by a commit and name its version`),
    ...(isOurs && text.includes(HOME) ? ['names the repository that it is in'] : []),
  ]
}

const isHosted = (name: string): boolean => `${name}/`.startsWith(`${HOME}/`)

const grantsNothing = (permissions: unknown): boolean => JSON.stringify(permissions) === '{}'

function eventsOf(on: unknown): string[] {
  if (typeof on === 'string') return [on]
  return Array.isArray(on) ? on : Object.keys(on as object)
}
