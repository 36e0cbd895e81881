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
  if (places.some((index) => /^(?:export )?(?:interface|type) /.test(lines[index] ?? '')))
    console.log('\nA part of a type: without it, `npx tsc` tells who needs it.')
  const told = new Set(namesIn(plants.map(({ name }) => name)))
  for (const name of told) explainRule(name)
  for (const index of places)
    for (const name of namesIn([lines[index] ?? ''])) {
      if (told.has(name)) continue
      told.add(name)
      // A whole function's rule need not be this line's.
      console.log(`\nNamed at line ${index + 1}, ${at - index} lines above:`)
      explainRule(name)
    }
  if (told.size === 0) console.log("\nNo rule is named here. The file's:")
  for (const name of told.size > 0 ? [] : namesIn(lines)) explainRule(name)
  console.log(`\nPlants on this line:${plants.length === 0 ? ' none' : ''}`)
  for (const { name, becomes } of plants) console.log(`  ${name}: becomes ${becomes || 'nothing'}`)
  console.log(`\nHistory of this line:\n${historyOf(at + 1) || '  not committed yet'}`)
}

/**
 * The line, what encloses it, and the comment above each, from the inside out; and the next comment
 * above in the same block that names a rule: it is about what comes after it, up to a blank line.
 *
 * @param {string[]} lines
 * @param {number} at
 * @returns {number[]} their indexes
 */
function around(lines, at) {
  while (isComment(lines[at])) at++
  /** @type {number[]} */
  const found = []
  const indentOf = (/** @type {string} */ line) => line.search(/\S|$/)
  let indent = Number.POSITIVE_INFINITY
  const own = indentOf(lines[at] ?? '')
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
    isNear &&= indent === own
    let above = index
    while (isComment(lines[above - 1])) above--
    for (; above < index; above++) found.push(above)
  }
  return found
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
