/** Stands in for GitHub's command line: a program that passes each call on to the test, which answers it. */

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
}

const PROGRAM = `#!/usr/bin/env node
const { GH_STAND_IN: url, GH_TOKEN: token } = process.env
const body = JSON.stringify({ args: process.argv.slice(2), token, cwd: process.cwd() })
const { output, code } = await (await fetch(url, { method: 'POST', body })).json()
process[code === 0 ? 'stdout' : 'stderr'].write(output)
process.exitCode = code
`

/** Puts the program into a folder. What `answer` returns is printed; if it throws, the program fails. */
export async function startGh(folder: string, answer: (call: Call) => string) {
  const server = createServer(async (request, response) => {
    const call = (await json(request)) as Call
    let result: { output: string; code: number }
    try {
      result = { output: answer(call), code: 0 }
    } catch (error) {
      result = { output: `gh ${call.args.join(' ')}: ${error}\n`, code: 1 }
    }
    response.end(JSON.stringify(result))
  })
  const { port, close } = await startListening(server)
  await mkdir(folder)
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(path.join(folder, 'gh'), PROGRAM, { mode: 0o755 })
  return { env: { GH_STAND_IN: `http://127.0.0.1:${port}` }, close }
}
