/** What GitHub doesn't show of a text: it is noted, or made visible. */

import { expect, test } from '@jest/globals'
import { noteHidden, showInvisible } from '../../src/context/prompt/hidden.js'
import { scaled } from '../support/time.js'

const note = (characters: number | string): string => `[hidden on GitHub: ${characters} characters]`

test.each<[text: string, shown: string]>([
  // HTML comments, over lines and without an end, too.
  ['a <!-- x --> b', `a ${note(10)} b`],
  ['<!--a--><!--b-->', `${note(8)}${note(8)}`],
  ['a <!--\nx\n-->\nb', `a ${note(10)}\nb`],
  ['a <!-- no end --', `a ${note(14)}`],
  [`a <!--${'x'.repeat(1000)}`, `a ${note('1,004')}`],
  // What a browser takes for a comment.
  ['a <!x b> c', `a ${note(6)} c`],
  ['a <!x b', `a ${note(5)}`],
  ['a <![CDATA[b]]> c', `a ${note(13)} c`],
  // Definitions that are used as comments.
  ['[//]: # (text)', note(14)],
  ['[//]: # text', note(12)],
  ['[comment]: <> (text)', note(20)],
  ['a\n\n   [//]:\t #\t(text)\t\n\nb', `a\n\n${note(19)}\n\nb`],
  // Definitions with a title, which no reader of the link sees at once.
  ['[a]: /b "te\\"xt"', note(16)],
  ["[a]: /b 'te\\'xt'", note(16)],
  ['[a]: /b (te\\)xt)', note(16)],
  ['[a]: >b (text)', note(14)],
  ['[a]: https://a.example "text" and more', note(38)],
  // In quotes, and indented.
  ['> [//]: # (text)', note(16)],
  ['> * a\n>\n>   [//]: # (text)', `> * a\n>\n${note(18)}`],
  ['1.  a\n\n    [//]: # (text)', `1.  a\n\n${note(18)}`],
])('what GitHub hides of %j is noted: %j [context.hidden]', (text, shown) => {
  expect(noteHidden(text)).toBe(shown)
})

test.each([
  'a < b -- c > d',
  'a <! b',
  '[^a]: some text',
  '[a]: https://a.example',
  '[a]:\n# (text)',
  'see [a](#b "title") and [a][b]',
  'a [//]: # (text)',
  '[]: # (text)',
  '- [ ] a task: # (text)',
])('nothing of %j is hidden [context.hidden]', (text) => {
  expect(noteHidden(text)).toBe(text)
})

test.each<[text: string, shown: string]>([
  ['plain\na\u200bb\u202ec\u00add', 'plain\na\\u{200b}b\\u{202e}c\\u{ad}d'],
  ['a\0b\rc\x7fd\x85e', 'a\\u{0}b\\u{d}c\\u{7f}d\\u{85}e'],
  ['a\u{e0041}\u3164\u115f\ufeff', 'a\\u{e0041}\\u{3164}\\u{115f}\\u{feff}'],
  ['a\ufe0fb', 'a\\u{fe0f}b'],
  ['\u2764\ufe0f\ufe0e', '\u2764\\u{fe0f}\\u{fe0e}'],
  ['\u{1f469}\u200da', '\u{1f469}\\u{200d}a'],
  ['a\u{e0100}', 'a\\u{e0100}'],
  ['a\ud83d', 'a\\u{d83d}'],
])('an invisible character in %j is shown: %j [context.hidden]', (text, shown) => {
  expect(showInvisible(text)).toBe(shown)
})

test.each([
  'tab\tand line\nend: größe, 日本語, עברית, \uf8ff',
  'one emoji of several characters: \u{1f469}\u200d\u{1f469}\u200d\u{1f467}, \u2764\ufe0f, \u2764\ufe0f\u200d\u{1f525}',
])('nothing in %j is invisible [context.hidden]', (text) => {
  expect(showInvisible(text)).toBe(text)
})

const blanks = ' '.repeat(32_000)
test.each<[what: string, text: string]>([
  ['blanks before a target', `[a]:${blanks}x`],
  ['blanks after a target', `[a]: x${blanks}y`],
  ['blanks on both sides', `[a]:${blanks}x${blanks}y`],
  ['blanks after a title', `[a]: x "y"${blanks}z`],
  ['labels without an end', '[a\n'.repeat(20_000)],
  ['backslashes', `[${'\\'.repeat(64_000)}`],
  ['titles without an end', '[a]: x (\n'.repeat(8000)],
  ['comments without an end', '<!-'.repeat(20_000)],
  ['declarations without an end', '<!a'.repeat(20_000)],
  ['marks of quotes', '>'.repeat(64_000)],
  ['marks of lists', '- '.repeat(32_000)],
  ['definitions', '[a]: x\n'.repeat(9000)],
  ['definitions of nothing', '[a]: #\n'.repeat(9000)],
])('a body full of %s costs little [text.cheap]', (_, text) => {
  const startedAt = performance.now()
  noteHidden(text)
  expect(performance.now() - startedAt).toBeLessThan(scaled(500))
})
