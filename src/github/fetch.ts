/**
 * The `fetch` that Octokit gets. It uses undici's `request`, because undici's own `fetch`, which is
 * made for the web, takes more CPU time: see docs/development/performance.md.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { createConnector } from '../net/connect.js'
import { abortedAfter, type Clock, readArrived, waitForAbort } from '../net/deadline.js'
import { type NetworkSettings, proxyFor } from '../net/proxy.js'

export type FetchOptions = Readonly<{
  environment: { readonly apiUrl: string }
  network: NetworkSettings
  clock: Clock
  debug: (line: string) => void
}>

type FetchInit = Readonly<{
  method: Dispatcher.HttpMethod
  headers: Readonly<Record<string, string>>
  body?: string
  signal: AbortSignal
}>

/**
 * GitHub redirects requests for a renamed repository, to be repeated with the same method.
 * [github.redirect]
 */
const REDIRECTIONS = [301, 302, 307, 308]
// [github.redirect]
const MAX_REDIRECTIONS = 5

/**
 * Of a decompressed response, in bytes: the largest lists of files have some megabytes.
 * [github.shape]
 */
const MAX_BYTES = 64 * 1024 * 1024

// [report.log.lines]
export function createFetch(options: FetchOptions) {
  const { clock, debug } = options
  let dispatcher: Dispatcher | undefined
  return async (url: string, init: FetchInit) => {
    // [net.cheap]
    dispatcher ??= createDispatcher(options)
    // [report.log.lines]
    const startedAt = clock.now()
    const address = new URL(url)
    let outcome: number | string = 'failed'
    // [net.arrived-first]
    const signal = abortedAfter(init.signal, readArrived)
    // [net.deadline] [report.log.lines]
    try {
      const response = await Promise.race([
        send(dispatcher, address, { ...init, signal }),
        // [net.deadline]
        rejectOnAbort(signal),
      ])
      outcome = response.status
      return response
    } finally {
      const tookMs = Math.round(clock.now() - startedAt)
      debug(`${init.method} ${address.pathname} ${outcome} ${tookMs} ms`)
    }
  }
}

// [net.proxy]
function createDispatcher({ environment, network }: FetchOptions): Dispatcher {
  const base = new URL(environment.apiUrl)
  const proxy = base.protocol === 'https:' ? proxyFor(base, network) : undefined
  return new Agent({ connect: createConnector({ ...network, proxy }).connect })
}

/** undici ignores the signal of a request whose connection is still being made. [net.deadline] */
async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await waitForAbort(signal)
  // Why it was aborted is told. [net.deadline] [report.true]
  throw signal.reason
}

/**
 * Resolves with the whole response, also a redirect to another origin, which is not trusted.
 * [github.redirect]
 */
async function send(dispatcher: Dispatcher, address: URL, init: FetchInit) {
  const { method, headers, body, signal } = init
  let target = address
  for (let redirections = 0; ; redirections++) {
    const { href: url, origin, pathname, search } = target
    const response = await request.call(dispatcher, {
      origin,
      path: pathname + search,
      method,
      // [github.shape]
      headers: { ...headers, 'accept-encoding': 'gzip' },
      // [github.redirect]
      body: body ?? null,
      // [net.deadline]
      signal,
    })
    // [github.shape]
    const content = await response.body.arrayBuffer()
    // undici frees the connection then; a request that comes earlier opens another. [net.cheap]
    await setImmediate()
    // [github.redirect]
    const { statusCode: status } = response
    // [github.pages]
    const received = joinValues(response.headers)
    // [github.redirect]
    const location = REDIRECTIONS.includes(status) ? (received.get('location') ?? '') : ''
    if (location !== '' && URL.canParse(location, url) && redirections < MAX_REDIRECTIONS) {
      target = new URL(location, url)
      // [github.redirect] [secret.key.where]
      if (target.origin === origin) continue
    }
    // [github.shape]
    const bytes =
      received.get('content-encoding') === 'gzip'
        ? gunzipSync(content, { maxOutputLength: MAX_BYTES })
        : new Uint8Array(content)
    // [github.shape]
    return {
      url,
      status,
      headers: received,
      text: async () => new TextDecoder().decode(bytes),
      arrayBuffer: async () => new Uint8Array(bytes).buffer,
    }
  }
}

// [github.pages]
function joinValues(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}
