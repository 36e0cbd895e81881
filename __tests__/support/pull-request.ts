/**
 * A pull request in a repository of the fake GitHub, the emulated service, and steps that run on
 * this pull request.
 */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { startEmulator } from '../../emulator/server.mjs'
import { inSimulation } from '../world/story.js'
import { type Ended, FAST, type Options as ProcessOptions, runStep } from './action.js'
import { newFolder } from './folder.js'
import { type Options as GitHubOptions, type Repository, sha, startGitHub } from './github.js'
import { payloadProblems } from './github-api.js'
import { type StoryOptions, tell } from './story.js'
import { minutes, until } from './time.js'

/** With capital letters: GitHub keeps the case, and compares without it. */
export const REPOSITORY = 'your-org/Your-Repo'
/** The head of the pull request, and GITHUB_SHA, which is another commit there. */
export const HEAD = sha('head')
export const MERGE = sha('merge')
export const TOKEN = 'ghs_token_0123456789'

type Emulator = Awaited<ReturnType<typeof startEmulator>>
type EmulatorOptions = NonNullable<Parameters<typeof startEmulator>[0]>
type Scenario = NonNullable<EmulatorOptions['scenario']>

type AnyWorld = Awaited<ReturnType<typeof startWorld>>
/** What both kinds of world have. */
export type World = Omit<AnyWorld, 'step' | 'runBundle'>
/** Where a step runs inside the test. */
export type SimulatedWorld = Omit<AnyWorld, 'runBundle'>
/** Where a step is a process. */
type RealWorld = Omit<AnyWorld, 'step'>

/** What triggers the run, and what else the runner says of it. */
export interface RunOptions {
  readonly env?: Record<string, string>
  readonly event?: string
  /**
   * Without one: that of the pull request. It has to be one that GitHub describes, unless it is a
   * text.
   */
  readonly payload?: unknown
}

/** A deadline, as an input. */
export const deadlineAfter = (milliseconds: number) => ({
  'timeout-minutes': minutes(milliseconds),
})

/** Jobs take some milliseconds, unless a test wants to see them run. */
const INSTANT = 100_000

/**
 * After a message a job is active until it was polled: only then is its end believed, which would
 * take 30 s otherwise.
 */
function endAfterPoll(service: () => Emulator): NonNullable<EmulatorOptions['onRequest']> {
  const messaged = new Set<string>()
  return ({ method, jobId = '' }) => {
    const job = service().jobs.get(jobId)
    if (job === undefined) return
    if (method === 'POST' && job.prompts.length > 1) {
      messaged.add(jobId)
      job.endsAt = Number.POSITIVE_INFINITY
    } else if (messaged.delete(jobId)) job.endsAt = 0
  }
}

interface WorldOptions {
  readonly github?: GitHubOptions
  readonly private?: boolean
  readonly emulator?: EmulatorOptions
  /** What the pull request has. */
  readonly pull?: Parameters<Repository['addPull']>[0]
  readonly prepare?: (world: World) => void
}

async function startWorld(options: WorldOptions = {}) {
  const github = await startGitHub({ token: TOKEN, ...options.github })
  const repository = github.addRepository(REPOSITORY, { private: options.private ?? true })
  const pull = repository.addPull({
    title: 'Add --retry',
    body: 'It retries.',
    ...options.pull,
  })
  const services: Emulator[] = []
  const start = async (options: EmulatorOptions): Promise<Emulator> => {
    const usual = { speed: INSTANT, onRequest: endAfterPoll(() => service) }
    const service: Emulator = await startEmulator({
      ...(options.speed === undefined && usual),
      ...options,
    })
    services.push(service)
    return service
  }
  const emulator = await start(options.emulator ?? {})
  const payload = {
    action: 'synchronize',
    before: sha('before'),
    after: HEAD,
    sender: { login: pull.author, type: 'User' },
    repository: {
      private: options.private ?? true,
      visibility: options.private === false ? 'public' : 'private',
    },
    pull_request: {
      number: pull.number,
      title: pull.title,
      body: pull.body,
      user: { login: pull.author },
      html_url: `https://github.com/${REPOSITORY}/pull/${pull.number}`,
      base: { ref: 'main', repo: { full_name: REPOSITORY } },
      head: {
        ref: 'feature',
        label: 'your-org:feature',
        sha: HEAD,
        repo: { full_name: REPOSITORY },
      },
    },
  }

  /** A release that the event is about is there, unless it was taken back. */
  const publish = (content: unknown): void => {
    const { action, release } = Object(content) as {
      action?: string
      release?: Repository['releases'][number]
    }
    const isThere = repository.releases.some(({ tag_name }) => tag_name === release?.tag_name)
    if (release === undefined || isThere || action === 'deleted') return
    repository.releases.push({
      ...{ prerelease: false, published_at: null },
      ...release,
      draft: false,
    })
  }
  let runId = 99
  const withDefaults = (inputs: Record<string, string>) => ({
    prompt: 'Update the docs.',
    'base-url': emulator.url,
    'github-token': TOKEN,
    ...FAST,
    ...inputs,
  })
  const environment = ({ event = 'pull_request', env, ...run }: RunOptions) => {
    const eventPath = path.join(newFolder('event'), 'event.json')
    const content = 'payload' in run ? run.payload : payload
    const problems =
      typeof content === 'object' && content !== null ? payloadProblems(event, content) : []
    if (problems.length > 0)
      throw new Error(`GitHub describes the payload otherwise:\n${problems.join('\n')}`)
    publish(content)
    writeFileSync(eventPath, typeof content === 'string' ? content : JSON.stringify(content))
    if (env?.GITHUB_RUN_ATTEMPT === undefined && env?.GITHUB_RUN_ID === undefined) runId++
    return {
      GITHUB_API_URL: github.url,
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: eventPath,
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@refs/pull/1/merge`,
      GITHUB_JOB: 'docs',
      GITHUB_ACTION: 'agent',
      GITHUB_ACTOR: 'octocat',
      GITHUB_WORKFLOW: 'Docs',
      GITHUB_SHA: MERGE,
      GITHUB_RUN_ID: String(runId),
      GITHUB_RUN_ATTEMPT: '1',
      ...env,
    }
  }
  const sent = ({ requests }: Emulator) => requests.filter(({ method }) => method === 'POST')
  return {
    github,
    repository,
    /** The usual service. */
    emulator,
    /** The number of the pull request. */
    number: pull.number,
    /**
     * Tells a step on the pull request, or on another event: a run of its own, unless its
     * environment says so.
     */
    step: (inputs: Record<string, string> = {}, run: RunOptions & StoryOptions = {}) =>
      tell(withDefaults(inputs), { ...run, env: environment(run) }),
    /** The same with the bundle, in a process. */
    runBundle: (inputs: Record<string, string> = {}, run: RunOptions & ProcessOptions = {}) =>
      runStep(withDefaults(inputs), { ...run, env: environment(run) }),
    /** The bodies of the comments on the pull request, oldest first. */
    comments: () =>
      [...repository.comments.values()]
        .filter(({ issue }) => issue === pull.number)
        .map(({ body }) => body),
    /** Waits until GitHub has answered this many requests. */
    answered: (count: number) =>
      until(() => github.requests.filter(({ status }) => status !== 'none').length >= count),
    /** The paths of the creates and messages that a service got. */
    posts: (service = emulator) => sent(service).map(({ path }) => path),
    prompts: (service = emulator): string[] =>
      sent(service).map(({ body }) => JSON.parse(body).prompt),
    /** Starts another service, for `base-url`. */
    serve: (scenario: Scenario) => start({ scenario }),
    /** The URL of one whose docs jobs end with this link. */
    serveEnd: async (prLink: string, status = 'completed') =>
      (await start({ scenario: { poll: [{ times: 99, job: { status, prLink } }] } })).url,
    /** Ends the jobs that are active. */
    finishJobs: () => {
      for (const job of emulator.jobs.values()) job.endsAt = 0
    },
    /** Makes the jobs unknown to the service. */
    loseJobs: () => {
      for (const job of emulator.jobs.values()) job.projectId = 'another'
    },
    close: async () => {
      await Promise.all([github, ...services].map((one) => one.close()))
    },
  }
}

/** GitHub's requests but those about the docs pull request, which come last once it was opened. */
export const requestsBefore = ({ github }: Pick<World, 'github'>) =>
  github.requests.filter(({ path }) => !/\/your-org\/docs\/pulls\/\d+/.test(path))

/** The repository of the docs pull requests, which github-token can read. */
export const addDocs = ({ github }: World): Repository => github.addRepository('your-org/docs', {})

/** The first that was sent. */
export const promptOf = (world: World): string => world.prompts()[0] ?? ''

/** The first prompt has each of these. */
export function expectPrompt(world: World, ...texts: readonly (RegExp | string)[]): void {
  for (const text of texts) expect(promptOf(world)).toMatch(text)
}

export function expectJob({ outputs }: Pick<Ended, 'outputs'>): void {
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'error-code': '' })
}

/** A new docs job was created, unless it says what else was sent. */
export const expectSent = ({ outputs }: Pick<Ended, 'outputs'>, sent = 'job'): void =>
  expect(outputs.sent).toBe(sent)

/** A message was sent to the docs job of an earlier step. */
export const expectMessage = ({ outputs }: Ended, earlier: Ended): void =>
  expect(outputs).toMatchObject({ sent: 'message', 'job-id': earlier.outputs['job-id'] })

/** GitHub's answer can't be used: the step failed before it sent anything, and says why. */
export function expectUnanswered({ outputs, commands }: Ended, why: RegExp | string = ''): void {
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', sent: 'nothing' })
  expect(commands('error')[0]).toMatch(why)
}

export function expectSkipped(ended: Ended, world: World, why: RegExp | string): void {
  expect(ended.outputs).toMatchObject({ outcome: 'skipped', 'error-code': '', 'job-id': '' })
  expect(ended.exitCode).toBe(0)
  expect(ended.log).toMatch(why)
  expect(ended.summary).toMatch(/^### ⏭️/)
  expect(world.emulator.requests).toEqual([])
}

type Story<T> = (world: T) => Promise<void>

/** Tells a story in a world of its own, which is simulated: steps run in the test. */
export const inWorld = (options: WorldOptions, story: Story<SimulatedWorld>): Promise<void> =>
  inSimulation(() => withWorld(options, ({ runBundle: _, ...world }) => story(world)))

type Row = string | number | object | readonly [unknown, ...unknown[]]
type Fields<R> = R extends readonly unknown[] ? [...R] : [R]

/**
 * What makes a test of such a story; with `each`, one of each row. What `add` makes in the world is
 * handed to the story with it.
 */
export const testsIn = <T extends object>(
  options: WorldOptions,
  add: (world: SimulatedWorld) => T = () => ({}) as T,
) => {
  const play = (story: Story<SimulatedWorld & T>) =>
    inWorld(options, (world) => story({ ...world, ...add(world) }))
  return Object.assign(
    (name: string, story: Story<SimulatedWorld & T>) => test(name, () => play(story)),
    {
      each:
        <R extends Row>(rows: readonly R[]) =>
        (name: string, story: (world: SimulatedWorld & T, ...row: Fields<R>) => Promise<void>) =>
          test.each(rows)(name, (...row: unknown[]) =>
            play((world) => story(world, ...(row as Fields<R>))),
          ),
    },
  )
}
export const worldTest = testsIn({})
/** Jobs take minutes there. */
export const slowTest = testsIn({ emulator: { speed: 1 } })

/** Runs a test in a world of its own, with real sockets: steps run as processes. */
export const inRealWorld = (options: WorldOptions, test: Story<RealWorld>): Promise<void> =>
  withWorld(options, ({ step: _, ...world }) => test(world))

async function withWorld(options: WorldOptions, story: Story<AnyWorld>): Promise<void> {
  const world = await startWorld(options)
  try {
    options.prepare?.(world)
    await story(world)
  } finally {
    await world.close()
  }
}
