/** Opens connections: directly, or through an HTTP proxy's CONNECT tunnel. */

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import type { buildConnector } from 'undici'
import createDirectConnector from 'undici/lib/core/connect.js'
import { isOfCertificate, type PermanentFailure } from '../text/errors.js'
import { oneLine, quote, truncate } from '../text/escape.js'
import { skipWasmOptimization } from './v8.js'

/**
 * A connection that was not made.
 *
 * It never has one of undici's own error codes: on some of those, its client retries by itself,
 * without a pause and without end (nodejs/undici#3897).
 */
class ConnectError extends Error {
  constructor(
    message: string,
    readonly permanent?: PermanentFailure,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/**
 * How long each address of a name but the last is tried, in milliseconds. Node gives it 250 ms, in
 * which a slow handshake can't end: with an IPv6 address that has no route, the other one is then
 * never reached (nodejs/node#54359). [net.addresses]
 */
setDefaultAutoSelectFamilyAttemptTimeout(2_500)

/**
 * Certificates are always verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says: the connection
 * carries a secret. [net.tls.verified]
 */
const VERIFIED = { rejectUnauthorized: true }

export interface ConnectorOptions {
  /** It is undefined for a direct connection. */
  readonly proxy: URL | undefined
  /** NODE_TLS_REJECT_UNAUTHORIZED is set: a certificate error says that it is not honoured. */
  readonly unverifiedTlsRequested: boolean
}

/** undici's connector, and what gives up the tunnels that a proxy hasn't opened yet. */
export function createConnector({ proxy, unverifiedTlsRequested }: ConnectorOptions) {
  const direct = createDirectConnector({ ...VERIFIED, allowH2: false }) // The bundle has no HTTP/2.
  const pending = new AbortController()
  const connect: buildConnector.connector = (options, callback) => {
    const done: buildConnector.Callback = (error, socket) => {
      if (error !== null) {
        callback(toConnectError(error, unverifiedTlsRequested), null)
      } else {
        skipWasmOptimization()
        callback(null, socket)
      }
    }
    if (proxy === undefined) return direct(options, done)
    const host = isIP(options.hostname) === 6 ? `[${options.hostname}]` : options.hostname
    openTunnel(proxy, `${host}:${options.port || 443}`, pending.signal).then(
      (httpSocket) => direct({ ...options, httpSocket }, done),
      (error) => done(error, null),
    )
  }
  return { connect, abort: () => pending.abort() }
}

/**
 * Asks a proxy for a tunnel (RFC 9110, 9.3.6). [net.proxy]
 *
 * @param target `host:port`
 * @throws ConnectError if the proxy can't be reached, refuses, or ends the connection: nothing was
 * sent then.
 */
function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  const name = `the proxy ${proxy.host}`
  const secure = proxy.protocol === 'https:'
  const credentials = `${decodeCredential(proxy.username)}:${decodeCredential(proxy.password)}`
  // Node looks up an IPv6 address in brackets as a name.
  const host = proxy.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)({
      ...VERIFIED,
      method: 'CONNECT',
      host,
      // Otherwise Node checks the certificate against the Host header below, which names the
      // target.
      servername: isIP(host) ? '' : host,
      port: proxy.port, // An empty port is the protocol's own.
      path: target,
      headers: {
        host: target,
        ...(credentials !== ':' && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
      // Node's own agent would send this through the proxy of NODE_USE_ENV_PROXY.
      agent: false,
      signal,
    })
    request.once('error', (cause) => {
      const message = `${name}: ${describeError(cause)}`
      reject(new ConnectError(message, certificateFailure('proxy', cause), { cause }))
    })
    request.once('connect', ({ statusCode: status = 0, headers }, socket) => {
      if (status >= 200 && status < 300) return resolve(socket)
      // A proxy may keep the socket open.
      socket.destroy()
      const offers = headers['proxy-authenticate'] ?? 'Basic'
      const wants = /\bbasic\b/i.test(offers) ? '' : ` and wants ${quote(truncate(offers, 100))}`
      const why = wants ? 'scheme' : credentials === ':' ? 'unauthenticated' : 'authentication'
      const said = `${name} responded ${status} to CONNECT${wants}`
      reject(new ConnectError(said, status === 407 ? `proxy-${why}` : undefined))
    })
    request.end()
  })
}

/** A user or password with a bare `%` goes as it is. */
function decodeCredential(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function toConnectError(error: Error, unverifiedTlsRequested: boolean): ConnectError {
  const failure =
    error instanceof ConnectError ? error.permanent : certificateFailure('server', error)
  const isIgnored = unverifiedTlsRequested && isOfCertificate(failure)
  const note = isIgnored ? ' (NODE_TLS_REJECT_UNAUTHORIZED is not honoured)' : ''
  return new ConnectError(describeError(error) + note, failure, { cause: error })
}

/** Why no retry would help, if known. The error may be the cause of another, as in Octokit's. */
export function permanentFailure(error: unknown): PermanentFailure | undefined {
  if (error instanceof ConnectError) return error.permanent
  return error instanceof Error ? permanentFailure(error.cause) : undefined
}

/**
 * A network error on one line. An AggregateError (several IP addresses were tried) has its messages
 * in its parts; OpenSSL's errors have a short reason beside a message that names its source files.
 */
export function describeError(error: Error): string {
  const parts = error instanceof AggregateError ? error.errors.map(({ message }) => message) : []
  const code = codeOf(error)
  const { reason } = error as { reason?: string }
  const tls = code.startsWith('ERR_SSL') && reason ? `TLS: ${reason}` : ''
  // Behind a semicolon, Node's certificate errors name a command-line option, which a step can't
  // set.
  const message = CERTIFICATE_ERROR.test(code) ? error.message.replace(/;.*/s, '') : error.message
  return oneLine(tls || message || [...new Set(parts)].join('; ') || error.name)
}

/**
 * The codes with which Node reports an invalid certificate (nodejs.org/api/tls.html, X509
 * certificate error codes). It has none for a key or a signature that is too weak: these are
 * UNSPECIFIED. [send.certificate.final]
 */
const CERTIFICATE_ERROR =
  /^(?:UNSPECIFIED$|ERR_TLS_CERT_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_)/

/** Trusting another issuer can mend these errors. */
const UNKNOWN_ISSUER =
  /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_|SELF_SIGNED_|CERT_UNTRUSTED$)/

function certificateFailure(whose: 'server' | 'proxy', error: Error): PermanentFailure | undefined {
  const code = codeOf(error)
  if (!CERTIFICATE_ERROR.test(code)) return undefined
  return `${whose}-${UNKNOWN_ISSUER.test(code) ? 'issuer' : 'certificate'}`
}

function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code)
}
