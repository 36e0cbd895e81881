/**
 * Types for the parts of undici that are imported directly: its own entry loads all of its parts, which bundlers can't
 * leave out. The paths are those that undici's entry requires.
 */

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}

declare module 'undici/lib/web/fetch/index.js' {
  export { fetch } from 'undici'
}
