// GitHub's REST API in small, on loopback: the comments of one pull request, and nothing else.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** @import { AddressInfo } from 'node:net' */

/**
 * @typedef {object} Options
 * @property {string} token the one that is accepted
 * @property {string} repository `owner/name`
 * @property {number} pullRequest its number
 * @property {(comment: Comment) => void} [onComment] called when a comment is written, and when it is edited
 */

/** @typedef {{ id: number, body: string, user: typeof BOT }} Comment */
/** @typedef {{ method: string, path: string, status: number | 'none' }} LoggedRequest */
/** @typedef {{ status: number, body: unknown }} Answer */

/**
 * @typedef {object} GitHub
 * @property {string} url for GITHUB_API_URL
 * @property {LoggedRequest[]} requests oldest first; `none` where no answer went out (yet)
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
  const answer = createHandler(comments, options)

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    /** @type {LoggedRequest} */
    const entry = { method, path, status: 'none' }
    requests.push(entry)
    const sent = await text(request).catch(() => undefined)
    if (sent === undefined) return // It was cut.
    const [, given] = /^(?:bearer|token) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const { status, body } = given === token ? answer(method, path, sent) : refusal(401, 'Bad credentials')
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
 * @returns {(method: string, path: string, sent: string) => Answer}
 */
function createHandler(comments, { repository, pullRequest, onComment }) {
  const ofPullRequest = `/repos/${repository}/issues/${pullRequest}/comments`
  const ofRepository = `/repos/${repository}/issues/comments/`

  /** @type {(comment: Comment, sent: string, status: number) => Answer} */
  const write = (comment, sent, status) => {
    const body = readBody(sent)
    if (body === '') return refusal(422, 'Validation Failed')
    comment.body = body
    if (!comments.includes(comment)) comments.push(comment)
    onComment?.(comment)
    return { status, body: comment }
  }

  return (method, path, sent) => {
    const [route, query] = path.split('?')
    const known = comments.find(({ id }) => route === `${ofRepository}${id}`)
    if (method === 'GET' && route === ofPullRequest) return { status: 200, body: pageOf(comments, query) }
    if (method === 'POST' && route === ofPullRequest) {
      return write({ id: FIRST_ID + comments.length, body: '', user: BOT }, sent, 201)
    }
    return method === 'PATCH' && known ? write(known, sent, 200) : refusal(404, 'Not Found')
  }
}

/** @type {(status: number, message: string) => Answer} */
const refusal = (status, message) => ({ status, body: { message } })

/**
 * @param {Comment[]} comments
 * @param {string} [query]
 */
function pageOf(comments, query) {
  const { per_page: size = 30, page = 1 } = Object.fromEntries(new URLSearchParams(query))
  const end = Number(page) * Number(size)
  return comments.slice(end - Number(size), end)
}

/**
 * @param {string} sent
 * @returns {string} the comment's text, empty where there is none
 */
function readBody(sent) {
  try {
    const { body } = JSON.parse(sent)
    return typeof body === 'string' ? body.trim() && body : ''
  } catch {
    return ''
  }
}
