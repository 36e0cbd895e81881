/** The pictures show the summary and the comment just as the action writes them. */

import { expect, test } from '@jest/globals'
import { text } from '../support/files.js'
import { picturedNow } from '../support/pictured.js'

test('the pictures show what the code writes: if not, run `npm run pictures` [house.pages]', () => {
  expect(text('docs/images/texts.md')).toBe(picturedNow())
})

test('what is read in place of a picture is what it shows [house.pages]', () => {
  const [, comment = ''] = picturedNow().split('\n---\n\n')
  const [result, , files] = comment.replaceAll(/`|\[|\]\(<.*?>\)/g, '').split('\n')
  for (const file of ['README.md', 'docs/behaviour.md']) {
    const alts = [...text(file).matchAll(/alt="([^"]*)"/g)]
    expect(alts.map(([, alt = '']) => alt.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringContaining(`: ${result}. ${files}.`),
    ])
  }
})
