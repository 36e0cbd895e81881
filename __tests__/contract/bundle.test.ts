/** What the bundle leaves out of its dependencies. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const bundle = readdirSync('build/dist')
  .filter((file) => file.endsWith('.js'))
  .map((file) => readFileSync(`build/dist/${file}`, 'utf8'))
  .join('\n')

/** A failure shows the number, not the bundle. */
const count = (text: string): number => bundle.split(text).length - 1

test('of undici there is one copy, of the parts that a run needs', () => {
  const parts =
    /class (?:Client|Agent|Pool|MockAgent|SnapshotAgent|EventSource|CacheStorage|WebSocketStream|Response|FormData)\b/g
  expect(bundle.match(parts)?.sort()).toEqual(['class Agent', 'class Client', 'class Pool'])
})

/** The bundle finds the endpoints by their calls: one that is passed on would be missing in it. */
test('of the endpoints of Octokit there are those that are called, and none is used otherwise', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const code = files.map((file) => readFileSync(`src/${file}`, 'utf8')).join('\n')
  const scopes = '(?:actions|checks|git|issues|pulls|repos)'
  const used = code.match(new RegExp(`\\bgithub\\.${scopes}\\b`, 'g')) ?? []
  const called = code.match(new RegExp(`\\bgithub\\.${scopes}\\.\\w+\\(`, 'g')) ?? []
  expect(used).toHaveLength(called.length)
  expect(count('"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"')).toBe(1)
  expect(count('DELETE /repos/')).toBe(0)
})

/** SECURITY.md says so. */
test('nothing starts a process, or runs a text as code', () => {
  expect(bundle.match(/child_process|\b(?:eval|Function)\(/g)).toBeNull()
})

test('there is no HTTP/2', () => {
  expect(count('node:http2')).toBe(0)
})

test('there is one build of the parser', () => {
  const magic = Buffer.from('\0asm').toString('base64').slice(0, 5)
  expect(count(magic)).toBe(1)
})

/** Each makes Node load up to ten of its own modules when it is first used. */
test.each(['.promises', 'performance', 'isDeepStrictEqual'])('a run does without %s', (name) => {
  expect(readFileSync('build/dist/index.js', 'utf8').split(name)).toHaveLength(1)
})
