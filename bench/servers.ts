/** The service and GitHub, as far as the measured steps use them. Both count what reaches them. */

import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { json } from 'node:stream/consumers'
import { startListening } from '../__tests__/support/listening.js'

export interface Counts {
  readonly requests: number
  readonly connections: number
}

export interface Counting {
  readonly port: number
  readonly close: () => Promise<void>
  /** What was counted since the previous call. */
  readonly takeCounts: () => Counts
}

async function listen(server: Server): Promise<Counting> {
  // Longer than any pause, also of a run that valgrind slows down.
  server.keepAliveTimeout = 120_000
  let counts = { requests: 0, connections: 0 }
  server.on('request', () => counts.requests++)
  server.on('connection', () => counts.connections++)
  const takeCounts = (): Counts => {
    const taken = counts
    counts = { requests: 0, connections: 0 }
    return taken
  }
  return { ...(await startListening(server)), takeCounts }
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}

/** The service, over TLS. A job is completed at its third poll. */
export function startService(tls: { readonly key: string; readonly cert: string }): Promise<Counting> {
  const polls = new Map<string, number>()
  const listener: RequestListener = async (request, response) => {
    await request.resume().toArray()
    const isCreate = request.method === 'POST'
    const id = isCreate ? `job-${polls.size + 1}` : (request.url?.split('/').at(-1) ?? '')
    const polled = isCreate ? 0 : (polls.get(id) ?? 0) + 1
    polls.set(id, polled)
    const isCompleted = polled >= 3
    respond(response, isCreate ? 201 : 200, {
      id,
      status: isCompleted ? 'completed' : 'active',
      source: { repository: 'https://github.com/your-org/docs', ref: 'main' },
      model: 'some-model',
      prLink: isCompleted ? 'https://github.com/your-org/docs/pull/17' : null,
      createdAt: '2026-01-02T03:04:05.000Z',
      archivedAt: null,
    })
  }
  return listen(createTlsServer(tls, listener))
}

export const REPOSITORY = 'your-org/your-repo'
export const NUMBER = 7
export const HEAD_SHA = '2'.repeat(40)

const CHANGED_FILES = Array.from({ length: 20 }, (_, index) => {
  const lines = Array.from({ length: 30 }, (_, line) => `+export const value${line} = ${line}`)
  return {
    sha: String(index).padStart(40, '0'),
    filename: `src/module-${index + 1}.ts`,
    status: 'modified',
    additions: lines.length,
    deletions: 0,
    changes: lines.length,
    patch: `@@ -1,0 +1,${lines.length} @@\n${lines.join('\n')}`,
  }
})

export interface GitHub extends Counting {
  readonly deleteComments: () => void
  /** What was asked for that it doesn't have. */
  readonly unknownRequests: string[]
}

/** GitHub with one pull request: its files and its comments. */
export async function startGitHub(): Promise<GitHub> {
  const comments: { id: number; body: string; user: object }[] = []
  const unknownRequests: string[] = []
  const server = createServer(async (request, response) => {
    const text = async (): Promise<string> => ((await json(request)) as { body: string }).body
    const path = (request.url ?? '').replace(`/repos/${REPOSITORY}/`, '').replace(/\?.*/, '')
    const route = `${request.method} ${path}`
    const comment = comments.find(({ id }) => route === `PATCH issues/comments/${id}`)
    if (route === `GET pulls/${NUMBER}/files`) return respond(response, 200, CHANGED_FILES)
    if (route === `GET issues/${NUMBER}/comments`) return respond(response, 200, comments)
    if (route === `POST issues/${NUMBER}/comments`) {
      // Real ids are above 2^31.
      const id = 3_000_000_001 + comments.length
      comments.push({ id, body: await text(), user: { login: 'github-actions[bot]', type: 'Bot' } })
      return respond(response, 201, comments.at(-1))
    }
    if (comment) {
      comment.body = await text()
      return respond(response, 200, comment)
    }
    unknownRequests.push(`${request.method} ${request.url}`)
    respond(response, 404, { message: 'Not Found' })
  })
  const deleteComments = (): void => void comments.splice(0)
  return { ...(await listen(server)), deleteComments, unknownRequests }
}

/** The payload of the `pull_request` event. */
export const PULL_REQUEST_EVENT = {
  action: 'synchronize',
  number: NUMBER,
  pull_request: {
    number: NUMBER,
    title: 'Add --retry',
    body: 'Retries a failed request.',
    state: 'open',
    user: { login: 'octocat', type: 'User' },
    html_url: `https://github.com/${REPOSITORY}/pull/${NUMBER}`,
    base: { ref: 'main', label: 'your-org:main', sha: '1'.repeat(40), repo: { full_name: REPOSITORY } },
    head: { ref: 'retry', label: 'your-org:retry', sha: HEAD_SHA, repo: { full_name: REPOSITORY } },
  },
  repository: { full_name: REPOSITORY, private: true },
  sender: { login: 'octocat', type: 'User' },
}
