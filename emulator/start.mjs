// `npm start`: runs the action's bundle as a workflow step would, against the emulated service, and shows what comes of it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import util from 'node:util'
import { listScenarios, readOptions, runCommand, scenarioName, UsageError } from './options.mjs'
import { hideSecrets, newLog, renderLine, runAction } from './runner.mjs'
import { findScenario, PROJECT_ID } from './scenarios.mjs'
import { startEmulator } from './server.mjs'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Kind } from './runner.mjs' */
/** @import { LoggedRequest } from './server.mjs' */
/** @typedef {Parameters<typeof util.styleText>[0]} Style */

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

/** @type {Record<Kind | 'title' | 'quiet', Style | undefined>} */
const STYLES = {
  text: undefined,
  notice: 'cyan',
  warning: 'yellow',
  error: 'red',
  debug: 'magenta',
  group: 'bold',
  title: 'bold',
  quiet: 'gray',
}

/**
 * @param {string} text
 * @param {keyof typeof STYLES} [kind]
 */
function print(text, kind = 'text') {
  const { NO_COLOR } = process.env
  const style = process.stdout.isTTY && !NO_COLOR ? STYLES[kind] : undefined
  console.log(style && util.styleText ? util.styleText(style, text) : text)
}

/** @param {string} name */
function printTitle(name) {
  print(`\n${name}`, 'title')
}

/** @param {string} text */
const indent = (text) => text.replace(/^(?=.)/gm, '  ')

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

/** @param {Record<string, string>} inputs */
function toYaml(inputs) {
  const given = Object.entries(inputs).filter(([, value]) => value !== '')
  const lines = given.map(([name, value]) => `  ${name}: ${name === 'api-key' ? '***' : toScalar(value)}`)
  return ['uses: ./', 'with:', ...lines].join('\n')
}

/** @param {string} value */
function toScalar(value) {
  if (/^(https?:\S+|\w[\w ./-]*)$/.test(value)) return value
  if (value.includes('\n')) return `|\n${value.replace(/^(?=.)/gm, '    ')}`
  return JSON.stringify(value)
}

/** @param {Record<string, string>} outputs */
function toTable(outputs) {
  const width = Math.max(0, ...Object.keys(outputs).map((name) => name.length))
  return Object.entries(outputs)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd())
    .join('\n')
}

/**
 * Passes signals on. Under npm a terminal's Ctrl-C comes twice, from both; the second one is dropped.
 * @param {ChildProcess} child
 */
function passSignalsOn(child) {
  let last = -Infinity
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      const now = performance.now()
      if (now - last > 300) child.kill(signal)
      last = now
    })
  }
}

/**
 * @param {LoggedRequest[]} requests
 * @returns {string} such as `4 requests (1 POST, 3 GET)`
 */
function countRequests(requests) {
  const gets = requests.filter(({ method }) => method === 'GET').length
  const posts = requests.length - gets
  return `${requests.length} request${requests.length === 1 ? '' : 's'} (${posts} POST, ${gets} GET)`
}

/** @returns {Promise<number>} the action's exit code */
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
 * @returns {Promise<number>} the action's exit code
 */
async function run(name, given, debug) {
  const { description, step } = findScenario(name)
  const log = newLog(debug)
  /** @type {ChildProcess | undefined} */
  let child
  const emulator = await startEmulator({
    scenario: name,
    speed: SPEED,
    onRequest: ({ method }) => {
      if (step.cancel && method === 'GET') child?.kill('SIGINT')
    },
  })
  if (step.offline) await emulator.close()
  const inputs = { ...USUAL_INPUTS, 'base-url': emulator.url, ...step.inputs, ...given }
  if (inputs['api-key'].trim()) log.masks.add(inputs['api-key'].trim())

  print(`Running ${path.relative('', BUNDLE)} as the GitHub runner would. Scenario ${name}: ${description}.`)
  print(`The emulated service is at ${emulator.url}; a minute passes there in ${60 / SPEED} s.`, 'quiet')
  printTitle('Step')
  print(hideSecrets(indent(toYaml(inputs)), log))
  printTitle('Log')
  const result = await runAction({
    bundle: BUNDLE,
    inputs,
    env: debug ? { RUNNER_DEBUG: '1' } : {},
    onStart(started) {
      child = started
      passSignalsOn(started)
    },
    onLine(line) {
      const shown = renderLine(line, log)
      if (shown) print(indent(shown.text), shown.kind)
    },
  }).finally(emulator.close)
  printTitle('Outputs')
  print(hideSecrets(indent(toTable(result.outputs) || '(none)'), log))
  printTitle('Summary')
  print(hideSecrets(indent(result.summary.trim() || '(none)'), log))
  print(`\nExit code ${result.exitCode}; the service saw ${countRequests(emulator.requests)}.`, 'title')
  return result.exitCode
}

await runCommand(main)
