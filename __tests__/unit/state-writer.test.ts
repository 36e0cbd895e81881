// What is written at GitHub, and what is said of it, whatever keeps the state.
import { expect, test } from '@jest/globals'
import { ActionError } from '../../src/errors.js'
import type { RunEnvironment } from '../../src/event/event.js'
import { GitHubError } from '../../src/github/client.js'
import type { StoredState } from '../../src/github/marker.js'
import { type Found, StateWriter, type StateWriterOptions } from '../../src/github/state-writer.js'
import type { StatusUpdate } from '../../src/status-update.js'
import { FakeClock } from './fake-clock.js'

const NOTHING: Found = { state: undefined, unverified: 0 }
const UNVERIFIED: Found = { state: undefined, unverified: 1 }

const stored = (run: string): StoredState => ({
  jobId: 'job-1',
  link: '',
  run,
  attempt: 1,
  state: 'active',
})

const update = (state: string): StatusUpdate => ({
  state,
  jobId: 'job-2',
  link: '',
  hasJob: true,
  created: false,
  title: '',
  comment: '',
  summary: '',
  conclusion: undefined,
})

const refused = (status: number): GitHubError =>
  new GitHubError(
    { description: 'writing the comment', permission: 'issues: write' },
    Object.assign(new Error('No'), { status, response: { headers: {} } }),
    { clock: new FakeClock(), redact: (text) => text, fromFork: false },
  )

interface Options {
  find?: () => Promise<Found>
  write?: () => Promise<void>
  edits?: boolean
  role?: StateWriterOptions['role']
  attempt?: number
}

function create({
  find = async () => NOTHING,
  write = async () => undefined,
  edits = true,
  role = 'decides',
  attempt = 1,
}: Options = {}) {
  const log: string[] = []
  const warnings: string[] = []
  const written: (StoredState | undefined)[] = []
  const end = new AbortController()
  const writer = new StateWriter({
    store: {
      edits,
      find,
      write: async (_, state) => {
        await write()
        written.push(state)
      },
    },
    run: { runId: '9', runAttempt: String(attempt) } as RunEnvironment,
    role,
    accepts: () => true,
    consequence: '',
    ended: end.signal,
    log: (line) => log.push(line),
    warn: (line) => warnings.push(line),
  })
  const close = () => writer.close(1_000, 1_000, new AbortController().signal)
  return { writer, log, warnings, written, end, close }
}

test.each([
  ['a comment, when it is read', { edits: true }, 'comment'],
  ['a comment that nobody reads first, when it is written', { edits: true, role: 'informs' }, 'comment'],
  ['the check of an earlier attempt', { edits: false, role: 'remembers', attempt: 2 }, 'check'],
  ['nothing of a check in the first attempt', { edits: false, role: 'remembers' }, undefined],
] as const)('says once what cannot be verified: %s', async (_, options, what) => {
  const { writer, log, written, close } = create({ find: async () => UNVERIFIED, ...options })
  if (options.edits === false || !('role' in options)) await writer.find(true)
  writer.enqueue(update('active'))
  await close()
  expect(written).toHaveLength(1)
  expect(log).toEqual(
    what === undefined
      ? []
      : [
          `An earlier ${what} by this step can't be verified (was the key changed?). It is ignored, and left as it is.`,
        ],
  )
})

test('says nothing of what was verified', async () => {
  const { writer, log } = create({ find: async () => ({ state: stored('8'), unverified: 1 }) })
  await writer.find(true)
  expect(log).toEqual([])
})

test.each([
  [403, []],
  [502, ['job-2']],
])('an error (%d) that ends the step is no warning as well', async (status, later) => {
  for (const ends of [
    (writer: StateWriter) => writer.find(true),
    (writer: StateWriter) => writer.writePlaceholder(update('sending')),
  ]) {
    let broken = true
    const fail = async (): Promise<Found> => {
      if (broken) throw refused(status)
      return NOTHING
    }
    const { writer, warnings, written, close } = create({ find: fail })
    await expect(ends(writer)).rejects.toThrow(`writing the comment failed: ${status}`)
    writer.enqueue(update('unsent'))
    await close()
    expect(warnings).toEqual([])
    broken = false
    writer.enqueue(update('active'))
    await close()
    expect(written.map((state) => state?.jobId)).toEqual(later)
  }
})

test('an error of what only informs is one warning', async () => {
  const { writer, warnings, close } = create({
    write: () => Promise.reject(new ActionError('github', 'It failed.', 'Do this.')),
    role: 'informs',
  })
  for (const state of ['active', 'completed']) {
    writer.enqueue(update(state))
    await close()
  }
  expect(warnings).toEqual(['It failed. Do this.'])
})

test('a temporary failure is a warning that does not advise to run the step again', async () => {
  const { writer, warnings, close } = create({ write: () => Promise.reject(refused(502)), role: 'informs' })
  writer.enqueue(update('active'))
  await close()
  expect(warnings).toEqual(['GitHub: writing the comment failed: 502, No.'])
})

test.each([
  ['9', 1, 'unsent'],
  ['9', 2, 'active'],
  ['8', 1, 'active'],
])('a step that sent nothing leaves what run %s, attempt %d stored as %s', async (run, attempt, state) => {
  const { writer, written, close } = create({
    find: async () => ({ state: { ...stored(run), attempt }, unverified: 0 }),
  })
  writer.enqueue(update('unsent'))
  await close()
  expect(written.map((one) => one?.state)).toEqual([state])
})

test.each([
  [1, ['9']],
  [2, []],
])('what a later run stored is replaced in attempt %d: %j', async (attempt, runs) => {
  const { writer, written, close } = create({
    find: async () => ({ state: stored('10'), unverified: 0 }),
    attempt,
  })
  writer.enqueue(update('active'))
  await close()
  expect(written.map((state) => state?.run)).toEqual(runs)
})

test('an edit that hangs does not hold up a placeholder for longer than the step has', async () => {
  let writes = 0
  const { writer, end, written } = create({
    write: () => (++writes === 1 ? new Promise<void>(() => undefined) : Promise.resolve()),
  })
  writer.enqueue(update('active'))
  const placeholder = writer.writePlaceholder(update('sending'))
  end.abort()
  await placeholder
  expect(written.map((state) => state?.state)).toEqual(['sending'])
})
