/** The signed marker is valid for one step, in one comment or check run, with one key, and only unchanged. */

import { describe, expect, test } from '@jest/globals'
import {
  createMarker,
  deriveMarkerKey,
  type Identity,
  readMarker,
  type StoredState,
} from '../../src/memory/marker.js'

const KEY = deriveMarkerKey('mint_key')
const IDENTITY: Identity = {
  repository: 'your-org/your-repo',
  place: '7',
  workflow: 'your-org/your-repo/.github/workflows/docs.yml',
  job: 'docs',
  step: 'agent',
  project: 'p-1',
  jobKey: '',
}
const STATE: StoredState = {
  jobId: 'job-1',
  link: 'https://github.com/your-org/docs/pull/7',
  run: '100',
  attempt: 2,
  state: 'active',
}
const ID = 5_000_000_001

const marker = createMarker(STATE, ID, IDENTITY, KEY)

test('a marker is read back from anywhere in its comment', () => {
  for (const body of [marker, `Text\n\n${marker}`, `${marker}\r\nmore`, `<!-- other -->${marker}${marker}`]) {
    expect(readMarker(body, ID, IDENTITY, KEY)).toEqual(STATE)
  }
})

test.each(['', 'job-1', 'a"b\\c', '日本 😀', '--> <script>', 'x'.repeat(512)])(
  'the job ID %j is read back',
  (jobId) => {
    const state = { ...STATE, jobId }
    const written = createMarker(state, ID, IDENTITY, KEY)
    expect(readMarker(written, ID, IDENTITY, KEY)).toEqual(state)
    expect(written).toMatch(/^<!-- [\w: -]+ -->$/)
  },
)

// Comments with such markers exist: if this fails, new versions lose track of their jobs.
test('a marker that an earlier version wrote is read', () => {
  const earlier =
    '<!-- agent-job-action:2 -4KZ0jgtpz_r5UJOENw3pl WyJqb2ItMSIsImh0dHBzOi8vZ2l0aHViLmNvbS95b3VyLW9yZy9kb2NzL3B1bGwvNyIsIjEwMCIsMiwiYWN0aXZlIl0 TeQqmV6TvDaTFY9bVmgOWQM5BJPKBIQhCYaXUYy-DfI -->'
  expect(readMarker(earlier, ID, IDENTITY, KEY)).toEqual(STATE)
})

test.each(['text', '<!-- agent-job-action -->', createMarker(STATE, ID, { ...IDENTITY, step: 'x' }, KEY)])(
  "the comment %s is not this step's",
  (body) => {
    expect(readMarker(body, ID, IDENTITY, KEY)).toBeUndefined()
  },
)

describe('a marker is rejected', () => {
  test('in another comment', () => {
    expect(readMarker(marker, ID + 1, IDENTITY, KEY)).toBe('unverified')
  })

  test('with another key', () => {
    expect(readMarker(marker, ID, IDENTITY, deriveMarkerKey('mint_other'))).toBe('unverified')
  })

  test.each(Object.keys(IDENTITY) as (keyof Identity)[])('for another %s', (field) => {
    const other = { ...IDENTITY, [field]: 'other' }
    expect(readMarker(marker, ID, other, KEY)).not.toEqual(STATE)
  })

  test('if any of its characters was changed', () => {
    for (let at = '<!-- agent-job-action:2 '.length; at < marker.length - ' -->'.length; at++) {
      const changed = `${marker.slice(0, at)}${marker[at] === 'A' ? 'B' : 'A'}${marker.slice(at + 1)}`
      expect(readMarker(changed, ID, IDENTITY, KEY)).not.toEqual(STATE)
    }
  })

  test.each([
    ['truncated', marker.slice(0, -5)],
    ['without its end', marker.replace(' -->', '')],
    [
      'with added data',
      marker.replace(/ (\S+) (\S+) -->$/, (_, data, mac) => ` ${data}${'A'.repeat(5000)} ${mac} -->`),
    ],
    ['of another version', marker.replace(':2 ', ':1 ')],
    ['that is only its name', 'agent-job-action'],
  ])('%s', (_, body) => {
    expect(readMarker(body, ID, IDENTITY, KEY)).not.toEqual(STATE)
  })
})

test('a forged marker in front of a genuine one does not hide it', () => {
  const forged = createMarker({ ...STATE, jobId: 'evil' }, ID + 1, IDENTITY, KEY)
  expect(readMarker(`${forged} ${marker}`, ID, IDENTITY, KEY)).toEqual(STATE)
})

test('the case of the repository name does not matter', () => {
  const other = { ...IDENTITY, repository: 'Your-Org/Your-Repo' }
  expect(readMarker(marker, ID, other, KEY)).toEqual(STATE)
})

test('the longest IDs fit', () => {
  const identity = { ...IDENTITY, project: '日'.repeat(512) }
  const state = { ...STATE, jobId: '本'.repeat(512), link: `https://example.com/${'x'.repeat(2028)}` }
  expect(readMarker(createMarker(state, ID, identity, KEY), ID, identity, KEY)).toEqual(state)
})

test('characters can not move from one field to the next', () => {
  const one = createMarker(STATE, ID, { ...IDENTITY, job: 'a', step: 'bc' }, KEY)
  expect(readMarker(one, ID, { ...IDENTITY, job: 'ab', step: 'c' }, KEY)).toBeUndefined()
})

test('a comment full of markers is read quickly', () => {
  const body = `${marker.replace('docs', 'x')}\n`.repeat(1000).slice(0, 65_536)
  const times = [1, 2, 3, 4].map(() => {
    const start = performance.now()
    readMarker(body, ID + 1, IDENTITY, KEY)
    return performance.now() - start
  })
  expect(Math.min(...times)).toBeLessThan(500) // The quickest, because the machine may be busy.
})
