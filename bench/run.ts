/**
 * Measures the action against its alternatives, and prints the figures as Markdown: `npm run bench
 * -- --help`.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir, type } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { compareBundles } from './against.js'
import {
  alternative,
  BASELINE,
  baseline,
  bundleToolkit,
  copyWithoutFlag,
  loadedBytes,
  STEPS,
  startBench,
  stepOf,
  THIS_DIST,
  time,
  version,
} from './commands.js'
import { download } from './download.js'
import { difference, median, percents, quantile, table } from './figures.js'
import type { Counts } from './servers.js'
import { type Bench, type Commands, takeTurns } from './turns.js'

const HELP = `npm run bench -- [--rounds N] [--against DIST]
  --rounds N       how often each command is measured (default: 31; with --against 7, or 61 without valgrind)
  --against DIST   compares with another bundle, such as ../main/dist, instead of the alternatives. Counts
                   instructions if valgrind is installed, otherwise CPU time`

const THIS = 'this action'
const OTHER = 'the other bundle'
const WITHOUT_FLAG = `${THIS}: a job without the V8 flag`
const TOOLKIT = 'an action built on `@actions/core` and `@actions/github`'
const WARM_UP_ROUNDS = 2

type Dists = Readonly<Record<string, string>>

interface Row {
  /** Milliseconds of each round. */
  readonly cpu: number[]
  readonly wall: number[]
  /** Of the last round. */
  service: Counts
  github: Counts
}

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    against: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const rounds = options.rounds === undefined ? undefined : Number(options.rounds)
if (options.help || (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0))) {
  console.log(HELP)
  process.exit(options.help ? 0 : 2)
}
const conditions = describeConditions()
const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
try {
  const bench = await startBench(folder)
  const dists: Dists = {
    [THIS]: THIS_DIST,
    ...(options.against && { [OTHER]: path.resolve(options.against) }),
  }
  const comparison = options.against
    ? await compareBundles(dists, bench, folder, rounds)
    : await compareWithAlternatives(bench, rounds)
  console.log([conditions, comparison, await sizes(dists, bench)].join('\n\n'))
  await Promise.all([bench.service.close(), bench.github.close()])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function compareWithAlternatives(bench: Bench, rounds = 31): Promise<string> {
  const steps = STEPS.map(
    (step) => [`${THIS}: ${step}`, stepOf(THIS_DIST, step, bench.environments)] as const,
  )
  const rows = await measure(
    { [BASELINE]: baseline(bench.script), ...Object.fromEntries(steps), ...alternatives(bench) },
    rounds,
    bench,
  )
  const cpu = (name: string): number[] => rows.get(name)?.cpu ?? []
  const [more, noise] = percents(difference(cpu(WITHOUT_FLAG), cpu(`${THIS}: a job`)))
  return `${timeTable(rows)}\n\nMedians of ${rounds} rounds. Without the V8 flag, a job takes ${more} (${noise}) CPU time.`
}

function alternatives({ environments, script }: Bench): Commands {
  return {
    [WITHOUT_FLAG]: stepOf(copyWithoutFlag(folder), 'a job', environments),
    'a Node script with `fetch`: a job': alternative(process.execPath, 'fetch.mjs', script),
    ...(version('curl') &&
      version('jq') && {
        'bash with `curl` and `jq`: a job': alternative('bash', 'curl-jq.sh', script),
        'one start of `jq`': { argv: ['jq', '-n', '0'], env: script },
      }),
    [`${TOOLKIT}: a job and a comment`]: stepOf(
      bundleToolkit(folder),
      'a job on a pull request',
      environments,
    ),
  }
}

async function measure(
  commands: Commands,
  rounds: number,
  { service, github }: Bench,
): Promise<Map<string, Row>> {
  const none = { requests: 0, connections: 0 }
  const rows = new Map(
    Object.keys(commands).map((name): [string, Row] => [
      name,
      { cpu: [], wall: [], service: none, github: none },
    ]),
  )
  await takeTurns(commands, WARM_UP_ROUNDS + rounds, github, async (name, command, round) => {
    const { cpu, wall } = await time(command)
    const row = rows.get(name) as Row
    Object.assign(row, { service: service.takeCounts(), github: github.takeCounts() })
    if (round < WARM_UP_ROUNDS) return
    row.cpu.push(cpu)
    row.wall.push(wall)
  })
  return rows
}

function timeTable(rows: Map<string, Row>): string {
  const baseline = median(rows.get(BASELINE)?.cpu ?? [])
  const counts = ({ requests, connections }: Counts) =>
    requests === 0 ? '' : `${requests} (${connections})`
  const cells = Array.from(rows, ([name, { cpu, wall, service, github }]) => [
    name,
    median(cpu).toFixed(0),
    `${quantile(cpu, 0.25).toFixed(0)} to ${quantile(cpu, 0.75).toFixed(0)}`,
    (median(cpu) / baseline).toFixed(1),
    median(wall).toFixed(0),
    counts(service),
    counts(github),
  ])
  return table(['', 'CPU, ms', 'quartiles', '× baseline', 'wall, ms', 'service', 'GitHub'], cells)
}

/** What is downloaded, and how much of it Node loads. */
async function sizes(dists: Dists, bench: Bench): Promise<string> {
  const kB = (bytes: number) => (bytes / 1000).toFixed(1)
  const compressed = (dist: string) => kB(execFileSync('tar', ['cz', '-C', dist, '.']).length)
  const cells = []
  for (const [name, dist] of Object.entries(dists)) {
    const loaded = []
    for (const step of STEPS) {
      bench.github.deleteComments()
      loaded.push(kB(await loadedBytes(stepOf(dist, step, bench.environments), folder)))
    }
    cells.push([name, compressed(dist), ...loaded])
  }
  if (!options.against) cells.push([TOOLKIT, compressed(path.join(folder, 'toolkit/dist'))])
  const whole = `The whole download of this action is ${kB(download().bytes)} kB.`
  return [
    table(['kB', 'bundle, compressed', ...STEPS.map((step) => `loaded: ${step}`)], cells),
    whole,
  ].join('\n\n')
}

function describeConditions(): string {
  const programs = [
    `Node ${process.version.slice(1)}`,
    version('curl')?.split(' ', 2).join(' '),
    version('jq'),
  ]
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run bench\`: ${cpus().length} cores of`,
    `${cpus()[0]?.model.trim()}, ${type()} ${release().replace(/-.*/, '')}, ${programs.filter(Boolean).join(', ')}.`,
    `Load average before the run: ${loadavg()[0]?.toFixed(1)}.`,
  ].join('\n')
}
