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
 * @property {(comment: Comment) => void} [onComment] called when a comment is created or edited
 */

/** @typedef {{ id: number, body: string, user: typeof BOT }} Comment */
/** @typedef {{ method: string, path: string, status: number | 'none' }} LoggedRequest */
/** @typedef {{ status: number, body: unknown }} HttpResponse */

/**
 * @typedef {object} GitHub
 * @property {string} url for GITHUB_API_URL
 * @property {LoggedRequest[]} requests oldest first; `none` if no response was sent (yet)
 * @property {Comment[]} comments oldest first
 * @property {() => Promise<void>} close ends every connection
 */

const FIRST_ID = 1001
const BOT = { login: 'github-actions[bot]', type: 'Bot' }

/**
 * @param {Options} options
 * @returns {Promise<GitHub>}
 */
export async function startGitHub({ token, ...options }) {
  /** @type {LoggedRequest[]} */
  const requests = []
  /** @type {Comment[]} */
  const comments = []
  const handle = createHandler(comments, options)

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    /** @type {LoggedRequest} */
    const entry = { method, path, status: 'none' }
    requests.push(entry)
    const requestBody = await text(request).catch(() => undefined)
    if (requestBody === undefined) return // The client disconnected.
    const [, given] = /^(?:bearer|token) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const { status, body } =
      given === token ? handle(method, path, requestBody) : errorResponse(401, 'Bad credentials')
    entry.status = status
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    requests,
    comments,
    async close() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * @param {Comment[]} comments
 * @param {Omit<Options, 'token'>} options
 * @returns {(method: string, path: string, requestBody: string) => HttpResponse}
 */
function createHandler(comments, { repository, pullRequest, onComment }) {
  const listPath = `/repos/${repository}/issues/${pullRequest}/comments`
  const commentPath = `/repos/${repository}/issues/comments/`
  const peoplePath = `/repos/${repository}/collaborators/`

  /** @type {(comment: Comment, requestBody: string, status: number) => HttpResponse} */
  const save = (comment, requestBody, status) => {
    const body = readBody(requestBody)
    if (body === '') return errorResponse(422, 'Validation Failed')
    comment.body = body
    if (!comments.includes(comment)) comments.push(comment)
    onComment?.(comment)
    return { status, body: comment }
  }

  return (method, path, requestBody) => {
    const [route, query] = path.split('?')
    if (method === 'GET' && route?.startsWith(peoplePath) && route.endsWith('/permission')) {
      return { status: 200, body: { permission: 'write' } }
    }
    const existing = comments.find(({ id }) => route === `${commentPath}${id}`)
    if (method === 'GET' && route === listPath) return { status: 200, body: getPage(comments, query) }
    if (method === 'POST' && route === listPath) {
      return save({ id: FIRST_ID + comments.length, body: '', user: BOT }, requestBody, 201)
    }
    if (method === 'PATCH' && existing) return save(existing, requestBody, 200)
    return errorResponse(404, 'Not Found')
  }
}

/** @type {(status: number, message: string) => HttpResponse} */
const errorResponse = (status, message) => ({ status, body: { message } })

/**
 * @param {Comment[]} comments
 * @param {string} [query]
 */
function getPage(comments, query) {
  const { per_page: size = 30, page = 1 } = Object.fromEntries(new URLSearchParams(query))
  const end = Number(page) * Number(size)
  return comments.slice(end - Number(size), end)
}

/**
 * @param {string} requestBody
 * @returns {string} the comment's text, empty if there is none
 */
function readBody(requestBody) {
  try {
    const { body } = JSON.parse(requestBody)
    return typeof body === 'string' ? body.trim() && body : ''
  } catch {
    return ''
  }
}
