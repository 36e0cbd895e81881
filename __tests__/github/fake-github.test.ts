/** The tests' own GitHub: endpoints, pages, permissions and faults, over real sockets. */

import { afterEach, describe, expect, test } from '@jest/globals'
import { file, type GitHub, type Options, sha, startGitHub } from '../support/github.js'

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
  return { github, repo, pull: repo.addPull() }
}

async function ask({ url }: GitHub, path: string, method = 'GET', sent?: unknown, headers = HEADERS) {
  const body = sent === undefined ? null : JSON.stringify(sent)
  const response = await fetch(`${url}${path}`, { method, headers, body })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it
  const parsed: any = isJson ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: parsed }
}

const write = (github: GitHub, body: unknown) => ask(github, COMMENTS, 'POST', { body })

describe('comments', () => {
  test('are written, edited and listed', async () => {
    const { github } = await start()
    const { status, body } = await write(github, 'Hello')
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.any(Number), body: 'Hello', user: { login: 'github-actions[bot]' } })
    const edited = await ask(github, `${REPO}/issues/comments/${body.id}`, 'PATCH', { body: 'Bye' })
    expect(edited.body.body).toBe('Bye')
    expect((await ask(github, COMMENTS)).body).toMatchObject([{ id: body.id, body: 'Bye' }])
    expect(github.writes().map((request) => [request.method, request.body])).toEqual([
      ['POST', { body: 'Hello' }],
      ['PATCH', { body: 'Bye' }],
    ])
  })

  test('come in pages, which links lead through', async () => {
    const { github, repo } = await start({ prefix: '/api/v3' })
    const ids = Array.from({ length: 205 }, () => repo.addComment(1).id)
    const found: number[] = []
    let next: string | undefined = `${COMMENTS}?per_page=100`
    while (next) {
      const { headers, body } = await ask(github, next)
      found.push(...body.map(({ id }: { id: number }) => id))
      const [, link] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
      next = link?.replace('http://localhost/api/v3', '')
    }
    expect(found).toEqual(ids)
    expect((await ask(github, COMMENTS)).body).toHaveLength(30)
    expect((await ask(github, `${COMMENTS}?per_page=1000`)).body).toHaveLength(100)
  })
})

test('the files of a pull request come in pages, up to 3000, binary ones without a patch', async () => {
  const { github, pull } = await start()
  pull.files = [file('logo.png', null), ...Array.from({ length: 3100 }, (_, n) => file(`docs/${n}.md`))]
  const first = await ask(github, `${REPO}/pulls/1/files`)
  expect(first.body).toHaveLength(30)
  expect(first.body[0]).not.toHaveProperty('patch')
  expect(first.body[1]).toMatchObject({ filename: 'docs/0.md', additions: 1, deletions: 1 })
  const last = await ask(github, `${REPO}/pulls/1/files?per_page=100&page=30`)
  expect(last.body).toHaveLength(100)
  expect(last.headers.get('link')).not.toContain('next')
})

test('commits are compared: up to 300 files, on the first page only', async () => {
  const { github, repo } = await start()
  const [base, head] = [sha('base'), sha('head')]
  const commits = Array.from({ length: 160 }, (_, n) => repo.addCommit({ author: `author-${n}` }))
  const files = Array.from({ length: 301 }, (_, n) => file(`docs/${n}.md`))
  repo.addComparison(base, head, { commits, files })
  const compare = async (page: number) =>
    (await ask(github, `${REPO}/compare/${base}...${head}?per_page=100&page=${page}`)).body
  const first = await compare(1)
  expect(first).toMatchObject({ status: 'ahead', ahead_by: 160, total_commits: 160 })
  expect([first.commits.length, first.files.length]).toEqual([100, 300])
  const second = await compare(2)
  expect([second.commits.length, second.files.length]).toEqual([60, 0])

  repo.commits.delete(base)
  expect((await ask(github, `${REPO}/compare/${base}...${head}`)).status).toBe(404)
  expect((await ask(github, `${REPO}/commits/${base}`)).status).toBe(422)
  expect((await ask(github, `${REPO}/commits/${head}`)).body).toMatchObject({ sha: head, parents: [{}] })
  const [one, other] = [repo.addCommit(), repo.addCommit()]
  expect((await ask(github, `${REPO}/compare/${one.sha}...${other.sha}`)).status).toBe(500)
})

test('workflow runs are listed, filtered, the newest first', async () => {
  const { github, repo } = await start()
  const old = repo.addRun()
  const failed = repo.addRun({ conclusion: 'failure' })
  const fork = repo.addRun({ event: 'pull_request', head_repository: 'fork/docs' })
  repo.addRun({ path: '.github/workflows/other.yml' })
  const ids = async (query: string) =>
    (await ask(github, `${REPO}/actions/workflows/${query}`)).body.workflow_runs.map(
      ({ id }: { id: number }) => id,
    )
  expect(await ids('docs.yml/runs')).toEqual([fork.id, failed.id, old.id])
  expect(await ids('docs.yml/runs?status=success&branch=main')).toEqual([fork.id, old.id])
  expect(await ids('docs.yml/runs?status=success&event=schedule&per_page=1')).toEqual([old.id])
  expect(await ids('docs.yml/runs?branch=next')).toEqual([])
  expect((await ask(github, `${REPO}/actions/workflows/none.yml/runs`)).status).toBe(404)
})

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
