/** Measures the action against its alternatives, and prints the figures as Markdown: `npm run bench -- --help`. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir, type } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import {
  alternative,
  bundleToolkit,
  type Command,
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
import type { Counts } from './servers.js'

const HELP = `npm run bench -- [--rounds N] [--against DIST]
  --rounds N       how often each command is timed (default: 31)
  --against DIST   compares with another bundle, such as ../main/dist, instead of the alternatives`

const THIS = 'this action'
const OTHER = 'the other bundle'
const BASELINE = 'baseline: `node -e 0`'
const WITHOUT_FLAG = `${THIS}: a job without the V8 flag`
const TOOLKIT = 'an action built on `@actions/core` and `@actions/github`'
const WARM_UP_ROUNDS = 2

type Bench = Awaited<ReturnType<typeof startBench>>
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
    rounds: { type: 'string', default: '31' },
    against: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const rounds = Number(options.rounds)
if (options.help || !Number.isSafeInteger(rounds) || rounds < 1) {
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
  const commands = { ...stepsOf(dists, bench), ...(options.against ? {} : alternatives(bench)) }
  const rows = await measure(commands, bench)
  const pairs = options.against
    ? STEPS.map((step) => [`${THIS}: ${step}`, `${OTHER}: ${step}`] as const)
    : [[WITHOUT_FLAG, `${THIS}: a job`] as const]
  console.log([conditions, timeTable(rows), differences(rows, pairs), await sizes(dists, bench)].join('\n\n'))
  await Promise.all([bench.service.close(), bench.github.close()])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function stepsOf(dists: Dists, { environments, script }: Bench): Record<string, Command> {
  const steps = STEPS.flatMap((step) =>
    Object.entries(dists).map(
      ([name, dist]) => [`${name}: ${step}`, stepOf(dist, step, environments)] as const,
    ),
  )
  return { [BASELINE]: { argv: [process.execPath, '-e', '0'], env: script }, ...Object.fromEntries(steps) }
}

function alternatives({ environments, script }: Bench): Record<string, Command> {
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

/** The commands take turns, in both orders, so that other load on the machine affects all of them alike. */
async function measure(
  commands: Record<string, Command>,
  { service, github }: Bench,
): Promise<Map<string, Row>> {
  const none = { requests: 0, connections: 0 }
  const rows = new Map(
    Object.keys(commands).map((name): [string, Row] => [
      name,
      { cpu: [], wall: [], service: none, github: none },
    ]),
  )
  for (let round = 1 - WARM_UP_ROUNDS; round <= rounds; round++) {
    const turns = Object.entries(commands)
    for (const [name, command] of round % 2 === 0 ? turns : turns.reverse()) {
      github.deleteComments()
      const { cpu, wall } = await time(command)
      if (github.unknownRequests.length > 0)
        throw new Error(`${name}: bench/servers.ts does not know ${github.unknownRequests.join(', ')}`)
      const row = rows.get(name) as Row
      Object.assign(row, { service: service.takeCounts(), github: github.takeCounts() })
      if (round < 1) continue
      row.cpu.push(cpu)
      row.wall.push(wall)
    }
  }
  return rows
}

function timeTable(rows: Map<string, Row>): string {
  const baseline = median(rows.get(BASELINE)?.cpu ?? [])
  const counts = ({ requests, connections }: Counts) => (requests === 0 ? '' : `${requests} (${connections})`)
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

/** How much more CPU time one command takes than another, in the same round. */
function differences(rows: Map<string, Row>, pairs: readonly (readonly [string, string])[]): string {
  const cells = pairs.map(([one, other]) => {
    const others = rows.get(other)?.cpu ?? []
    const more = (rows.get(one)?.cpu ?? []).map((cpu, round) => cpu - (others[round] ?? 0))
    const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(more, part).toFixed(0))
    const percent = (100 * median(more)) / median(others)
    return [`${one} − ${other}`, `${middle}`, `${low} to ${high}`, `${percent.toFixed(0)} %`]
  })
  return table(['difference in each round', 'CPU, ms', 'quartiles', 'of the second'], cells)
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
  return [table(['kB', 'bundle, compressed', ...STEPS.map((step) => `loaded: ${step}`)], cells), whole].join(
    '\n\n',
  )
}

function describeConditions(): string {
  const programs = [
    `Node ${process.version.slice(1)}`,
    version('curl')?.split(' ', 2).join(' '),
    version('jq'),
  ]
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run bench\`, ${rounds} rounds: ${cpus().length} cores of`,
    `${cpus()[0]?.model.trim()}, ${type()} ${release().replace(/-.*/, '')}, ${programs.filter(Boolean).join(', ')}.`,
    `Load average before the run: ${loadavg()[0]?.toFixed(1)}.`,
  ].join('\n')
}

/** A table that also reads well as plain text. */
function table(header: string[], rows: string[][]): string {
  const all = [header, header.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)))
  const pad = (text = '', column: number) => text[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0)
  return all
    .map((cells) => `| ${header.map((_, column) => pad(cells[column], column)).join(' | ')} |`)
    .join('\n')
}

/** The value below which this part of them lies, interpolated. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * part
  const [below = 0, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}
