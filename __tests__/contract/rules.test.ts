/** The rules of docs/development/rules.md: each has a test, and none goes without a word. */

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
  expect(told).toContain('*Why:* two promises were lost together with their tests')
  expect(told).toMatch(/ test +__tests__\/contract\/rules\.test\.ts:\d+ /)
  expect(why('output.pr-number')).toContain('] Outputs, `pr-number`: Its number, on GitHub')
  expect(why('poll.dead-address')).toContain('] Retries: A step that only waits gives up')
})

test('npm run why tells which rule a line keeps, its plants and its history [house.rules]', () => {
  const [file, plant] = ['src/memory/decide.ts', 'docs that were merged end it']
  const at = text(file)
    .split('\n')
    .findIndex((line) => line.includes("pull === 'merged' && isDone"))
  const told = why(`${file}:${at + 1}`)
  expect(told).toContain(`\n  ${plant}`)
  expect(told).toMatch(/^History of this line:$/m)
})
