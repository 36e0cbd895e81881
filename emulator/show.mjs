// What `npm start` prints: the step, its outputs, the pull request's comment, the requests to the
// service.
import util from 'node:util'

/** @import { Comment } from './pull-request.mjs' */
/** @import { Kind } from './runner.mjs' */
/** @import { LoggedRequest } from './server.mjs' */
/** @typedef {Parameters<typeof util.styleText>[0]} Style */

/** @type {Record<Kind | 'title' | 'comment', Style | undefined>} */
const STYLES = {
  text: undefined,
  notice: 'cyan',
  warning: 'yellow',
  error: 'red',
  debug: 'magenta',
  group: 'bold',
  title: 'bold',
  comment: 'green',
}
export const SECRETS = ['api-key', 'previous-api-key', 'github-token', 'code-token', 'docs-token']
const MARKER = /<!-- (.{1,18}).*? -->/g

/**
 * @param {string} text
 * @param {keyof typeof STYLES} [kind]
 */
export function print(text, kind = 'text') {
  const { NO_COLOR } = process.env
  const style = process.stdout.isTTY && !NO_COLOR ? STYLES[kind] : undefined
  // Missing before Node 20.12.
  console.log(style && util.styleText ? util.styleText(style, text) : text)
}

/** @param {string} name */
export function printTitle(name) {
  print(`\n${name}`, 'title')
}

/** @param {string} text */
export const indent = (text) => text.replace(/^(?=.)/gm, '  ')

/**
 * @param {Record<string, string>} inputs
 * @returns {string[]} the values to hide
 */
export function getSecrets(inputs) {
  return SECRETS.map((name) => inputs[name]?.trim() ?? '').filter((value) => value !== '')
}

/**
 * @param {Record<string, string>} inputs
 * @param {string[]} demoOnly the names of those that only suit the demo
 */
export function toYaml(inputs, demoOnly) {
  const given = Object.entries(inputs).filter(([, value]) => value !== '')
  const lines = given.map(([name, value]) => {
    const scalar = SECRETS.includes(name) ? '***' : toScalar(value)
    return `  ${name}: ${scalar}${demoOnly.includes(name) ? '  # only for this demo' : ''}`
  })
  return ['uses: ./', 'with:', ...lines].join('\n')
}

/** @param {string} value */
function toScalar(value) {
  if (/^(https?:\S+|\w[\w ./-]*)$/.test(value)) return value
  if (value.includes('\n')) return `|\n${value.replace(/^(?=.)/gm, '    ')}`
  return JSON.stringify(value)
}

/** @param {Record<string, string>} outputs */
export function toTable(outputs) {
  const width = Math.max(0, ...Object.keys(outputs).map((name) => name.length))
  return Object.entries(outputs)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd())
    .join('\n')
}

/** How each path begins, also of a docs job. */
const PROJECT = /^\/v2\/agent\/[^/]+/

/**
 * @param {LoggedRequest[]} requests
 * @returns {string} how their paths begin, and a line for each, of at most 80 columns: the seconds
 * since the first, the request, what the service answered
 */
export function toRequestTable(requests) {
  const { at: start = 0, path: first = '' } = requests[0] ?? {}
  const rows = requests.map((request) => {
    const path = request.jobId ? request.path.replace(request.jobId, '{id}') : request.path
    return {
      ...request,
      path: path.replace(PROJECT, ''),
      seconds: ((request.at - start) / 1000).toFixed(1),
    }
  })
  const width = Math.max(0, ...rows.map(({ path }) => path.length))
  const lines = rows.map(
    ({ seconds, method, path, ...response }) =>
      `${seconds.padStart(5)} s  ${method.padEnd(4)} ${path.padEnd(width)}  ${describeResponse(response)}`,
  )
  return [...(PROJECT.exec(first) ?? []), ...lines].join('\n')
}

/** @param {Pick<LoggedRequest, 'status' | 'responseBody' | 'fault'>} request */
function describeResponse({ status, responseBody, fault }) {
  if (status === 'reset') return `connection reset  ← injected, ${fault.reset} it was processed`
  if (status === 'none') return 'no response'
  const { status: jobStatus, error = jobStatus } =
    /** @type {{ status?: string, error?: string }} */ (responseBody)
  const response = `${status} ${error}`
  if (fault.delayMs) return `${response}  ← injected delay of ${fault.delayMs / 1000} s`
  return fault.status || fault.job ? `${response}  ← injected` : response
}

/**
 * @param {{ method: string }[]} requests
 * @param {string[]} methods to count, even if there are none
 * @returns {string} such as `4 requests (1 POST, 3 GET)`
 */
export function countRequests(requests, methods) {
  const counts = methods.map(
    (name) => `${requests.filter(({ method }) => method === name).length} ${name}`,
  )
  return `${requests.length} request${requests.length === 1 ? '' : 's'} (${counts.join(', ')})`
}

/**
 * Prints each version of a comment in a box. Its hidden markers are truncated, and an unchanged
 * text is not repeated.
 * @param {(text: string) => string} hide replaces the secrets
 * @returns {(comment: Pick<Comment, 'id' | 'body'>) => void}
 */
export function createCommentPrinter(hide) {
  /** @type {Map<number, string[]>} */
  const versions = new Map()
  return ({ id, body }) => {
    const before = versions.get(id) ?? []
    const visible = body.replace(MARKER, '').trim()
    const markers = [...body.matchAll(MARKER)].map(
      ([, start]) => `<!-- ${start}… --> (hidden; truncated here)`,
    )
    const text = visible === before.at(-1) ? '(text unchanged)' : visible
    versions.set(id, [...before, visible])
    const title = `Comment ${id}: ${before.length === 0 ? 'created' : `edited (version ${before.length + 1})`}`
    const lines = [text, '', ...markers].join('\n').trim().replace(/^/gm, '│ ').replace(/ +$/gm, '')
    print(indent(hide(`\n┌── ${title}\n${lines}\n└──`)), 'comment')
  }
}
