// The tests' GitHub over real sockets: endpoints, paging, permissions, limits, faults.
import { afterEach, describe, expect, test } from '@jest/globals'
import {
  type Fault,
  file,
  type GitHub,
  htmlPage,
  type Options,
  primaryLimit,
  secondaryLimit,
  sha,
  startGitHub,
} from '../support/github.js'

const START = new Date('2026-11-21T08:00:00.123Z')
const HEADERS = { authorization: 'Bearer ghs_token', 'user-agent': 'test' }
const COMMENTS = '/repos/octo/docs/issues/1/comments'

const running: GitHub[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((github) => github.close()))
})

/** A GitHub with the repository octo/docs and its pull request 1. */
async function start(options: Options = {}, hidden = false) {
  const github = await startGitHub({ now: () => START, ...options })
  running.push(github)
  const repo = github.addRepository('octo/docs', { private: hidden })
  const pull = repo.addPull()
  return { github, repo, pull }
}

async function ask(
  github: GitHub,
  path: string,
  init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const body = init.body === undefined ? null : JSON.stringify(init.body)
  const url = path.startsWith('http') ? path : `${github.url}${path}`
  const response = await fetch(url, { headers: HEADERS, ...init, body })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it
  const parsed: any =
    /json/.test(response.headers.get('content-type') ?? '') && text ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: parsed }
}

const write = (github: GitHub, body: string) => ask(github, COMMENTS, { method: 'POST', body: { body } })

describe('comments', () => {
  test('are written, read, edited and deleted as the one the token speaks for', async () => {
    const { github } = await start()
    const { status, body } = await write(github, 'Hello')
    expect(status).toBe(201)
    expect(body).toMatchObject({
      body: 'Hello',
      user: { login: 'github-actions[bot]', type: 'Bot' },
      created_at: '2026-11-21T08:00:00Z',
      url: `${github.url}/repos/octo/docs/issues/comments/${body.id}`,
      html_url: `https://github.com/octo/docs/pull/1#issuecomment-${body.id}`,
    })
    const one = `/repos/octo/docs/issues/comments/${body.id}`
    expect((await ask(github, one, { method: 'PATCH', body: { body: 'Bye' } })).body.body).toBe('Bye')
    expect((await ask(github, COMMENTS)).body).toMatchObject([{ id: body.id, body: 'Bye' }])
    const deleted = await ask(github, one, { method: 'DELETE' })
    expect([deleted.status, deleted.body]).toEqual([204, ''])
    expect((await ask(github, one)).status).toBe(404)
    expect(github.writes().map(({ method, body }) => [method, body])).toEqual([
      ['POST', { body: 'Hello' }],
      ['PATCH', { body: 'Bye' }],
      ['DELETE', undefined],
    ])
  })

  test('are refused when they are blank, too long, no JSON, or on a locked or unknown pull request', async () => {
    const { github, pull } = await start()
    const tooLong = await write(github, 'x'.repeat(65_537))
    expect(tooLong.status).toBe(422)
    expect(tooLong.body).toMatchObject({
      message: 'Validation Failed',
      errors: [{ resource: 'IssueComment', message: 'Body is too long (maximum is 65536 characters)' }],
    })
    expect((await write(github, ' ')).status).toBe(422)
    expect((await ask(github, COMMENTS, { method: 'POST', body: {} })).status).toBe(422)
    expect((await ask(github, COMMENTS, { method: 'POST', body: 'text' })).status).toBe(400)
    pull.locked = true
    expect((await write(github, 'Hello')).status).toBe(403)
    expect((await ask(github, '/repos/octo/docs/issues/9/comments')).status).toBe(404)
  })

  test('come in pages, and the links lead through all of them by the id of the repository', async () => {
    const { github, repo } = await start({ prefix: '/api/v3' })
    const ids = Array.from({ length: 305 }, () => repo.addComment(1).id)
    const found: number[] = []
    let next: string | undefined = `${COMMENTS}?per_page=100`
    const rels: string[][] = []
    while (next) {
      const { headers, body } = await ask(github, next)
      found.push(...body.map(({ id }: { id: number }) => id))
      const links = (headers.get('link') ?? '').split(', ')
      rels.push(links.map((link) => /rel="(\w+)"/.exec(link)?.[1] ?? ''))
      next = links.map((link) => /<(.+)>; rel="next"/.exec(link)?.[1]).find(Boolean)
    }
    expect(found).toEqual(ids)
    expect(rels).toEqual([
      ['next', 'last'],
      ['prev', 'next', 'last', 'first'],
      ['prev', 'next', 'last', 'first'],
      ['prev', 'first'],
    ])
    const base = `${github.url}/repositories/${repo.id}/issues/1/comments`
    expect((await ask(github, COMMENTS)).headers.get('link')).toBe(
      `<${base}?page=2>; rel="next", <${base}?page=11>; rel="last"`,
    )
    expect((await ask(github, `${COMMENTS}?per_page=1000`)).body).toHaveLength(100)
    expect((await ask(github, `${COMMENTS}?page=99`)).body).toEqual([])
  })
})

describe('pull requests', () => {
  test('have their files in pages, up to 3000, binary ones without a patch', async () => {
    const { github, repo } = await start()
    const files = [file('logo.png', null), ...Array.from({ length: 3100 }, (_, n) => file(`docs/${n}.md`))]
    repo.addPull({ number: 2, files })
    const path = '/repos/octo/docs/pulls/2/files'
    const first = await ask(github, path)
    expect(first.body).toHaveLength(30)
    expect(first.body[0]).not.toHaveProperty('patch')
    expect(first.body[1]).toMatchObject({ filename: 'docs/0.md', additions: 1, deletions: 1, changes: 2 })
    expect((await ask(github, `${path}?per_page=100&page=30`)).headers.get('link')).not.toContain('next')
    expect((await ask(github, `${path}?per_page=100&page=31`)).body).toEqual([])
    expect((await ask(github, '/repos/octo/docs/pulls/2')).body.changed_files).toBe(3101)
  })

  test('say where they come from and what became of them', async () => {
    const { github, repo, pull } = await start()
    repo.addComment(1)
    const path = '/repos/octo/docs/pulls/1'
    expect((await ask(github, path)).body).toMatchObject({
      state: 'open',
      merged_at: null,
      comments: 1,
      html_url: 'https://github.com/octo/docs/pull/1',
      head: { sha: sha('head'), repo: { full_name: 'octo/docs', private: false } },
      base: { ref: 'main', repo: { full_name: 'octo/docs' } },
    })
    Object.assign(pull, { state: 'closed', merged: true, head: { ...pull.head, repo: 'fork/docs' } })
    const merged = { merged: true, merged_at: expect.any(String), head: { repo: { full_name: 'fork/docs' } } }
    expect((await ask(github, path)).body).toMatchObject(merged)
    pull.head.repo = null
    expect((await ask(github, path)).body.head).toMatchObject({ repo: null, user: null })
  })
})

describe('commits', () => {
  const [base, head] = [sha('base'), sha('head')]
  const path = `/repos/octo/docs/compare/${base}...${head}`

  test('are compared: 300 files on the first page alone, 250 commits, or pages of them', async () => {
    const { github, repo } = await start()
    const commits = Array.from({ length: 260 }, (_, n) => repo.addCommit({ author: `author-${n}` }))
    const files = Array.from({ length: 301 }, (_, n) => file(`docs/${n}.md`))
    repo.addComparison(base, head, { commits, files })
    const whole = (await ask(github, path)).body
    expect(whole).toMatchObject({ status: 'ahead', ahead_by: 260, total_commits: 260 })
    expect([whole.commits.length, whole.files.length]).toEqual([250, 300])
    expect(whole.commits.at(-1).author.login).toBe('author-259')
    const first = await ask(github, `${path}?per_page=100`)
    expect([first.body.commits.length, first.body.files.length]).toEqual([100, 300])
    expect(first.body.commits[0].author.login).toBe('author-0')
    const third = await ask(github, `${path}?per_page=100&page=3`)
    expect([third.body.commits.length, third.body.files]).toEqual([60, []])
    expect(third.headers.get('link')).not.toContain('rel="next"')
  })

  test('are found by sha and branch; one that is gone is not', async () => {
    const { github, repo } = await start()
    repo.addComparison(base, head)
    repo.refs.set('feature/a', head)
    expect((await ask(github, '/repos/octo/docs/commits/feature%2Fa')).body).toMatchObject({
      sha: head,
      parents: [{ sha: base }],
      author: { login: 'octocat' },
    })
    expect((await ask(github, `/repos/octo/docs/compare/${base}...feature%2Fa`)).status).toBe(200)
    expect((await ask(github, `/repos/octo/docs/compare/${head}...${head}`)).body.status).toBe('identical')
    repo.commits.delete(base)
    expect((await ask(github, path)).status).toBe(404)
    expect(await ask(github, `/repos/octo/docs/commits/${base}`)).toMatchObject({
      status: 422,
      body: { message: `No commit found for SHA: ${base}` },
    })
  })

  test('that no test compared are an error of the test', async () => {
    const { github, repo } = await start()
    const [one, other] = [repo.addCommit(), repo.addCommit()]
    expect((await ask(github, `/repos/octo/docs/compare/${one.sha}...${other.sha}`)).status).toBe(500)
  })
})

describe('workflow runs', () => {
  test('are listed newest first by file name or id, filtered, and found by id', async () => {
    const { github, repo } = await start()
    const old = repo.addRun()
    const failed = repo.addRun({ conclusion: 'failure' })
    const fork = repo.addRun({ event: 'pull_request', head_repository: 'fork/docs' })
    repo.addRun({ path: '.github/workflows/other.yml', workflow_id: 1 })
    const ids = async (query: string) =>
      (await ask(github, `/repos/octo/docs/actions/workflows/${query}`)).body.workflow_runs.map(
        ({ id }: { id: number }) => id,
      )
    expect(await ids('docs.yml/runs')).toEqual([fork.id, failed.id, old.id])
    expect(await ids('4711/runs?status=success&branch=main')).toEqual([fork.id, old.id])
    expect(await ids('docs.yml/runs?status=success&event=schedule&per_page=1')).toEqual([old.id])
    expect(await ids('docs.yml/runs?branch=next')).toEqual([])
    expect((await ask(github, '/repos/octo/docs/actions/workflows/none.yml/runs')).status).toBe(404)
    expect((await ask(github, `/repos/octo/docs/actions/runs/${fork.id}`)).body).toMatchObject({
      path: '.github/workflows/docs.yml',
      run_attempt: 1,
      head_repository: { full_name: 'fork/docs' },
    })
  })
})

describe('what a token may', () => {
  test('a write without permission is refused by name, with what would be accepted', async () => {
    const { github } = await start({ permissions: { pull_requests: 'read' } })
    const { status, headers, body } = await write(github, 'Hello')
    expect(status).toBe(403)
    expect(headers.get('x-accepted-github-permissions')).toBe('issues=write; pull_requests=write')
    expect(body).toStrictEqual({
      message: 'Resource not accessible by integration',
      documentation_url: 'https://docs.github.com/rest/issues/comments#create-an-issue-comment',
      status: '403',
    })
    expect(github.requests).toMatchObject([{ needs: 'pull_requests: write', status: 403 }])
  })

  test('without permission a public repository is read, a private one is not', async () => {
    const permissions = { pull_requests: 'none', contents: 'none', actions: 'none' } as const
    const open = await start({ permissions })
    expect((await ask(open.github, COMMENTS)).status).toBe(200)
    const { github } = await start({ permissions }, true)
    expect((await ask(github, COMMENTS)).status).toBe(404)
    github.deniedRead = 403
    expect((await ask(github, COMMENTS)).status).toBe(403)
    github.permissions.pull_requests = 'read'
    expect((await ask(github, COMMENTS)).status).toBe(200)
  })

  test('another repository is read where it is public, and written nowhere', async () => {
    const { github } = await start()
    github.addRepository('agent/docs', { foreign: true }).addPull()
    github.addRepository('agent/secret', { foreign: true, private: true }).addPull()
    expect((await ask(github, '/repos/agent/docs/pulls/1')).status).toBe(200)
    const post = { method: 'POST', body: { body: 'Hello' } }
    expect((await ask(github, '/repos/agent/docs/issues/1/comments', post)).status).toBe(403)
    expect((await ask(github, '/repos/agent/secret/pulls/1')).status).toBe(404)
    expect((await ask(github, '/repos/agent/secret/issues/1/comments', post)).status).toBe(404)
  })

  test('a wrong token, no user agent, an unknown endpoint or parameter', async () => {
    const { github } = await start()
    const bare = { documentation_url: 'https://docs.github.com/rest' }
    const wrong = await ask(github, COMMENTS, { headers: { ...HEADERS, authorization: 'token no' } })
    expect(wrong.body).toStrictEqual({ message: 'Bad credentials', ...bare, status: '401' })
    const headers = { authorization: 'token ghs_token', 'user-agent': '' }
    expect((await ask(github, COMMENTS, { headers })).status).toBe(403)
    const nowhere = await ask(github, '/repos/octo/docs/issues')
    expect(nowhere.body).toStrictEqual({ message: 'Not Found', ...bare, status: '404' })
    expect(github.requests.at(-1)?.needs).toBeUndefined()
    expect((await ask(github, `${COMMENTS}?sort=created`)).status).toBe(400)
    expect((await ask(github, COMMENTS, { headers: { ...HEADERS, accept: 'text/html' } })).status).toBe(415)
    expect((await ask(github, '/repos/OCTO/Docs/pulls/1')).status).toBe(200)
  })
})

describe('faults', () => {
  test.each<[string, Fault['answer'], object]>([
    ['a primary limit', primaryLimit(1_800_000_000), { status: 403 }],
    ['a secondary limit', secondaryLimit(60, 429), { status: 429 }],
    ['a page for people', htmlPage(), { status: 502, body: expect.stringContaining('<!DOCTYPE html>') }],
    ['an error', { status: 500, body: { message: 'Server Error' } }, { body: { message: 'Server Error' } }],
  ])('%s, once, for the requests that match', async (_, answer, expected) => {
    const { github, repo } = await start()
    github.faults.push({ method: 'POST', path: /\/comments$/, answer })
    expect((await ask(github, COMMENTS)).status).toBe(200)
    expect(await write(github, 'Hello')).toMatchObject(expected)
    expect(repo.comments.size).toBe(0)
    expect((await write(github, 'Hello')).status).toBe(201)
  })

  test('limits carry the headers that tell when to come back', async () => {
    const { github } = await start()
    github.faults.push({ answer: primaryLimit(1_800_000_000) }, { answer: secondaryLimit(60) })
    const primary = await ask(github, COMMENTS)
    expect(primary.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(primary.headers.get('x-ratelimit-reset')).toBe('1800000000')
    const secondary = await ask(github, COMMENTS)
    expect(secondary.headers.get('retry-after')).toBe('60')
    expect(secondary.body.message).toContain('secondary rate limit')
  })

  test.each(['reset', 'cut'] as const)('%s, always, with or without effect', async (answer) => {
    const { github, repo } = await start()
    github.faults.push({ answer, takesEffect: answer === 'cut', times: Number.POSITIVE_INFINITY })
    await expect(write(github, 'Hello')).rejects.toThrow()
    await expect(write(github, 'Hello')).rejects.toThrow()
    expect(repo.comments.size).toBe(answer === 'cut' ? 2 : 0)
    expect(github.requests.at(-1)?.status).toBe(answer)
  })

  test('a lost answer to a comment that was written', async () => {
    const { github, repo } = await start()
    github.faults.push({ method: 'POST', takesEffect: true, answer: 'reset' })
    await expect(write(github, 'Hello')).rejects.toThrow()
    expect([...repo.comments.values()]).toMatchObject([{ body: 'Hello' }])
  })

  test('no answer at all, until the end', async () => {
    const { github } = await start()
    github.faults.push({ answer: 'silence' })
    const asked = expect(ask(github, COMMENTS)).rejects.toThrow()
    await github.received(1)
    await github.close()
    await asked
    expect(github.requests).toMatchObject([{ status: 'none' }])
    running.pop()
  })

  test('a slow answer', async () => {
    const { github } = await start()
    github.faults.push({ answer: { delayMs: 50 } })
    const asked = ask(github, COMMENTS)
    await github.received(1)
    expect(github.requests[0]?.status).toBe('none')
    expect((await asked).status).toBe(200)
  })
})
