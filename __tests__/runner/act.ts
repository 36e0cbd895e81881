/**
 * Runs a workflow with nektos/act, a runner without containers, and with its own service and GitHub.
 *
 * The environment leads to them: GITHUB_API_URL names the GitHub, and HTTPS_PROXY a proxy that connects every name to
 * the service, which has a certificate for the usual one. Of the action, only the default interval is changed, to save
 * time.
 */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { parse } from 'yaml'
import { startEmulator } from '../../emulator/server.mjs'
import { newFolder } from '../support/folder.js'
import { type GitHub, type Permissions, type Repository, startGitHub } from '../support/github.js'
import { certificate, connectProxy, terminateTls } from '../support/network.js'
import { HOME, withoutSelf } from '../support/workflows.js'
import { DOCS, type Gh, startGh } from './gh.js'
import { tool } from './tools.js'

export const REPOSITORY = 'your-org/your-repo'
export const ACTION = `${HOME}@v1`
export const KEY = 'mint_runner_0123456789'
const TOKEN = 'ghs_runner_0123456789'
const DOCS_TOKEN = 'ghs_docs_0123456789'
const SERVICE = 'api.mintlify.com'
/** An environment variable of each process of a run, to find those that are left behind. */
const MARK = 'RUNNER_TEST'

/** The default interval in action.yml. */
const ADAPTIVE = /(poll-interval-seconds:\n(?: {4}.*\n)*? {4}default: )''/

type EmulatorOptions = NonNullable<Parameters<typeof startEmulator>[0]>

/** What triggers a workflow, and what it needs. */
export interface Start {
  readonly event: string
  /** Of each run, counted from 1. */
  readonly payload?: object | ((place: Place, run: number) => object)
  readonly service?: EmulatorOptions
  readonly vars?: (place: Place) => Record<string, string>
  readonly secrets?: (place: Place) => Record<string, string>
  /** In front of the paths of GitHub's API. */
  readonly apiPrefix?: string
  /** Files of the repository, by path, and before the last commit. */
  readonly files?: Record<string, string>
  readonly filesBefore?: Record<string, string>
  /** Workflows of other repositories that this one uses: a folder's file, by `owner/name@ref`. */
  readonly others?: Record<string, { readonly file: string; readonly yaml: string }>
  /** Before each run, counted from 1. */
  readonly prepare?: (place: Place, run: number) => void
  /** The one leg of a matrix to run, as `key:value` (default: all). */
  readonly matrix?: string
  /** Who triggers it (default: act's own). */
  readonly actor?: string
  /** The workflow itself has to set the proxy and the certificate. */
  readonly hidesNetwork?: true
  /** The number of runs, one after the other. */
  readonly runs?: number
}

/** Where a workflow runs. */
export interface Place {
  readonly service: Awaited<ReturnType<typeof startEmulator>>
  readonly github: GitHub
  readonly repository: Repository
  /** The docs repository, which only `DOCS_TOKEN` can read, with the pull request that the service names. */
  readonly docs: Repository
  readonly gh: Gh
  /** The commit of the run, and the one before it. */
  readonly sha: string
  readonly before: string
  /** The proxy that leads to the service, and the certificate. */
  readonly network: { readonly HTTPS_PROXY: string; readonly NODE_EXTRA_CA_CERTS: string }
}

export interface Step {
  readonly job: string
  /** As act names it: `Main`, and the action or the script. */
  readonly name: string
  readonly result: string
  readonly outputs: Record<string, string>
}

export interface Ran extends Place {
  readonly succeeded: boolean
  /** The steps that ran, in order, including post steps. */
  readonly steps: readonly Step[]
  /** The outputs of each run of the action. */
  readonly outputs: readonly Record<string, string>[]
  readonly summaries: readonly string[]
  /** What the steps printed. */
  readonly printed: string
  /** The log of act, to be shown if a test fails. */
  readonly log: string
  /** The command lines of processes that outlived the run. */
  readonly leftover: readonly string[]
}

/** The part of a workflow that is read here. */
interface Workflow {
  readonly permissions?: Record<string, string>
  readonly jobs: Record<string, { readonly permissions?: Record<string, string> }>
}

/** What all runs share: the certificate of the service, the action as a runner downloads it, and Node's compiled code. */
const authority = certificate([SERVICE])
const action = layOutAction(newFolder('action'))
const compileCache = newFolder('compiled')

/** Runs the workflow, and stops everything afterwards. Returns the last run. */
export async function runWorkflow(name: string, yaml: string, start: Start): Promise<Ran> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runner-'))
  const permissions = permissionsOf(parse(yaml))
  const forDocs = { repositories: [DOCS], permissions: { pull_requests: 'write' } } as const
  const github = await startGitHub({
    token: TOKEN,
    permissions,
    prefix: start.apiPrefix ?? '',
    otherTokens: { [DOCS_TOKEN]: forDocs },
  })
  const repository = github.addRepository(REPOSITORY, { private: true })
  const docs = github.addRepository(DOCS, { private: true, foreign: true })
  docs.addPull({ number: 17, author: 'mintlify[bot]' })
  const service = await startEmulator({ speed: 400, ...start.service })
  const tls = await authority
  const front = await terminateTls(Number(new URL(service.url).port), tls)
  const proxy = await connectProxy(front.port)
  const tokens = { [REPOSITORY]: TOKEN, [DOCS]: DOCS_TOKEN }
  const cli = await startGh(path.join(folder, 'bin'), { [REPOSITORY]: repository, [DOCS]: docs }, tokens)
  try {
    for (const [uses, { file, yaml }] of Object.entries(start.others ?? {}))
      await writeAll(path.join(folder, uses), { [`.github/workflows/${file}`]: yaml })
    const commits = await layOutRepository(path.join(folder, 'repository'), name, yaml, start)
    const network = {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      NODE_EXTRA_CA_CERTS: tls.file,
    }
    const place: Place = { service, github, repository, docs, gh: cli.gh, ...commits, network }
    const { payload = {}, runs = 1 } = start
    for (let run = 1; ; run++) {
      start.prepare?.(place, run)
      const event = typeof payload === 'function' ? payload(place, run) : payload
      await writeFile(path.join(folder, 'event.json'), JSON.stringify(event))
      const ran = await runAct(folder, name, start, place, run, cli.url)
      if (run === runs) return { ...place, ...ran }
    }
  } finally {
    await Promise.all([github, service, proxy, front, cli].map((server) => server.close()))
    await rm(folder, { recursive: true, force: true })
  }
}

/** Only what the workflow's own `permissions` grant. Here, all jobs have the same token. */
function permissionsOf({ permissions = {}, jobs }: Workflow): Permissions {
  const given = Object.values(jobs).flatMap((job) => (job.permissions ? [job.permissions] : []))
  if (given.length > 1) throw new Error('Only one job of a workflow may have its own permissions.')
  const all: Record<string, string> = given[0] ?? permissions
  const access = (name: string): Permissions['issues'] => (all[name] as Permissions['issues']) ?? 'none'
  return {
    issues: access('issues'),
    pull_requests: access('pull-requests'),
    contents: access('contents'),
    actions: access('actions'),
    checks: access('checks'),
  }
}

/** The action, and the reusable workflow. Returns the folder. */
async function layOutAction(folder: string): Promise<string> {
  for (const part of ['action.yml', 'emulator', '.github/workflows/docs-job.yml'])
    await cp(part, path.join(folder, part), { recursive: true })
  const manifest = await readFile('action.yml', 'utf8')
  await writeFile(path.join(folder, 'action.yml'), manifest.replace(ADAPTIVE, "$1'0.2'"))
  const reusable = path.join(folder, '.github/workflows/docs-job.yml')
  await writeFile(reusable, withoutSelf(await readFile(reusable, 'utf8'), HOME))
  await cp('build/dist', path.join(folder, 'dist'), { recursive: true })
  return folder
}

async function writeAll(folder: string, files: Record<string, string>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), content)
  }
}

/** A clone with two commits. */
async function layOutRepository(
  folder: string,
  name: string,
  yaml: string,
  { files = {}, filesBefore = {} }: Start,
): Promise<Pick<Place, 'sha' | 'before'>> {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()
  const commit = async (content: Record<string, string>): Promise<string> => {
    await writeAll(folder, content)
    git('add', '--all')
    git('-c', 'user.name=Test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message', 'All')
    return git('rev-parse', 'HEAD')
  }
  await mkdir(folder)
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', `https://github.com/${REPOSITORY}`)
  const workflow = withoutSelf(yaml, HOME).replace(/^ *queue: max\b.*\n/gm, '') // act doesn't know it yet
  const before = await commit({ [`.github/workflows/${name}`]: workflow, ...filesBefore })
  return { before, sha: await commit({ 'last.txt': '', ...files }) }
}

async function runAct(folder: string, name: string, start: Start, place: Place, run: number, gh: string) {
  const ref = start.event === 'pull_request' ? 'refs/pull/1/merge' : 'refs/heads/main'
  const pairs = (flag: string, values: Record<string, string> = {}): string[] =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`])
  const args = [
    start.event,
    ...['--eventpath', '../event.json', '--workflows', `.github/workflows/${name}`, '--json'],
    ...['--platform', 'ubuntu-latest=-self-hosted', '--platform', 'self-hosted=-self-hosted'],
    ...(start.matrix ? ['--matrix', start.matrix] : []),
    ...(start.actor ? ['--actor', start.actor] : []),
    ...['--no-cache-server', '--action-cache-path', path.join(folder, 'cache')],
    ...['--local-repository', `${ACTION}=${await action}`],
    ...Object.keys(start.others ?? {}).flatMap((uses) => {
      return ['--local-repository', `${uses}=${path.join(folder, uses)}`]
    }),
    ...pairs('--secret', { AGENT_API_KEY: KEY, DOCS_TOKEN, GITHUB_TOKEN: TOKEN, ...start.secrets?.(place) }),
    ...pairs('--var', start.vars?.(place)),
    ...pairs('--env', {
      ...(!start.hidesNetwork && place.network),
      GH_STAND_IN: gh,
      NODE_COMPILE_CACHE: compileCache,
      GITHUB_RUN_ID: String(run),
      GITHUB_API_URL: place.github.url,
      GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/${name}@${ref}`,
    }),
  ]
  return act(args, { cwd: path.join(folder, 'repository'), home: folder, bin: path.join(folder, 'bin') })
}

/** Runs act in a repository, and ends whatever it leaves behind. */
export async function act(
  args: readonly string[],
  { cwd, home, bin }: { cwd: string; home: string; bin?: string },
): Promise<Pick<Ran, 'succeeded' | 'steps' | 'outputs' | 'summaries' | 'printed' | 'log' | 'leftover'>> {
  const mark = path.basename(home)
  const child = spawn(tool('act'), [...args, '--env', `${MARK}=${mark}`], {
    cwd,
    env: { PATH: [...(bin ? [bin] : []), process.env.PATH].join(path.delimiter), HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close'),
  ])
  const leftover = await processesWith(`${MARK}=${mark}`)
  for (const { pid } of leftover) process.kill(pid, 'SIGKILL')
  return {
    succeeded: code === 0,
    ...readLog(stdout, stderr),
    leftover: leftover.map(({ command }) => command),
  }
}

/** The part of a line of act's log that is read here. */
interface Line {
  readonly jobID?: string
  readonly matrix?: object
  readonly step?: string
  readonly stepResult?: string
  readonly stage?: string
  readonly command?: string
  readonly name?: string
  readonly arg?: string
  readonly content?: string
  readonly raw_output?: boolean
  readonly msg: string
}

/** act prints a step's result before its outputs. */
function readLog(
  stdout: string,
  stderr: string,
): Pick<Ran, 'steps' | 'outputs' | 'summaries' | 'printed' | 'log'> {
  const steps: { job: string; name: string; result: string; outputs: Record<string, string> }[] = []
  /** The last step of a name, in each leg of a matrix: legs run side by side, and their lines mix. */
  const last = new Map<string, (typeof steps)[number]>()
  const summaries: string[] = []
  let printed = ''
  let log = ''
  for (const line of stdout.split('\n').filter((text) => text.startsWith('{'))) {
    const { jobID = '', matrix, step = '', stage = '', ...rest }: Line = JSON.parse(line)
    const name = `${stage} ${step}`
    const id = JSON.stringify([jobID, matrix, name])
    log += `[${jobID}] ${rest.msg.trimEnd()}\n`
    if (rest.stepResult && stage) {
      const ended = { job: jobID, name, result: rest.stepResult, outputs: {} }
      steps.push(ended)
      last.set(id, ended)
    }
    if (rest.command === 'set-output') {
      const ended = last.get(id)
      if (ended) ended.outputs[rest.name ?? ''] = rest.arg ?? ''
    }
    if (rest.command === 'summary') summaries.push(rest.content ?? '')
    if (rest.raw_output) printed += rest.msg
  }
  const outputs = steps.filter(({ name }) => name === `Main ${ACTION}`).map((step) => step.outputs)
  return { steps, outputs, summaries, printed, log: `${log}${stderr}` }
}

/** The running processes whose environment has this variable (Linux). */
async function processesWith(variable: string): Promise<{ pid: number; command: string }[]> {
  const found = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
    if (!(await read('environ')).split('\0').includes(variable)) continue
    found.push({ pid: Number(pid), command: (await read('cmdline')).replaceAll('\0', ' ') })
  }
  return found
}
