// The emulated GitHub: the comments of one pull request, over a real socket.
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { startGitHub } from '../../emulator/github.mjs'

type Comment = Parameters<NonNullable<Parameters<typeof startGitHub>[0]['onComment']>>[0]

const COMMENTS = '/repos/your-org/docs/issues/7/comments'
const COMMENT = '/repos/your-org/docs/issues/comments/1001'

let github: Awaited<ReturnType<typeof startGitHub>>
let events: string[]
beforeEach(async () => {
  events = []
  const onComment = ({ id, body }: Comment) => events.push(`${id} ${body}`)
  github = await startGitHub({ token: 'right', repository: 'your-org/docs', pullRequest: 7, onComment })
})
afterEach(() => github.close())

async function request(method: string, path: string, body?: unknown, authorization = 'token right') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${github.url}${path}`, {
    method,
    headers: { authorization },
    ...(body !== undefined && { body: text }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape
  return { status: response.status, body: (await response.json()) as any }
}

test('comments are created, edited and listed, and each version is reported', async () => {
  const first = await request('POST', COMMENTS, { body: 'one' })
  expect(first).toMatchObject({ status: 201, body: { id: 1001, body: 'one', user: { type: 'Bot' } } })
  expect(await request('POST', COMMENTS, { body: 'two' })).toMatchObject({ status: 201, body: { id: 1002 } })
  expect(await request('PATCH', COMMENT, { body: 'three' })).toMatchObject({
    status: 200,
    body: { id: 1001, body: 'three' },
  })
  expect((await request('GET', COMMENTS)).body).toMatchObject([{ body: 'three' }, { body: 'two' }])
  expect(events).toEqual(['1001 one', '1002 two', '1001 three'])
  expect(github.comments.map(({ body }) => body)).toEqual(['three', 'two'])
  expect(github.requests).toEqual([
    { method: 'POST', path: COMMENTS, status: 201 },
    { method: 'POST', path: COMMENTS, status: 201 },
    { method: 'PATCH', path: COMMENT, status: 200 },
    { method: 'GET', path: COMMENTS, status: 200 },
  ])
})

test('everyone may write', async () => {
  const path = '/repos/your-org/docs/collaborators/octocat/permission'
  expect(await request('GET', path)).toEqual({ status: 200, body: { permission: 'write' } })
})

test('the list has pages, of 30 by default', async () => {
  for (let number = 1; number <= 31; number++) await request('POST', COMMENTS, { body: `${number}` })
  const page = async (query: string) =>
    (await request('GET', `${COMMENTS}${query}`)).body.map(({ body }: Comment) => Number(body))
  expect(await page('')).toHaveLength(30)
  expect(await page('?page=2')).toEqual([31])
  expect(await page('?per_page=2&page=2')).toEqual([3, 4])
  expect(await page('?per_page=100')).toHaveLength(31)
  expect(await page('?per_page=100&page=2')).toEqual([])
})

test('only the right token is accepted, in either scheme', async () => {
  expect((await request('GET', COMMENTS, undefined, 'bearer right')).status).toBe(200)
  for (const wrong of ['', 'Basic right', 'Bearer wrong', 'Bearer ']) {
    expect(await request('POST', COMMENTS, { body: 'x' }, wrong)).toEqual({
      status: 401,
      body: { message: 'Bad credentials' },
    })
  }
  expect(github.comments).toEqual([])
})

test.each([
  ['no body', ''],
  ['invalid JSON', '{'],
  ['null', 'null'],
  ['a blank text', { body: ' \n' }],
  ['no text', { body: 1 }],
])('a comment with %s gets a 422', async (_, body) => {
  expect((await request('POST', COMMENTS, body)).status).toBe(422)
  expect(github.comments).toEqual([])
})

test.each([
  ['GET', '/repos/your-org/docs/pulls/17'],
  ['GET', '/repos/your-org/docs/issues/8/comments'],
  ['POST', '/repos/your-org/other/issues/7/comments'],
  ['PATCH', '/repos/your-org/docs/issues/comments/1002'],
  ['PATCH', '/repos/your-org/docs/issues/comments/01001'],
  ['DELETE', COMMENT],
  ['GET', '//'],
])('%s %s gets a 404 and does nothing', async (method, path) => {
  await request('POST', COMMENTS, { body: 'one' })
  const { status, body } = await request(method, path, method === 'GET' ? undefined : { body: 'two' })
  expect([status, body]).toEqual([404, { message: 'Not Found' }])
  expect(events).toEqual(['1001 one'])
})
