/** The limit of the prompt, at every size near it. */

import { expect, test } from '@jest/globals'
import { compose, PROMPT_LIMIT } from '../../src/context/compose.js'
import { bytes, CONTEXTS, context, expectValid, fileOf } from './prompt-texts.js'

const near = Array.from({ length: 6 }, (_, i) => i * 553)
const rooms = [...near, 4096, 6000, 20000, 65536, 65700, 100001, 200000, PROMPT_LIMIT - 2, PROMPT_LIMIT]

test.each(Object.keys(CONTEXTS))(
  "the prompt is never over the limit, however long the user's text is: %s",
  (name) => {
    for (const room of rooms) {
      const prompt = 'w'.repeat(PROMPT_LIMIT - room)
      expectValid(prompt, CONTEXTS[name] ?? context())
    }
  },
)

test('the prompt is never over the limit if the context only just fits, to the byte', () => {
  const files = [fileOf('a.md', 5000), fileOf('b.md', 5000)]
  const tight = context({ facts: { title: 'T'.repeat(3000), body: 'B'.repeat(3000) }, files })
  const fits = Array.from({ length: 200 }, (_, i) => {
    const prompt = 'w'.repeat(PROMPT_LIMIT - 400 - 4 * i)
    const text = compose(prompt, tight)
    expect(bytes(text)).toBeLessThanOrEqual(PROMPT_LIMIT)
    return text.includes('# What triggered this run')
  })
  expect(fits[0]).toBe(false)
  expect(fits.at(-1)).toBe(true)
})
