/**
 * May this line be taken away? `npm run why -- src/memory/decide.ts:42` says which rules its
 * declaration decides, with their reasons, tests and plants, and the history of the line; `npm run
 * why -- RULE` the same of a rule. Needs Node and git alone.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findPlants, findReferences, isComment, readRules } from './rules.mjs'

/** What is told of one line fits on a screen: so many of each kind, and how many more there are. */
const SHOWN = { rules: 2, tests: 3, plants: 2, commits: 6 }

const [asked = ''] = process.argv.slice(2)
const rules = readRules()
const references = findReferences(rules)
const [, file = '', number = '0'] = /^(?:\.\/)?(.+\.\w+):(\d+)$/.exec(asked) ?? []
if (existsSync(file)) explainLine(readFileSync(file, 'utf8').split('\n'), Number(number) - 1)
else {
  const found = rules.filter(({ name }) => name === asked)
  const alike = rules.filter(({ name }) => asked !== '' && name.includes(asked))
  if (found.length + alike.length === 0) {
    console.error(`No such file or rule: "${asked}". Write FILE:LINE, or a rule's name.`)
    process.exitCode = 2
  }
  for (const { name } of found.length > 0 ? found : alike) explainRule(name)
}

/**
 * @param {string} name
 * @param {{ tests?: number, plants?: number }} shown
 */
function explainRule(name, { tests, plants } = {}) {
  const rule = rules.find((one) => one.name === name)
  if (rule === undefined) return console.log(`\n[${name}] is no rule.`)
  const text = `[${name}]${rule.isGivenUp ? ' (given up)' : ''} ${rule.text}`
  console.log(`\n${wrap(text)}\n  ${rule.file}:${rule.line}`)
  const of = (/** @type {string} */ kind) =>
    references
      .filter((one) => one.name === name && one.kind === kind)
      .map((one) => `${kind.padEnd(6)} ${one.file}:${one.line}  ${one.text.slice(0, 100)}`)
  list([...of('source'), ...of('page')])
  list(of('test'), tests)
  list(of('plant'), plants)
}

/**
 * @param {string[]} lines
 * @param {number} at
 */
function explainLine(lines, at) {
  console.log(`${file}:${at + 1}  ${lines[at]?.trim()}`)
  const plants = findPlants(lines.join('\n')).filter(({ from, to }) => from <= at && at <= to)
  const names = namesIn([...plants.map(({ name }) => name), ...commentAbove(lines, at)])
  for (const name of names.slice(0, SHOWN.rules)) explainRule(name, SHOWN)
  const more = names.slice(SHOWN.rules).map((name) => `[${name}]`)
  if (more.length > 0) console.log(`\nAlso: ${more.join(' ')}`)
  if (names.length === 0) explainFile(lines)
  console.log(`\nPlants on this line:${plants.length === 0 ? ' none' : ''}`)
  list(
    plants.map(({ name, becomes }) => `${name}: becomes ${becomes || 'nothing'}`),
    SHOWN.plants,
  )
  console.log('\nHistory of this line:')
  list(historyOf(at + 1), SHOWN.commits)
}

/**
 * What the file is for, and what it decides.
 *
 * @param {string[]} lines
 */
function explainFile(lines) {
  const [, first = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(lines.join('\n')) ?? []
  console.log('\nNo rule is named at its declaration. The file:')
  console.log(wrap(first.replaceAll(/\s*\n \* ?/g, ' ').trim()))
  const names = namesIn(lines)
  console.log(wrap(`It decides: ${names.map((name) => `[${name}]`).join(' ') || 'nothing'}`))
  const path = file.replace(/^src\//, '').replace(/\.ts$/, '.js')
  const importing = git('grep', '-lE', `from '(\\.\\./)+src/${path}'`, '--', '__tests__')
  const holding = references.filter(({ name, kind }) => kind === 'test' && names.includes(name))
  console.log('Tests of it:')
  const tests = importing.trim() ? importing.trim().split('\n') : holding.map(({ file }) => file)
  list([...new Set(tests)], SHOWN.tests)
}

/**
 * The comment above the innermost declaration that encloses the line and whose comment names a
 * rule; nothing if there is none. What encloses a line is indented less.
 *
 * @param {string[]} lines
 * @param {number} at
 */
function commentAbove(lines, at) {
  while (isComment(lines[at])) at++
  let indent = Number.POSITIVE_INFINITY
  for (let index = at; index >= 0 && indent > 0; index--) {
    const line = lines[index] ?? ''
    // What ends a list of parameters stands where the declaration begins.
    if (/^\s*(?:[)}\]>].*)?$/.test(line) || isComment(line)) continue
    if (line.search(/\S/) >= indent) continue
    indent = line.search(/\S/)
    let above = index
    while (isComment(lines[above - 1])) above--
    const comment = lines.slice(above, index)
    if (namesIn(comment).length > 0) return comment
  }
  return []
}

/** @param {string[]} lines */
function namesIn(lines) {
  const names = new Set(references.map(({ name }) => name))
  const found = lines.flatMap((line) => [...line.matchAll(/\[([a-z\d.-]+)\]/g)])
  return [...new Set(found.map(([, name = '']) => name))].filter((name) => names.has(name))
}

/**
 * Without the commits that git blame leaves out, too.
 *
 * @param {number} line
 */
function historyOf(line) {
  const left = readFileSync('.git-blame-ignore-revs', 'utf8')
  const log = git('log', '-L', `${line},${line}:${file}`, '--no-patch', '--format=%H  %h %as %s')
  const commits = log.split('\n').filter((commit) => commit !== '')
  const kept = commits.filter((commit) => !left.includes(commit.slice(0, 40)))
  return kept.length > 0 ? kept.map((commit) => commit.slice(42)) : ['not committed yet']
}

/** @param {string} text */
function wrap(text) {
  return text.replace(/(.{1,100})(?: |$)/g, '$1\n').trim()
}

/**
 * @param {readonly string[]} items
 * @param {number} shown how many of them, at most
 */
function list(items, shown = items.length) {
  for (const item of items.slice(0, shown)) console.log(`  ${item}`)
  if (items.length > shown) console.log(`  and ${items.length - shown} more`)
}

/** @param {string[]} options */
function git(...options) {
  try {
    return execFileSync('git', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}
