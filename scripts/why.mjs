/**
 * May this line be taken away? `npm run why -- src/memory/decide.ts:42` says which rules it keeps,
 * with their reasons, tests and plants, and the history of the line; `npm run why -- RULE` the same
 * of a rule. Needs Node and git alone.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findPlants, findReferences, isComment, readRules } from './rules.mjs'

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

/** @param {string} name */
function explainRule(name) {
  const rule = rules.find((one) => one.name === name)
  if (rule === undefined) return console.log(`\n[${name}] is no rule.`)
  console.log(`\n[${name}]${rule.isGivenUp ? ' (given up)' : ''} ${rule.text}`)
  console.log(`  ${rule.file}:${rule.line}`)
  for (const kind of ['source', 'test', 'plant', 'page'])
    for (const { file, line, text } of references.filter(
      (one) => one.name === name && one.kind === kind,
    ))
      console.log(`  ${kind.padEnd(6)} ${file}:${line}  ${text.slice(0, 110)}`)
}

/**
 * @param {string[]} lines
 * @param {number} at
 */
function explainLine(lines, at) {
  console.log(`${file}:${at + 1}  ${lines[at]?.trim()}`)
  const plants = findPlants(lines.join('\n')).filter(({ from, to }) => from <= at && at <= to)
  const places = around(lines, at)
  const isType = places.some((index) => /^(?:export )?(?:interface|type) /.test(lines[index] ?? ''))
  if (isType) console.log('\nA part of a type: without it, `npx tsc` tells who needs it.')
  const told = new Set(namesIn(plants.map(({ name }) => name)))
  for (const name of told) explainRule(name)
  const near = [...places, ...below(lines, at, places)].flatMap((index) => {
    // A whole function's rule need not be this line's, nor what comes next.
    const distance = index > at ? `${index - at} lines below` : `${at - index} lines above`
    return namesIn([lines[index] ?? '']).map((name) => [name, `line ${index + 1}, ${distance}`])
  })
  for (const [name = '', place] of [...near, ...(isType ? rulesOfValues(lines[at] ?? '') : [])]) {
    if (told.has(name)) continue
    told.add(name)
    console.log(`\nNamed at ${place}:`)
    explainRule(name)
  }
  if (told.size === 0) console.log("\nNo rule is named here. The file's:")
  for (const name of told.size > 0 ? [] : namesIn(lines)) explainRule(name)
  console.log(`\nPlants on this line:${plants.length === 0 ? ' none' : ''}`)
  for (const { name, becomes } of plants) console.log(`  ${name}: becomes ${becomes || 'nothing'}`)
  console.log(`\nHistory of this line:\n${historyOf(at + 1) || '  not committed yet'}`)
}

/**
 * The rules of the lines that make the values of a type's member: three at most.
 *
 * @param {string} line
 */
function rulesOfValues(line) {
  const [, member = ''] = /^\s*(?:readonly )?(\w+)\??: /.exec(line) ?? []
  /** @type {Map<string, string>} */
  const made = new Map()
  if (member === '') return made
  const hits = git('grep', '-nE', `^ +${member}(:|,$)`, '--', 'src').trim().split('\n')
  for (const hit of hits.filter((one) => one !== '' && !one.endsWith(`:${line}`))) {
    const [path = '', number = ''] = hit.split(':')
    const lines = readFileSync(path, 'utf8').split('\n')
    const [name] = namesIn(around(lines, Number(number) - 1).map((index) => lines[index] ?? ''))
    if (name !== undefined && !made.has(name))
      made.set(name, `${path}:${number}, where a value is made`)
  }
  return [...made].slice(0, 3)
}

/**
 * The line, what encloses it, and the comment above each, from the inside out; and the next comment
 * above in the same block that names a rule: it is about what comes after it, up to a blank line.
 * If nothing is named so far, the next one above what encloses the line is about the line, too.
 *
 * @param {string[]} lines
 * @param {number} at
 * @returns {number[]} their indexes
 */
function around(lines, at) {
  while (isComment(lines[at])) at++
  /** @type {number[]} */
  const found = []
  let indent = Number.POSITIVE_INFINITY
  let own = indentOf(lines[at] ?? '')
  let isNear = true
  for (let index = at; index >= 0 && indent > 0; index--) {
    const line = lines[index] ?? ''
    if (line.trim() === '') isNear = false
    if (isNear && indentOf(line) === own && /^\s*\/\/.*\[/.test(line)) {
      found.push(index)
      isNear = false
    }
    // What ends a list of parameters, also of types, stands where the declaration begins.
    if (line.trim() === '' || isComment(line) || indentOf(line) >= indent) continue
    found.push(index)
    if (/^\s*[)}\]>]/.test(line)) continue
    indent = indentOf(line)
    let above = index
    while (isComment(lines[above - 1])) above--
    for (; above < index; above++) found.push(above)
    if (indent === own) continue
    own = indent
    isNear = namesIn(found.map((one) => lines[one] ?? '')).length === 0
  }
  return found
}

/**
 * The next comment below in the same block that names a rule, if none above in the block does: the
 * line may be there for what comes next.
 *
 * @param {string[]} lines
 * @param {number} at
 * @param {number[]} places what was found above
 * @returns {number[]} its index, if there is one
 */
function below(lines, at, places) {
  const own = indentOf(lines[at])
  const isTag = (/** @type {number} */ index) =>
    indentOf(lines[index]) === own && namesIn([lines[index] ?? '']).length > 0
  if (isComment(lines[at]) || places.some(isTag)) return []
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => line.trim() === '' || indentOf(line) < own)
  const next = rest.slice(0, end).findIndex((_, index) => isTag(at + 1 + index))
  return next < 0 ? [] : [at + 1 + next]
}

/** How far a line is indented. */
function indentOf(line = '') {
  return line.search(/\S|$/)
}

/** @param {string[]} lines */
function namesIn(lines) {
  const names = references.map(({ name }) => name)
  const found = lines.flatMap((line) => [...line.matchAll(/\[([a-z\d.-]+)\]/g)])
  return [...new Set(found.map(([, name = '']) => name))].filter((name) => names.includes(name))
}

/**
 * Without the commits that git blame leaves out, too.
 *
 * @param {number} line
 */
function historyOf(line) {
  const left = readFileSync('.git-blame-ignore-revs', 'utf8')
  const log = git('log', '-L', `${line},${line}:${file}`, '--no-patch', '--format=%H  %h %as %s')
  const commits = log.trim().split('\n')
  const kept = commits.filter((commit) => !left.includes(commit.slice(0, 40) || ' '))
  return kept.map((commit) => commit.slice(40)).join('\n')
}

/** @param {string[]} options */
function git(...options) {
  try {
    return execFileSync('git', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}
