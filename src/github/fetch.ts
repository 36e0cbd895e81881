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

/** GitHub redirects requests for a renamed repository. [github.redirect] */
const REDIRECTIONS = [301, 302, 307, 308]
const MAX_REDIRECTIONS = 5

/**
 * How large a decompressed response may be, in bytes: the largest lists of files have some
 * megabytes.
 */
const MAX_BYTES = 64 * 1024 * 1024

export function createFetch(options: FetchOptions) {
  const { clock, debug } = options
  let dispatcher: Dispatcher | undefined
  return async (url: string, init: FetchInit) => {
    dispatcher ??= createDispatcher(options)
    const startedAt = clock.now()
    const address = new URL(url)
    let outcome: number | string = 'failed'
    // What has arrived is read first, also if its time is up.
    const signal = abortedAfter(init.signal, readArrived)
    try {
      const response = await Promise.race([
        sendTo(dispatcher, address, { ...init, signal }),
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

function createDispatcher({ environment, network }: FetchOptions): Dispatcher {
  const base = new URL(environment.apiUrl)
  const proxy = base.protocol === 'https:' ? proxyFor(base, network) : undefined
  return new Agent({ connect: createConnector({ ...network, proxy }).connect })
}

/** undici ignores the signal of a request whose connection is still being made. */
async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await waitForAbort(signal)
  // The error says why it was aborted.
  throw signal.reason
}

/** Resolves with the whole response, also a redirect to another origin, which is not trusted. */
async function sendTo(dispatcher: Dispatcher, address: URL, init: FetchInit) {
  const { method, headers, body, signal } = init
  let target = address
  for (let redirections = 0; ; redirections++) {
    const { href: url, origin, pathname, search } = target
    const response = await request.call(dispatcher, {
      origin,
      path: pathname + search,
      method,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      body: body ?? null,
      signal,
    })
    const content = await response.body.arrayBuffer()
    // undici frees the connection then; a request that comes earlier opens another.
    await setImmediate()
    const { statusCode: status } = response
    const received = joinValues(response.headers)
    const location = REDIRECTIONS.includes(status) ? (received.get('location') ?? '') : ''
    if (location !== '' && URL.canParse(location, url) && redirections < MAX_REDIRECTIONS) {
      target = new URL(location, url)
      if (target.origin === origin) continue // The token goes nowhere else.
    }
    const bytes =
      received.get('content-encoding') === 'gzip'
        ? gunzipSync(content, { maxOutputLength: MAX_BYTES })
        : new Uint8Array(content)
    return {
      url,
      status,
      headers: received,
      text: async () => new TextDecoder().decode(bytes),
      arrayBuffer: async () => new Uint8Array(bytes).buffer,
    }
  }
}

/** A header such as `link` may come several times. */
function joinValues(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}
