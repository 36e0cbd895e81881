/**
 * Replaces `@actions/exec` in the bundle. `@actions/core` uses it only to find the name of the
 * operating system, which this action never asks for. Without it, a run loads nothing that can
 * start a process.
 */

export async function getExecOutput(): Promise<never> {
  throw new Error('This action starts no processes.')
}
