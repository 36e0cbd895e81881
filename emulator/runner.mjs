// Runs an action's bundle as the GitHub runner would: the same environment, output files and
// workflow commands.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Readable } from 'node:stream' */

/**
 * @typedef {object} Run
 * @property {string} bundle the action's main file
 * @property {Record<string, string>} inputs as in `with:`
 * @property {string} [node] the Node to run it with (default: this one)
 * @property {Record<string, string>} [env] extra environment variables, overriding the runner's
 * @property {object} [event] the payload of the event that started the run
 * @property {string} [workspace] an existing folder (default: an empty one, removed at the end)
 * @property {(line: string) => void} [onLine] called for each line of both streams as it arrives,
 * unchanged
 * @property {(child: ChildProcess) => void} [onStart]
 * @property {boolean} [detached] in its own process group, so that a terminal's Ctrl-C reaches it
 * only through its parent
 *   (default: true, where there are groups)
 */

const FILES = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_PATH']

/**
 * @param {Run} run
 * @throws {Error} the process can't be started, or left an output file that the runner would reject
 */
export async function runAction(run) {
  const { code, signal, stdout, stderr, outputFile, summary } = await runBundle(run)
  // 128 plus the signal's number if a signal ended it.
  const exitCode = code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)]
  return { exitCode, stdout, stderr, outputs: parseOutputs(outputFile), summary }
}

/**
 * The same, with what the process left as it is.
 * @param {Run} run
 */
export async function runBundle({
  bundle,
  inputs = {},
  node = process.execPath,
  env = {},
  event = {},
  ...run
}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'action-'))
  try {
    const runnerEnv = await runnerEnvironment(folder, event, run.workspace)
    const startedAt = performance.now()
    const child = spawn(node, [bundle], {
      cwd: runnerEnv.GITHUB_WORKSPACE,
      env: { ...runnerEnv, ...inputEnvironment(inputs), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: run.detached ?? process.platform !== 'win32',
    })
    run.onStart?.(child)
    const stdout = collect(child.stdout, run.onLine)
    const stderr = collect(child.stderr, run.onLine)
    const [code, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ (
      await once(child, 'close')
    )
    return {
      startedAt,
      code,
      signal,
      stdout: stdout(),
      stderr: stderr(),
      outputFile: await readFile(path.join(folder, 'GITHUB_OUTPUT'), 'utf8'),
      /** The Markdown of the step summary. */
      summary: await readFile(path.join(folder, 'GITHUB_STEP_SUMMARY'), 'utf8'),
    }
  } finally {
    // On Windows a virus scanner may hold a file for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Creates the runner's folders and files.
 * @param {string} folder
 * @param {object} event
 * @param {string} [workspace]
 * @returns the environment that names them
 */
export async function runnerEnvironment(folder, event, workspace = path.join(folder, 'workspace')) {
  const { PATH = '', HOME = '' } = process.env
  const temp = path.join(folder, 'temp')
  await Promise.all([workspace, temp].map((name) => mkdir(name, { recursive: true })))
  await Promise.all(FILES.map((name) => writeFile(path.join(folder, name), '')))
  const eventPath = path.join(folder, 'event.json')
  await writeFile(eventPath, JSON.stringify(event))
  return {
    PATH,
    HOME,
    ...Object.fromEntries(FILES.map((name) => [name, path.join(folder, name)])),
    GITHUB_ACTION: 'agent',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: 'octocat',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_EVENT_NAME: 'workflow_dispatch',
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_JOB: 'docs',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_NAME: 'main',
    GITHUB_REPOSITORY: 'your-org/your-repo',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '1',
    GITHUB_RUN_NUMBER: '1',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    GITHUB_WORKFLOW: 'Docs',
    GITHUB_WORKFLOW_REF: 'your-org/your-repo/.github/workflows/docs.yml@refs/heads/main',
    GITHUB_WORKSPACE: workspace,
    RUNNER_TEMP: temp,
  }
}

/** @param {Record<string, string>} inputs as in `with:` */
export function inputEnvironment(inputs) {
  const entries = Object.entries(inputs)
  return Object.fromEntries(
    entries.map(([name, value]) => [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value]),
  )
}

/**
 * @param {Readable} stream
 * @param {(line: string) => void} [onLine]
 * @returns {() => string} everything so far
 */
function collect(stream, onLine) {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  if (onLine) createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine)
  return () => text
}

/**
 * Reads an output file: `name=value`, or `name<<END`, lines, `END`. The last value of a name wins.
 * @param {string} text
 * @returns {Record<string, string>}
 * @throws {SyntaxError} if the runner would fail the step
 */
export function parseOutputs(text) {
  /** @type {Map<string, string>} */
  const outputs = new Map()
  const lines = text.split(process.platform === 'win32' ? /\r?\n/ : '\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line === '') continue
    const [, name, mark, rest = ''] = /^([^=]*?)(=|<<)(.*)$/s.exec(line) ?? []
    if (!name || (mark === '<<' && !rest)) throw new SyntaxError(`Invalid format '${line}'`)
    const end = mark === '<<' ? lines.indexOf(rest, at + 1) : at
    if (end < 0) throw new SyntaxError(`Matching delimiter not found '${rest}'`)
    outputs.set(name, mark === '<<' ? lines.slice(at + 1, end).join('\n') : rest)
    at = end
  }
  return Object.fromEntries(outputs)
}

/**
 * @param {string} manifest the text of an action.yml, with two spaces per level: there is no YAML
 * parser in Node
 * @returns {string[]}
 */
export function readInputNames(manifest) {
  const [, inputs = ''] = /^inputs:\s*\n((?:(?:[ #].*)?\r?\n)*)/m.exec(manifest) ?? []
  return [...inputs.matchAll(/^ {2}([\w-]+):/gm)].map(([, name = '']) => name)
}

/**
 * The runner's own warning (actions/runner, src/Runner.Worker/ActionRunner.cs).
 * @param {Record<string, string>} inputs
 * @param {string[]} valid
 * @returns {string | undefined} undefined if there is nothing to warn about
 */
export function warnOfUnexpectedInputs(inputs, valid) {
  const unexpected = Object.keys(inputs).filter((name) => !valid.includes(name))
  if (unexpected.length === 0) return undefined
  return `Unexpected input(s) '${unexpected.join("', '")}', valid inputs are ['${valid.join("', '")}']`
}

/** @typedef {'text' | 'notice' | 'warning' | 'error' | 'debug' | 'group'} Kind */

/** @typedef {ReturnType<typeof newLog>} LogState what earlier lines have set */

/** @param {boolean} [debug] whether debug lines are shown */
export const newLog = (debug = false) => ({
  debug,
  masks: /** @type {Set<string>} */ (new Set()),
  inGroup: false,
})

/**
 * Shows a line of the action as the runner's log does, and executes its workflow commands.
 * @param {string} line
 * @param {LogState} state changed by masks and groups
 * @returns {{ kind: Kind, text: string } | undefined} undefined if there is nothing to show
 */
export function renderLine(line, state) {
  const [, name = '', data = ''] = /^\s*::([a-z-]+)(?: .*?)?::(.*)$/s.exec(line) ?? []
  const value = unescapeData(data)
  /** @type {(kind: Kind, text: string) => { kind: Kind, text: string }} */
  const show = (kind, text) => {
    const indented = state.inGroup ? text.replace(/^/gm, '  ') : text
    return { kind, text: hideSecrets(indented, state) }
  }
  switch (name) {
    case 'add-mask':
      for (const secret of [value, ...value.split(/\r|\n/)])
        if (secret.trim()) state.masks.add(secret)
      return undefined
    case 'group': {
      state.inGroup = false
      const title = show('group', `▾ ${value}`)
      state.inGroup = true
      return title
    }
    case 'endgroup':
      state.inGroup = false
      return undefined
    case 'debug':
      return state.debug ? show('debug', `Debug: ${value}`) : undefined
    case 'notice':
    case 'warning':
    case 'error':
      return show(name, `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${value}`)
    default:
      return show('text', line)
  }
}

/** @param {string} data */
function unescapeData(data) {
  return data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
}

/**
 * @param {string} text
 * @param {Pick<LogState, 'masks'>} state
 * @returns {string} with `***` instead of every masked value
 */
export function hideSecrets(text, { masks }) {
  const longestFirst = [...masks].sort((a, b) => b.length - a.length)
  return longestFirst.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}
