// The marker: it counts as it was written. Where, and for whom, is in unit/marker.test.ts.

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  createMarker,
  deriveMarkerKeys,
  type Identity,
  readMarker,
  type StoredState,
} from '../../src/memory/marker.js'

const KEY = deriveMarkerKeys('mint_key_0123456789')
const texts = fc.string({ unit: 'binary', maxLength: 20 })
const states: fc.Arbitrary<StoredState> = fc.record({
  jobId: fc.constantFrom('', 'job-1'),
  link: fc.constantFrom('', 'https://github.com/your-org/docs/pull/7'),
  run: texts,
  attempt: fc.nat(),
  state: fc.constantFrom<StoredState['state'][]>('active', 'unsent', 'pr-opened'),
})
const identities: fc.Arbitrary<Identity> = fc.record({
  repository: texts,
  place: texts,
  workflow: texts,
  job: texts,
  step: texts,
  project: texts,
  jobKey: texts,
})
const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
/** No marker in them. */
const around = fc.string({ unit: fc.constantFrom(...'abc <!->\n') })

test('a marker ends no HTML comment, and is read as it was written, whatever stands around it', () => {
  fc.assert(
    fc.property(states, identities, ids, around, around, (stored, identity, id, before, after) => {
      const marker = createMarker(stored, id, identity, KEY)
      expect(marker).toMatch(/^<!-- [\w:. -]+(?<!-) -->$/)
      expect(readMarker(`${before}${marker}${after}`, id, identity, KEY)).toEqual(wellFormed(stored))
    }),
  )
})

/** Half of a surrogate pair becomes a replacement character on its way through UTF-8. */
function wellFormed<T extends object>(stored: T): T {
  const whole = (value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, whole(value)])) as T
}
