// The runs of a step on one pull request, with the part of GitHub's REST API on loopback that its
// comment and its context need.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { GITHUB_TOKEN } from './scenarios.mjs'

/** @import { AddressInfo } from 'node:net' */

/** @typedef {{ id: number, body: string, user: typeof BOT }} Comment */

const REPOSITORY = 'your-org/your-repo'
const NUMBER = 7
const FIRST_ID = 1001
const BOT = { login: 'github-actions[bot]', type: 'Bot' }
const COMMENTS = `/repos/${REPOSITORY}/issues/${NUMBER}/comments`
const CODE_PULL = `/repos/${REPOSITORY}/pulls/${NUMBER}`
const CODE_FILES = `/repos/${REPOSITORY}/pulls/${NUMBER}/files`
const DOCS_PULL = /^\/repos\/your-org\/docs\/pulls\/\d+$/
const DOCS_FILES = /^\/repos\/your-org\/docs\/pulls\/\d+\/files$/
const PERMISSION = new RegExp(`^/repos/${REPOSITORY}/collaborators/[^/]+/permission$`)

/** What the pull request changes. */
const CODE = [
  {
    ...createFile('src/cli.js', 'modified', 1, 0),
    patch:
      "@@ -3,2 +3,3 @@\n const options = {\n+  retry: { type: 'string', default: '3' },\n   help: { type: 'boolean' },",
  },
]

/** What the agent changes. */
const FILES = [
  createFile('guides/retry.mdx', 'added', 24, 0),
  createFile('reference/options.mdx', 'modified', 6, 2),
]

/**
 * @param {string[]} actions what happens to the pull request, such as `opened`; each starts a run
 * @param {(comment: Comment) => void} onComment called when a comment is created or edited
 */
export async function startPullRequest(actions, onComment) {
  /** @type {{ method: string }[]} */
  const requests = []
  const handle = createHandler(onComment)
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method })
    const requestBody = await text(request).catch(() => undefined)
    if (requestBody === undefined) return // The client disconnected.
    const [path = ''] = url.split('?')
    const [, token] = /^(?:bearer|token) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const { status, body } =
      token === GITHUB_TOKEN
        ? handle(method, path, requestBody)
        : { status: 401, body: { message: 'Bad credentials' } }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const apiUrl = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`
  return {
    /** What differs between the runs. */
    runs: actions.map((action, index) => ({
      title: `Run ${index + 1} of ${actions.length}: event pull_request, ${action}`,
      event: createPayload(action),
      env: createEnvironment(apiUrl, index + 1),
    })),
    /** Those that GitHub received, oldest first. */
    requests,
    /** Ends every connection. */
    async close() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Everyone may write.
 * @param {(comment: Comment) => void} onComment
 */
function createHandler(onComment) {
  /** @type {Comment[]} */
  const comments = []
  /** @type {(comment: Comment, requestBody: string) => Comment} */
  const save = (comment, requestBody) => {
    comment.body = JSON.parse(requestBody).body
    onComment(comment)
    return comment
  }
  /**
   * @type {(method: string, path: string, requestBody: string) => { status: number, body: unknown
   * }}
   */
  return (method, path, requestBody) => {
    const existing = comments.find(
      ({ id }) => path === `/repos/${REPOSITORY}/issues/comments/${id}`,
    )
    if (method === 'GET' && PERMISSION.test(path))
      return { status: 200, body: { permission: 'write' } }
    if (method === 'GET' && path === CODE_FILES) return { status: 200, body: CODE }
    if (method === 'GET' && (DOCS_PULL.test(path) || path === CODE_PULL)) {
      const base = { ref: 'main', repo: { private: false } }
      return { status: 200, body: { state: 'open', merged: false, base } }
    }
    if (method === 'GET' && DOCS_FILES.test(path)) return { status: 200, body: FILES }
    if (method === 'GET' && path === COMMENTS) return { status: 200, body: comments }
    if (method === 'POST' && path === COMMENTS) {
      const comment = { id: FIRST_ID + comments.length, body: '', user: BOT }
      comments.push(comment)
      return { status: 201, body: save(comment, requestBody) }
    }
    if (method === 'PATCH' && existing) return { status: 200, body: save(existing, requestBody) }
    return { status: 404, body: { message: 'Not Found' } }
  }
}

/**
 * @param {string} filename
 * @param {string} status
 * @param {number} additions
 * @param {number} deletions
 */
function createFile(filename, status, additions, deletions) {
  return { filename, status, additions, deletions, changes: additions + deletions }
}

/** @param {string} action */
function createPayload(action) {
  const repo = { full_name: REPOSITORY }
  return {
    action,
    number: NUMBER,
    pull_request: {
      number: NUMBER,
      title: 'Add --retry',
      body: 'Retries a failed request.',
      user: { login: 'octocat' },
      html_url: `https://github.com/${REPOSITORY}/pull/${NUMBER}`,
      base: { ref: 'main', label: 'your-org:main', repo },
      head: { ref: 'retry', label: 'your-org:retry', repo },
    },
  }
}

/**
 * @param {string} apiUrl
 * @param {number} run counts from 1
 */
function createEnvironment(apiUrl, run) {
  const ref = `refs/pull/${NUMBER}/merge`
  return {
    GITHUB_API_URL: apiUrl,
    GITHUB_BASE_REF: 'main',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_HEAD_REF: 'retry',
    GITHUB_REF: ref,
    GITHUB_REF_NAME: `${NUMBER}/merge`,
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_RUN_ID: String(run),
    GITHUB_RUN_NUMBER: String(run),
    GITHUB_SHA: String(run).repeat(40),
    GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@${ref}`,
  }
}
