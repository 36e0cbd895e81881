/** Which proxy an address has. */

import { checkBypass } from '@actions/http-client/lib/proxy'
import { ActionError } from '../errors.js'

/** The proxy variables of the environment, the first to be taken first; NO_PROXY is read where it is obeyed. */
export type ProxyVariables = readonly { readonly name: string; readonly value: string }[]

/**
 * The proxy for an address; none for loopback, and none where NO_PROXY names it.
 *
 * @throws ActionError `network` where the variable holds no address of an HTTP proxy: going around it could be wrong.
 */
export function proxyFor(address: URL, variables: ProxyVariables): URL | undefined {
  const variable = variables.find(({ value }) => value.trim() !== '')
  if (variable === undefined || checkBypass(address)) return undefined
  const value = variable.value.trim()
  const text = value.includes('://') ? value : `http://${value}` // As curl reads it.
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw new ActionError(
    'network',
    `${variable.name} holds no address of an HTTP proxy. Nothing was sent.`,
    'Write it as http://host:port or http://user:password@host:port, or name the service in NO_PROXY.',
  )
}
