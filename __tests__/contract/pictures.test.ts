/** The picture shows the summary just as the action writes it. */

import { expect, test } from '@jest/globals'
import { text } from '../support/files.js'
import { picturedNow } from '../support/pictured.js'

test('the picture shows what the code writes: if not, run `npm run pictures` [house.pages]', () => {
  expect(text('docs/images/summary.md')).toBe(picturedNow())
})

test('what is read in place of the picture is what it shows [house.pages]', () => {
  const shown = picturedNow().replaceAll(/^#+ |[*`[]|\]\(<.*?>\)/g, '')
  const [title, pull, files] = shown.split(/\n+/)
  const [, alt = ''] = /alt="([^"]*)"/.exec(text('README.md')) ?? []
  expect(alt.replaceAll(/\s+/g, ' ')).toContain(`${title}. ${pull}. ${files}.`)
})
