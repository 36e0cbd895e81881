// Reads a command's options, and turns every mistake into one line that says what is right.
import { parseArgs } from 'node:util'
import { DEFAULT_SCENARIO, findScenario, scenarios } from './scenarios.mjs'

/** @import { ParseArgsConfig } from 'node:util' */

/** Ends the command with one line on stderr and exit code 2. */
export class UsageError extends Error {}

/**
 * @template {NonNullable<ParseArgsConfig['options']>} T
 * @param {T} options as node:util takes them
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>['values']}
 * @throws {UsageError} for an option there is not, or one without its value
 */
export function readOptions(options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ') : []
    const names = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(`${reason}; there are ${names.join(', ')}`)
  }
}

/**
 * @param {string} [name]
 * @returns {string} the name, or the default
 * @throws {UsageError} for a name there is not
 */
export function scenarioName(name = DEFAULT_SCENARIO) {
  try {
    findScenario(name)
    return name
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @returns {string} the scenarios, one a line, with how the step ends */
export function listScenarios() {
  const rows = Object.entries(scenarios).map(([name, { description, step }]) => {
    const end = step.errorCode ? `${step.outcome}, ${step.errorCode}` : step.outcome
    return `  ${name.padEnd(22)}${description} (${end})`
  })
  return rows.join('\n')
}

/**
 * Runs a command and sets the exit code it returns.
 * @param {() => Promise<number>} main
 */
export async function runCommand(main) {
  try {
    process.exitCode = await main()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
