// `npm run prompts`, on a repository that the test makes.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { UsageError } from '../../emulator/options.mjs'
import { prompts } from '../../emulator/prompts.mjs'
import { newFolder } from '../support/folder.js'

jest.setTimeout(120_000)
// The command reads them beside the bundle, which here is the fresh one.
cpSync('examples', 'build/examples', { recursive: true })

const clone = newFolder('prompts')
/** The time of the next commit. */
let now = Date.parse('2026-08-20T22:00:00Z')

function git(...args: string[]) {
  const date = new Date(now).toISOString()
  const identity = [
    '-c',
    'user.name=Octo Cat',
    '-c',
    'user.email=1+octocat@users.noreply.github.com',
  ]
  const { status, stderr } = spawnSync('git', ['-C', clone, ...identity, ...args], {
    env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  })
  if (status !== 0) throw new Error(String(stderr))
}

function commit(message: string, files: Record<string, string>) {
  now += 60_000
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(clone, name)), { recursive: true })
    writeFileSync(path.join(clone, name), content)
  }
  git('add', '.')
  git('commit', '--quiet', '--message', message)
}

beforeAll(() => {
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', 'git@github.com:octo/code.git')
  commit('Start', { 'src/a.ts': 'a\n', 'old name.md': 'one\ntwo\nthree\n' })
  git('tag', 'start')
  commit('Add --retry (#7)\n\nRetries a request.', { 'src/a.ts': 'a\nretry\n', 'logo.png': '\0' })
  git('checkout', '--quiet', '-b', 'topic')
  commit('Rename it', { 'tests/a.ts': 'test\n' })
  git('mv', 'old name.md', 'new.md')
  commit('Rename it, too', {})
  git('checkout', '--quiet', 'main')
  now += 86_400_000
  git(
    'merge',
    '--quiet',
    '--no-ff',
    'topic',
    '-m',
    'Merge pull request #8 from octo/topic',
    '-m',
    'Rename',
  )
  commit('Huge', {
    'src/b.ts': 'b\n'.repeat(200_000),
    'src/c.ts': 'c\n'.repeat(19_000),
    'src/d.ts': 'd\n'.repeat(2_000),
    'bun.lock': `${'x'.repeat(300_000)}\n`,
  })
})

let printed = ''
beforeEach(() => {
  printed = ''
  jest.spyOn(console, 'log').mockImplementation((line) => {
    printed += `${line}\n`
  })
})

async function run(...args: string[]) {
  const out = newFolder('prompts')
  expect(await prompts(['--clone', clone, '--range', 'start..main', '--out', out, ...args])).toBe(0)
  return readdirSync(out).map((name) => readFileSync(path.join(out, name), 'utf8'))
}

test('writes what is sent for each merge', async () => {
  const [squash = '', merge = '', push = '', ...more] = await run()
  expect(more).toEqual([])
  for (const part of [
    'Bring the docs in line with this change, which was merged.\nTake names,',
    'Repository: octo/code.',
    'number: 7\ntitle: Add --retry\nauthor: octocat\nstate: closed\n',
    'body: Retries a request.\ncommits: ',
    'Changed by pull request 7: 2 files, 1 line added, 0 deleted.',
    'added +0 -0 logo.png (GitHub sent no diff)\nmodified +1 -0 src/a.ts\n',
    '=== modified src/a.ts\n@@ -1 +1,2 @@\n a\n+retry\n</data ',
  ])
    expect(squash).toContain(part)
  expect(merge).toMatch(
    /number: 8\ntitle: Rename\n[\s\S]* Rename it \(octocat\)\n[\s\S]* Rename it, too /,
  )
  expect(merge).toContain('renamed +0 -0 "old name.md" -> new.md')
  // What GitHub cuts, and what the prompt has no room for, is told.
  expect(push).not.toContain('number: ')
  for (const part of [
    'added +0 -0 src/b.ts (GitHub sent no diff)\nadded +19000 -0 src/c.ts\n',
    'added +0 -0 src/d.ts (GitHub sent no diff)\n',
    'Omitted for length: the diffs of 1 file.',
  ])
    expect(push).toContain(part)
  expect(printed).toContain('  1 of 4 diffs, 1 left out, 2 not sent by GitHub  Huge\n')
  expect(printed).toMatch(/3 prompts in .*, 1 of them without room for all diffs\./)
  expect(printed).toMatch(
    /^001-2026-08-20-\w{7}\.txt +\d KiB {2}1 of 2 diffs, 1 not sent by GitHub {2}Add /,
  )
})

test('writes what is sent for each night, with the inputs that are given', async () => {
  const [first = '', second = '', ...more] = await run('--per', 'night', '--input', 'prompt=Go.')
  expect(more).toEqual([])
  expect(first).toMatch(/^Go\.\n\n# What triggered this run\n\nEvent: schedule\./)
  expect(first).toContain('=== modified src/a.ts')
  expect(second).toMatch(/commits:\n[\s\S]* Rename it [\s\S]* Merge pull request #8 [\s\S]* Huge /)
  expect(await run('--per', 'week', '--input', 'context-paths=none/**')).toEqual([])
  expect(printed).toContain('.txt  skipped\n0 prompts in ')
})

test.each([
  [[], '--clone FOLDER and --range FROM..TO are required'],
  [['--clone', path.dirname(clone), '--range', 'a..b'], 'is no clone of a git repository'],
  [['--clone', clone, '--range', 'main'], "--range expects FROM..TO, got 'main'"],
  [['--clone', clone, '--range', 'start..gone'], "--range: there is no commit 'gone' in "],
  [['--clone', clone, '--range', 'main..start'], '--range: main..start has no commits'],
  [
    ['--clone', clone, '--range', 'start..main', '--per', 'day'],
    '--per expects merge, night or week',
  ],
])('%j is refused', async (args, problem) => {
  const refused = prompts(args)
  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(problem)
})

test('an input that the action refuses ends the command, in its words', async () => {
  await expect(run('--input', 'context=all')).rejects.toThrow(/^Error: context: /)
})
