/** Runs a workflow with nektos/act, a runner without containers, and reads its log. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { tool } from './tools.js'

const ACT = tool('act')

/** What act is told. */
export interface Run {
  /** The folder of the repository, and the name of the workflow there. */
  readonly repository: string
  readonly workflow: string
  readonly event: string
  readonly payload: object
  /** Who triggers it (default: act's own). */
  readonly actor?: string | undefined
  /** For act's own files. Programs in its folder `bin` come first in the PATH. */
  readonly home: string
  /** Folders that stand for other repositories, by `owner/name@ref`. */
  readonly repositories: Record<string, string>
  readonly env: Record<string, string>
  readonly secrets: Record<string, string>
  readonly vars?: Record<string, string> | undefined
}

interface Step {
  readonly job: string
  /** As act names it: `Main`, and the action or the script. */
  readonly name: string
  readonly result: string
  readonly outputs: Record<string, string>
}

/** Runs act, and ends whatever it leaves behind: `leftover` has the command lines. */
export async function act({ repository, home, workflow, event, actor, ...run }: Run) {
  await writeFile(path.join(home, 'event.json'), JSON.stringify(run.payload))
  // In the environment of each process of the run, to find those that are left behind.
  const mark = `RUNNER_TEST=${path.basename(home)}`
  const pairs = (flag: string, values: Record<string, string> = {}): string[] =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`])
  const args = [
    ...[event, '--eventpath', path.join(home, 'event.json'), '--json'],
    ...['--workflows', `.github/workflows/${workflow}`],
    ...['--platform', 'ubuntu-latest=-self-hosted', '--platform', 'self-hosted=-self-hosted'],
    ...['--no-cache-server', '--action-cache-path', path.join(home, 'cache'), '--env', mark],
    ...(actor ? ['--actor', actor] : []),
    ...pairs('--local-repository', run.repositories),
    ...pairs('--secret', run.secrets),
    ...pairs('--var', run.vars),
    ...pairs('--env', run.env),
  ]
  const child = spawn(ACT, args, {
    cwd: repository,
    env: { PATH: [path.join(home, 'bin'), process.env.PATH].join(path.delimiter), HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = [readAll(child.stdout), readAll(child.stderr), once(child, 'close')] as const
  const [stdout, stderr, [code]] = await Promise.all(ended)
  const { log, ...read } = readLog(stdout)
  return {
    succeeded: code === 0,
    ...read,
    log: log + stderr,
    leftover: await endProcessesWith(mark),
  }
}

/** Throws with the log of a run that failed. */
export function expectSuccess({ succeeded, log }: { succeeded: boolean; log: string }): void {
  if (!succeeded) throw new Error(`The run failed:\n${log}`)
}

/**
 * What the log tells: the steps that ran, in order, including post steps; what they wrote into
 * summaries, and what they printed; and the log itself, to be shown if a test fails.
 */
function readLog(stdout: string) {
  const steps: Step[] = []
  /**
   * The last step of a name, in each leg of a matrix: legs run side by side, and their lines mix.
   */
  const last = new Map<string, Step>()
  const summaries: string[] = []
  let printed = ''
  let log = ''
  for (const text of stdout.split('\n').filter((text) => text.startsWith('{'))) {
    const { jobID: job = '', matrix, step, stage, ...line } = JSON.parse(text)
    const name = `${stage} ${step}`
    const id = JSON.stringify([job, matrix, name])
    log += `[${job}] ${line.msg.trimEnd()}\n`
    // A step's result comes before its outputs.
    if (line.stepResult && stage) {
      const ended = { job, name, result: line.stepResult, outputs: {} }
      steps.push(ended)
      last.set(id, ended)
    }
    if (line.command === 'set-output')
      Object.assign(last.get(id)?.outputs ?? {}, { [line.name]: line.arg })
    if (line.command === 'summary') summaries.push(line.content)
    if (line.raw_output) printed += line.msg
  }
  return { steps, summaries, printed, log }
}

/**
 * Ends the running processes whose environment has this variable (Linux). Returns their command
 * lines.
 */
async function endProcessesWith(variable: string): Promise<string[]> {
  const found = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string): Promise<string> =>
      readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
    if (!(await read('environ')).split('\0').includes(variable)) continue
    found.push((await read('cmdline')).replaceAll('\0', ' '))
    process.kill(Number(pid), 'SIGKILL')
  }
  return found
}
