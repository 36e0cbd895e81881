// `npm start`: runs the action's bundle as a workflow step would, against the emulated service, and shows what comes of it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { listScenarios, readOptions, runCommand, scenarioName, UsageError } from './options.mjs'
import { startPullRequest } from './pull-request.mjs'
import { hideSecrets, newLog, renderLine, runAction } from './runner.mjs'
import { findScenario, PROJECT_ID } from './scenarios.mjs'
import { startEmulator } from './server.mjs'
import {
  commentPrinter,
  countRequests,
  indent,
  print,
  printTitle,
  secretsOf,
  toTable,
  toYaml,
} from './show.mjs'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { LogState, Run } from './runner.mjs' */

const SPEED = 120
const BUNDLE = fileURLToPath(new URL('../dist/index.js', import.meta.url))
const USUAL_INPUTS = {
  prompt: 'Describe the new --retry option on the page about the command line.',
  'project-id': PROJECT_ID,
  'api-key': 'mint_emulated_key',
  'poll-interval-seconds': '0.5',
}
const USAGE = `Runs the action against an emulated service, as the GitHub runner would.

  npm start -- [options]

  --scenario NAME      what the service does (default pr-opened)
  --prompt TEXT        the instruction, in place of the scenario's
  --input NAME=VALUE   any input of the action; may be repeated
  --debug              with debug lines, as when debug logging is on
  --list               the scenarios
  --help               this text

Scenarios, and how the step ends:`

/**
 * @param {string[]} settings as `name=value`
 * @returns {Record<string, string>}
 */
function parseInputs(settings) {
  const entries = settings.map((setting) => {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    if (!name) throw new UsageError(`--input takes NAME=VALUE, got '${setting}'`)
    return [name.toLowerCase(), value]
  })
  return Object.fromEntries(entries)
}

/** @returns {Promise<number>} the exit code */
async function main() {
  const options = readOptions({
    scenario: { type: 'string' },
    prompt: { type: 'string' },
    input: { type: 'string', multiple: true },
    debug: { type: 'boolean' },
    list: { type: 'boolean' },
    help: { type: 'boolean' },
  })
  const name = scenarioName(options.scenario)
  const given = parseInputs(options.input ?? [])
  if (options.help || options.list) {
    console.log(options.help ? `${USAGE}\n${listScenarios()}` : listScenarios())
    return 0
  }
  if (!existsSync(BUNDLE)) {
    throw new Error(`${path.relative('', BUNDLE)} is missing; 'npm ci && npm run build' makes it`)
  }
  const prompt = options.prompt === undefined ? {} : { prompt: options.prompt }
  return run(name, { ...prompt, ...given }, options.debug ?? false)
}

/**
 * @param {string} name of the scenario
 * @param {Record<string, string>} given inputs
 * @param {boolean} debug
 * @returns {Promise<number>} the exit code of the last run that failed, else 0
 */
async function run(name, given, debug) {
  const { description, step } = findScenario(name)
  const log = newLog(debug)
  /** @param {string} text */
  const hide = (text) => hideSecrets(text, log)
  const signals = new Signals()
  const service = await startEmulator({
    scenario: name,
    speed: SPEED,
    onRequest: ({ method }) => {
      if (step.cancel && method === 'GET') signals.send('SIGINT')
    },
  })
  if (step.offline) await service.close()
  const github = step.pullRequest && (await startPullRequest(step.pullRequest, commentPrinter(hide)))
  const inputs = { ...USUAL_INPUTS, 'base-url': service.url, ...step.inputs, ...given }
  for (const secret of secretsOf(inputs)) log.masks.add(secret)

  print(`Running ${path.relative('', BUNDLE)} as the GitHub runner would. Scenario ${name}: ${description}.`)
  print(`The emulated service is at ${service.url}; a minute passes there in ${60 / SPEED} s.`, 'quiet')
  printTitle('Step')
  print(hide(indent(toYaml(inputs))))
  let exitCode = 0
  try {
    for (const { title, ...event } of github?.runs ?? [{ title: '' }]) {
      if (signals.came) break
      if (title) printTitle(`━━ ${title} ━━`)
      exitCode = (await runOnce({ ...event, inputs }, log, signals)) || exitCode
    }
  } finally {
    await Promise.all([service.close(), github?.close()])
  }
  const byGitHub = github ? `; GitHub saw ${countRequests(github.requests, ['POST', 'PATCH', 'GET'])}` : ''
  const byService = countRequests(service.requests, ['POST', 'GET'])
  print(`\nExit code ${exitCode}; the service saw ${byService}${byGitHub}.`, 'title')
  return exitCode
}

/**
 * Runs the step once, and shows its log and what it left.
 * @param {Pick<Run, 'inputs' | 'env' | 'event'>} step
 * @param {LogState} log
 * @param {Signals} signals
 * @returns {Promise<number>} its exit code
 */
async function runOnce({ env, ...step }, log, signals) {
  printTitle('Log')
  log.inGroup = false
  const result = await runAction({
    ...step,
    bundle: BUNDLE,
    env: { ...env, ...(log.debug && { RUNNER_DEBUG: '1' }) },
    onStart: (child) => signals.passTo(child),
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

/** Passes signals on to the step that runs. Under npm a terminal's Ctrl-C comes twice, from both; the second one is dropped. */
class Signals {
  /** One came: there is to be no further run. */
  came = false
  #last = -Infinity
  /** @type {ChildProcess | undefined} */
  #child

  /** @param {ChildProcess} child */
  passTo(child) {
    const first = this.#child === undefined
    this.#child = child
    if (!first) return
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
      process.on(signal, () => {
        this.came = true
        const now = performance.now()
        // On Windows the step has had the Ctrl-C itself, and this would end it at once.
        if (now - this.#last > 300 && process.platform !== 'win32') this.send(signal)
        this.#last = now
      })
    }
  }

  /** @param {NodeJS.Signals} signal */
  send(signal) {
    this.#child?.kill(signal)
  }
}

await runCommand(main)
