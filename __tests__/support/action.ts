/** Runs the bundle as the runner would, and checks on every run what is never allowed. */

import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { afterAll, expect } from '@jest/globals'
import { runAction } from '../../emulator/runner.mjs'
import { STATUSES } from '../../src/agent/job.js'
import { type Script, type ScriptedService, startService } from './service.js'
import { recordStart } from './time.js'

/** The fresh bundle. A test checks that the committed one is the same. */
const BUNDLE = path.resolve('build/dist/index.js')
export const KEY = 'mint_e2e/0123+456789~abcdef'

/** Polls often. The deadline stays the usual one, which a step never reaches. */
export const FAST = { 'poll-interval-seconds': '0.1' }

/** A step that runs. */
export interface Step {
  /** Both streams, line by line, so far. */
  readonly lines: readonly string[]
  readonly child: ChildProcess
  readonly signal: (name: NodeJS.Signals) => void
}

export interface Options {
  readonly env?: Record<string, string>
  readonly workspace?: string
  readonly node?: string
  /** What happens while the step runs. */
  readonly meanwhile?: (step: Step) => Promise<void>
}

export interface Ended {
  readonly exitCode: number
  readonly outputs: Record<string, string>
  readonly summary: string
  /** Both streams, without the lines that mask the key. */
  readonly log: string
  /** The texts of a workflow command, such as `error`, unescaped. */
  readonly commands: (name: string) => string[]
  /**
   * From its first line to its end: how long a machine takes to start a process is not the action's
   * doing.
   */
  readonly milliseconds: number
  readonly sinceSignalMs: number
}

const running = new Set<ChildProcess>()
afterAll(() => {
  // A test that timed out leaves its step behind.
  for (const child of running) child.kill('SIGKILL')
})

/** Runs one step. The inputs are added to a project and a key. */
export async function runStep(
  inputs: Record<string, string>,
  options: Options = {},
): Promise<Ended> {
  const { meanwhile = async () => undefined, ...rest } = options
  const lines: string[] = []
  const startedAt = performance.now()
  let firstLineAt = startedAt
  let signalledAt = Number.NaN
  let failure: unknown
  const result = await runAction({
    bundle: BUNDLE,
    // The key as it is often pasted: the secret that is masked and hidden is without the line end.
    inputs: { 'project-id': 'docs', 'api-key': `${KEY}\n`, ...inputs },
    ...rest,
    env: { RUNNER_DEBUG: '1', ...options.env },
    onLine: (line) => lines.push(line),
    onStart: (child) => {
      running.add(child)
      child.on('close', () => running.delete(child))
      child.stdout?.once('data', () => {
        firstLineAt = performance.now()
        recordStart(firstLineAt - startedAt)
      })
      const signal = (name: NodeJS.Signals): void => {
        signalledAt = performance.now()
        child.kill(name)
      }
      meanwhile({ lines, child, signal }).catch((thrown: unknown) => {
        failure = thrown
        child.kill('SIGKILL')
      })
    },
  })
  const endedAt = performance.now()
  if (failure !== undefined) throw failure
  return {
    ...readResult(result, inputs['api-key'] ?? KEY),
    milliseconds: endedAt - firstLineAt,
    sinceSignalMs: endedAt - signalledAt,
  }
}

/** Starts a service for one fast step. */
export async function withService<T extends object>(
  script: Script,
  run: (inputs: Record<string, string>, service: ScriptedService) => Promise<T>,
): Promise<T & { readonly service: ScriptedService }> {
  const service = await startService(script)
  try {
    const ended = await run({ 'base-url': service.url, ...FAST }, service)
    expectNewConnections(service)
    return { ...ended, service }
  } finally {
    await service.close()
  }
}

type Meanwhile = (step: Step, service: ScriptedService) => Promise<void>

/** Runs one fast step against a service of its own. */
export const runAgainst = (
  script: Script,
  inputs: Record<string, string>,
  {
    meanwhile = async () => undefined,
    ...options
  }: Omit<Options, 'meanwhile'> & { meanwhile?: Meanwhile } = {},
): Promise<Ended & { readonly service: ScriptedService }> =>
  withService(script, (defaults, service) =>
    runStep(
      { ...defaults, ...inputs },
      { ...options, meanwhile: (step) => meanwhile(step, service) },
    ),
  )

/**
 * A POST is the first request on its connection: a server may close a kept-alive one just as it is
 * sent.
 */
function expectNewConnections({ received }: ScriptedService): void {
  for (const [index, { method, connection }] of received.entries()) {
    if (method !== 'POST') continue
    expect(received.slice(0, index).map((earlier) => earlier.connection)).not.toContain(connection)
  }
}

function readResult(
  { stdout, stderr, ...result }: Awaited<ReturnType<typeof runAction>>,
  key: string,
) {
  const lines = stdout.split(/\r\n|\r|\n/)
  const log = lines.filter((line) => !line.startsWith('::add-mask::')).join('\n')
  expectNoKey({ ...result, log }, key)
  expect(stderr).toBe('')
  // Nothing is written before the key is masked.
  if (key.trim() !== '' && stdout !== '') expect(lines[0]).toMatch(/^::add-mask::/)
  expect(['', ...STATUSES]).toContain(result.outputs.status ?? '')
  const commands = (name: string): string[] =>
    lines
      .flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
      .map(unescapeData)
  return { ...result, log, commands }
}

/** The key is nowhere, neither as it is nor percent-encoded nor as entities. */
export function expectNoKey(result: object, key: string): void {
  if (key.trim().length < 8) return
  const everything = decodeEntities(JSON.stringify(result))
  for (const form of [key, encodeURIComponent(key), encodeURIComponent(key).toLowerCase()]) {
    expect(everything).not.toContain(form)
  }
}

function decodeEntities(text: string): string {
  return text.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)))
}

function unescapeData(text: string): string {
  return text.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%')
}
