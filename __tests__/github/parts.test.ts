/** Ranges that GitHub cuts are read in parts: every diff is found, for few requests. */

import { describe, expect } from '@jest/globals'
import { type Fault, file, refusal, secondaryLimit, sha } from '../support/github.js'
import { type CommitState, type FileState, joinFiles } from '../support/github-state.js'
import {
  promptOf,
  type RunOptions,
  requestsBefore,
  type SimulatedWorld,
  worldTest,
} from '../support/pull-request.js'

const [BEFORE, AFTER] = [sha('before'), sha('after')]
/** The first part of a line of two or three commits ends there. */
const MIDDLE = sha('commit 0')
const range = { before: BEFORE, after: AFTER, commits: [], sender: { login: 'octocat' } }
const PUSH: RunOptions = {
  event: 'push',
  payload: range,
  env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: AFTER },
}

type History = readonly Partial<CommitState>[]

/** Each commit after the one before it, up to the last that was pushed. */
const inLine = (...commits: FileState[][]): History =>
  commits.map((files, nth) => ({
    sha: nth === commits.length - 1 ? AFTER : sha(`commit ${nth}`),
    parents: [nth === 0 ? BEFORE : sha(`commit ${nth - 1}`)],
    files,
  }))

/**
 * Branches of three commits, each of 20 files, that were merged one after the other. Half of them
 * began before what was pushed.
 */
const merged = (branches: number): History =>
  Array.from({ length: branches }).flatMap((_, branch) => {
    const mergeOf = (nth: number) =>
      nth < 0 ? BEFORE : nth === branches - 1 ? AFTER : sha(`merge ${nth}`)
    const names = [0, 1, 2].map((nth) => sha(`branch ${branch}, ${nth}`))
    const own = names.map((name, nth) => ({
      sha: name,
      parents: [names[nth - 1] ?? (branch % 2 ? sha('root') : mergeOf(branch - 1))],
      files: many(20, (branch * 3 + nth) * 20),
    }))
    return [...own, { sha: mergeOf(branch), parents: [mergeOf(branch - 1), names[2] ?? ''] }]
  })

const many = (count: number, first = 0, lines = 1): FileState[] =>
  Array.from({ length: count }, (_, nth) => {
    const name = `src/${String(first + nth).padStart(5, '0')}.ts`
    return file(
      name,
      Array(lines)
        .fill(`+${first + nth}`)
        .join('\n'),
    )
  })

const tens = (commits: number, files: number): History =>
  inLine(...Array.from({ length: commits }, (_, nth) => many(files, nth * files)))
/** More lines than a response has: the diffs of the last 76 files are not sent. */
const LONG = inLine(many(100, 0, 150), many(100, 100, 150), many(9, 500))

/** What is sent of a push of these commits: the prompt, and the diff of each file. */
async function send(world: SimulatedWorld, history: History, inputs = {}) {
  world.repository.addCommit({ sha: BEFORE })
  for (const commit of history) world.repository.addCommit(commit)
  const { commands, milliseconds } = await world.step({ context: 'diff', ...inputs }, PUSH)
  const prompts = world.prompts().length
  const prompt = prompts === 0 ? '' : promptOf(world)
  const [, ...sections] = prompt.replace(/\n<\/data [^\n]*$/gm, '').split('\n=== ')
  const diffs = sections.map((section): [string, string] => {
    const [title = '', ...lines] = section.split('\n')
    return [title.replace(/.* /, ''), lines.join('\n')]
  })
  const requests = (prompts === 0 ? world.github.requests : requestsBefore(world)).length
  return {
    prompt,
    prompts,
    milliseconds,
    diffs: new Map(diffs),
    requests,
    error: commands('error')[0],
  }
}

worldTest.each<[string, History, requests: number]>([
  ['1,000 files in ten commits', tens(10, 100), 15],
  ['more lines than a response has', LONG, 5],
  ['lines that a response has, and a picture', inLine(many(60, 0, 150), [file('z.png', null)]), 1],
  ['one commit of 1,000 files', inLine(many(1000)), 22],
  ['one commit with too many lines', inLine(many(90, 0, 390)), 4],
  ['250 commits', tens(250, 2), 5],
  ['20 merged branches', merged(20), 65],
  ['21 merged branches', merged(21), 65],
  ['30 merged branches', merged(30), 65],
])('every diff of a range is found, of %s [range.cut.parts]', async (world, _, history, most) => {
  const { prompt, diffs, requests } = await send(world, history)
  const changed = joinFiles(history as CommitState[])
  expect(changed.filter(({ filename, patch }) => diffs.get(filename) !== patch)).toEqual([])
  expect(prompt).not.toContain('GitHub truncated')
  expect(requests).toBeLessThanOrEqual(most)
})

worldTest.each([
  ['', [{ sha: AFTER, parents: [{ sha: BEFORE }] }], '+z'],
  [', and stays so if no commit is known to come after the first', [], undefined],
])(
  'a list with many characters and no diff at its end is cut, too%s [range.cut.parts]',
  async (world, _, commits, diff) => {
    const files = [...many(80), file('src/z.ts', '+z')]
    const sent = files.map((one, nth) => ({
      ...{ ...one, sha: AFTER, additions: 1, deletions: 0, contents_url: 'u' },
      patch: nth < 80 ? '+'.padEnd(8000, 'x') : undefined,
    }))
    const body = {
      status: 'ahead',
      files: sent,
      commits,
    }
    const answer = { status: 200, body: { ...body, merge_base_commit: { sha: BEFORE } } }
    world.github.faults.push({ path: /\/compare\//, answer })
    const { diffs } = await send(world, inLine(files))
    expect(diffs.get('src/z.ts')).toBe(diff)
  },
)

worldTest.each<[string, Partial<FileState>, whole: string | undefined, line: string]>([
  ['changed again', { patch: '+again' }, '+0\n+again', 'modified +2 -0 '],
  ['changed by more than GitHub sends', { patch: '+\n'.repeat(3000) }, undefined, '+3001 -0 '],
  [
    'renamed with a change',
    { filename: 'src/new.ts', patch: '-0\n+moved' },
    '+0\n-0\n+moved',
    'renamed +2 -1 src/00000.ts -> ',
  ],
  [
    'renamed as it is',
    { filename: 'src/new.ts', patch: '' },
    '+0',
    'renamed +1 -0 src/00000.ts -> ',
  ],
])(
  'of a file that is %s, both diffs are sent, the older one first, or none [range.cut.joined]',
  async (world, _, fields, whole, line) => {
    const name = 'src/00000.ts'
    const { filename = name, patch = '' } = fields
    const renamed = { status: 'renamed', previous_filename: name } as const
    const one = file(filename, patch, filename === name ? {} : renamed)
    const { diffs, prompt } = await send(world, inLine(many(200), [...many(200, 200), one]))
    expect(prompt).toContain(line + filename)
    expect(diffs.get(filename)).toBe(whole)
    expect(diffs.get(name)).toBe(filename === name ? whole : undefined)
  },
)

const MOVED = { previous_filename: 'a.ts', status: 'renamed' } as const
const empty = { path: /\/commits\/\w+\?/, answer: { status: 200, body: { files: [] } }, times: 9 }

worldTest.each<[string, FileState[], RegExp]>([
  [
    'behind the last diff may be changed, one before it is not',
    [
      file('a.png', null),
      file('b.ts', '', { ...MOVED, previous_filename: 'c.ts' }),
      ...many(90, 0, 390),
    ],
    / -> b\.ts\n[\s\S]* -> src\/9\.ts \(GitHub sent no diff\)$/m,
  ],
  ['in a whole list is not changed', many(9), /renamed \+0 -0 a\.ts -> src\/9\.ts$/m],
])('a renamed file %s [context.omitted.no-fact]', async (world, _, files, line) => {
  world.github.faults.push(empty)
  const { prompt } = await send(world, inLine([...files, file('src/9.ts', '', MOVED)]))
  expect(prompt).toMatch(line)
})

worldTest(
  'a file that one part adds and another removes is no change, one that they also change is, with its first name and status [range.cut.joined]',
  async (world) => {
    const [parts, more] = (['added', 'removed'] as const).map((status, nth) => [
      ...many(200, nth * 200),
      file('src/zw.ts', '+1', nth ? {} : MOVED),
      file('src/zx.ts', '+1', nth ? {} : { status }),
      file('src/zy.ts', '+1', nth ? { status } : {}),
      file('src/zz.ts', '+1', { status }),
    ])
    const { prompt } = await send(world, inLine(parts ?? [], more ?? []))
    expect(prompt).toContain(': 403 files, ')
    expect(prompt).toMatch(/renamed \S+ -0 a\.ts -> src\/zw\.ts\nadded \S+ -0 src\/zx\.ts\n/)
    expect(prompt).not.toContain('zz.ts')
  },
)

const noList = refusal(500, 'Sorry, this diff is taking too long to generate.')

worldTest.each([
  ['is not found', refusal(404, 'Not Found'), [many(200), many(200, 200)]],
  ['has no list', noList, [many(200), many(200, 200)]],
  ['is a commit that has no list [range.list.never]', noList, [many(400)]],
])(
  'if a part %s, the list of the whole is left as it was [range.cut.whole-leads]',
  async (world, _, answer, commits) => {
    world.github.faults.push({ path: RegExp(`compare/${MIDDLE}|/commits/`), answer, times: 9 })
    const { prompt, requests } = await send(world, inLine(...commits))
    expect(prompt).toMatch(/: 300 files, [\s\S]*GitHub truncated this list/)
    expect(requests).toBeGreaterThan(commits.length)
  },
)

worldTest(
  "half of a file's change is never sent if the other part is not found [range.cut.joined] [range.cut.whole-leads]",
  async (world) => {
    const path = new RegExp(`/compare/${MIDDLE}`)
    world.github.faults.push({ path, answer: refusal(404, 'Not Found'), times: 9 })
    const parts = LONG.map(({ files = [] }, nth) => [...files, file('src/zz.ts', `+${nth}`)])
    const { diffs } = await send(world, inLine(...parts))
    expect(diffs.size).toBe(133)
  },
)

worldTest(
  'a commit whose list is shorter than that of the comparison leaves it as it was [range.cut.whole-leads]',
  async (world) => {
    world.github.faults.push(empty)
    const { prompt } = await send(world, inLine(many(320)))
    expect(prompt).toMatch(/: 300 files, [\s\S]*GitHub truncated this list/)
  },
)

worldTest(
  'the list of the whole leads: no file that was changed back, and its own diffs [range.cut.whole-leads] [context.omitted.no-fact]',
  async (world) => {
    const back = file('src/back.ts', '+x')
    const [first, second] = [many(120, 0, 150), many(1, 0, 150)]
    const last = [...many(60, 200, 150), file('src/z.ts', '', MOVED)]
    const history = inLine([...first, back], [...second, back], last)
    const files = [file('src/00000.ts', '+net'), ...first.slice(1), ...last]
    world.repository.addComparison(BEFORE, AFTER, { files, commits: history as CommitState[] })
    const { prompt, diffs } = await send(world, history)
    expect(prompt).toContain(': 181 files, ')
    expect(diffs.size).toBe(180)
    expect(diffs.get('src/00000.ts')).toBe('+net')
    expect(prompt).not.toMatch(/back\.ts|sent no diff/)
  },
)

worldTest.each<[string, History, requests: number, isCut: boolean]>([
  ['what is not cut', inLine([file('a.png', null), ...many(30)], many(200, 30, 60)), 1, false],
  ['the largest range', tens(200, 401), 65, true],
])(
  '%s takes so many requests, and says if it is still cut: [range.cut.requests] [skip.list.cut]',
  async (world, _, history, most, isCut) => {
    const { prompt, requests } = await send(world, history)
    expect(requests).toBe(most)
    expect(prompt.includes('GitHub truncated')).toBe(isCut)
  },
)

const failing = { status: 502, body: { message: 'Server Error' } }

describe('parts are a gift [range.cut.gift]', () => {
  worldTest('one that fails each time leaves the list of the whole', async (world) => {
    world.github.faults.push({ path: RegExp(`compare/${MIDDLE}`), answer: failing, times: 99 })
    const { prompt, requests, milliseconds } = await send(world, LONG)
    expect(prompt).toMatch(/: 209 files, /)
    // Three tries of what fails.
    expect(requests).toBe(5)
    expect(milliseconds).toBeLessThan(10_000)
  })

  worldTest.each<[string, Fault['answer']]>([
    ['gets no answer', 'silence'],
    ['is refused', refusal(403, 'Not accessible')],
  ])('one that %s leaves the list of the whole', async (world, _, answer) => {
    world.github.faults.push({ path: RegExp(`compare/${MIDDLE}`), answer, times: 99 })
    expect((await send(world, LONG)).prompt).toMatch(/: 209 files, /)
  })

  worldTest('what a limit refuses sends nothing', async (world) => {
    world.github.faults.push({
      ...{ path: RegExp(`compare/${MIDDLE}`), times: 99 },
      answer: secondaryLimit(600),
    })
    expect((await send(world, LONG)).error).toContain('failed: 403')
    expect(world.prompts()).toEqual([])
  })

  worldTest(
    'lists that GitHub can not make are counted, too [range.cut.requests]',
    async (world) => {
      world.github.faults.push({ path: /\/commits\//, answer: noList, times: 99 })
      const { requests, prompt } = await send(world, tens(40, 30))
      expect(prompt).not.toBe('')
      expect(requests).toBeLessThanOrEqual(65)
    },
  )

  worldTest.each<[string, Record<string, string>, sent: boolean]>([
    ['for names alone', { context: 'none', 'context-paths': 'src/**' }, true],
    ['without diffs', { context: 'event' }, true],
    ['before a skip', { context: 'diff', 'context-paths': 'docs/**' }, false],
    ['if what counts is whole', { context: 'diff', 'context-paths': 'src/00000.ts' }, true],
    ['of the accounts in skip-authors', { context: 'diff', 'skip-authors': 'octocat' }, false],
  ])('they are not read %s [range.cut.judged]', async (world, _, inputs, isSent) => {
    const { requests, prompts } = await send(world, LONG, inputs)
    expect([requests, prompts]).toEqual([1, isSent ? 1 : 0])
  })

  worldTest(
    'of a list that was cut, they tell that nothing matches [range.cut.judged]',
    async (world) => {
      const { requests, prompts } = await send(world, tens(10, 100), {
        ...{ context: 'diff', 'context-paths': 'docs/**' },
      })
      expect([requests > 9, prompts]).toEqual([true, 0])
    },
  )

  worldTest(
    'a file that is renamed in two of them counts by its first name [range.cut.joined]',
    async (world) => {
      const renamed = (from: string, to: string) =>
        file(to, '+1', { status: 'renamed', previous_filename: from })
      const history = inLine(
        [...many(200), renamed('docs/a.ts', 'zz/b.ts')],
        [...many(200, 200), renamed('zz/b.ts', 'zz/c.ts')],
      )
      const { prompt } = await send(world, history, { context: 'diff', 'context-paths': 'docs/**' })
      expect(prompt).toContain('docs/a.ts -> zz/c.ts')
    },
  )
})
