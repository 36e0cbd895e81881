/**
 * Stands in the bundle for `@actions/exec`: `@actions/core` needs it only to tell the name of the operating system, which
 * this action does not ask for. Without it a run loads nothing that starts processes. See `paths` in tsconfig.json.
 */

export async function getExecOutput(): Promise<never> {
  throw new Error('This action starts no processes.')
}
