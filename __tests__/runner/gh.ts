/**
 * Stands in for GitHub's command line: a program that passes each call on to the test, which
 * answers it.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { startListening } from '../support/listening.js'

/** A call of `gh`: its arguments, and its environment. */
export interface Call {
  readonly args: readonly string[]
  readonly token?: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A call that fails after it printed something. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly printed = '',
  ) {
    super(message)
  }
}

const PROGRAM = `#!/usr/bin/env node
const { GH_STAND_IN: url, GH_TOKEN: token } = process.env
const body = JSON.stringify({ args: process.argv.slice(2), token, cwd: process.cwd(), env: process.env })
const { printed, error } = await (await fetch(url, { method: 'POST', body })).json()
process.stdout.write(printed)
if (error) {
  process.stderr.write(error)
  process.exitCode = 1
}
`

/**
 * Puts the program into a folder. What `answer` returns is printed; if it throws, the program
 * fails.
 */
export async function startGh(folder: string, answer: (call: Call) => string | Promise<string>) {
  const server = createServer(async (request, response) => {
    const call = (await json(request)) as Call
    let result: { printed: string; error?: string }
    try {
      result = { printed: await answer(call) }
    } catch (error) {
      const printed = error instanceof Failure ? error.printed : ''
      result = { printed, error: `gh ${call.args.join(' ')}: ${error}\n` }
    }
    response.end(JSON.stringify(result))
  })
  const { port, close } = await startListening(server)
  await mkdir(folder)
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(path.join(folder, 'gh'), PROGRAM, { mode: 0o755 })
  return { env: { GH_STAND_IN: `http://127.0.0.1:${port}` }, close }
}
