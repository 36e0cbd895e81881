/**
 * The rules, and where they are named: for `npm run why`, and for the test that holds them
 * together. docs/development/rules/README.md says what they are for.
 */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = 'docs/development/rules/'
/** The pages whose own sentences may be rules. */
const PAGES = [
  ...['README.md', 'SECURITY.md', 'docs/*.md'],
  ...['memory', 'other-repositories', 'overview', 'releasing'].map(
    (name) => `docs/development/${name}.md`,
  ),
]
const NAME = '[a-z][a-z\\d-]*(?:\\.[a-z\\d-]+){1,3}'
const ITEM = new RegExp(`^- ((?:\`${NAME}\` ?)+)(.*)$`)

/**
 * @typedef {object} Rule
 * @property {string} name
 * @property {string} text the promise and its reason
 * @property {string} file
 * @property {number} line
 * @property {boolean} isGivenUp
 */

/** @returns {Rule[]} */
export function readRules() {
  const items = files(FOLDER).flatMap(readItems)
  const reasons = new Map(items.map(({ name, reason }) => [name, reason]))
  const marks = files(...PAGES).flatMap((file) => {
    const page = readFileSync(file, 'utf8')
    return [...page.matchAll(new RegExp(`<!-- (${NAME}) -->`, 'g'))].map(
      ({ 1: name = '', index }) => ({
        name,
        text: promiseBefore(page.slice(0, index)) + (reasons.get(name) ?? ''),
        ...{ file, line: lineOf(page, index), isGivenUp: false },
      }),
    )
  })
  const rules = items.filter(({ promise }) => promise !== '')
  return [
    ...rules.map(({ promise, reason, ...rule }) => ({ ...rule, text: promise + reason })),
    ...marks,
  ]
}

/**
 * The lines of a page of rules: names, the promise unless it stands on another page, and the reason
 * in brackets, in place of which the heading's counts.
 *
 * @param {string} file
 */
function readItems(file) {
  let family = ''
  let isGivenUp = false
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line.startsWith('#')) family = ''
      if (line.startsWith('## ')) isGivenUp = line === '## Given up'
      if (line.startsWith('*Why:*')) family = ` ${line}`
      const [, names = '', rest = ''] = ITEM.exec(line) ?? []
      const [, promise = '', own] = /^(.*?)(?: ?\(((?:[^()]|\([^()]*\))*)\))?$/.exec(rest) ?? []
      const reason = own === undefined ? family : ` *Why:* ${own}.`
      return [...names.matchAll(/[^` ]+/g)].map(([name]) => {
        return { name, promise, reason, file, line: index + 1, isGivenUp }
      })
    })
}

/**
 * The promise before a mark, and what it is about, for whoever doesn't see the page: the heading,
 * in a table also the row's first cell. Of a paragraph it is the last sentence, of an item the last
 * two.
 *
 * @param {string} text of a page, up to the mark
 */
function promiseBefore(text) {
  const shown = text.replaceAll(/<!--.*?-->/g, '')
  const [, heading = ''] = [...shown.matchAll(/^#+ (.*)$/gm)].at(-1) ?? []
  const [block = ''] = shown.split(/\n\n/).slice(-1)
  const [, row = '', cell = ''] = /^\| (.*?) \|(?:.*\|)? ([^|\n]*)$/m.exec(block) ?? []
  if (cell !== '') return oneLine(`${heading}, ${row}: ${cell}`)
  const [item = '', ...others] = block.split(/^ *(?:-|\d+\.) /m).reverse()
  const sentences = item.trim().split(/(?<=[.!?]\)?)\s+(?=[A-Z`*[])/)
  return oneLine(`${heading}: ${sentences.slice(others.length > 0 ? -2 : -1).join(' ')}`)
}

/**
 * @typedef {object} Reference
 * @property {string} name
 * @property {string} file
 * @property {number} line
 * @property {string} text of the line
 * @property {'test' | 'plant' | 'source' | 'page'} kind
 */

/**
 * Each `[name]` in the repository. Of areas that no rule has, nothing is one, nor is a link:
 * brackets have other uses.
 *
 * @param {readonly Rule[]} rules
 * @returns {Reference[]}
 */
export function findReferences(rules) {
  const areas = [...new Set(rules.map(({ name }) => name.split('.')[0]))].join('|')
  const named = new RegExp(`\\[((?:${areas})(?:\\.[a-z\\d-]+){1,3})\\](?!\\()`, 'g')
  return files('src', '__tests__', 'docs', 'CONTRIBUTING.md')
    .filter((file) => /\.(?:ts|md)$/.test(file) && !file.startsWith(FOLDER))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((text, index) =>
          [...text.matchAll(named)].map(({ 1: name = '' }) => {
            return { name, file, line: index + 1, text: text.trim(), kind: kindOf(file) }
          }),
        ),
    )
}

/**
 * @param {string} file
 * @returns {Reference['kind']}
 */
function kindOf(file) {
  if (file.endsWith('.md')) return 'page'
  if (!file.startsWith('__tests__/')) return 'source'
  return file.endsWith('/plants.ts') ? 'plant' : 'test'
}

/**
 * The plants whose text this source has when it is compiled, and on which of its lines: but for
 * types, white space and semicolons, what is compiled is the same.
 *
 * @param {string} code
 */
export function findPlants(code) {
  const { text, lines } = squeeze(code)
  return readPlants().flatMap(([name, planted, becomes]) => {
    const part = squeeze(planted).text.replace(/,$/, '')
    const start = text.indexOf(part)
    const end = start + part.length - 1
    return start < 0 ? [] : [{ name, becomes, from: lines[start] ?? 0, to: lines[end] ?? 0 }]
  })
}

/** @returns {[name: string, text: string, becomes: string][]} */
function readPlants() {
  const folder = '__tests__/world/'
  const tables = readdirSync(folder).filter((name) => name.startsWith('plants'))
  return tables.flatMap((name) => {
    const [, rows = ''] =
      /= (\[\n[\s\S]*?^\])/m.exec(readFileSync(`${folder}${name}`, 'utf8')) ?? []
    return new Function(`return ${rows || '[]'}`)() // Literals alone.
  })
}

/**
 * Code without white space, semicolons and trailing commas, and the line of each character.
 *
 * @param {string} code
 */
function squeeze(code) {
  let text = ''
  /** @type {number[]} */
  const lines = []
  code.split('\n').forEach((line, index) => {
    if (isComment(line)) return
    for (const character of line.replaceAll(/[\s;]/g, '')) {
      if (/[)\]}]/.test(character) && text.endsWith(',')) {
        text = text.slice(0, -1)
        lines.pop()
      }
      text += character
      lines.push(index)
    }
  })
  return { text, lines }
}

export function isComment(line = '') {
  return /^\s*(?:\/\/|\/?\*)/.test(line)
}

/** @param {readonly string[]} paths */
function files(...paths) {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths]
  const all = execFileSync('git', listed, { encoding: 'utf8' }).trim().split('\n')
  const isAsked = (file = '') => paths.some((one) => [file, 'docs', FOLDER].includes(one))
  const own = all.filter((file) => !file.startsWith('docs/development/') || isAsked(file))
  return [...new Set(own)]
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/**
 * @param {string} text
 * @param {number} index
 */
function lineOf(text, index) {
  return text.slice(0, index).split('\n').length
}
