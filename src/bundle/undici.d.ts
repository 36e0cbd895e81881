/**
 * Types for the parts of undici that are imported directly: its own entry loads all of its parts,
 * which bundlers can't leave out. The paths are those that undici's entry requires.
 */

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'

  /** A method of `Dispatcher`, which has it only if undici's entry is loaded. */
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}
