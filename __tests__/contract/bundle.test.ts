/** What the bundle leaves out of its dependencies. */

import { readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { calledEndpoints } from '../../scripts/endpoints.mjs'
import { text } from '../support/files.js'

const bundle = readdirSync('build/dist')
  .filter((file) => file.endsWith('.js'))
  .map((file) => text(`build/dist/${file}`))
  .join('\n')

/** A failure shows the number, not the bundle. */
const count = (text: string): number => bundle.split(text).length - 1

test('the bundle has one copy of undici, with the parts that a run needs [house.bundle.small]', () => {
  const parts =
    /class (?:Client|Agent|Pool|MockAgent|SnapshotAgent|EventSource|CacheStorage|WebSocketStream|Response|FormData)\b/g
  expect(bundle.match(parts)?.sort()).toEqual(['class Agent', 'class Client', 'class Pool'])
})

test("the bundle has those of Octokit's endpoints that are called [house.bundle.endpoints]", () => {
  expect(count('"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"')).toBe(1)
  expect(count('DELETE /repos/')).toBe(0)
})

describe('the build finds each endpoint that the code calls [house.bundle.endpoints]', () => {
  const all = { pulls: { get: 'GET', list: 'LIST' }, issues: { get: 'GET' } }
  test.each([
    ['on one line', 'github.pulls.get(x)'],
    ['on several', 'await repo.github\n  .pulls\n  .get(x)'],
    ['of whatever name', 'rest.pulls.get (x)'],
  ])('%s', (_, code) => {
    expect(calledEndpoints(code, all)).toEqual({ pulls: { get: 'GET' } })
  })

  test.each([
    ['passed on', 'read(github.pulls)'],
    ['taken apart', 'const { pulls } = step.github;'],
    ['called in another way', 'github.pulls.get.call(x)'],
    ['not known', 'github.pulls.gets(x)'],
  ])('or fails: one that is %s', (_, code) => {
    expect(() => calledEndpoints(code, all)).toThrow('The bundle would lack an endpoint')
  })
})

/** SECURITY.md says so. */
test('nothing starts a process, or runs a text as code [house.bundle.small]', () => {
  expect(bundle.match(/child_process|\b(?:eval|Function)\(/g)).toBeNull()
})

test('there is no HTTP/2, and one build of the parser [house.bundle.small]', () => {
  const base64 = Buffer.from('\0asm').toString('base64').slice(0, 5)
  expect([count('node:http2'), count(base64)]).toEqual([0, 0])
  expect(readdirSync('build/dist').filter((file) => file.endsWith('.wasm'))).toHaveLength(1)
})

/** Each makes Node load up to ten of its own modules when it is first used. */
test.each(['.promises', 'performance', 'isDeepStrictEqual'])(
  'a run does without %s [net.cheap]',
  (name) => {
    expect(text('build/dist/index.js').split(name)).toHaveLength(1)
  },
)
