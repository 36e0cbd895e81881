/**
 * Runs a workflow by a real runner, in a world with its own service and GitHub.
 *
 * The environment leads to them: GITHUB_API_URL names the GitHub, and HTTPS_PROXY a proxy that
 * connects every name to the service, which has a certificate for the usual one. Of the action,
 * only the default interval is changed, to save time.
 */

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse } from 'yaml'
import { startEmulator } from '../../emulator/server.mjs'
import { rows } from '../support/documents.js'
import { text } from '../support/files.js'
import { newFolder } from '../support/folder.js'
import { type Permissions, type Repository, sha, startGitHub } from '../support/github.js'
import { certificate, connectProxy, terminateTls } from '../support/network.js'
import { Clone, type Files } from '../support/repositories.js'
import { HOME } from '../support/workflows.js'
import { act, type Run } from './act.js'
import { docsGh } from './docs-gh.js'
import { startGh } from './gh.js'

export const REPOSITORY = 'your-org/your-repo'
export const DOCS = 'your-org/docs'
export const PR_LINK = `https://github.com/${DOCS}/pull/17`
/** The name of a GitHub Enterprise Server. */
export const ENTERPRISE = 'github.your-org.example'
const ACTION = `${HOME}@v1`
export const KEY = 'mint_runner_0123456789'
const TOKEN = 'ghs_runner_0123456789'
const DOCS_TOKEN = 'ghs_docs_0123456789'
const SERVICE = 'api.mintlify.com'

/** How much faster the service's jobs are. */
export const SPEED = 400

/** The default interval in action.yml. */
const ADAPTIVE = /(poll-interval-seconds:\n(?: {4}.*\n)*? {4}default: )''/

/** What triggers a workflow, and what it needs. */
export type Start = Pick<Run, 'event' | 'actor'> &
  Partial<{
    /** The number of runs, one after the other. Each is told its number, counted from 1. */
    runs: number
    /** They are attempts of one run instead. */
    attempts: true
    /** Besides the sender, who is a writer, if it names no other. */
    payload: object | ((world: World, run: number) => object)
    /** Before each run. */
    prepare: (world: World, run: number) => void | Promise<void>
    /** Once the service has accepted something. */
    accepted: (repository: Repository) => unknown
    /** What the service does. */
    scenario: NonNullable<Parameters<typeof startEmulator>[0]>['scenario']
    /** What is special about the docs pull request. */
    docsPull: Parameters<Repository['addPull']>[0]
    /** What `DOCS_TOKEN` may do (default: what docs/recipes.md says). */
    docsToken: Partial<Permissions>
    /** Besides, or instead of, those that every repository has. */
    secrets: (world: World, run: number) => Record<string, string>
    vars: (world: World) => Record<string, string>
    /** Files of the repository, by path, and before the last commit. */
    files: Files
    filesBefore: Files
    /** Commits of another repository, one before the first run and one before each. */
    otherCommits: readonly Record<string, string>[]
    /**
     * GitHub is a GitHub Enterprise Server, and the workflow itself has to set the proxy and the
     * certificate.
     */
    enterprise: true
  }>

/** Where a workflow runs. */
export type World = Awaited<ReturnType<typeof startWorld>>
export type Ran = Awaited<ReturnType<typeof runWorkflow>>

/**
 * What all runs share: the certificate of the service, the action as a runner downloads it, and
 * Node's compiled code.
 */
const authority = certificate([SERVICE])
const action = layOutAction()
const compileCache = newFolder('compiled')

/** Runs the workflow, and stops everything afterwards. Returns the last run. */
export async function runWorkflow(workflow: string, yaml: string, start: Start) {
  const world = await startWorld(workflow, yaml, start)
  try {
    const { event, actor, runs = 1, payload = {} } = start
    for (let run = 1; ; run++) {
      world.other.commit(start.otherCommits?.[run])
      await start.prepare?.(world, run)
      const ran = await act({
        repository: world.folder,
        home: world.home,
        workflow,
        event,
        actor,
        payload: {
          sender: { login: 'octocat', type: 'User' },
          ...(typeof payload === 'function' ? payload(world, run) : payload),
        },
        // The repository `workflows` of the organisation has the examples.
        repositories: { [ACTION]: action, 'your-org/workflows@main': action, ...world.standIns },
        secrets: {
          AGENT_API_KEY: KEY,
          DOCS_TOKEN,
          GITHUB_TOKEN: TOKEN,
          ...start.secrets?.(world, run),
        },
        vars: start.vars?.(world),
        env: {
          ...world.env,
          GITHUB_RUN_ID: start.attempts ? '1' : `${run}`,
          ...(start.attempts && { GITHUB_RUN_ATTEMPT: `${run}` }),
        },
      })
      const outputs = ran.steps
        .filter(({ name }) => name === `Main ${ACTION}`)
        .map((step) => step.outputs)
      if (run === runs) return { ...world, ...ran, outputs }
    }
  } finally {
    await world.close()
  }
}

async function startWorld(workflow: string, yaml: string, start: Start) {
  const permissions = permissionsOf(parse(yaml))
  const home = await mkdtemp(path.join(tmpdir(), 'runner-'))
  const commits = layOutRepository(path.join(home, 'repository'), workflow, yaml, start)
  const other = new Clone(path.join(home, 'other'))
  const standIns = layOutStandIns(home, yaml)
  initialize(other)
  other.commit(start.otherCommits?.[0])
  const github = await startGitHub({
    token: TOKEN,
    permissions,
    prefix: start.enterprise ? '/api/v3' : '',
    otherTokens: {
      [DOCS_TOKEN]: { repositories: [DOCS], permissions: start.docsToken ?? docsTokenOf(workflow) },
    },
  })
  const repository = github.addRepository(REPOSITORY, { private: true })
  /** Only `DOCS_TOKEN` can read it. The service names its pull request. */
  const docs = github.addRepository(DOCS, { private: true, foreign: true })
  docs.addPull({ number: 17, author: 'mintlify[bot]', head: sha('docs'), ...start.docsPull })
  for (const label of ['automated', 'waiting-for-code']) docs.labels.add(label)
  const service = await startEmulator({
    speed: SPEED,
    onRequest: ({ method }) => method === 'POST' && start.accepted?.(repository),
    ...(start.scenario && { scenario: start.scenario }),
  })
  const tls = await authority
  const front = await terminateTls(Number(new URL(service.url).port), tls)
  const proxy = await connectProxy(front.port)
  /** What leads to the service. */
  const network = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: tls.file }
  /** What the workflow changes with `gh`. */
  const ghWrites: string[] = []
  const host = { name: start.enterprise ? ENTERPRISE : 'github.com', url: github.url }
  const gh = await startGh(path.join(home, 'bin'), docsGh(host, ghWrites))
  const ref = start.event === 'pull_request' ? 'refs/pull/1/merge' : 'refs/heads/main'
  const env = {
    ...(!start.enterprise && network),
    ...gh.env,
    NODE_COMPILE_CACHE: compileCache,
    GITHUB_API_URL: github.url,
    GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/${workflow}@${ref}`,
  }
  const close = async (): Promise<void> => {
    await Promise.all([github, service, proxy, front, gh].map((server) => server.close()))
    await rm(home, { recursive: true, force: true })
  }
  return {
    ...{ home, ...commits, other, standIns },
    ...{ github, repository, docs, service, network, ghWrites, env, close },
  }
}

const NO_PERMISSIONS: Permissions = {
  issues: 'none',
  pull_requests: 'none',
  contents: 'none',
  actions: 'none',
  statuses: 'none',
  deployments: 'none',
}

/** Only what the workflow grants. Here, all jobs have the same token. */
function permissionsOf({ jobs }: { jobs: Record<string, { permissions?: object }> }): Permissions {
  const given = Object.values(jobs).flatMap(({ permissions = {} }) => Object.entries(permissions))
  const readFirst = given.sort(([, one], [, other]) => one.localeCompare(other))
  const named = readFirst.map(([name, access]) => [name.replaceAll('-', '_'), access])
  return { ...NO_PERMISSIONS, ...Object.fromEntries(named) }
}

/**
 * What docs/recipes.md asks of `DOCS_TOKEN` for a recipe: `Pull requests: write; Checks and
 * Deployments: read`.
 */
function docsTokenOf(workflow: string): Partial<Permissions> {
  const all = rows('docs/recipes.md', 'The token for the docs repository')
  const [, cell = ''] = all.find(([names = '']) => names.split(', ').includes(workflow)) ?? []
  const given = [...cell.matchAll(/((?:[A-Z][a-z]+(?: [a-z]+)*(?:, | and )?)+): (read|write)/g)]
  return Object.fromEntries(
    given.flatMap(([, names = '', access]) =>
      names.split(/, | and /).map((name) => [name.toLowerCase().replace(' ', '_'), access]),
    ),
  )
}

/** The files of the action and of its emulator, by path. */
export function actionFiles(): Files {
  return {
    'action.yml': text('action.yml').replace(ADAPTIVE, "$1'0.2'"),
    ...filesOf('emulator', 'emulator'),
    ...filesOf('build/dist', 'dist'),
  }
}

function filesOf(folder: string, to: string): Files {
  const read = (name: string): Buffer => readFileSync(path.join(folder, name))
  return Object.fromEntries(readdirSync(folder).map((name) => [`${to}/${name}`, read(name)]))
}

/** The action, and the examples as workflows to call. Returns the folder. */
function layOutAction(): string {
  const clone = new Clone(newFolder('action'))
  const files = { ...actionFiles(), ...filesOf('examples', '.github/workflows') }
  for (const [file, content] of Object.entries(files)) clone.write(file, content)
  return clone.folder
}

/**
 * GitHub's own actions: the checkout of another repository, and a cache with one file, which is
 * kept if the workflow job succeeds. Returns their folders, by how the workflow uses them.
 */
function layOutStandIns(home: string, yaml: string): Record<string, string> {
  const copy = (from: string, to: string): string =>
    `const fs = require('node:fs')\nfs.existsSync(${from}) && fs.cpSync(${from}, ${to}, { recursive: true })\n`
  const place = 'process.env.INPUT_PATH'
  const used = yaml.matchAll(/actions\/(checkout|cache)@\w+/g)
  return Object.fromEntries(
    [...used].map(([use, name]) => {
      const clone = new Clone(newFolder('stand-in'))
      const kept = JSON.stringify(path.join(home, name === 'cache' ? 'kept' : 'other'))
      clone.write('main.js', copy(kept, place))
      clone.write('post.js', name === 'cache' ? copy(place, kept) : '')
      clone.write(
        'action.yml',
        `name: ${name}\nruns: { using: node24, main: main.js, post: post.js, post-if: success() }\n`,
      )
      return [use, clone.folder]
    }),
  )
}

/** A clone with two commits. */
function layOutRepository(folder: string, workflow: string, yaml: string, start: Start) {
  const clone = new Clone(folder)
  initialize(clone)
  clone.git('remote', 'add', 'origin', `https://github.com/${REPOSITORY}`)
  const content = yaml.replace(/^ *queue: max\b.*\n/gm, '') // act doesn't know it yet
  const before = clone.commit({ [`.github/workflows/${workflow}`]: content, ...start.filesBefore })
  return { folder, before, sha: clone.commit(start.files) }
}

function initialize(clone: Clone): void {
  mkdirSync(clone.folder)
  clone.git('init', '--quiet', '--initial-branch', 'main')
}
