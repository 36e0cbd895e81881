/** The rules of docs/development/rules/: each has a test and a reason, and a sentence in src. */

import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { findPlants, findReferences, readRules } from '../../scripts/rules.mjs'
import { filesLike, text } from '../support/files.js'
import { PLANTS } from '../world/plants.js'

const rules = readRules()
const references = findReferences(rules)

/** The name of one of the world's rules, which is a generator. */
const METHOD = /^ {2}\*(['"])(.*)\1\(/gm

/** rules.txt has the name of each rule that there ever was. */
test('a rule that is new is in rules.txt, and one that goes is named under "Given up" [house.rules]', () => {
  const names = rules.map(({ name }) => name)
  expect(names.sort()).toEqual(text('__tests__/contract/rules.txt').trim().split('\n'))
})

test('each rule has a reason, and is named by a test [house.rules]', () => {
  const held = new Set(references.filter(({ kind }) => kind === 'test').map(({ name }) => name))
  const missing = rules.filter(
    ({ name, text, isGivenUp }) => !isGivenUp && !(held.has(name) && text.includes('*Why:*')),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('each name in brackets is that of a rule that holds [house.rules]', () => {
  const holding = new Set(rules.filter(({ isGivenUp }) => !isGivenUp).map(({ name }) => name))
  const others = references.filter(({ name }) => !holding.has(name))
  expect(others.map(({ file, line, name }) => `${file}:${line} ${name}`)).toEqual([])
})

/** A comment, of one line or several. */
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^ *\/\/.*\n)+/gm

test('in src, a rule is named behind a sentence, three times at most [house.rules]', () => {
  const comments = filesLike(['src']).flatMap((file) => text(file).match(COMMENT) ?? [])
  expect(comments.length).toBeGreaterThan(500)
  const told = comments.map((comment) => comment.replace(/\[[a-z\d.-]+\]|[^\p{L}[\]]/gu, ''))
  expect(comments.filter((_, index) => told[index] === '')).toEqual([])
  const named = references.filter(({ kind }) => kind === 'source').map(({ name }) => name)
  const often = named.filter((name) => named.filter((other) => other === name).length > 3)
  expect([...new Set(often)]).toEqual([])
})

test('each plant, and each rule of the simulated world, names a rule [house.rules]', () => {
  const files = filesLike(['__tests__/world/rules-*.ts'])
  const told = files.flatMap((file) => [...text(file).matchAll(METHOD)])
  expect(told.length).toBeGreaterThan(50)
  const names = [...PLANTS, ...told.map(([, , name = '']) => ({ name }))].map(({ name }) => name)
  expect(names.filter((name) => !name.endsWith(']'))).toEqual([])
})

test('each plant is found on its line of src [house.rules]', () => {
  const found = filesLike(['src/*.ts']).flatMap((file) => findPlants(text(file)))
  expect(found.map(({ name }) => name).sort()).toEqual(PLANTS.map(({ name }) => name).sort())
})

const why = (asked: string): string =>
  execFileSync(process.execPath, ['scripts/why.mjs', asked], { encoding: 'utf8' })

test('npm run why tells what a rule is for, and who holds it [house.rules]', () => {
  const told = why('house.rules')
  expect(told).toContain('promises were lost with their tests')
  expect(told).toMatch(/ test +__tests__\/contract\/rules\.test\.ts:\d+ /)
  expect(why('output.pr-number')).toContain('] Outputs, `pr-number`: Its number, on GitHub')
  expect(why('poll.dead-address')).toContain('] Retries: A step that only waits gives up')
})

test('npm run why tells on one screen which rules a line keeps, its plants and its history [house.rules]', () => {
  const file = 'src/memory/decide.ts'
  const lines = text(file).split('\n')
  const at = lines.findIndex((line) => line.includes("pull === 'merged' && isDone"))
  const told = why(`${file}:${at + 1}`)
  expect(told).toMatch(/^\[paid\.push\.merged\] Shared docs jobs: A push that changes nothing/m)
  expect(told).toContain('\n  docs that were merged end it')
  expect(told).toMatch(/^History of this line:$/m)
  expect(told.split('\n').length).toBeLessThanOrEqual(40)
})

test('npm run why tells what the file of a line is for, if the line has no rule [house.rules]', () => {
  const told = why('src/run/status-update.ts:20')
  expect(told).toContain('\nWhat is reported in the comment and stored there, and how.\n')
})
