// Reads a command's options. Every mistake becomes one line that says what is right.
import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { DEFAULT_SCENARIO, scenarios, serviceScenarios } from './scenarios.mjs'

/** @import { ParseArgsConfig } from 'node:util' */

/** Ends the command with one line on stderr and exit code 2. */
export class UsageError extends Error {}

/**
 * @template {NonNullable<ParseArgsConfig['options']>} T
 * @param {T} options as node:util expects them
 * @param {string} command as it is typed, for the hint
 * @param {string[]} args
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>['values']}
 * @throws {UsageError} for an unknown option, or one without its value
 */
export function readOptions(options, command, args) {
  try {
    return parseArgs({ options, args }).values
  } catch (error) {
    const [reason = ''] = /** @type {Error} */ (error).message.split('. ')
    const names = Object.keys(options).map((name) => `--${name}`)
    // Without '--', npm keeps `--scenario` for itself and passes on its value alone.
    const hint = reason.startsWith('Unexpected argument')
      ? `; npm expects '${command} -- [options]'`
      : ''
    throw new UsageError(`${reason}${hint}; available options: ${names.join(', ')}`)
  }
}

/**
 * @param {string[]} settings as `name=value`
 * @returns {Record<string, string>}
 * @throws {UsageError}
 */
export function parseInputs(settings) {
  const entries = settings.map((setting) => {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    if (!name) throw new UsageError(`--input expects NAME=VALUE, got '${setting}'`)
    return [name.toLowerCase(), value]
  })
  const inputs = Object.fromEntries(entries)
  // Empty means the default, which here is the emulated service, never the real one.
  if (inputs['base-url']?.trim() === '') delete inputs['base-url']
  return inputs
}

/**
 * @param {string} [name]
 * @param {string[]} [available]
 * @returns {string} the name, or the default
 * @throws {UsageError} for a name that is not available
 */
export function readScenario(name = DEFAULT_SCENARIO, available = Object.keys(scenarios)) {
  if (available.includes(name)) return name
  const problem = Object.hasOwn(scenarios, name)
    ? `scenario '${name}' is about the step, not the service`
    : `unknown scenario '${name}'`
  throw new UsageError(`${problem}; available: ${available.join(', ')}`)
}

/**
 * @param {string} name of the option
 * @param {string | undefined} text
 * @param {(number: number) => boolean} isValid
 * @param {string} range in words
 * @returns {number | undefined} undefined if the option is not given
 * @throws {UsageError} for anything but a number in the range
 */
export function readNumber(name, text, isValid, range) {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && isValid(number)) return number
  throw new UsageError(`--${name} expects ${range}, got '${text}'`)
}

/**
 * @param {string} name of the option
 * @param {string | undefined} text
 */
export function readPositive(name, text) {
  return readNumber(name, text, (number) => number > 0, 'a number above 0')
}

/**
 * @param {string[]} [names]
 * @returns {string} the scenarios, each with the outcome of the step, and what happens on a line of
 * its own: both fit into a terminal
 */
export function listScenarios(names = Object.keys(scenarios)) {
  const rows = Object.entries(scenarios)
    .filter(([name]) => names.includes(name))
    .map(([name, { description, step }]) => {
      const end = step.errorCode ? `${step.outcome}, ${step.errorCode}` : step.outcome
      const mark = serviceScenarios.includes(name) ? '*' : ' '
      return `${mark} ${name.padEnd(22)}${end}\n    ${description}`
    })
  return [...rows, '', '* also a scenario of the emulator action (emulator/action.yml)'].join('\n')
}

/**
 * @param {number} seconds
 * @returns {string} such as `4 s` or `24 min`
 */
export function formatDuration(seconds) {
  const [value, unit] = seconds < 120 ? [seconds, 's'] : [seconds / 60, 'min']
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`
}

/**
 * @param {string} text
 * @returns {string} in lines of at most 80 columns, as a terminal has; a longer word stays whole
 */
export function wrap(text) {
  return text.replaceAll(/(.{1,80})(?: |$)/gm, '$1\n').trimEnd()
}

/**
 * Runs a command and sets the exit code it returns, unless its module is only imported.
 * @param {string} url of the module
 * @param {(args: string[]) => Promise<number>} command
 */
export async function runCommand(url, command) {
  const [, script = '', ...args] = process.argv
  if (url !== pathToFileURL(script && realpathSync(script)).href) return
  // If the reader of the output has stopped reading, as with `| head`, the step is still waited for
  // and cleaned up.
  process.stdout.on('error', () => {})
  try {
    process.exitCode = await command(args)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    process.stderr.write(`${wrap(error.message)}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
