/**
 * The simulated world of this process: its time, its network, and the processes of steps in it.
 * What is imported after it, and whatever runs in it, meets these instead of Node's own.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inputEnvironment, runnerEnvironment } from '../../emulator/runner.mjs'
import { FILED_PROMPT, PROMPT_FILE } from './draw.js'
import { type Conditions, Network } from './network.js'
import { SimulatedProcess } from './process.js'
import { Random } from './random.js'
import { Time } from './time.js'
import { type Machine, replaceTimers } from './timers.js'

export const time = new Time()

const real = {
  env: process.env,
  stdout: process.stdout,
  on: process.on.bind(process),
  exit: process.exit.bind(process),
}
const folder = mkdtempSync(path.join(tmpdir(), 'world-'))
real.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const current = (): SimulatedProcess | undefined => {
  const owner = time.owners.getStore()
  return owner instanceof SimulatedProcess ? owner : undefined
}

let random = new Random(0)
const outside: Machine = { startedAt: 0, jumpedMs: 0, random: () => random.next() }
const network = new Network(time, (socket) => current()?.addSocket(socket))
const everybody = () => true
replaceTimers(time, () => current() ?? outside, everybody)
network.install(everybody)
replaceProcess()

// Whatever they read when they are loaded is the world's.
const { main } = await import('../../src/main.js')
await Promise.all([import('../../src/plan.js'), import('../../src/plan-and-run.js')])
const { default: undiciTimers } = await import('undici/lib/util/timers.js')

function replaceProcess(): void {
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    const write = console[level]
    console[level] = (...parts: unknown[]) => {
      const owner = current()
      if (owner === undefined) write(...parts)
      else owner.stderr += `${parts.join(' ')}\n`
    }
  }
  Object.defineProperty(process, 'env', { get: () => current()?.env ?? real.env })
  Object.defineProperty(process, 'stdout', { get: () => current()?.stream ?? real.stdout })
  process.exit = ((code: number) => {
    const owner = current()
    if (owner === undefined) real.exit(code)
    owner?.exit(code)
  }) as typeof process.exit
  process.on = ((name: 'exit', listener: () => void) => {
    const owner = current()
    if (owner === undefined) return real.on(name, listener)
    owner.on(name, listener)
    return process
  }) as typeof process.on
  // What is thrown where a promise goes on.
  real.on('uncaughtException', (thrown) => {
    if (time.lastOwner !== undefined) return time.lastOwner.fail(thrown)
    real.stdout.write(`${thrown.stack}\n`)
    real.exit(1)
  })
}

/** Begins a run at time 0, with nothing left of the one before. */
export function beginRun(conditions: Conditions): void {
  time.clear()
  undiciTimers.reset()
  random = new Random(conditions.seed)
  used = 0
  network.begin(conditions)
}

/** A run has no more steps. */
const MOST_STEPS = 4
/**
 * The runner's folders and files, one set for each step of a run: what waits for the disk must not
 * happen while time goes on.
 */
const environments: NodeJS.ProcessEnv[] = []
while (environments.length < MOST_STEPS) {
  const own = path.join(folder, String(environments.length))
  mkdirSync(own)
  const environment = await runnerEnvironment(own, {})
  writeFileSync(path.join(environment.GITHUB_WORKSPACE ?? '', PROMPT_FILE), FILED_PROMPT)
  environments.push(environment)
}
let used = 0

/** As an environment has it, which is UTF-8. */
function wellFormed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.toWellFormed()]),
  )
}

interface StepOptions {
  inputs: Record<string, string>
  env: Record<string, string>
  /** What the event's file holds. */
  eventFile: string
  onLine: (line: string) => void
}

/** Starts a step in the simulation. Its time passes in `time.run`. */
export function startStep({ inputs, env, eventFile, onLine }: StepOptions): SimulatedProcess {
  const runner = environments[used++]
  if (runner === undefined) throw new Error('A run has more steps than were prepared')
  for (const name of ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY']) writeFileSync(runner[name] ?? '', '')
  writeFileSync(runner.GITHUB_EVENT_PATH ?? '', eventFile)
  return new SimulatedProcess(time, {
    env: { ...runner, ...wellFormed(inputEnvironment(inputs)), ...env },
    random: new Random(random.int(1, 2 ** 31)),
    startupMs: 30 + random.int(0, 200),
    onLine,
    main,
  })
}
