/** A module of undici that has no types of its own. */

declare module 'undici/lib/util/timers.js' {
  const timers: {
    /** Forgets all timers, and begins at 0. */
    reset(): void
  }
  export default timers
}
