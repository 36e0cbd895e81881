/** Rare endings: frozen processes, lookups that hang, and full disks. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { runAgainst, type Step } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { POSIX } from '../support/platform.js'
import {
  active,
  completed,
  created,
  type Handler,
  job,
  json,
  later,
  opened,
  type Script,
  type ScriptedService,
  silence,
} from '../support/service.js'
import { minutes, shortDeadline, until } from '../support/time.js'

const GO = { prompt: 'Go' }
const WAIT = { 'job-id': 'job-1' }
/** A deadline, in milliseconds, as the input has it. */
const deadline = (milliseconds: number) => ({ 'timeout-minutes': minutes(milliseconds) })

// Not in a `describe`: the tests of one block wait at the same time.
const testIf = (holds: boolean) => (holds ? test.concurrent : test.concurrent.skip)

type Moment = (step: Step, service: ScriptedService) => Promise<void>
const isSent: Moment = (_, service) => until(() => service.received.length > 0)

const limitMs = shortDeadline()
const LIMITED = deadline(limitMs)

// What has arrived is read before a time limit counts.
testIf(POSIX).each<
  [string, Script, Record<string, string>, Moment, frozenMs: number, outputs: object]
>([
  [
    'in a create, past the deadline',
    { posts: [later(1_000, created)], polls: [active] },
    { ...GO, ...LIMITED },
    isSent,
    limitMs,
    { outcome: 'timed-out', 'job-id': 'job-1', status: 'active' },
  ],
  [
    'in a poll without a response, past the deadline: there is a last one',
    { polls: [silence, completed] },
    { ...WAIT, ...LIMITED },
    isSent,
    limitMs,
    { outcome: 'pr-opened', status: 'completed' },
  ],
])(
  'a process that is frozen %s [net.arrived-first] [poll.last]',
  async (_, script, inputs, moment, frozenMs, expected) => {
    const { outputs } = await runAgainst(script, inputs, {
      meanwhile: async (step, service) => {
        await moment(step, service)
        step.child.kill('SIGSTOP')
        await sleep(frozenMs)
        step.child.kill('SIGCONT')
      },
    })
    expect(outputs).toMatchObject(expected)
  },
)

testIf(POSIX)(
  'a second signal keeps the exit code of the outcome that was reported [output.exit-code]',
  async () => {
    const { exitCode, outputs } = await runAgainst({ posts: [created], polls: [completed] }, GO, {
      meanwhile: async ({ lines, child }) => {
        await until(() => lines.some((line) => line.startsWith('Finished')))
        child.kill('SIGINT')
        child.kill('SIGTERM')
      },
    })
    expect(outputs.outcome).toBe('pr-opened')
    expect(exitCode).toBe(0)
  },
)

describe('a full disk [output.unwritable]', () => {
  /** A file system of 16 KiB; undefined without the right to mount one. */
  const disk = process.platform === 'linux' ? mountSmallDisk() : undefined
  afterAll(() => {
    if (disk !== undefined) execFileSync('umount', [disk])
  })

  testIf(disk !== undefined)('leaves a well-formed output file, and names the job', async () => {
    const file = path.join(disk as string, 'output')
    // The outputs at the end don't fit into the rest of its page.
    writeFileSync(file, `before=${'x'.repeat(2_900)}\n`)
    const fill: Handler = (response) => {
      writeFileSync(path.join(disk as string, 'rest'), '')
      try {
        for (;;) writeFileSync(path.join(disk as string, 'rest'), 'x'.repeat(512), { flag: 'a' })
      } catch {
        // Now it is full.
      }
      json(201, job())(response)
    }
    const { exitCode, commands } = await runAgainst(
      { posts: [fill], polls: [json(200, opened)] },
      GO,
      {
        env: { GITHUB_OUTPUT: file },
      },
    )
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringMatching(/outputs failed: ENOSPC.*"job-1"/)])
    const text = readFileSync(file, 'utf8')
    for (const [, name, delimiter] of text.matchAll(/^([a-z-]+)<<(ghadelimiter_.*)$/gm)) {
      expect({ name, ends: text.split('\n').includes(delimiter as string) }).toEqual({
        name,
        ends: true,
      })
    }
    expect(text === '' || text.endsWith('\n')).toBe(true)
  })

  testIf(POSIX)('fails a step that only waits, too', async () => {
    const { exitCode, commands } = await runAgainst({ polls: [completed] }, WAIT, {
      env: { GITHUB_OUTPUT: '/dev/full' },
    })
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringMatching(/outputs failed: ENOSPC.*"job-1"/)])
  })
})

function mountSmallDisk(): string | undefined {
  const folder = newFolder('disk')
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder])
  return status === 0 ? folder : undefined
}
