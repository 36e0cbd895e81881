/** Labels as people write them, and as GitHub has them. */

import { expect, test } from '@jest/globals'
import { checkSkipLabels } from '../../src/access/skip-labels.js'
import { parseLabels } from '../../src/inputs/values.js'

test.each([
  ['no docs', 'No Docs'],
  ['\u26a0\ufe0f no docs', '\u26a0 no docs'],
  ['U\u0308bersetzung', '\u00dcbersetzung'],
  ['\\- no docs', '- no docs'],
  ['\\"quoted\\"', '"quoted"'],
])('%j is the label %j [skip.labels.about] [input.labels]', (written, name) => {
  const payload = { issue: { number: 7, labels: [{ name }] } }
  expect(checkSkipLabels({ payload }, parseLabels(written))?.reason).toContain('#7')
})

test.each(['- no-docs', '"no-docs", "wip"', '["no-docs"]', 'no-docs  # by us', "'no-docs'"])(
  '%j is bad input [input.labels]',
  (written) => {
    expect(() => parseLabels(written)).toThrow()
  },
)
