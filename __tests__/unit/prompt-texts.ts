/** Shared by the tests of the prompt: contexts of any size, and what every prompt with one has to hold. */

import { expect } from '@jest/globals'
import { type ContextOptions, compose, PROMPT_LIMIT } from '../../src/context/compose.js'
import type { ChangedFile, Changes } from '../../src/context/files.js'

export const BOUNDARY = '0123456789abcdef0123456789abcdef'
export const OPENING = `<data ${BOUNDARY}>`
export const CLOSING = `</data ${BOUNDARY}>`
export const NO_ROOM =
  'Details of what triggered this run are omitted: the text above leaves no room for them.'
export const KIB = 1024

export type Parts = Partial<Omit<ContextOptions, 'changes'>> & {
  readonly facts?: Record<string, string>
  readonly files?: readonly ChangedFile[]
  readonly changes?: Partial<Changes>
}

export function context({ facts = {}, files = [], changes = {}, ...rest }: Parts = {}): ContextOptions {
  return {
    level: 'diff',
    trigger: {
      event: 'pull_request',
      repository: 'your-org/docs',
      facts: Object.entries(facts).map(([name, value]) => ({ name, value })),
    },
    changes: { files, truncated: false, empty: false, range: 'the commits abc1234..def5678', ...changes },
    boundary: BOUNDARY,
    excluded: 0,
    ...rest,
  }
}

export function file(path: string, rest: Partial<ChangedFile> = {}): ChangedFile {
  return { path, status: 'modified', additions: 2, deletions: 1, ...rest }
}

/** A file with a diff of about `size` bytes, in lines of 64. */
export function fileOf(path: string, size: number): ChangedFile {
  const lines = Array.from({ length: Math.floor(size / 64) }, (_, index) => `+${`${index}`.padEnd(62, 'x')}`)
  return file(path, { patch: ['@@ -0,0 +1 @@', ...lines].join('\n') })
}

export function many<T>(count: number, create: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => create(index))
}

export function bytes(text: string): number {
  return Buffer.byteLength(text)
}

/** The text under a heading, up to the next heading. */
export function section(text: string, heading: string): string {
  const start = text.indexOf(`\n\n## ${heading}\n\n`)
  if (start === -1) return ''
  const end = text.indexOf('\n\n## ', start + 2)
  return text.slice(start + heading.length + 7, end === -1 ? undefined : end)
}

/** The lines inside each fence, and those outside, which are the action's own; throws if a fence is out of place. */
function split(text: string): { readonly blocks: string[][]; readonly own: string[] } {
  const blocks: string[][] = []
  const own: string[] = []
  let open: string[] | undefined
  for (const line of text.split('\n')) {
    if (line === OPENING && open === undefined) open = []
    else if (line === CLOSING && open !== undefined) {
      blocks.push(open)
      open = undefined
    } else if (line === OPENING || line === CLOSING) throw new Error(`A fence in the wrong place: ${line}`)
    else (open ?? own).push(line)
  }
  if (open !== undefined) throw new Error('A fence is not closed.')
  return { blocks, own }
}

export const fenced = (text: string): string[][] => split(text).blocks
export const unfenced = (text: string): string => split(text).own.join('\n')

/** The first fenced block of a section. */
export function data(text: string, heading: string): string[] {
  return fenced(section(text, heading))[0] ?? []
}

/** The titles of the diffs, in order. */
export function titles(text: string): string[] {
  return data(text, 'Diffs').filter((line) => line.startsWith('=== '))
}

/** Checks what holds for every prompt with a context. */
export function expectValid(prompt: string, options: ContextOptions): string {
  const text = compose(prompt, options)
  expect(text.startsWith(prompt)).toBe(true)
  expect(bytes(text)).toBeLessThanOrEqual(
    bytes(prompt) > PROMPT_LIMIT ? bytes(`${prompt}\n\n${NO_ROOM}`) : PROMPT_LIMIT,
  )
  const added = text.slice(prompt.length)
  expect(added.isWellFormed()).toBe(true)
  expect(added).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]|\n$/u)
  if (added.includes('# What triggered this run')) expectAccounted(added, options)
  // Not even this line fits into the rest.
  else if (added === '') expect(bytes(`${prompt}\n\n${NO_ROOM}`)).toBeGreaterThan(PROMPT_LIMIT)
  else expect(added).toBe(`\n\n${NO_ROOM}`)
  return text
}

/** Every fact, every name and every diff is there, or is counted among those that are not. */
function expectAccounted(added: string, { trigger, changes, level }: ContextOptions): void {
  const own = unfenced(added)
  const omitted = (what: RegExp) => Number(what.exec(own)?.[1]?.replaceAll(',', '') ?? '0')
  // The other lines of a value are indented or empty.
  const facts = data(added, 'Event').filter((line) => /^(?! {2})./.test(line)).length
  expect(facts + omitted(/^Omitted for length: ([\d,]+) facts?\.$/m)).toBe(trigger.facts.length)
  const files = changes?.files ?? []
  const listed = data(added, 'Changed files').length
  expect(listed + omitted(/^Omitted for length: ([\d,]+) of [\d,]+ files?\.$/m)).toBe(files.length)
  const diffs = level === 'diff' ? files.filter(({ patch }) => patch).length : 0
  const shown = titles(added)
  expect(shown.length + omitted(/^Omitted for length: the diffs of ([\d,]+) files?[.:]$/m)).toBe(diffs)
  expect(own.includes('\nOmitted for length: the end of the first diff.')).toBe(
    shown[0]?.includes('(truncated: ') ?? false,
  )
  // Twice for each fence, and twice where the fence is explained.
  expect(added.toLowerCase().split(BOUNDARY)).toHaveLength(fenced(added).length * 2 + 2 + 1)
}
