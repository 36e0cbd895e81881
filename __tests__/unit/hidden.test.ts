/** What GitHub doesn't show of a text: it is noted, or made visible. */

import { expect, test } from '@jest/globals'
import { noteHidden, showInvisible } from '../../src/context/hidden.js'
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
  // Footnotes that nothing refers to, to the end of their block.
  ['[^a]: some text\nmore\n\nb', `${note(20)}\n\nb`],
  ['> [^a]: some text', note(17)],
  ['[^a]: some text\n\n    more\n\nb', `${note(25)}\n\nb`],
  // Definitions that nothing links to.
  ['[//]: # (text)', note(14)],
  ['[//]: # text', note(12)],
  ['[comment]: <> (text)', note(20)],
  ['a\n\n   [//]:\t #\t(text)\t\n\nb', `a\n\n${note(19)}\n\nb`],
  ['[//]:\n  # (text)', note(16)],
  ['[a\\]b]: # (text)', note(16)],
  ['[a\nb]: # (text)', note(15)],
  // Definitions with a title, which no reader of the link sees at once.
  ['[a]: <https://a.example/b c>   (text)', note(37)],
  ["[a]: /b 'te\nxt'  ", note(17)],
  ['[a]: /b\n  "text"', note(16)],
  ['[a]: /b\n"text"', note(14)],
  ['[a]: /b "te\\"xt"', note(16)],
  ["[a]: /b 'te\\'xt'", note(16)],
  ['[a]: /b (te\\)xt)', note(16)],
  ['[a]: #\n (text)', note(14)],
  ['[a]: >b (text)', note(14)],
  ['[a]:\u00a0# (text)', note(13)],
  // A definition that no link uses, or whose target is a text.
  ['[some text]: https://a.example', note(30)],
  ['see [another]\n\n[some text]: https://a.example', `see [another]\n\n${note(30)}`],
  ['see [a]\n\n[a]: <some text>', `see [a]\n\n${note(16)}`],
  // In quotes and lists.
  ['> [//]: # (text)', note(16)],
  ['> [//]:\n> # (text)', note(18)],
  ['- [//]: # (text)', note(16)],
  ['10. [//]: # (text)', note(18)],
  ['> * a\n>\n>   [//]: # (text)', `> * a\n>\n${note(18)}`],
  ['1.  a\n\n    [//]: # (text)', `1.  a\n\n${note(18)}`],
])('of %j is noted: %j', (text, shown) => {
  expect(noteHidden(text)).toBe(shown)
})

test.each([
  'a < b -- c > d',
  'a <! b',
  'see[^a]\n\n[^a]: some text',
  'see [a]\n\n[a]: https://a.example',
  'see [the page][ A\nb ]\n\n[a b]: <https://a.example>',
  'see [a](#b "title") and [a][b]',
  'a [//]: # (text)',
  '[a]: https://a.example "text" and more',
  '[]: # (text)',
  '- [ ] a task: # (text)',
])('of %j is nothing', (text) => {
  expect(noteHidden(text)).toBe(text)
})

test.each<[text: string, shown: string]>([
  ['a\u200bb\u202ec\u00add', 'a\\u{200b}b\\u{202e}c\\u{ad}d'],
  ['a\0b\rc\x7fd\x85e', 'a\\u{0}b\\u{d}c\\u{7f}d\\u{85}e'],
  ['a\u{e0041}\u3164\u115f\ufeff', 'a\\u{e0041}\\u{3164}\\u{115f}\\u{feff}'],
  ['a\ufe0fb', 'a\\u{fe0f}b'],
  ['\u2764\ufe0f\ufe0e', '\u2764\\u{fe0f}\\u{fe0e}'],
  ['\u{1f469}\u200da', '\u{1f469}\\u{200d}a'],
  ['a\u{e0100}', 'a\\u{e0100}'],
  ['a\ud83d', 'a\\u{d83d}'],
])('an invisible character in %j is shown: %j', (text, shown) => {
  expect(showInvisible(text)).toBe(shown)
})

test.each([
  'tab\tand line\nend: größe, 日本語, עברית',
  'one emoji of several characters: \u{1f469}\u200d\u{1f469}\u200d\u{1f467}, \u2764\ufe0f, \u2764\ufe0f\u200d\u{1f525}',
])('nothing in %j is invisible', (text) => {
  expect(showInvisible(text)).toBe(text)
})

const blanks = ' '.repeat(32_000)
test.each<[what: string, text: string]>([
  ['blanks before a target', `[a]:${blanks}x`],
  ['blanks after a target', `[a]: x${blanks}y`],
  ['blanks on both sides', `[a]:${blanks}x${blanks}y`],
  ['blanks and lines', `[a]:${blanks}\n${blanks}x${blanks}\n${blanks}y`],
  ['blanks after a title', `[a]: x "y"${blanks}z`],
  ['labels without an end', '[a\n'.repeat(20_000)],
  ['backslashes', `[${'\\'.repeat(64_000)}`],
  ['titles without an end', '[a]: x (\n'.repeat(8000)],
  ['comments without an end', '<!-'.repeat(20_000)],
  ['declarations without an end', '<!a'.repeat(20_000)],
  ['marks of quotes', '>'.repeat(64_000)],
  ['marks of lists', '- '.repeat(32_000)],
  ['quoted lines after a label', `[a]:\n${'>'.repeat(64_000)}`],
  ['quoted lines after a target', `[a]: x\n${'> '.repeat(32_000)}`],
  ['definitions', '[a]: x\n'.repeat(9000)],
  ['definitions of nothing', '[a]: #\n'.repeat(9000)],
  ['footnotes', '[^a]: x\n\n'.repeat(7000)],
  ['a footnote with many lines', `[^a]: x\n${'x\n\n    '.repeat(10_000)}`],
  ['titles with escapes', `[a]: x "${'\\"'.repeat(32_000)}`],
])('a body full of %s costs little', (_, text) => {
  const startedAt = performance.now()
  noteHidden(text)
  expect(performance.now() - startedAt).toBeLessThan(scaled(500))
})
