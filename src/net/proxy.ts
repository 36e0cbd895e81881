/** What the environment says about the network, and the proxy for a URL. */

import { checkBypass } from '@actions/http-client/lib/proxy'
import { ActionError } from '../text/errors.js'

/**
 * The proxy variables of the environment, in order of preference. `checkBypass` reads NO_PROXY
 * itself.
 */
export type ProxyVariables = readonly { readonly name: string; readonly value: string }[]

export interface NetworkSettings {
  readonly proxies: ProxyVariables
  /** NODE_TLS_REJECT_UNAUTHORIZED asks for unverified certificates, which is not honoured. */
  readonly unverifiedTlsRequested: boolean
}

/**
 * The proxy variables, each as it is written: Windows has them in any case. Elsewhere the lower
 * case comes first, as with curl. HTTP_PROXY alone also applies to https, as in undici's
 * EnvHttpProxyAgent.
 */
export function proxyVariables(
  environment: Readonly<Record<string, string | undefined>>,
): ProxyVariables {
  return ['HTTPS_PROXY', 'HTTP_PROXY'].flatMap((wanted) => {
    const written = Object.keys(environment).filter((name) => name.toUpperCase() === wanted)
    return written
      .sort()
      .reverse()
      .map((name) => ({ name, value: environment[name] ?? '' }))
  })
}

/** The variable that sets the proxy, as the user wrote it. */
export function nameProxyVariable(variables: ProxyVariables): string {
  return findSet(variables)?.name ?? 'HTTPS_PROXY'
}

function findSet(variables: ProxyVariables): ProxyVariables[number] | undefined {
  return variables.find(({ value }) => value.trim() !== '')
}

/**
 * The proxy for a URL; undefined for loopback, and for hosts in NO_PROXY.
 *
 * @throws ActionError `network` if the variable is not the URL of an HTTP proxy: bypassing the
 * proxy could be wrong.
 */
export function proxyFor(url: URL, variables: ProxyVariables): URL | undefined {
  const variable = findSet(variables)
  if (variable === undefined || checkBypass(url)) return undefined
  const value = variable.value.trim()
  const text = value.includes('://') ? value : `http://${value}` // As curl reads it.
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol)) return proxy
  throw new ActionError(
    'network',
    `${variable.name} is not a valid HTTP proxy URL.`,
    'Use http://host:port or http://user:password@host:port, or list the host in NO_PROXY.',
  )
}
