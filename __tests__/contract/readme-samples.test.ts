/** The README shows the log, the summary and the comment just as the action writes them. */

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { withSamples } from '../support/readme-samples.js'

const readme = readFileSync('README.md', 'utf8')

test('the samples are what the code writes: if not, run `npm run samples`', () => {
  expect(readme).toBe(withSamples(readme))
})

test('a sample without a place in the README is an error', () => {
  expect(() => withSamples(readme.replace('<!-- sample: comment -->', ''))).toThrow(
    '<!-- sample: comment -->',
  )
})
