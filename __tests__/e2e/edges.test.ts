/** Rare endings: frozen processes, the last seconds, lookups that hang, full disks, and odd responses. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { FAST, KEY, runAgainst, runStep } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { posixDescribe, posixTest } from '../support/platform.js'
import {
  active,
  completed,
  created,
  type Handler,
  job,
  json,
  LINK,
  later,
  opened,
  type Script,
  silence,
} from '../support/service.js'
import { minutes, scaled, until } from '../support/time.js'

const GO = { prompt: 'Go' }
/** A deadline, in milliseconds, as the input has it. */
const deadline = (milliseconds: number) => ({ ...GO, 'timeout-minutes': minutes(milliseconds) })

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

posixDescribe('a frozen process reads what has arrived before a time limit counts', () => {
  /** Freezes the step once the service has this many requests, for long enough to pass the limit. */
  const runFrozen = (
    script: Script,
    inputs: Record<string, string>,
    requests: number,
    frozenMs: number,
    signal?: NodeJS.Signals,
  ) =>
    runAgainst(script, inputs, {
      meanwhile: async ({ child }, service) => {
        await until(() => service.received.length >= requests)
        if (signal !== undefined) {
          child.kill(signal)
          await pause(500) // It has to see the signal before it is frozen.
        }
        child.kill('SIGSTOP')
        await pause(frozenMs)
        child.kill('SIGCONT')
      },
    })

  test.concurrent('a create request, past the deadline', async () => {
    const script = { posts: [later(1_000, created)], polls: [active] }
    const { outputs } = await runFrozen(script, deadline(6_000), 1, 12_000)
    expect(outputs).toMatchObject({ outcome: 'timed-out', 'job-id': 'job-1', status: 'active' })
  })

  test.concurrent('a status request, past the deadline', async () => {
    const script = { posts: [created], polls: [later(1_000, completed)] }
    const { outputs, exitCode } = await runFrozen(script, deadline(6_000), 2, 8_000)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(exitCode).toBe(0)
  })

  test.concurrent('a create request, past the 5 s after a cancel', async () => {
    const script = { posts: [later(1_500, created)], polls: [active] }
    const { outputs } = await runFrozen(script, GO, 1, 7_000, 'SIGINT')
    expect(outputs).toMatchObject({ outcome: 'cancelled', 'job-id': 'job-1', 'error-code': '' })
  })
})

describe('the last seconds', () => {
  test.concurrent('a retry without room for its response is not sent', async () => {
    const script = { posts: [json(429, { error: 'Slow down' }, { 'retry-after': '5' }), created] }
    const { outputs, service } = await runAgainst(script, deadline(6_600))
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'rate-limited', 'job-id': '' })
    expect(service.posts()).toHaveLength(1)
  })

  test.concurrent('a create request in flight at the deadline gets 5 s more', async () => {
    const script = { posts: [later(5_500, created)], polls: [active] }
    const { outputs } = await runAgainst(script, deadline(3_000))
    expect(outputs).toMatchObject({ outcome: 'timed-out', 'job-id': 'job-1' })
  })

  test.concurrent('and no more than that', async () => {
    const { outputs } = await runAgainst({ posts: [silence] }, deadline(1_200))
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'create-unknown' })
  })
})

describe('exit codes', () => {
  const SHORT = deadline(1_800)

  test.concurrent('a host that does not exist ends in 1, not by a signal', async () => {
    const { outputs, exitCode } = await runStep({ ...FAST, ...SHORT, 'base-url': 'https://host.invalid' })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
    expect(exitCode).toBe(1)
  })

  posixTest('a second signal keeps the exit code of the outcome that was reported', async () => {
    const { exitCode, outputs } = await runAgainst({ posts: [created], polls: [completed] }, GO, {
      meanwhile: async ({ lines, child }) => {
        await until(() => lines.some((line) => line.startsWith('Finished')))
        child.kill('SIGINT')
        child.kill('SIGTERM')
      },
    })
    expect(outputs.outcome).toBe('pr-opened')
    expect(exitCode).toBe(0)
  })

  // The library that makes a lookup hang needs a compiler, and only newer versions of Node can end during a lookup.
  const shim = process.platform === 'linux' ? buildHangingLookup() : undefined
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const canEnd = major > 22 || (major === 22 && minor >= 15)
  const testIfShim = shim !== undefined && canEnd ? test : test.skip
  testIfShim('a lookup that hangs does not delay the end', async () => {
    const started = performance.now()
    const { outputs, exitCode } = await runStep(
      { ...FAST, ...SHORT, 'fail-on': 'none', 'base-url': 'https://hangs.invalid' },
      { env: { LD_PRELOAD: shim as string } },
    )
    expect(outputs.outcome).toBe('error')
    expect(exitCode).toBe(1)
    expect(performance.now() - started).toBeLessThan(scaled(20_000)) // The lookup takes 5 minutes.
  })
})

/** A library in which the lookup of a name takes 5 minutes; undefined if it can't be built. */
function buildHangingLookup(): string | undefined {
  const folder = newFolder('shim')
  const source = path.join(folder, 'shim.c')
  writeFileSync(
    source,
    '#include <unistd.h>\nint getaddrinfo(const char *n, const char *s, const void *h, void **r) { sleep(300); return -2; }\n',
  )
  const library = path.join(folder, 'shim.so')
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source])
  return status === 0 ? library : undefined
}

describe('a disk that is full', () => {
  /** A file system of 16 KiB; undefined without the right to mount one. */
  const disk = process.platform === 'linux' ? mountSmallDisk() : undefined
  afterAll(() => {
    if (disk !== undefined) execFileSync('umount', [disk])
  })
  const testIfDisk = disk === undefined ? test.skip : test

  testIfDisk('leaves a well-formed output file and a failed step that names the job', async () => {
    const file = path.join(disk as string, 'output')
    writeFileSync(file, '')
    // More than what is left in the last page of the output file.
    const large = json(200, { ...opened, padding: 'x'.repeat(8_192) })
    const fill: Handler = (response) => {
      writeFileSync(path.join(disk as string, 'rest'), '')
      try {
        for (;;) writeFileSync(path.join(disk as string, 'rest'), 'x'.repeat(512), { flag: 'a' })
      } catch {
        // Now it is full.
      }
      json(201, job())(response)
    }
    const { exitCode, commands } = await runAgainst({ posts: [fill], polls: [large] }, GO, {
      env: { GITHUB_OUTPUT: file },
    })
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringMatching(/outputs failed: ENOSPC.*"job-1"/)])
    const text = readFileSync(file, 'utf8')
    for (const [, name, delimiter] of text.matchAll(/^([a-z-]+)<<(ghadelimiter_.*)$/gm)) {
      expect({ name, ends: text.split('\n').includes(delimiter as string) }).toEqual({ name, ends: true })
    }
    expect(text === '' || text.endsWith('\n')).toBe(true)
  })

  posixTest('fails a step that only waits, too, if its outputs can not be written', async () => {
    const { exitCode, commands } = await runAgainst(
      { polls: [completed] },
      { prompt: '', 'job-id': 'job-1' },
      { env: { GITHUB_OUTPUT: '/dev/full' } },
    )
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringMatching(/outputs failed: ENOSPC.*"job-1"/)])
  })
})

function mountSmallDisk(): string | undefined {
  const folder = newFolder('disk')
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder])
  return status === 0 ? folder : undefined
}

describe('a response', () => {
  test.concurrent('is complete even if the connection before it broke', async () => {
    const broken: Handler = (response) => {
      created(response)
      response.req.socket.end('no response')
    }
    const closed: Handler = (response) =>
      void response.req.socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(opened)}`,
      )
    const { outputs, service } = await runAgainst({ posts: [broken], polls: [closed] }, GO)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
    expect(service.polls()).toHaveLength(1)
  })

  test.concurrent('with an id that a shell would run is not a job', async () => {
    const { outputs } = await runAgainst({ posts: [json(201, job({ id: '"; touch X; echo "' }))] }, GO)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'contract', 'job-id': '' })
  })

  test.concurrent('with a link that has other characters in its query is passed on without the query', async () => {
    const linked = json(200, { ...opened, prLink: `${LINK}?a=1&b=2` })
    const { outputs } = await runAgainst({ posts: [created], polls: [linked] }, GO)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  })

  test.concurrent('with a link that is not passed on is not said to be without a pull request', async () => {
    const linked = json(200, { ...opened, prLink: 'https://example.com/$(id)' })
    const { outputs, log, summary, commands } = await runAgainst({ posts: [created], polls: [linked] }, GO)
    expect(outputs).toMatchObject({ outcome: 'no-changes', 'pr-link': '' })
    expect(commands('warning')).toHaveLength(1)
    expect(log + summary).not.toContain('without a pull request')
    expect(log).toContain("Its pull request link was dropped, because it can't be passed on safely")
  })
})

describe('a key', () => {
  test.concurrent('that begins like an ID or a link ends leaves both as they are', async () => {
    const link = 'https://github.com/acmedocs/docs/tree/acmedocs'
    const id = 'acmedocs'
    const { outputs, commands } = await runAgainst(
      {
        posts: [json(201, job({ id }))],
        polls: [json(200, job({ id, status: 'completed', prLink: link }))],
      },
      { ...GO, 'project-id': id, 'api-key': 'acmedocs_4f3a9be2' },
    )
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': id, 'pr-link': link })
    expect(commands('warning')).toEqual([])
  })

  test.concurrent('in another input is bad input, and nothing is sent', async () => {
    const { outputs, service, commands } = await runAgainst(
      { posts: [created] },
      { ...GO, 'project-id': KEY },
    )
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(commands('error')[0]).toContain('project-id: contains the key')
    expect(service.received).toEqual([])
  })
})
