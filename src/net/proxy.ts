/** What the environment says about the network, and the proxy for a URL. */

import { checkBypass } from '@actions/http-client/lib/proxy'
import { ActionError } from '../text/errors.js'

export interface NetworkSettings {
  /** The value of the proxy variable, or empty. `checkBypass` reads NO_PROXY itself. */
  readonly proxy: string
  /** NODE_TLS_REJECT_UNAUTHORIZED asks for unverified certificates, which is not honoured. */
  readonly unverifiedTlsRequested: boolean
}

/** In order of preference: HTTP_PROXY alone also applies to https, as in undici. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

export function proxyVariable(environment: Readonly<Record<string, string | undefined>>): string {
  const values = VARIABLES.map((name) => environment[name]?.trim() ?? '')
  return values.find((value) => value !== '') ?? ''
}

/**
 * The proxy for a URL; undefined for loopback, and for hosts in NO_PROXY. [net.proxy]
 *
 * @throws ActionError `network` if the variable is not the URL of an HTTP proxy: bypassing the
 * proxy could be wrong.
 */
export function proxyFor(url: URL, { proxy: value }: NetworkSettings): URL | undefined {
  if (value === '' || checkBypass(url)) return undefined
  const text = value.includes('://') ? value : `http://${value}` // As curl reads it.
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol)) return proxy
  throw new ActionError(
    'network',
    'HTTPS_PROXY (or HTTP_PROXY) is not a valid HTTP proxy URL.',
    'Use http://host:port or http://user:password@host:port, or list the host in NO_PROXY.',
  )
}
