/** A dry run of the bundle on a recorded payload into which others have planted their text. */

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newFolder } from './folder.js'
import { file, sha } from './github.js'
import * as answers from './github-answers.js'
import { type RealWorld, startWorld } from './pull-request.js'
import { ownWords, PLANTED, plant, type Recorded } from './recorded.js'

const INPUTS: readonly Record<string, string>[] = [
  { context: 'diff' },
  { context: 'event', 'context-paths': 'docs/**', 'job-scope': 'pull-request' },
  { context: 'diff', comment: 'true', 'allow-users': '*' },
]

/** The recorded run before it has no actor: nobody could be asked. */
const ANYONE: Readonly<Record<string, string>> = { 'allow-users': '*' }

const range = { status: 'ahead', ahead_by: 1, total_commits: 1, commits: [{ sha: sha('head') }] }
const files = [answers.file(file('docs/a.md'))]
/** What GitHub answers, whichever repository and commit it is asked about. */
const ANSWERS: readonly (readonly [path: RegExp, body: unknown])[] = [
  [/\/compare\//, { ...range, files }],
  [/\/files\b/, files],
  [/\/releases\b/, [{ tag_name: 'v0.0.1', published_at: '2001-01-01T00:00:00Z' }]],
  [/\/runs\b/, { workflow_runs: [] }],
  [/\/permission$/, { permission: 'write' }],
  [/\/commits\//, { sha: sha('head'), parents: [] }],
  [/\/git\/tags\//, { object: { sha: sha('head') } }],
  [/\/comments\b/, []],
]

/** A test for each payload, with one of the sets of inputs in turn. */
export function testDryRuns(payloads: readonly Recorded[]): void {
  let world: RealWorld
  beforeAll(async () => {
    world = await startWorld()
    for (const [path, body] of ANSWERS)
      world.github.faults.push({ path, times: Number.POSITIVE_INFINITY, answer: { status: 200, body } })
  })
  afterAll(() => world.close())

  const cache = newFolder('cache')
  const cases = payloads.map((recorded, index) => {
    const set = index % INPUTS.length
    return {
      ...recorded,
      name: `${recorded.event} ${recorded.action} (payload ${index}, inputs ${set})`,
      set,
    }
  })
  test.concurrent.each(cases)(
    '$name: no crash, and no text of others outside of the fence',
    async (recorded) => {
      const { event, payload, set } = recorded
      const inputs = { 'dry-run': 'true', ...INPUTS[set], ...(event === 'workflow_run' && ANYONE) }
      const ended = await world.runBundle(inputs, {
        event,
        payload: plant(payload),
        // Compiled code is kept between the runs: Node takes half the time to start.
        env: { NODE_COMPILE_CACHE: cache, GITHUB_REF: refOf(recorded) },
      })
      expect({ ...ended.outputs, log: ended.log }).toMatchObject({ outcome: 'dry-run', 'error-code': '' })
      expect(ended.exitCode).toBe(0)
      const prompt = promptIn(ended.log)
      expect(prompt).toMatch(/^Update the docs\.\n\n# What triggered this run\n/)
      expect(ownWords(prompt)).not.toContain(PLANTED)
      expect(ended.commands('error')).toEqual([])
      expect(ended.log).not.toMatch(new RegExp(`^\\s*::error.*${PLANTED}`, 'm'))
    },
  )
}

/** The prompt in the log of a dry run: each of its lines is behind a bar. */
function promptIn(log: string): string {
  const lines = log.split('\n').flatMap((line) => /^\| ?(.*)$/.exec(line)?.[1] ?? [])
  return lines.join('\n')
}

function refOf({ payload }: Recorded): string {
  return typeof payload.ref === 'string' && payload.ref.startsWith('refs/') ? payload.ref : 'refs/heads/main'
}
