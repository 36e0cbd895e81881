/** Runs the bundle as the runner would, and holds every run to what is never allowed. */

import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { expect } from '@jest/globals'
import { runAction } from '../../emulator/runner.mjs'

/** The fresh bundle; a test holds the committed one to it. */
export const BUNDLE = path.resolve('build/dist/index.js')
export const KEY = 'mint_e2e/0123+456789~abcdef'

/** After a signal a step ends within a second; another one is for a machine that has other work. */
export const SOON_MS = 2_000

export interface Options {
  readonly env?: Record<string, string>
  readonly workspace?: string
  readonly node?: string
  readonly onStart?: (child: ChildProcess) => void
  readonly onLine?: (line: string) => void
}

export interface Ended {
  readonly exitCode: number
  readonly outputs: Record<string, string>
  readonly summary: string
  /** Both streams, without the lines that mask the key. */
  readonly log: string
  /** The lines of a workflow command, unescaped, such as `error`. */
  readonly commands: (name: string) => string[]
  /** From the first sign of life: how long a machine takes to start a process is not the action's. */
  readonly milliseconds: number
}

/** Runs one step; inputs in `with` are added to a project and a key. */
export async function act(inputs: Record<string, string>, options: Options = {}): Promise<Ended> {
  let start = performance.now()
  const result = await runAction({
    bundle: BUNDLE,
    inputs: { 'project-id': 'docs', 'api-key': KEY, ...inputs },
    ...options,
    onStart: (child) => {
      child.stdout?.once('data', () => {
        start = performance.now()
      })
      options.onStart?.(child)
    },
    env: { RUNNER_DEBUG: '1', ...options.env },
  })
  const milliseconds = performance.now() - start
  const lines = `${result.stdout}${result.stderr}`.split(/\r\n|\r|\n/)
  const log = lines.filter((line) => !line.startsWith('::add-mask::')).join('\n')
  expectNoKey({ ...result, log, stdout: '' }, inputs['api-key'] ?? KEY)
  expect(result.stderr).toBe('')
  const commands = (name: string): string[] =>
    lines
      .flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
      .map(unescapeData)
  return {
    exitCode: result.exitCode,
    outputs: result.outputs,
    summary: result.summary,
    log,
    commands,
    milliseconds,
  }
}

/** The key is nowhere, neither plainly nor percent-encoded nor as entities. */
function expectNoKey(result: object, key: string): void {
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
