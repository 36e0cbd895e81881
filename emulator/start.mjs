// `npm start`: runs the action's bundle as a workflow step would, against the emulated service, and
// shows the result.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  formatDuration,
  listScenarios,
  parseInputs,
  readOptions,
  readPositive,
  readScenario,
  runCommand,
  UsageError,
} from './options.mjs'
import { startPullRequest } from './pull-request.mjs'
import {
  hideSecrets,
  newLog,
  readInputNames,
  renderLine,
  runAction,
  warnOfUnexpectedInputs,
} from './runner.mjs'
import { DEFAULT_SPEED, findScenario, PROJECT_ID } from './scenarios.mjs'
import { startEmulator } from './server.mjs'
import {
  countRequests,
  createCommentPrinter,
  getSecrets,
  indent,
  print,
  printTitle,
  toRequestTable,
  toTable,
  toYaml,
} from './show.mjs'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { LogState, Run } from './runner.mjs' */
/** @import { Step } from './scenarios.mjs' */
/** @import { Emulator, LoggedRequest } from './server.mjs' */

/** Under npm, both signals of one Ctrl-C arrive within this time. */
const DUPLICATE_SIGNAL_MS = 500
/** The folder of the action. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const USUAL_INPUTS = {
  prompt: 'Describe the new --retry option on the page about the command line.',
  'project-id': PROJECT_ID,
  'api-key': 'mint_emulated_key',
}
/** The emulated docs job is short, so it is polled more often than a real one. */
const DEMO_INPUTS = { 'poll-interval-seconds': '1' }
const USAGE = `Runs the action against an emulated service, as the GitHub runner would.

  npm start -- [options]

  --scenario NAME      how the service behaves (default pr-opened)
  --prompt TEXT        the instruction, instead of the scenario's (with
                       --scenario attach, it is sent as a message)
  --input NAME=VALUE   any input but prompt-file; may be repeated. With
                       base-url, the step uses the service at that URL, and no
                       emulated one is started
  --speed N            how many times faster docs jobs run (default ${DEFAULT_SPEED}: most
                       take 4 s instead of 240 s)
  --debug              print debug lines, as with debug logging enabled
  --list               list the scenarios
  --help               print this help

Scenarios, with the step's outcome:
`

/**
 * @param {string[]} args
 * @param {string} [root] the folder of the action to run
 * @returns {Promise<number>} the exit code
 */
export async function start(args, root = ROOT) {
  const options = readOptions(
    {
      scenario: { type: 'string' },
      prompt: { type: 'string' },
      input: { type: 'string', multiple: true },
      speed: { type: 'string' },
      debug: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    'npm start',
    args,
  )
  const scenario = readScenario(options.scenario)
  const inputs = parseInputs(options.input ?? [])
  const speed = readPositive('speed', options.speed) ?? DEFAULT_SPEED
  if (options.help || options.list) {
    console.log(`${options.help ? `${USAGE}\n` : ''}${listScenarios()}`)
    return 0
  }
  if (inputs['base-url'] && (options.scenario ?? options.speed) !== undefined) {
    throw new UsageError(
      "--scenario and --speed can't be combined with --input base-url=URL, since no service is emulated then",
    )
  }
  const prompt = options.prompt === undefined ? {} : { prompt: options.prompt }
  const { debug = false } = options
  return run({ root, scenario, given: { ...prompt, ...inputs }, speed, debug })
}

/**
 * @param {{ root: string, scenario: string, given: Record<string, string>, speed: number, debug:
 * boolean }} settings
 * @returns {Promise<number>} the exit code of the last run that failed, else 0
 */
async function run({ root, scenario, given, speed, debug }) {
  const bundle = path.join(root, 'dist/index.js')
  if (!existsSync(bundle)) {
    throw new Error(
      `${path.relative('', bundle)} is missing; create it with 'npm ci && npm run build'`,
    )
  }
  const known = readInputNames(readFileSync(path.join(root, 'action.yml'), 'utf8'))
  const { description, step } = findScenario(scenario)
  const log = newLog(debug)
  /** @param {string} text */
  const hide = (text) => hideSecrets(text, log)
  const signals = new Signals()
  const service = given['base-url'] ? undefined : await startService(scenario, speed, step, signals)
  const github =
    step.pullRequest && (await startPullRequest(step.pullRequest, createCommentPrinter(hide)))
  const demoInputs = service && { ...DEMO_INPUTS, 'base-url': service.url, ...step.demoInputs }
  const inputs = { ...USUAL_INPUTS, ...step.inputs, ...demoInputs, ...given }
  for (const secret of getSecrets(inputs)) log.masks.add(secret)

  print(`Running ${path.relative('', bundle)} as the GitHub runner would.`)
  if (service) print(`Scenario ${scenario}:\n  ${description}.`)
  print(describeService(service, step))
  printTitle('Step')
  const demoOnly = Object.keys(demoInputs ?? {}).filter((name) => !(name in given))
  print(hide(indent(toYaml(inputs, demoOnly))))
  const warning = warnOfUnexpectedInputs(inputs, known)
  let exitCode = 0
  try {
    for (const { title, ...event } of github?.runs ?? [{ title: '', event: {}, env: {} }]) {
      if (signals.received) break
      if (title) printTitle(`━━ ${title} ━━`)
      const earlier = service?.requests.length
      const env = { ...(service === undefined && networkEnvironment()), ...event.env }
      exitCode =
        (await runOnce({ ...event, bundle, env, inputs }, warning, log, signals)) || exitCode
      if (service) printRequests(service.requests.slice(earlier), hide)
    }
  } finally {
    await Promise.all([service?.close(), github?.close()])
  }
  const counts = [
    ...(service
      ? [`the service received ${countRequests(service.requests, ['POST', 'GET'])}`]
      : []),
    ...(github
      ? [`GitHub received ${countRequests(github.requests, ['POST', 'PATCH', 'GET'])}`]
      : []),
  ]
  print(`\n${[`Exit code ${exitCode}`, ...counts].join(';\n')}.`, 'title')
  return exitCode
}

/**
 * What the step needs to reach a service elsewhere: the proxy, and the certificate of a private
 * authority.
 */
function networkEnvironment() {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [
    name,
    name.toLowerCase(),
  ])
  const given = Object.entries(process.env).filter(([name]) =>
    [...names, 'NODE_EXTRA_CA_CERTS'].includes(name),
  )
  return Object.fromEntries(given.map(([name, value = '']) => [name, value]))
}

/**
 * @param {string} scenario
 * @param {number} speed
 * @param {Step} step
 * @param {Signals} signals
 * @returns {Promise<Emulator>} closed already if nothing is to listen at its URL
 */
async function startService(scenario, speed, step, signals) {
  const service = await startEmulator({
    scenario,
    speed,
    onRequest({ method }) {
      if (step.cancel && method === 'GET') signals.send('SIGINT')
    },
  })
  if (step.offline) await service.close()
  return service
}

/**
 * @param {Emulator | undefined} service
 * @param {Step} step
 */
function describeService(service, step) {
  if (!service) return 'No emulated service is started: the step uses the one at base-url.'
  if (step.offline) return `The URL is ${service.url}.`
  return `The emulated service is at ${service.url}.\nA docs job takes ${formatDuration(service.jobSeconds)} there.`
}

/**
 * Runs the step once, and shows its log and its results.
 * @param {Pick<Run, 'bundle' | 'env' | 'event' | 'inputs'>} step
 * @param {string | undefined} warning of the runner
 * @param {LogState} log
 * @param {Signals} signals
 * @returns {Promise<number>} its exit code
 */
async function runOnce({ env, ...step }, warning, log, signals) {
  printTitle('Log')
  if (warning) print(indent(`Warning: ${warning}`), 'warning')
  log.inGroup = false
  const result = await runAction({
    ...step,
    env: { ...env, ...(log.debug && { RUNNER_DEBUG: '1' }) },
    onStart: (child) => signals.forwardTo(child),
    onLine(line) {
      const shown = renderLine(line, log)
      if (shown) print(indent(shown.text), shown.kind)
    },
  })
  printTitle('Outputs')
  print(hideSecrets(indent(toTable(result.outputs) || '(none)'), log))
  printTitle('Summary')
  print(hideSecrets(indent(result.summary.trim() || '(none)'), log))
  return result.exitCode
}

/**
 * @param {LoggedRequest[]} requests
 * @param {(text: string) => string} hide replaces the secrets
 */
function printRequests(requests, hide) {
  printTitle('Requests to the service')
  print(hide(indent(toRequestTable(requests) || '(none)')))
}

/**
 * Forwards signals to the running step. Under npm, one Ctrl-C arrives twice, from the terminal and
 * from npm.
 */
class Signals {
  /** Whether one was received: no further run is started. */
  received = false
  #last = -Infinity
  /** @type {ChildProcess | undefined} */
  #child

  /** @param {ChildProcess} child */
  forwardTo(child) {
    const first = this.#child === undefined
    this.#child = child
    if (!first) return
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      process.on(signal, () => {
        this.received = true
        const now = performance.now()
        // On Windows the step has received the Ctrl-C itself, and this would end it immediately.
        if (now - this.#last > DUPLICATE_SIGNAL_MS && process.platform !== 'win32')
          this.send(signal)
        this.#last = now
      })
    }
  }

  /** @param {NodeJS.Signals} signal */
  send(signal) {
    this.#child?.kill(signal)
  }
}

await runCommand(import.meta.url, start)
