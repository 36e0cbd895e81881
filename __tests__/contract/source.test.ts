/** Rules for the source that no run can show. */

import { expect, test } from '@jest/globals'
import { filesLike, text } from '../support/files.js'

const SOURCE = filesLike(['src'])

/** Biome breaks code, but neither comments nor strings. */
test('no comment is longer than 100 characters, but for a URL [house.layers]', () => {
  const files = filesLike(['*.ts', '*.mjs', '*.cjs', '*.grit'])
  const lines = files.flatMap((file) =>
    text(file)
      .split('\n')
      .map((line, index) => ({ line, at: `${file}:${index + 1}` })),
  )
  const long = lines.filter(
    ({ line }) => line.length > 100 && /^\s*(?:\*|\/\/|\/\*\*) \S+ /.test(line),
  )
  expect(long.map(({ at }) => at)).toEqual([])
})

test('signatures are compared in constant time, and in no other way [memory.marker.signed]', () => {
  const signing = SOURCE.filter((file) => text(file).includes('createHmac('))
  expect(signing).toEqual(['src/memory/marker.ts'])
  const lines = text('src/memory/marker.ts').split('\n')
  const about = lines.filter((line) => /\b(?:signature|expected|sign)\b/.test(line))
  expect(about.filter((line) => line.includes('timingSafeEqual('))).toHaveLength(1)
  const compares =
    /[!=]=|\.(?:equals|compare|is|includes|indexOf|startsWith|endsWith|test|match)\(|\b(?:case|switch)\b/
  expect(about.filter((line) => compares.test(line))).toEqual([])
})

/** Node's garbage collector may take their sources first (nodejs/node#57736, nodejs/node#65995). */
test('no time limit depends on AbortSignal.any or AbortSignal.timeout [net.deadline]', () => {
  const using = SOURCE.filter((file) => /AbortSignal\.(?:any|timeout)/.test(text(file)))
  expect(using).toEqual([])
})
