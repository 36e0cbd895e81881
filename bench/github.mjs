/** The part of GitHub's REST API that the measured steps use: one pull request, its files and its comments. */

import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from './listen.mjs'

/** @import { IncomingMessage } from 'node:http' */
/** @import { Listener } from './listen.mjs' */

/** @typedef {{ id: number, body: string, user: { login: string, type: string } }} Comment */
/** @typedef {{ status: number, body: unknown }} Answer */

/**
 * @typedef {object} GitHubOptions
 * @property {string} url for GITHUB_API_URL
 * @property {string[]} unknownRequests the requests that got a 404
 * @property {() => void} deleteComments
 */

/** @typedef {Omit<Listener, 'port'> & GitHubOptions} GitHub */

export const REPOSITORY = 'your-org/your-repo'
export const NUMBER = 7
export const HEAD_SHA = '2'.repeat(40)

const FILES = 20
const LINES_PER_FILE = 30
/** Comment ids passed 2^31 long ago. */
const FIRST_COMMENT_ID = 3_000_000_001

/** @returns {Promise<GitHub>} */
export async function startGitHub() {
  /** @type {Comment[]} */
  const comments = []
  /** @type {string[]} */
  const unknownRequests = []

  /** @type {(request: IncomingMessage) => Promise<Answer>} */
  const answer = async (request) => {
    const [route = ''] = (request.url ?? '').split('?')
    const path = route.replace(`/repos/${REPOSITORY}/`, '')
    switch (`${request.method} ${path}`) {
      case `GET pulls/${NUMBER}/files`:
        return { status: 200, body: changedFiles }
      case `GET issues/${NUMBER}/comments`:
        return { status: 200, body: comments }
      case `POST issues/${NUMBER}/comments`: {
        const { body } = await readComment(request)
        const id = FIRST_COMMENT_ID + comments.length
        comments.push({ id, body, user: { login: 'github-actions[bot]', type: 'Bot' } })
        return { status: 201, body: comments.at(-1) }
      }
    }
    const comment = comments.find(({ id }) => path === `issues/comments/${id}`)
    if (request.method === 'PATCH' && comment) {
      comment.body = (await readComment(request)).body
      return { status: 200, body: comment }
    }
    unknownRequests.push(`${request.method} ${request.url}`)
    return { status: 404, body: { message: 'Not Found' } }
  }

  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
  const { port, ...listener } = await listen(server)
  return {
    ...listener,
    url: `http://127.0.0.1:${port}`,
    unknownRequests,
    deleteComments() {
      comments.length = 0
    },
  }
}

/**
 * @param {IncomingMessage} request
 * @returns {Promise<{ body: string }>}
 */
async function readComment(request) {
  return /** @type {{ body: string }} */ (await json(request))
}

const changedFiles = Array.from({ length: FILES }, (_, index) => {
  const filename = `src/module-${index + 1}.ts`
  const lines = Array.from({ length: LINES_PER_FILE }, (_, line) => `+export const value${line} = ${line}`)
  return {
    sha: String(index).padStart(40, '0'),
    filename,
    status: 'modified',
    additions: LINES_PER_FILE,
    deletions: 0,
    changes: LINES_PER_FILE,
    blob_url: `https://github.com/${REPOSITORY}/blob/${HEAD_SHA}/${filename}`,
    raw_url: `https://github.com/${REPOSITORY}/raw/${HEAD_SHA}/${filename}`,
    contents_url: `https://api.github.com/repos/${REPOSITORY}/contents/${filename}?ref=${HEAD_SHA}`,
    patch: `@@ -1,0 +1,${LINES_PER_FILE} @@\n${lines.join('\n')}`,
  }
})

/** The payload of the `pull_request` event. */
export const pullRequestEvent = {
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
