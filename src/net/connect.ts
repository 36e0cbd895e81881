/** Opens the connection: directly, or through an HTTP proxy's CONNECT tunnel. */

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import type { buildConnector } from 'undici'
import { oneLine } from '../escape.js'

/** Why a connection will not come to be, however often it is tried. */
export type Refusal = 'certificate' | 'proxy-authentication'

/**
 * A connection that was not made.
 *
 * It never has one of undici's own error codes: on some of those its client tries again by itself, without a pause
 * and without end (nodejs/undici#3897).
 */
class ConnectError extends Error {
  constructor(
    message: string,
    readonly refusal?: Refusal,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Makes undici's connector, and a function that ends what it has under way. */
export function connector(
  direct: buildConnector.connector,
  proxy: URL | undefined,
): { connect: buildConnector.connector; cancel: () => void } {
  const underWay = new AbortController()
  const connect: buildConnector.connector = (options, callback) => {
    const done = (error: Error | null, socket: Socket | null): void => {
      if (error === null && socket !== null) {
        compileParserOnce()
        callback(null, socket)
      } else callback(asConnectError(error), null)
    }
    if (proxy === undefined) return direct(options, done)
    const host = isIP(options.hostname) === 6 ? `[${options.hostname}]` : options.hostname
    openTunnel(proxy, `${host}:${options.port || 443}`, underWay.signal).then(
      (httpSocket) => direct({ ...options, httpSocket }, done),
      (error) => done(error, null),
    )
  }
  return { connect, cancel: () => underWay.abort() }
}

/**
 * Has V8 compile undici's parser, which is WebAssembly, once and fast. By itself it begins at the second answer to
 * optimize it on another thread, which takes more CPU time than all the rest of a run with its few answers.
 *
 * The flag concerns WebAssembly alone, of which there is no other here. undici makes its parser when it has its first
 * connection; not called earlier, since other flags than Node's own make V8 compile Node's modules anew, where it has
 * them ready. A V8 without this flag says so on stderr, which the tests hold empty, and goes on.
 */
function compileParserOnce(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000')
}

/**
 * Asks a proxy for a tunnel (RFC 9110, 9.3.6).
 *
 * @param target `host:port`
 * @throws ConnectError where the proxy can't be reached, refuses, or ends the connection: nothing was sent then.
 */
function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  const name = `the proxy ${proxy.host}`
  const secure = proxy.protocol === 'https:'
  const user = `${decoded(proxy.username)}:${decoded(proxy.password)}`
  const host = proxy.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      host,
      // Else Node takes the name in the certificate from the header below, which is the target's.
      servername: isIP(host) ? '' : host,
      port: proxy.port || (secure ? 443 : 80),
      path: target,
      headers: {
        host: target,
        ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
      },
      agent: false,
      signal,
    })
    request.once('connect', (answer, socket) => {
      const status = answer.statusCode ?? 0
      if (status >= 200 && status < 300) return resolve(socket as Socket)
      socket.destroy()
      reject(
        new ConnectError(
          `${name} answered ${status} to CONNECT`,
          status === 407 ? 'proxy-authentication' : undefined,
        ),
      )
    })
    request.once('error', (error) =>
      reject(new ConnectError(`${name}: ${wordsOf(error)}`, certificateRefusal(error), { cause: error })),
    )
    request.end()
  })
}

/** A part of an address, percent-decoded where it can be. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function asConnectError(error: Error | null): ConnectError {
  if (error instanceof ConnectError) return error
  const words = error === null ? 'no connection' : wordsOf(error)
  return new ConnectError(words, certificateRefusal(error), { cause: error })
}

/** Why the connection will never come to be, where the error says so. */
export function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof ConnectError ? error.refusal : undefined
}

/**
 * An error of the network in words, on one line. An AggregateError (several addresses were tried) has them in its
 * parts; OpenSSL's have a short reason beside a message that names its source files.
 */
export function wordsOf(error: Error): string {
  const parts = error instanceof AggregateError ? error.errors.map(({ message }) => message) : []
  const { code, reason } = error as { code?: string; reason?: string }
  const tls = code?.startsWith('ERR_SSL') && reason ? `TLS: ${reason}` : ''
  return oneLine(tls || error.message || [...new Set(parts)].join('; ') || error.name)
}

/** The codes by which Node tells that a certificate does not hold (nodejs.org/api/tls.html, X509 certificate error codes). */
const CERTIFICATE_ERRORS = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

function certificateRefusal(error: Error | null): Refusal | undefined {
  return error !== null && 'code' in error && CERTIFICATE_ERRORS.has(String(error.code))
    ? 'certificate'
    : undefined
}
