/**
 * Mutants that no test can kill, because the code behaves the same with them, and why. Each is named by what it changes,
 * and by the whole line where that is not enough. See docs/mutation.md.
 */

export const EQUIVALENT = {}
