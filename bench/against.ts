/** Compares the bundle with another one, exactly enough to see 3 %. */

import { BASELINE, baseline, type Command, copyBundle, STEPS, stepOf, time } from './commands.js'
import { difference, median, percents, table } from './figures.js'
import { canCountInstructions, countInstructions } from './instructions.js'
import { type Bench, type Commands, takeTurns } from './turns.js'

/** What is measured of each command. */
interface Measure {
  readonly unit: string
  readonly rounds: number
  readonly of: (command: Command, round: number) => Promise<number>
}

/** CPU time differs by 5 % from one run to the next, a count by much less. */
const MEASURE: Measure = canCountInstructions
  ? {
      unit: 'millions of instructions',
      rounds: 7,
      of: (command, round) => countInstructions(command, round + 1),
    }
  : { unit: 'CPU, ms', rounds: 61, of: async (command) => (await time(command)).cpu }

/**
 * Measures both bundles in turns, each step of one directly beside that of the other.
 *
 * @param folder for the copies of the bundles
 */
export async function compareBundles(
  dists: Readonly<Record<string, string>>,
  bench: Bench,
  folder: string,
  rounds = MEASURE.rounds,
): Promise<string> {
  const names = Object.keys(dists)
  const copies = Object.values(dists).map((dist, index) =>
    copyBundle(dist, folder, `bundle-${index}`),
  )
  // The baseline is the same command in both columns: its difference is noise.
  const commands: Commands = Object.fromEntries([
    ...names.map((name) => [`${name}: ${BASELINE}`, baseline(bench.script)] as const),
    ...STEPS.flatMap((step) =>
      names.map(
        (name, index) =>
          [`${name}: ${step}`, stepOf(copies[index] ?? '', step, bench.environments)] as const,
      ),
    ),
  ])
  const values = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]))
  await takeTurns(commands, rounds, bench.github, async (name, command, round) => {
    values.get(name)?.push(await MEASURE.of(command, round))
  })
  const cells = [BASELINE, ...STEPS].map((row) => {
    const [one = [], other = []] = names.map((name) => values.get(`${name}: ${row}`))
    return [
      row,
      median(one).toFixed(1),
      median(other).toFixed(1),
      ...percents(difference(one, other)),
    ]
  })
  return [
    table([MEASURE.unit, ...names, 'difference', 'noise'], cells),
    `Medians of ${rounds} rounds. What is below the noise isn't seen; more --rounds lower it.`,
  ].join('\n\n')
}
