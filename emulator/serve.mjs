// Runs the emulated service in the foreground, so that a workflow can be tried without an account.
import { appendFileSync, existsSync } from 'node:fs'
import path from 'node:path'
import { listScenarios, readOptions, runCommand, scenarioName, UsageError } from './options.mjs'
import { startEmulator } from './server.mjs'

/** @import { LoggedRequest } from './server.mjs' */

const SHOWN = 2_000
const USAGE = `Runs the emulated service until it is interrupted.

  node emulator/serve.mjs [options]

  --port N          where it listens on 127.0.0.1 (default: a free port)
  --scenario NAME   what it does (default pr-opened)
  --speed N         how much faster than real time its clock runs (default 1)
  --job-seconds N   how long a job takes on its clock (default: the scenario's, 240)
  --log FILE        where a line for each request goes (default: standard output)
  --help            this text

Scenarios, and how the action's step ends:`

/**
 * @param {string} name of the option
 * @param {string | undefined} text
 * @param {(number: number) => boolean} isValid
 * @param {string} range in words
 * @returns {number | undefined} undefined where it is not given
 * @throws {UsageError} for anything but a number in the range
 */
function readNumber(name, text, isValid, range) {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && isValid(number)) return number
  throw new UsageError(`--${name} takes ${range}, got '${text}'`)
}

/** @param {number} number */
const isPort = (number) => Number.isInteger(number) && number >= 0 && number <= 65_535

/** @param {number} number */
const isPositive = (number) => number > 0

/**
 * @param {LoggedRequest} request
 * @returns {string} one line, with the prompt as JSON where there is one; a long one is cut
 */
function describe({ method, path, status, body }) {
  const shown = body.length > SHOWN ? `${body.slice(0, SHOWN)}… (${body.length} characters)` : body
  // The runner takes `##[` anywhere in a line for a command.
  return `${method} ${path} ${status} ${shown.replace(/\s+/g, ' ')}`.trimEnd().replaceAll('##[', '# #[')
}

/** @returns {Promise<number>} the exit code, when a signal came */
async function main() {
  const options = readOptions({
    port: { type: 'string' },
    scenario: { type: 'string' },
    speed: { type: 'string' },
    'job-seconds': { type: 'string' },
    log: { type: 'string' },
    help: { type: 'boolean' },
  })
  const { log } = options
  /** @param {string} line */
  const tell = (line) =>
    log && existsSync(path.dirname(log)) ? appendFileSync(log, `${line}\n`) : console.log(line)
  if (options.help) {
    console.log(`${USAGE}\n${listScenarios()}`)
    return 0
  }
  const emulator = await startEmulator({
    scenario: scenarioName(options.scenario),
    port: readNumber('port', options.port, isPort, 'a whole number up to 65535'),
    speed: readNumber('speed', options.speed, isPositive, 'a number above 0'),
    jobSeconds: readNumber('job-seconds', options['job-seconds'], isPositive, 'a number above 0'),
    onRequest: (request) => tell(describe(request)),
  })
  console.log(emulator.url)
  await new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await emulator.close()
  return 0
}

await runCommand(main)
