/** Rules for the source that no run can show. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

/** Biome breaks code, but neither comments nor strings. */
test('no comment is longer than 100 characters, but for a URL [house.layers]', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.cjs', '*.grit'])
  const long = String(files)
    .trim()
    .split('\n')
    .flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n')
      return lines
        .map((line, index) => ({ line, at: `${file}:${index + 1}` }))
        .filter(({ line }) => line.length > 100 && /^\s*(?:\*|\/\/|\/\*\*) \S+ /.test(line))
    })
  expect(long.map(({ at }) => at)).toEqual([])
})

test('signatures are compared in constant time, and in no other way [memory.marker.signed]', () => {
  const files = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' }).trim().split('\n')
  const signing = files.filter((file) => readFileSync(file, 'utf8').includes('createHmac('))
  expect(signing).toEqual(['src/memory/marker.ts'])
  const lines = readFileSync('src/memory/marker.ts', 'utf8').split('\n')
  const about = lines.filter((line) => /\b(?:signature|expected|sign)\b/.test(line))
  expect(about.filter((line) => line.includes('timingSafeEqual('))).toHaveLength(1)
  const compares =
    /[!=]=|\.(?:equals|compare|is|includes|indexOf|startsWith|endsWith|test|match)\(|\b(?:case|switch)\b/
  expect(about.filter((line) => compares.test(line))).toEqual([])
})

/** Node's garbage collector may take their sources first (nodejs/node#57736, nodejs/node#65995). */
test('no time limit depends on AbortSignal.any or AbortSignal.timeout [net.deadline]', () => {
  const files = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' }).trim().split('\n')
  const using = files.filter((file) =>
    /AbortSignal\.(?:any|timeout)/.test(readFileSync(file, 'utf8')),
  )
  expect(using).toEqual([])
})
