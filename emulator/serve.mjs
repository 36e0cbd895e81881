// Runs the emulated service in the foreground, to try a workflow or the action by hand without an
// account.
import { appendFileSync, openSync } from 'node:fs'
import { UNREAL_REPOSITORY } from './jobs.mjs'
import {
  formatDuration,
  listScenarios,
  readNumber,
  readOptions,
  readPositive,
  readScenario,
  runCommand,
  UsageError,
} from './options.mjs'
import { DEFAULT_SPEED, findScenario, servableScenarios } from './scenarios.mjs'
import { startEmulator } from './server.mjs'

/** @import { LoggedRequest } from './server.mjs' */

const BODY_SHOWN = 2_000
const USAGE = `Runs the emulated service until it is interrupted.

  npm run serve -- [options]

  --port N          port on 127.0.0.1 (default: any free port)
  --scenario NAME   how it behaves (default pr-opened)
  --speed N         how many times faster docs jobs run (default ${DEFAULT_SPEED}: most take
                    4 s instead of 240 s)
  --job-seconds N   how long a docs job takes at speed 1 (default: set by the
                    scenario, usually 240)
  --log FILE        file to log requests to, one per line (default: standard
                    output)
  --list            list the scenarios
  --help            print this help

Scenarios, with the outcome of the action's step:
`

/**
 * @param {string} file
 * @returns {number} its descriptor, which still works after a step has removed the folder
 * @throws {UsageError} it can't be written
 */
function openLog(file) {
  try {
    return openSync(file, 'a')
  } catch (error) {
    throw new UsageError(`--log can't write to '${file}': ${/** @type {Error} */ (error).message}`)
  }
}

/** @param {number} number */
const isPort = (number) => Number.isInteger(number) && number >= 0 && number <= 65_535

/**
 * @param {LoggedRequest} request
 * @returns {string} one line, with the prompt as JSON if there is one; a long one is truncated
 */
function formatRequest({ method, path, status, body }) {
  const shown =
    body.length > BODY_SHOWN ? `${body.slice(0, BODY_SHOWN)}… (${body.length} characters)` : body
  // The runner treats `##[` anywhere in a line as a command.
  return `${method} ${path} ${status} ${shown.replace(/\s+/g, ' ')}`
    .trimEnd()
    .replaceAll('##[', '# #[')
}

/** @param {string} name of a scenario */
function describeScenario(name) {
  const { description, service } = findScenario(name)
  const initialJobs = (service.initialJobs ?? []).map(
    ({ id, projectId }) => `Project ${projectId} already has a docs job: ${id}.`,
  )
  return [`Scenario ${name}:\n  ${description}.`, ...initialJobs].join('\n')
}

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit code, after SIGINT or SIGTERM
 */
export async function serve(args) {
  const options = readOptions(
    {
      port: { type: 'string' },
      scenario: { type: 'string' },
      speed: { type: 'string' },
      'job-seconds': { type: 'string' },
      log: { type: 'string' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    'npm run serve',
    args,
  )
  if (options.help || options.list) {
    console.log(`${options.help ? `${USAGE}\n` : ''}${listScenarios(servableScenarios)}`)
    return 0
  }
  const scenario = readScenario(options.scenario, servableScenarios)
  const port = readNumber('port', options.port, isPort, 'a whole number up to 65535')
  const speed = readPositive('speed', options.speed) ?? DEFAULT_SPEED
  const jobSeconds = readPositive('job-seconds', options['job-seconds'])
  const log = options.log === undefined ? undefined : openLog(options.log)
  const emulator = await startEmulator({
    scenario,
    port,
    speed,
    jobSeconds,
    repository: UNREAL_REPOSITORY,
    onRequest(request) {
      if (log === undefined) console.log(formatRequest(request))
      else appendFileSync(log, `${formatRequest(request)}\n`)
    },
  })
  console.log(`The emulated service is running at
${emulator.url}
${describeScenario(scenario)}
A docs job takes ${formatDuration(emulator.jobSeconds)}. Stop the service with Ctrl-C.
To run the action against it, in another terminal:
npm start -- --input base-url=${emulator.url}
Requests are logged ${options.log === undefined ? 'below' : `to ${options.log}`}.`)
  await new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await emulator.close()
  return 0
}

await runCommand(import.meta.url, serve)
