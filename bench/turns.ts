/** Lets commands take turns, so that other load on the machine affects all of them alike. */

import type { Command, startBench } from './commands.js'

export type Bench = Awaited<ReturnType<typeof startBench>>
export type Commands = Readonly<Record<string, Command>>

/** Runs each command once in each round, in both orders. GitHub has no comment before. */
export async function takeTurns(
  commands: Commands,
  rounds: number,
  github: Bench['github'],
  run: (name: string, command: Command, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const turns = Object.entries(commands)
    for (const [name, command] of round % 2 === 0 ? turns : turns.reverse()) {
      github.deleteComments()
      await run(name, command, round)
      const refused = github.refusedRequests().map(({ method, path }) => `${method} ${path}`)
      if (refused.length > 0)
        throw new Error(`${name}: bench/servers.ts refuses ${refused.join(', ')}`)
    }
  }
}
