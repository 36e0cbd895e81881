/** The signed marker: it counts for one step, in one comment, with one key, as it was written. */

import { describe, expect, test } from '@jest/globals'
import { type Identity, type Memory, deriveMarkerKey, readMarker, createMarker } from '../../src/github/marker.js'

const KEY = deriveMarkerKey('mint_key')
const IDENTITY: Identity = {
  repository: 'your-org/your-repo',
  pullRequest: 7,
  workflow: '.github/workflows/docs.yml',
  job: 'docs',
  step: 'agent',
  project: 'p-1',
  jobKey: '',
}
const MEMORY: Memory = { jobId: 'job-1', run: '100', attempt: 2, state: 'active' }
const ID = 5_000_000_001

const marker = createMarker(MEMORY, ID, IDENTITY, KEY)

test('a marker is read as it was written, wherever it stands in its comment', () => {
  for (const body of [marker, `Text\n\n${marker}`, `${marker}\r\nmore`, `<!-- other -->${marker}${marker}`]) {
    expect(readMarker(body, ID, IDENTITY, KEY)).toEqual(MEMORY)
  }
})

test.each(['', 'job-1', 'a"b\\c', '日本 😀', '--> <script>', 'x'.repeat(512)])(
  'the job %j comes back',
  (jobId) => {
    const memory = { ...MEMORY, jobId }
    const written = createMarker(memory, ID, IDENTITY, KEY)
    expect(readMarker(written, ID, IDENTITY, KEY)).toEqual(memory)
    expect(written).toMatch(/^<!-- [\w: -]+ -->$/)
  },
)

describe('a marker does not count', () => {
  test('in another comment', () => {
    expect(readMarker(marker, ID + 1, IDENTITY, KEY)).toBe('foreign')
  })

  test('with another key', () => {
    expect(readMarker(marker, ID, IDENTITY, deriveMarkerKey('mint_other'))).toBe('foreign')
  })

  test.each(Object.keys(IDENTITY) as (keyof Identity)[])('for another %s', (field) => {
    const other = { ...IDENTITY, [field]: field === 'pullRequest' ? 8 : 'other' }
    expect(readMarker(marker, ID, other, KEY)).not.toEqual(MEMORY)
  })

  test('where any of its characters was changed', () => {
    for (let at = '<!-- agent-job-action:1 '.length; at < marker.length - ' -->'.length; at++) {
      const changed = `${marker.slice(0, at)}${marker[at] === 'A' ? 'B' : 'A'}${marker.slice(at + 1)}`
      expect(readMarker(changed, ID, IDENTITY, KEY)).not.toEqual(MEMORY)
    }
  })

  test.each([
    ['truncated', marker.slice(0, -5)],
    ['without its end', marker.replace(' -->', '')],
    [
      'oversized',
      marker.replace(/ (\S+) (\S+) -->$/, (_, data, mac) => ` ${data}${'A'.repeat(5000)} ${mac} -->`),
    ],
    ['of another version', marker.replace(':1 ', ':2 ')],
    ['no marker at all', 'agent-job-action'],
  ])('%s', (_, body) => {
    expect(readMarker(body, ID, IDENTITY, KEY)).not.toEqual(MEMORY)
  })

  test('that is foreign keeps a genuine one beside it from counting nowhere', () => {
    const foreign = createMarker({ ...MEMORY, jobId: 'evil' }, ID + 1, IDENTITY, KEY)
    expect(readMarker(`${foreign} ${marker}`, ID, IDENTITY, KEY)).toEqual(MEMORY)
  })
})

test('the repository may be spelled in another case', () => {
  const other = { ...IDENTITY, repository: 'Your-Org/Your-Repo' }
  expect(readMarker(marker, ID, other, KEY)).toEqual(MEMORY)
})

test('the longest ids fit', () => {
  const identity = { ...IDENTITY, project: '日'.repeat(512) }
  const memory = { ...MEMORY, jobId: '本'.repeat(512) }
  expect(readMarker(createMarker(memory, ID, identity, KEY), ID, identity, KEY)).toEqual(memory)
})

test('fields can not be moved into each other', () => {
  const one = createMarker(MEMORY, ID, { ...IDENTITY, job: 'a', step: 'bc' }, KEY)
  expect(readMarker(one, ID, { ...IDENTITY, job: 'ab', step: 'c' }, KEY)).toBeUndefined()
})

test('a thousand markers in one comment are read in no time', () => {
  const body = `${marker.replace('docs', 'x')}\n`.repeat(1000).slice(0, 65_536)
  const start = performance.now()
  readMarker(body, ID + 1, IDENTITY, KEY)
  expect(performance.now() - start).toBeLessThan(500)
})
