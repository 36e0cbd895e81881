/** The tests' own GitHub refuses what GitHub refuses, and fails as it is told to; the stories need the rest of it. */

import { afterEach, describe, expect, test } from '@jest/globals'
import { type GitHub, type Options, startGitHub } from '../support/github.js'

const HEADERS = { authorization: 'Bearer ghs_token', 'user-agent': 'test' }
const REPO = '/repos/octo/docs'
const COMMENTS = `${REPO}/issues/1/comments`

const running: GitHub[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((github) => github.close()))
})

/** A GitHub with the repository octo/docs and its pull request 1. */
async function start(options: Options = {}, isPrivate = false) {
  const github = await startGitHub(options)
  running.push(github)
  const repo = github.addRepository('octo/docs', { private: isPrivate })
  repo.addPull()
  return { github, repo }
}

async function ask({ url }: GitHub, path: string, method = 'GET', sent?: unknown, headers = HEADERS) {
  const body = sent === undefined ? null : JSON.stringify(sent)
  const response = await fetch(`${url}${path}`, { method, headers, body })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it
  const parsed: any = isJson ? JSON.parse(text) : text
  return { status: response.status, body: parsed }
}

const write = (github: GitHub, body: unknown) => ask(github, COMMENTS, 'POST', { body })

describe('what a token may do', () => {
  test('without permission it writes nothing, and reads only a public repository', async () => {
    const permissions = { pull_requests: 'none', contents: 'none', actions: 'none' } as const
    const open = await start({ permissions })
    expect((await write(open.github, 'Hello')).status).toBe(403)
    expect(open.github.requests).toMatchObject([{ needs: 'pull_requests: write', status: 403 }])
    expect((await ask(open.github, COMMENTS)).status).toBe(200)

    const { github } = await start({ permissions }, true)
    expect((await ask(github, COMMENTS)).status).toBe(404)
    github.deniedRead = 403
    expect((await ask(github, COMMENTS)).status).toBe(403)
    github.permissions.pull_requests = 'read'
    expect((await ask(github, COMMENTS)).status).toBe(200)
  })

  test('it reads another repository only if that is public, and writes nothing there', async () => {
    const { github } = await start()
    github.addRepository('agent/docs', { foreign: true }).addPull()
    github.addRepository('agent/secret', { foreign: true, private: true }).addPull()
    expect((await ask(github, '/repos/agent/docs/pulls/1')).status).toBe(200)
    expect((await ask(github, '/repos/agent/docs/issues/1/comments', 'POST', { body: 'x' })).status).toBe(403)
    expect((await ask(github, '/repos/agent/secret/pulls/1')).status).toBe(404)
  })

  test('nothing with a wrong token, without a user agent, or at an unknown endpoint', async () => {
    const { github } = await start()
    const wrong = { ...HEADERS, authorization: 'token no' }
    expect((await ask(github, COMMENTS, 'GET', undefined, wrong)).status).toBe(401)
    const nobody = { ...HEADERS, 'user-agent': '' }
    expect((await ask(github, COMMENTS, 'GET', undefined, nobody)).status).toBe(403)
    expect((await ask(github, `${REPO}/issues`)).status).toBe(404)
    expect(github.requests.at(-1)?.needs).toBeUndefined()
    expect((await ask(github, `${COMMENTS}?sort=created`)).status).toBe(400)
    expect((await ask(github, '/repos/OCTO/Docs/pulls/1')).status).toBe(200)
  })
})

test.each([
  ['reset', false],
  ['reset', true],
  ['cut off', true],
] as const)('a request that ends with %s, always; takes effect: %s', async (answer, takesEffect) => {
  const { github, repo } = await start()
  github.faults.push({ answer, takesEffect, times: Number.POSITIVE_INFINITY })
  await expect(write(github, 'Hello')).rejects.toThrow()
  await expect(write(github, 'Hello')).rejects.toThrow()
  expect(repo.comments.size).toBe(takesEffect ? 2 : 0)
  expect(github.requests.at(-1)?.status).toBe(answer)
})
