/**
 * Counts the instructions of a command with valgrind. Unlike CPU time, they don't depend on what
 * else the machine does.
 */

import { type Command, run, version } from './commands.js'

/**
 * Debian's `valgrind` is a shell script that starts this; dash drops variables with a hyphen, which
 * inputs have.
 */
const VALGRIND = ['valgrind.bin', 'valgrind'].find(version)

export const canCountInstructions = VALGRIND !== undefined

/**
 * Millions of instructions of Node's whole process, without those of the kernel.
 *
 * @param seed of V8's hash tables. It is random otherwise, which makes a count differ by 3 % from
 * the next. Only this
 *   flag for it leaves the code cache of Node's own modules valid.
 */
export async function countInstructions(command: Command, seed: number): Promise<number> {
  const [node = '', ...args] = command.argv
  const options = [
    '--tool=cachegrind',
    '--cache-sim=no',
    '--cachegrind-out-file=/dev/null',
    // V8 writes code while it runs.
    '--smc-check=all-non-file',
  ]
  const stderr = await run(command, [
    VALGRIND ?? '',
    ...options,
    node,
    `--random-seed=${seed}`,
    ...args,
  ])
  const [, count] = /I +refs: +([\d,]+)/.exec(stderr) ?? []
  if (count === undefined) throw new Error(`valgrind printed no count:\n${stderr}`)
  return Number(count.replaceAll(',', '')) / 1e6
}
