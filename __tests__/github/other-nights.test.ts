/**
 * Nights, or weeks, with other repositories, drawn at random: whatever happens, each push is in the
 * prompt of exactly one good run. `SEEDS=200 NIGHTS=52 npm test -- other-nights` plays many.
 */

import { expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { file, type Repository } from '../support/github.js'
import { inWorld, type RunOptions, type SimulatedWorld } from '../support/pull-request.js'
import { scaled } from '../support/time.js'
import { Random } from '../world/random.js'
import { EPOCH } from '../world/timers.js'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const [SEEDS, NIGHTS] = [Number(process.env.SEEDS ?? 7), Number(process.env.NIGHTS ?? 12)]
const MARGIN = 15 * MINUTE
/** The first is private; in the last one only GitHub merges, so the commits' dates say when. */
const [PRIVATE, MERGED] = ['your-org/api', 'other-org/lib']
const NAMES = [PRIVATE, 'your-org/web', MERGED]
const TOKEN = 'github_pat_code_0123456789'
const INPUTS = {
  ...{ context: 'diff', 'code-repositories': NAMES.join('\n'), 'code-token': TOKEN },
}
const otherTokens = {
  [TOKEN]: { repositories: [PRIVATE], permissions: { contents: 'read' } },
} as const
const iso = (time: number) => new Date(time).toISOString()

type Push = { name: string; at: number; number: number; visibleAt: number; sent: number }
/** What the list has of a push, and when the commit was made. */
type Listed = { name: string; at: number; visibleAt: number; dated: number; move: object }
type Run = { id: number; event: string; created: number; begins: number; isAgain: boolean }

/** What happens, in the order of time; the last night is good, and has all before it. */
function draw(random: Random, period: number) {
  const first = EPOCH - (NIGHTS + 1) * period
  const runs: Run[] = []
  for (let night = 1; night <= NIGHTS; night++) {
    const created = first + night * period + random.pick(0, 0, 7 * MINUTE, 3 * HOUR, 9 * HOUR)
    const begins = created + random.pick(4_000, 20_000, 5 * MINUTE, 4 * HOUR)
    const id = 100 + night * 10
    runs.push({ id, event: 'schedule', created, begins, isAgain: false })
    // Also right before a night, whose range ends earlier.
    const byHand = random.pick(begins + random.int(1, 5) * HOUR, created - 10 * MINUTE)
    const event = random.pick('workflow_dispatch', 'repository_dispatch')
    if (random.chance(0.5))
      runs.push({
        id: id + (byHand < created ? -1 : 1),
        event,
        created: byHand,
        begins: byHand + 125_000,
        isAgain: false,
      })
    if (random.chance(0.3))
      runs.push({ id, event: 'schedule', created, begins: begins + 40 * MINUTE, isAgain: true })
  }
  const pushes = NAMES.flatMap((name) =>
    runs.flatMap(({ created, begins }) => {
      const around = () =>
        random.pick(
          created - MARGIN + random.pick(-1_000, 0, 1_000) + random.int(-20, 20) * MINUTE,
          created + random.pick(-1_000, 0, 1_000),
          begins - random.pick(3, 30, 120, 500) * 1_000,
          created - random.int(1, 23) * HOUR,
        )
      return Array.from({ length: random.pick(0, 1, 2, 4) }, () => ({ name, at: around() }))
    }),
  )
  return {
    first,
    runs: runs.sort((one, other) => one.begins - other.begins),
    pushes: pushes
      .sort((one, other) => one.at - other.at)
      .map((push, number): Push => {
        const lateMs = random.weighted([9, 0], [1, 70_000], [1, 400_000], [1, HOUR])
        return { ...push, number, visibleAt: push.at + lateMs, sent: 0 }
      }),
  }
}

/** What anybody may read of a run. */
const told = ({ summary, commands }: Ended): string =>
  [summary, ...['error', 'warning', 'notice'].flatMap(commands)].join()

async function play(world: SimulatedWorld, random: Random, period: number) {
  const { emulator, github, repository } = world
  const codes = new Map(
    NAMES.map((name) => [
      name,
      github.addRepository(name, { foreign: true, private: name === PRIVATE }),
    ]),
  )
  const codeOf = (name: string) => codes.get(name) as Repository
  const { first, runs, pushes } = draw(random, period)
  const listed: Listed[] = []
  for (const name of NAMES) {
    const at = first - 17 * DAY
    codeOf(name).push(iso(at), { commit: { files: [file('src/old.ts')] } })
    listed.push({ name, at, visibleAt: at, dated: at, move: codeOf(name).moves[0] ?? {} })
  }
  const ends = [first - MARGIN]
  repository.addRun({ id: 1, created_at: iso(first) })
  const waiting = [...pushes]
  const home = random.pick('public', 'private')
  const renamed = 100 + random.int(2, NIGHTS) * 10
  const lastId = 100 + (NIGHTS + 1) * 10
  const nights = [...runs, { id: lastId, event: 'schedule', created: EPOCH - HOUR, begins: EPOCH }]
  for (const { id, event, created, begins, isAgain } of nights.map((run) => ({
    isAgain: false,
    ...run,
  }))) {
    while (waiting[0] && waiting[0].at <= begins) {
      const { name, at, number, visibleAt } = waiting.shift() as Push
      const code = codeOf(name)
      const madeBefore = random.pick(0, 0, 5 * HOUR, 3 * DAY)
      const commit = { date: iso(at - madeBefore), files: [file(`src/p${number}.ts`)] }
      const parents = [code.branches.get('main') ?? '']
      const merge = () => ({
        ...{ date: iso(at), files: [] },
        parents: [...parents, code.addCommit({ parents, ...commit }).sha],
      })
      code.push(iso(at), { commit: name === MERGED ? merge() : commit })
      listed.push({
        ...{ name, at, visibleAt, move: code.moves.at(-1) ?? {} },
        dated: name === MERGED ? at : at - madeBefore,
      })
    }
    // A branch that was renamed has no list of what was before.
    if (id === renamed) {
      const code = codeOf(MERGED)
      const head = code.branches.get('main') ?? ''
      code.moves.length = 0
      code.branches.delete('main')
      code.push(iso(begins - 2_000), { head })
    }
    // Once nothing was pushed for a day, the branch is believed.
    const moved = listed.findLast(({ name }) => name === NAMES[1])?.at ?? 0
    const isListless = random.chance(0.2) && moved > created - 12 * HOUR
    // What is late by less than the action's patience is listed while it asks.
    for (const { name, visibleAt, move } of listed) {
      const lateMs = isListless && name === NAMES[1] ? DAY : Math.max(0, visibleAt - begins)
      Object.assign(move, { listedAt: lateMs > 90_000 ? Infinity : performance.now() + lateMs })
    }
    const known = repository.runs.find((run) => run.id === id)
    const wasGood = known?.conclusion === 'success'
    const run = known ?? repository.addRun({ id, event, created_at: iso(created) })
    if (isAgain) {
      repository.attempts.set(`${id} 1`, known?.conclusion ?? '')
      Object.assign(run, { run_attempt: 2 })
    }
    Object.assign(run, { status: 'in_progress', conclusion: null })
    // A year has more requests than the world keeps. What was asked is as GitHub describes it.
    expect(github.requests.splice(0).flatMap(({ problems }) => problems)).toEqual([])
    emulator.requests.splice(0)
    const options: RunOptions = {
      event,
      payload: { repository: { visibility: home } },
      env: {
        GITHUB_REF: 'refs/heads/main',
        GITHUB_RUN_ID: `${id}`,
        GITHUB_RUN_NUMBER: `${repository.runs.length}`,
        GITHUB_RUN_ATTEMPT: isAgain ? '2' : '1',
      },
    }
    // A date is earlier than the end, and later than the last good run.
    const until = created - (event === 'schedule' ? MARGIN : 0)
    const isDated = event === 'workflow_dispatch' && random.chance(0.5)
    const since = isDated ? iso(Math.max(created - HOUR, ...ends)).replace(/\.\d+/, '') : ''
    const ended = await world.step({ ...INPUTS, since }, options)
    const { outputs } = ended
    // What comes after the step may fail, too.
    const isGood = outputs.outcome !== 'error' && (id === lastId || random.chance(0.85))
    Object.assign(run, { status: 'completed', conclusion: isGood ? 'success' : 'failure' })
    expect([undefined, '', 'github']).toContain(outputs['error-code'])
    // What was listed in time is no reason to fail.
    const isInTime = listed.every(({ visibleAt, at, dated }) =>
      at > until ? dated > until : visibleAt <= begins,
    )
    if (isInTime && !isListless) expect(outputs.outcome).not.toBe('error')
    expect(world.prompts().length).toBeLessThanOrEqual(wasGood ? 0 : 1)
    if (home === 'public') {
      const shas = [...codeOf(PRIVATE).commits.keys()].map((sha) => sha.slice(0, 7))
      expect(told(ended)).not.toContain(PRIVATE)
      expect(told(ended) + ended.log).not.toMatch(RegExp(shas.join('|')))
    }
    if (!isGood || wasGood) continue
    ends.push(until)
    const text = world.prompts().join('\n')
    for (const [, name, number] of text.matchAll(/^=== \w+ ([\w-]+\/\w+)\/src\/p(\d+)\.ts/gm)) {
      const push = pushes[Number(number)]
      expect(push?.name).toBe(name)
      if (push) push.sent++
    }
  }
  return { pushes: pushes.filter(({ at }) => at <= Math.max(...ends) && at > (ends[0] ?? 0)) }
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  'each push is in the prompt of one good run (seed %i) [code.range] [code.late]',
  (seed) =>
    inWorld({ private: true, github: { otherTokens } }, async (world) => {
      // A schedule of each day, or of each week.
      const { pushes } = await play(world, new Random(seed), seed % 3 === 0 ? 7 * DAY : DAY)
      expect(pushes.length).toBeGreaterThan(3 * NIGHTS)
      expect(pushes.filter(({ sent }) => sent !== 1)).toEqual([])
    }),
  scaled(5_000) * NIGHTS,
)
