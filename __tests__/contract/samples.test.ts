/** The documents and their pictures show the log, the summary and the comment just as the action writes them. */

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { picturedNow, withSamples } from '../support/samples.js'

const page = readFileSync('docs/behaviour.md', 'utf8')

test('the samples are what the code writes: if not, run `npm run samples`', () => {
  expect(page).toBe(withSamples(page))
})

test('the pictures show what the code writes: if not, run `npm run pictures`', () => {
  expect(readFileSync('docs/images/texts.md', 'utf8')).toBe(picturedNow())
})

test('a sample without a place is an error', () => {
  expect(() => withSamples(page.replace('<!-- sample: comment -->', ''))).toThrow('<!-- sample: comment -->')
})
