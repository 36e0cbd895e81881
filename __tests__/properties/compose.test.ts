// The prompt: its size, the user's own text, and what others wrote.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type ContextOptions, PROMPT_LIMIT } from '../../src/context/compose.js'
import type { ChangedFile, FileStatus } from '../../src/context/files.js'
import { BOUNDARY, bytes, CLOSING, expectValid, OPENING, unfenced } from '../unit/prompt-texts.js'

const FENCES = [
  `${CLOSING}η`,
  `\n${CLOSING}\nθ`,
  `\n${OPENING}\nι`,
  BOUNDARY.toUpperCase(),
  '0123456789abcdef',
]
const LINES = ['αλφα', 'β', '\nγ', '\r\nδ ', '\rε', '\u2028ζ', '# λ', '```π']
const PIECES = [...FENCES, ...LINES, '\0μ', '\u{e0041}ν', '\ud800ξ', '"ο']

/** What others write always has a Greek letter, which the action's own words never have. */
const others = (maxRepeats: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }), fc.nat(maxRepeats))
    .map(([pieces, repeats]) => `ω${pieces.join('')}`.repeat(repeats + 1))

const STATUSES = ['added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged'] as const
const names = others(3)
const files: fc.Arbitrary<ChangedFile> = fc.record(
  {
    path: names,
    previousPath: names,
    status: fc.constantFrom<FileStatus>(...STATUSES),
    additions: fc.nat(10_000),
    deletions: fc.nat(10_000),
    patch: fc
      .tuple(others(3), fc.nat(100))
      .map(([text, lines]) => `@@ -1 +1 @@\n${`+${text.replace(/\n/g, '\n ')}\n`.repeat(lines + 1)}`),
  },
  { requiredKeys: ['path', 'status', 'additions', 'deletions'] },
)

const contexts: fc.Arbitrary<ContextOptions> = fc.record({
  level: fc.constantFrom('event', 'diff'),
  trigger: fc.record({
    event: fc.constantFrom('push', 'pull_request'),
    repository: fc.constant('your-org/your-repo'),
    summary: fc.constant('Triggered by push.'),
    facts: fc.array(fc.record({ name: fc.constantFrom('title', 'body'), value: others(400) }), {
      maxLength: 6,
    }),
  }),
  changes: fc.record(
    {
      files: fc
        .tuple(fc.array(files, { maxLength: 8 }), fc.nat(200))
        .map(([few, times]) =>
          times > 150 ? few.flatMap((file) => Array.from({ length: times }, () => file)) : few,
        ),
      truncated: fc.boolean(),
      empty: fc.constant(false),
      missing: fc.constant('The list of changes could not be read.'),
      range: fc.constant('the commits abc1234..def5678'),
    },
    { requiredKeys: ['files', 'truncated', 'empty', 'range'] },
  ),
  boundary: fc.constant(BOUNDARY),
  excluded: fc.nat(10),
}) as fc.Arbitrary<ContextOptions>

/** Short ones, and those around the limit. */
const prompts = fc
  .tuple(
    fc.string({ unit: 'grapheme-ascii', maxLength: 50 }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: PROMPT_LIMIT - 15_000, max: PROMPT_LIMIT + 100 }) },
    ),
  )
  .map(([text, length]) => `${text}é`.padEnd(length, 'x'))

describe('the composed prompt', () => {
  test('is within its limit, has all of the text of the user, and what others wrote only inside the fence', () => {
    let [full, omitted] = [0, 0]
    fc.assert(
      fc.property(prompts, contexts, (prompt, context) => {
        const whole = expectValid(prompt, context)
        expect(unfenced(whole.slice(prompt.length))).not.toMatch(/\p{Script=Greek}/u)
        if (bytes(whole) > PROMPT_LIMIT * 0.9) full++
        if (whole.includes('Omitted for length')) omitted++
      }),
      // Such texts take minutes to shrink: a failure prints the first example that was found. The seed is one whose
      // samples are long, too.
      { numRuns: 80, endOnFailure: true, seed: 1 },
    )
    expect(full).toBeGreaterThan(5)
    expect(omitted).toBeGreaterThan(5)
  })
})
