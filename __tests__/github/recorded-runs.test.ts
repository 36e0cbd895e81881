/** A dry run of the bundle with one recorded payload of each event; recorded-payloads.test.ts reads all of them. */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runStep } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { ownWords, PLANTED, plant, RECORDED, type Recorded, startAnyGitHub } from '../support/recorded.js'

let github: Awaited<ReturnType<typeof startAnyGitHub>>
beforeAll(async () => {
  github = await startAnyGitHub()
})
afterAll(() => github.close())

const folder = newFolder('recorded')

/** Compiled code is kept between the runs: Node takes half the time to start. */
const CACHE = path.join(folder, 'cache')

const INPUTS: readonly Record<string, string>[] = [
  { context: 'diff' },
  { context: 'event', 'context-paths': 'docs/**', 'job-scope': 'pull-request' },
  { context: 'diff', comment: 'true', 'allow-users': '*' },
]

/** The recorded run before it has no actor: nobody could be asked. */
const ANYONE: Readonly<Record<string, string>> = { 'allow-users': '*' }

const FIRST = RECORDED.filter(({ event }, index) => RECORDED.findIndex((one) => one.event === event) === index)

const CASES = FIRST.flatMap((recorded, index) =>
  [index % INPUTS.length].map((set) => ({
    ...recorded,
    name: `${recorded.event} ${recorded.action} (payload ${index}, inputs ${set})`,
    inputs: { ...INPUTS[set], ...(recorded.event === 'workflow_run' && ANYONE) },
    eventPath: path.join(folder, `${index}-${set}.json`),
  })),
)

/** The prompt in the log of a dry run: each of its lines is behind a bar. */
function promptIn(log: string): string {
  const lines = log.split('\n').flatMap((line) => /^\| ?(.*)$/.exec(line)?.[1] ?? [])
  return lines.join('\n')
}

function refOf({ payload }: Recorded): string {
  return typeof payload.ref === 'string' && payload.ref.startsWith('refs/') ? payload.ref : 'refs/heads/main'
}

test.concurrent.each(CASES)(
  '$name: no crash, and no text of others outside of the fence',
  async (recorded) => {
    const { event, payload, inputs, eventPath } = recorded
    writeFileSync(eventPath, JSON.stringify(plant(payload, 'at the end')))
    const ended = await runStep(
      { prompt: 'Update the docs.', 'dry-run': 'true', 'github-token': 'token', ...inputs },
      {
        env: {
          NODE_COMPILE_CACHE: CACHE,
          GITHUB_API_URL: github.url,
          GITHUB_EVENT_NAME: event,
          GITHUB_EVENT_PATH: eventPath,
          GITHUB_REF: refOf(recorded),
          GITHUB_SHA: 'c'.repeat(40),
        },
      },
    )
    expect({ ...ended.outputs, log: ended.log }).toMatchObject({ outcome: 'dry-run', 'error-code': '' })
    expect(ended.exitCode).toBe(0)
    const prompt = promptIn(ended.log)
    expect(prompt).toMatch(/^Update the docs\.\n\n# What triggered this run\n/)
    expect(ownWords(prompt)).not.toContain(PLANTED)
    expect(ended.commands('error')).toEqual([])
    expect(ended.log).not.toMatch(new RegExp(`^\\s*::error.*${PLANTED}`, 'm'))
  },
)
