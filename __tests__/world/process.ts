/**
 * The process of a step without a process: its environment, its streams, its signals, and its end.
 */

import { readFileSync } from 'node:fs'
import type { SimulatedSocket } from './network.js'
import type { Random } from './random.js'
import type { Owner, Time } from './time.js'
import type { Machine } from './timers.js'

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'

/**
 * What else may happen: nothing can be written to the runner's files, nobody reads the log,
 * something is thrown.
 */
export type Mishap = 'disk full' | 'log closed' | 'exception'

interface Options {
  env: NodeJS.ProcessEnv
  random: Random
  /** What it takes from its start to the first line of the program. */
  startupMs: number
  onLine: (line: string) => void
  main: () => Promise<void>
}

type Listener = (...parameters: unknown[]) => void

/** Each write to it fails with ENOSPC. */
const FULL = '/dev/full'
/** What Node writes before it ends a process that nobody saves. */
const UNCAUGHT = 'Uncaught exception: '

export class SimulatedProcess implements Owner, Machine {
  readonly startedAt: number
  readonly env: NodeJS.ProcessEnv
  jumpedMs = 0
  #isLogClosed = false
  isFrozen = false
  isDead = false
  /** Undefined if a signal ended it. */
  exitCode: number | undefined
  signal: Signal | undefined
  /** What it had written to the runner's files when it ended. */
  outputFile = ''
  summary = ''
  stderr = ''
  readonly #files: NodeJS.ProcessEnv
  readonly #output: string[] = []
  readonly #listeners = new Map<string, Listener[]>()
  readonly #sockets = new Set<SimulatedSocket>()
  #resolve: (at: number) => void = () => undefined
  /** When it ended. */
  readonly ended = new Promise<number>((resolve) => {
    this.#resolve = resolve
  })

  constructor(
    private readonly time: Time,
    private readonly options: Options,
  ) {
    this.startedAt = time.now
    this.env = options.env
    this.#files = { ...options.env }
    const start = (): void => void options.main().catch((thrown: unknown) => this.fail(thrown))
    time.schedule('timers', time.now + options.startupMs, this, start)
  }

  readonly random = (): number => this.options.random.next()

  get stdout(): string {
    return this.#output.join('')
  }

  /** As `process.stdout`. */
  readonly stream = {
    write: (text: string, ...rest: unknown[]): boolean => {
      if (!this.isDead) this.#write(String(text))
      const done = rest.at(-1)
      const error = this.#isLogClosed
        ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
        : undefined
      if (typeof done === 'function') process.nextTick(done as () => void, error)
      if (error) process.nextTick(() => this.emit('log error', error) || this.fail(error))
      return true
    },
    on: (name: string, listener: Listener): void => this.on(`log ${name}`, listener),
  }

  #write(text: string): void {
    this.#output.push(text)
    for (const line of text.split(/\r?\n/))
      if (line !== '') this.time.owners.run(undefined, this.options.onLine, line)
  }

  /** As `process.on`. */
  on(name: string, listener: Listener): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener])
  }

  emit(name: string, ...parameters: unknown[]): boolean {
    const listeners = this.#listeners.get(name) ?? []
    for (const listener of listeners) listener(...parameters)
    return listeners.length > 0
  }

  addSocket(socket: SimulatedSocket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** As `process.exit`. */
  exit(code: number): void {
    if (this.isDead) return
    this.exitCode = code
    this.#end()
  }

  readonly fail = (thrown: unknown): void => {
    if (this.isDead) return
    if (this.time.owners.run(this, () => this.emit('uncaughtException', thrown))) return
    this.stderr += UNCAUGHT + (thrown instanceof Error ? thrown.stack : String(thrown))
    this.exit(1)
  }

  kill(signal: Signal): void {
    if (this.isDead) return
    if (signal === 'SIGKILL') {
      this.signal = signal
      this.#end()
    } else if (signal === 'SIGSTOP') {
      this.isFrozen = true
    } else if (signal === 'SIGCONT') {
      this.isFrozen = false
      this.time.release(this)
    } else {
      // Node reads signals where it reads sockets.
      this.time.schedule('arrivals', this.time.now, this, () => this.#onSignal(signal))
    }
  }

  suffer(what: Mishap): void {
    if (what === 'disk full')
      Object.assign(this.env, { GITHUB_OUTPUT: FULL, GITHUB_STEP_SUMMARY: FULL })
    if (what === 'log closed') this.#isLogClosed = true
    if (what !== 'exception') return
    const fail = (): void => this.fail(new Error('Nobody catches this'))
    this.time.schedule('immediates', this.time.now, this, fail)
  }

  #onSignal(signal: Signal): void {
    if (this.emit(signal)) return
    this.signal = signal
    this.#end()
  }

  #end(): void {
    this.isDead = true
    const { GITHUB_OUTPUT: outputs = '', GITHUB_STEP_SUMMARY: summary = '' } = this.#files
    this.outputFile = readFileSync(outputs, 'utf8')
    this.summary = readFileSync(summary, 'utf8')
    for (const socket of this.#sockets) socket.abandon()
    this.#resolve(this.time.now)
  }
}
