/**
 * The simulated world of this process: its time, its network, and the processes of steps in it.
 * What is imported after it, and whatever runs in it, meets these instead of Node's own.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inputEnvironment, runnerEnvironment } from '../../emulator/runner.mjs'
import { FILED_PROMPT, PROMPT_FILE } from './draw.js'
import { type Connecting, Network, type NetworkPlan } from './network.js'
import { SimulatedProcess } from './process.js'
import { Random } from './random.js'
import type { StepEnd, StepOptions } from './step.js'
import { Time } from './time.js'
import { type Machine, replaceTimers } from './timers.js'

export const time = new Time()

/** What a run takes place in. */
export interface Conditions {
  readonly seed: number
  readonly network: NetworkPlan
  /** Of the nth attempt to connect to a port. */
  readonly connecting?: (port: number, nth: number) => Connecting
}

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
const network = new Network({ time, onSocket: (socket) => current()?.addSocket(socket) })
const everybody = (): boolean => true
replaceTimers(time, () => current() ?? outside, everybody)
network.install(everybody)
replaceProcess()

// Whatever they read when they are loaded is the world's.
const { main } = await import('../../src/main.js')
await Promise.all([
  import('../../src/plan.js'),
  import('../../src/agent/client.js'),
  import('../../src/run/run.js'),
])
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
export function beginRun({ seed, network: plan, connecting = () => 'open' }: Conditions): void {
  time.clear()
  undiciTimers.reset()
  random = new Random(seed)
  used = 0
  const counts = new Map<number, number>()
  network.begin({
    seed,
    plan,
    connecting: (port) => {
      const nth = (counts.get(port) ?? 0) + 1
      counts.set(port, nth)
      return connecting(port, nth)
    },
  })
}

/** The runner's folders and files, one set for each step of a run. */
const environments: NodeJS.ProcessEnv[] = []
let used = 0

/**
 * Makes the folders for the steps of a run: what waits for the disk must not happen while time goes
 * on.
 */
export async function prepareSteps(most: number): Promise<void> {
  while (environments.length < most) {
    const own = path.join(folder, String(environments.length))
    mkdirSync(own)
    const environment = await runnerEnvironment(own, {})
    writeFileSync(path.join(environment.GITHUB_WORKSPACE ?? '', PROMPT_FILE), FILED_PROMPT)
    environments.push(environment)
  }
}

function nextEnvironment({
  event,
  eventFile = JSON.stringify(event),
}: StepOptions): NodeJS.ProcessEnv {
  const environment = environments[used++]
  if (environment === undefined) throw new Error('A run has more steps than were prepared')
  for (const name of ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'])
    writeFileSync(environment[name] ?? '', '')
  writeFileSync(environment.GITHUB_EVENT_PATH ?? '', eventFile)
  return environment
}

/** As an environment has it, which is UTF-8. */
function wellFormed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.toWellFormed()]),
  )
}

/** Runs a step in the simulation. Its time passes in `time.run`. */
export async function simulateStep(options: StepOptions): Promise<StepEnd> {
  const { inputs, env, onStart, onLine = () => undefined } = options
  const runner = nextEnvironment(options)
  const child = new SimulatedProcess(time, {
    env: { ...runner, ...wellFormed(inputEnvironment(inputs)), ...env },
    random: new Random(random.int(1, 2 ** 31)),
    startupMs: 30 + random.int(0, 200),
    onLine,
    main,
  })
  onStart(child)
  const { startedAt } = child
  await child.ended
  return {
    startedAt,
    endedAt: child.endedAt ?? Number.NaN,
    code: child.exitCode,
    signal: child.signalCode,
    stdout: child.stdout,
    stderr: child.stderr,
    outputFile: child.outputFile,
    summary: child.summary,
  }
}
