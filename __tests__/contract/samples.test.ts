/**
 * The documents and their pictures show the log, the summary and the comment just as the action
 * writes them.
 */

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { picturedNow, withSample } from '../support/samples.js'

const page = readFileSync('docs/behaviour.md', 'utf8')

test('the sample is what the code writes: if not, run `npm run samples`', () => {
  expect(page).toBe(withSample(page))
})

test('the pictures show what the code writes: if not, run `npm run pictures`', () => {
  expect(readFileSync('docs/images/texts.md', 'utf8')).toBe(picturedNow())
})

test('what is read in place of a picture begins with its title', () => {
  const title = /\w.*/.exec(picturedNow())?.[0].replace(/^The/, 'the')
  for (const file of ['README.md', 'docs/behaviour.md']) {
    const alts = [...readFileSync(file, 'utf8').matchAll(/alt="([^"]*)"/g)]
    expect(alts.map(([, alt = '']) => alt.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(new RegExp(`: ${title}\\b`)),
    ])
  }
})

test('a sample without a place is an error', () => {
  expect(() => withSample(page.replace('<!-- sample: log -->', ''))).toThrow('<!-- sample: log -->')
})
