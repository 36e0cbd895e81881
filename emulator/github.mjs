// Emulates the part of GitHub's REST API that a pull request's comment needs, on loopback. Everyone may write.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** @import { AddressInfo } from 'node:net' */

/**
 * @typedef {object} Options
 * @property {string} token the one to accept
 * @property {string} repository `owner/name`
 * @property {number} pullRequest its number
 * @property {(comment: Comment) => void} onComment called when a comment is created or edited
 */

/** @typedef {{ id: number, body: string, user: typeof BOT }} Comment */
/** @typedef {{ status: number, body: unknown }} HttpResponse */

/**
 * @typedef {object} GitHub
 * @property {string} url for GITHUB_API_URL
 * @property {{ method: string }[]} requests oldest first
 * @property {() => Promise<void>} close ends every connection
 */

const FIRST_ID = 1001
const BOT = { login: 'github-actions[bot]', type: 'Bot' }

/**
 * @param {Options} options
 * @returns {Promise<GitHub>}
 */
export async function startGitHub({ token, repository, pullRequest, onComment }) {
  /** @type {GitHub['requests']} */
  const requests = []
  /** @type {Comment[]} */
  const comments = []
  const list = `/repos/${repository}/issues/${pullRequest}/comments`
  const permission = new RegExp(`^/repos/${repository}/collaborators/[^/]+/permission$`)

  /** @type {(comment: Comment, requestBody: string) => Comment} */
  const save = (comment, requestBody) => {
    comment.body = JSON.parse(requestBody).body
    onComment(comment)
    return comment
  }
  /** @type {(method: string, path: string, requestBody: string) => HttpResponse} */
  const handle = (method, path, requestBody) => {
    const existing = comments.find(({ id }) => path === `/repos/${repository}/issues/comments/${id}`)
    if (method === 'GET' && permission.test(path)) return { status: 200, body: { permission: 'write' } }
    if (method === 'GET' && path === list) return { status: 200, body: comments }
    if (method === 'POST' && path === list) {
      const comment = { id: FIRST_ID + comments.length, body: '', user: BOT }
      comments.push(comment)
      return { status: 201, body: save(comment, requestBody) }
    }
    if (method === 'PATCH' && existing) return { status: 200, body: save(existing, requestBody) }
    return { status: 404, body: { message: 'Not Found' } }
  }

  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method })
    const requestBody = await text(request).catch(() => undefined)
    if (requestBody === undefined) return // The client disconnected.
    const [path = ''] = url.split('?')
    const [, given] = /^(?:bearer|token) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const { status, body } =
      given === token
        ? handle(method, path, requestBody)
        : { status: 401, body: { message: 'Bad credentials' } }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    requests,
    async close() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}
