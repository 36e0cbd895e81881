// What `npm start` prints: the step, its outputs, the pull request's comment, the requests that were seen.
import util from 'node:util'

/** @import { Comment } from './github.mjs' */
/** @import { Kind } from './runner.mjs' */
/** @typedef {Parameters<typeof util.styleText>[0]} Style */

/** @type {Record<Kind | 'title' | 'quiet' | 'comment', Style | undefined>} */
const STYLES = {
  text: undefined,
  notice: 'cyan',
  warning: 'yellow',
  error: 'red',
  debug: 'magenta',
  group: 'bold',
  title: 'bold',
  quiet: 'gray',
  comment: 'green',
}
const SECRETS = ['api-key', 'github-token']
const HIDDEN = /<!-- (.{1,18}).*? -->/g

/**
 * @param {string} text
 * @param {keyof typeof STYLES} [kind]
 */
export function print(text, kind = 'text') {
  const { NO_COLOR } = process.env
  const style = process.stdout.isTTY && !NO_COLOR ? STYLES[kind] : undefined
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
 * @returns {string[]} the values that nobody may see
 */
export function secretsOf(inputs) {
  return SECRETS.map((name) => inputs[name]?.trim() ?? '').filter((value) => value !== '')
}

/** @param {Record<string, string>} inputs */
export function toYaml(inputs) {
  const given = Object.entries(inputs).filter(([, value]) => value !== '')
  const lines = given.map(([name, value]) => `  ${name}: ${SECRETS.includes(name) ? '***' : toScalar(value)}`)
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

/**
 * @param {{ method: string }[]} requests
 * @param {string[]} methods to count, even where there are none
 * @returns {string} such as `4 requests (1 POST, 3 GET)`
 */
export function countRequests(requests, methods) {
  const counts = methods.map((name) => `${requests.filter(({ method }) => method === name).length} ${name}`)
  return `${requests.length} request${requests.length === 1 ? '' : 's'} (${counts.join(', ')})`
}

/**
 * Prints each version of a comment in a box. Its hidden marks are cut short, a text that stays is not shown again.
 * @param {(text: string) => string} hide takes the secrets out
 * @returns {(comment: Pick<Comment, 'id' | 'body'>) => void}
 */
export function commentPrinter(hide) {
  /** @type {Map<number, string[]>} */
  const versions = new Map()
  return ({ id, body }) => {
    const before = versions.get(id) ?? []
    const visible = body.replace(HIDDEN, '').trim()
    const marks = [...body.matchAll(HIDDEN)].map(([, start]) => `<!-- ${start}… --> (hidden, cut short here)`)
    const text = visible === before.at(-1) ? '(the same text)' : visible
    versions.set(id, [...before, visible])
    const title = `Comment ${id}, ${before.length === 0 ? 'written' : `edited: version ${before.length + 1}`}`
    const lines = [text, '', ...marks].join('\n').trim().replace(/^/gm, '│ ').replace(/ +$/gm, '')
    print(indent(hide(`\n┌── ${title}\n${lines}\n└──`)), 'comment')
  }
}
