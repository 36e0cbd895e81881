/** The commands that are measured, and how one is run. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { certificateIn } from '../__tests__/support/certificate.js'
import { inputEnvironment, runnerEnvironment } from '../emulator/runner.mjs'
import {
  HEAD_SHA,
  NUMBER,
  PULL_REQUEST_EVENT,
  REPOSITORY,
  startBenchGitHub,
  startBenchService,
  TOKEN,
} from './servers.js'

type Environment = Readonly<Record<string, string>>

export interface Command {
  readonly argv: readonly string[]
  /** The whole environment. */
  readonly env: Environment
  readonly exitCode?: number
}

/** What a dist is measured with. */
export const STEPS = ['bad input', 'a job', 'a job on a pull request'] as const
export type Step = (typeof STEPS)[number]

export const THIS_DIST = path.resolve('build/dist')
const ALTERNATIVES = path.resolve('bench/alternatives')
const POLL_INTERVAL = '0.1'
const JOB = { 'project-id': 'docs', 'api-key': 'mint_bench', prompt: 'Shorten the introduction.' }

/**
 * Starts the servers, and makes the environments of the commands. `folder` is for temporary files.
 */
export async function startBench(folder: string) {
  const { key, cert, file: caFile } = await certificateIn(folder, ['localhost'])
  const service = await startBenchService({ key, cert })
  const github = await startBenchGitHub()
  const serviceUrl = `https://127.0.0.1:${service.port}`
  const runner = (name: string, event = {}) => runnerEnvironment(newFolder(folder, name), event)
  const job = {
    NODE_EXTRA_CA_CERTS: caFile,
    ...inputEnvironment({ ...JOB, 'base-url': serviceUrl, 'poll-interval-seconds': POLL_INTERVAL }),
  }
  const environments: Readonly<Record<Step, Environment>> = {
    'bad input': await runner('bad-input'),
    'a job': { ...(await runner('job')), ...job },
    'a job on a pull request': {
      ...(await runner('pull-request', PULL_REQUEST_EVENT)),
      ...job,
      ...inputEnvironment({ 'job-scope': 'pull-request', context: 'diff', 'github-token': TOKEN }),
      GITHUB_API_URL: github.url,
      GITHUB_BASE_REF: 'main',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_HEAD_REF: 'retry',
      GITHUB_REF: `refs/pull/${NUMBER}/merge`,
      GITHUB_REF_NAME: `${NUMBER}/merge`,
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_SHA: HEAD_SHA,
      GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@refs/pull/${NUMBER}/merge`,
    },
  }
  // As for a public host, curl loads all the usual root certificates.
  const rootsFile = path.join(folder, 'roots.pem')
  writeFileSync(rootsFile, [...rootCertificates, cert].join('\n'))
  const script = {
    ...(await runner('script')),
    BASE_URL: serviceUrl,
    PROJECT_ID: JOB['project-id'],
    API_KEY: JOB['api-key'],
    PROMPT: JOB.prompt,
    INTERVAL: POLL_INTERVAL,
    NODE_EXTRA_CA_CERTS: caFile,
    CURL_CA_BUNDLE: rootsFile,
  }
  return { service, github, environments, script }
}

/** What every Node program costs. */
export const BASELINE = 'baseline: `node -e 0`'

export function baseline(env: Environment): Command {
  return { argv: [process.execPath, '-e', '0'], env }
}

/** A step of the action whose bundle is in this folder. */
export function stepOf(
  dist: string,
  step: Step,
  environments: Readonly<Record<Step, Environment>>,
): Command {
  const exitCode = step === 'bad input' ? 1 : 0
  return {
    argv: [process.execPath, path.join(dist, 'index.js')],
    env: environments[step],
    exitCode,
  }
}

/** An alternative from bench/alternatives that is a script. */
export function alternative(program: string, name: string, env: Environment): Command {
  return { argv: [program, path.join(ALTERNATIVES, name)], env }
}

/**
 * Bundles alternatives/toolkit.mjs with ncc, not minified, which is ncc's default. Returns the
 * folder of the bundle.
 */
export function bundleToolkit(folder: string): string {
  const cwd = newFolder(folder, 'toolkit')
  cpSync(path.join(ALTERNATIVES, 'toolkit.mjs'), path.join(cwd, 'index.js'))
  symlinkSync(path.resolve('node_modules'), path.join(cwd, 'node_modules'))
  writeFileSync(path.join(cwd, 'package.json'), '{"type": "module"}')
  const ncc = path.resolve('node_modules/@vercel/ncc/dist/ncc/cli.js')
  const args = [ncc, 'build', 'index.js', '--no-cache', '--quiet', '--out', 'dist']
  execFileSync(process.execPath, args, { cwd, stdio: 'inherit' })
  return path.join(cwd, 'dist')
}

/**
 * Copies a bundle into `folder`: the same files on another disk, or behind a longer path, take
 * other times.
 */
export function copyBundle(dist: string, folder: string, name: string): string {
  const copy = path.join(folder, name)
  cpSync(dist, copy, { recursive: true })
  return copy
}

/** Copies the action's bundle without the call of src/net/v8.ts. Returns the folder of the copy. */
export function copyWithoutFlag(folder: string): string {
  const copy = copyBundle(THIS_DIST, folder, 'without-flag')
  let found = 0
  for (const name of readdirSync(copy).filter((file) => file.endsWith('.js'))) {
    const file = path.join(copy, name)
    const call = /\(0,\s*[\w$]+\.setFlagsFromString\)\("--wasm-tiering-budget=\d+"\)/g
    const code = readFileSync(file, 'utf8')
    found += code.match(call)?.length ?? 0
    writeFileSync(file, code.replace(call, '0'))
  }
  if (found === 0)
    throw new Error('The bundle does not set the V8 flag, or in another form than this expects.')
  return copy
}

function newFolder(parent: string, name: string): string {
  const folder = path.join(parent, name)
  mkdirSync(folder)
  return folder
}

/** The first line of a program's `--version`; undefined if it is not installed. */
export function version(program: string): string | undefined {
  const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return error ? undefined : stdout.split('\n')[0]?.trim()
}

/** CPU and wall time in milliseconds. */
export async function time(
  command: Command,
): Promise<{ readonly cpu: number; readonly wall: number }> {
  // bash's `time` counts the process and its children, so a script's curl, jq and sleep are
  // included.
  const timed = 'TIMEFORMAT="%3U %3S %3R"; time "$@" 1>&3 2>&3'
  const stderr = await run(command, ['bash', '-c', timed, 'bash', ...command.argv])
  const [user = 0, system = 0, real = 0] = stderr.trim().split(' ').map(Number)
  return { cpu: (user + system) * 1000, wall: real * 1000 }
}

/** The bytes of the bundle's files whose code Node loaded. */
export async function loadedBytes(command: Command, folder: string): Promise<number> {
  const coverage = mkdtempSync(path.join(folder, 'coverage-'))
  await run({ ...command, env: { ...command.env, NODE_V8_COVERAGE: coverage } })
  const dist = path.dirname(command.argv[1] ?? '')
  const files = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(path.join(coverage, name), 'utf8'))
    const urls: string[] = result.map(({ url }: { url: string }) => url)
    return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url))
  })
  const sizes = files
    .filter((file) => path.dirname(file) === dist)
    .map((file) => statSync(file).size)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Returns what it wrote to stderr, and throws if it ended with another exit code than expected.
 *
 * @param all the command behind what measures it
 */
export async function run({ argv, env, exitCode = 0 }: Command, all = argv): Promise<string> {
  const [file = '', ...args] = all
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const outputs = ['', '', '', '']
  for (const fd of [1, 2, 3]) {
    child.stdio[fd]?.on('data', (chunk) => {
      outputs[fd] += String(chunk)
    })
  }
  const [code] = await once(child, 'close')
  if (code !== exitCode)
    throw new Error(`${argv.join(' ')} ended with ${code}:\n${outputs.join('')}`)
  return outputs[2] ?? ''
}
