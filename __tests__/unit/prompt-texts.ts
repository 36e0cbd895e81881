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
      summary: 'A pull request was updated.',
      facts: Object.entries(facts).map(([name, value]) => ({ name, value })),
    },
    changes: { files, truncated: false, range: 'the commits abc1234..def5678', ...changes },
    boundary: BOUNDARY,
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

/** The lines inside each fence; throws if one is not closed. */
export function fenced(text: string): string[][] {
  const blocks: string[][] = []
  let open: string[] | undefined
  for (const line of text.split('\n')) {
    if (line === OPENING && open === undefined) open = []
    else if (line === CLOSING && open !== undefined) {
      blocks.push(open)
      open = undefined
    } else if (line === OPENING || line === CLOSING) throw new Error(`A fence in the wrong place: ${line}`)
    else open?.push(line)
  }
  if (open !== undefined) throw new Error('A fence is not closed.')
  return blocks
}

/** The text outside the fences, which is the action's own. */
export function unfenced(text: string): string {
  const lines: string[] = []
  let inside = false
  for (const line of text.split('\n')) {
    if (line === OPENING) inside = true
    else if (line === CLOSING) inside = false
    else if (!inside) lines.push(line)
  }
  return lines.join('\n')
}

/** The one fenced block of a section. */
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
  expect(bytes(text)).toBeLessThanOrEqual(Math.max(PROMPT_LIMIT, bytes(prompt) + bytes(`\n\n${NO_ROOM}`)))
  if (bytes(prompt) <= PROMPT_LIMIT) expect(bytes(text)).toBeLessThanOrEqual(PROMPT_LIMIT)
  const added = text.slice(prompt.length)
  expect(added.isWellFormed()).toBe(true)
  expect(added).not.toMatch(/[\0-\x08\x0b-\x1f]|\n$/)
  const blocks = fenced(added)
  // Twice for each fence, and twice where the fence is explained.
  const markers = added.toLowerCase().split(BOUNDARY).length - 1
  expect(markers).toBe(added.includes('# What triggered') ? blocks.length * 2 + 2 : 0)
  return text
}

/** Prompts of every kind, most of them too long. */
export const CONTEXTS: Record<string, ContextOptions> = {
  nothing: context(),
  small: context({
    facts: { title: 'T', body: 'B\nB' },
    files: [fileOf('a.md', 200), file('b.md'), fileOf('yarn.lock', 100)],
  }),
  'level event': context({
    level: 'event',
    files: Array.from({ length: 15000 }, (_, i) => file(`${i}.md`)),
  }),
  'long facts': context({
    facts: Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`fact${i}`, '😀\n'.repeat(i * 120)])),
    files: [fileOf('a.md', 100 * KIB), fileOf('b.md', 300 * KIB)],
  }),
  'many files': context({
    facts: { body: 'é'.repeat(20000) },
    files: Array.from({ length: 3000 }, (_, i) => fileOf(`docs/é ${i}.md`, (i % 7) * 300)),
    changes: { truncated: true, missing: 'Some of it could not be read.' },
  }),
  'one huge diff': context({ files: [fileOf('a.md', 900 * KIB)] }),
  'short names': context({ files: Array.from({ length: 2000 }, () => fileOf('a', 500)) }),
  'long names': context({ files: Array.from({ length: 100 }, (_, i) => fileOf(`${i}/`.repeat(900), 500)) }),
  'no changes known': { ...context({ facts: { title: 'T' } }), changes: undefined },
}
