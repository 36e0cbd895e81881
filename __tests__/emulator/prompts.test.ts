// `npm run prompts`, on a repository that the test makes.
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { UsageError } from '../../emulator/options.mjs'
import { prompts } from '../../emulator/prompts.mjs'
import { newFolder } from '../support/folder.js'

jest.setTimeout(120_000)
// The command reads them beside the bundle, which here is the fresh one.
cpSync('examples', 'build/examples', { recursive: true })

const [clone, other] = [newFolder('clone'), newFolder('other')]
const gitIn = (folder: string, date: string, ...args: string[]) => {
  const who = ['-c', 'user.name=Octo', '-c', 'user.email=1+octocat@users.noreply.github.com']
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  execFileSync('git', ['-C', folder, ...who, ...args], { env, stdio: 'pipe' })
}
const git = (date: string, ...args: string[]) => gitIn(clone, date, ...args)
const commit = (date: string, message: string, files: Record<string, string>) => {
  for (const [name, content] of Object.entries(files))
    writeFileSync(path.join(clone, name), content)
  git(date, 'add', '.')
  git(date, 'commit', '-m', message)
}
const [first, second] = ['2026-08-20T23:00:00Z', '2026-08-21T01:00:00Z']
git(first, 'init', '--initial-branch', 'main')
git(first, 'remote', 'add', 'origin', 'git@github.com:octo/code.git')
commit(first, 'Start', { 'a.ts': 'a\n', 'old name.md': 'one\ntwo\n' })
git(first, 'tag', 'start')
commit(first, 'Add --retry (#7)\n\nRetries.', { 'a.ts': 'a\nretry\n', 'b.png': '\0' })
git(first, 'checkout', '-b', 'topic')
git(first, 'mv', 'old name.md', 'new.md')
commit(first, 'Rename it', {})
git(first, 'checkout', 'main')
git(second, 'merge', '--no-ff', 'topic', '-m', 'Merge pull request #8 from octo/topic\n\nRename')
commit(second, 'Huge', {
  'b.ts': 'b\n'.repeat(200_000),
  'c.lock': `${'c'.repeat(300_000)}\n`,
  'd.ts': 'd\n'.repeat(19_000),
  'e.ts': 'e\n'.repeat(2_000),
})

gitIn(other, first, 'init', '--initial-branch', 'main')
gitIn(other, first, 'remote', 'add', 'origin', 'git@github.com:octo/web.git')
for (const [date, text] of [
  [first, 'one'],
  [second, 'two'],
] as const) {
  writeFileSync(path.join(other, 'page.ts'), `${text}\n`)
  gitIn(other, date, 'add', '.')
  gitIn(other, date, 'commit', '-m', `Write ${text} (#3)`)
}

async function run(...args: string[]) {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {})
  const out = newFolder('prompts')
  await prompts(['--clone', clone, '--range', 'start..main', '--out', out, ...args])
  const texts = readdirSync(out).map((name) => readFileSync(path.join(out, name), 'utf8'))
  return { texts, printed: log.mock.calls.join('\n') }
}

test('writes what is sent for each merge [house.prompts]', async () => {
  const { texts, printed } = await run()
  expect(texts).toHaveLength(3)
  const [squash = '', merge = '', push = ''] = texts
  for (const part of [
    'Bring the docs in line with this change, which was merged.\nTake names,',
    'Repository: octo/code.',
    'number: 7\ntitle: Add --retry\nauthor: octocat\nstate: closed\n',
    'body: Retries.\ncommits: ',
    'added b.png (GitHub sent no diff)\n',
    '=== modified a.ts\n@@ -1 +1,2 @@\n a\n+retry\n</data ',
  ])
    expect(squash).toContain(part)
  expect(merge).toMatch(/number: 8\ntitle: Rename\n[\s\S]* Rename it \(octocat\)\n/)
  expect(merge).toContain('renamed +0 -0 "old name.md" -> new.md')
  // What GitHub cuts, and what has no room.
  expect(push).toContain('Huge (octocat)')
  expect(push).not.toContain('number: ')
  expect(printed).toMatch(/^001-2026-08-20-\w{7}\.txt +\d KiB {2}1 of 2 diffs, 1 not sent by Git/)
  expect(printed).toContain('  1 of 4 diffs, 3 not sent by GitHub  Huge\n3 prompts in ')
  expect(printed).toMatch(/, 0 of them without room for all diffs\.$/)
})

test('writes what is sent for each night, with the inputs that are given', async () => {
  const { texts } = await run('--per', 'night', '--input', 'prompt=Go.')
  expect(texts).toHaveLength(2)
  expect(texts[0]).toMatch(/^Go\.\n\n# What triggered this run\n\nEvent: schedule\./)
  expect(texts[0]).toContain('=== modified a.ts')
  expect(texts[1]).toMatch(/commits:\n[\s\S]* Rename it [\s\S]* Merge pull [\s\S]* Huge /)
  const skipped = await run('--per', 'week', '--input', 'context-paths=none/**')
  expect(skipped.printed).toContain('.txt  skipped\n0 prompts in ')
  expect((await run('--per', 'week')).printed).toContain('\n1 prompt in ')
})

test('writes what is sent for each night of several clones [house.prompts]', async () => {
  const several = ['--clone', other, '--range', 'main~1..main', '--per', 'night']
  const { texts, printed } = await run(...several)
  expect(texts).toHaveLength(2)
  expect(texts[0]).toContain('Changed by the commits of 1 of 2 repositories')
  expect(texts[0]).toContain('=== modified octo/code/a.ts')
  expect(texts[1]).toContain('Changed by the commits of 2 of 2 repositories')
  expect(texts[1]).toMatch(/octo\/web@\w{7} Write two \(octo\/web#3\)/)
  expect(texts[1]).toContain('=== modified octo/web/page.ts\n@@ -1 +1 @@\n-one\n+two')
  expect(printed).toMatch(/\n001-2026-08-20-1-changed\.txt .*\n002-2026-08-21-2-changed\.txt /)
})

test.each([
  [`--clone ${clone} --clone ${other} --range a..b`, '--per expects night or week for several'],
  ['', '--clone FOLDER and --range FROM..TO are required'],
  [`--clone ${path.dirname(clone)} --range a..b`, 'is no clone of a git repository'],
  [`--clone ${clone} --range main`, "--range expects FROM..TO, got 'main'"],
  [`--clone ${clone} --range start..gone`, "--range: there is no commit 'gone' in "],
  [`--clone ${clone} --range main..start`, '--range: main..start has no commits'],
  [`--clone ${clone} --range a..b --per day`, '--per expects merge, night or week'],
])('%j is refused', async (args, problem) => {
  const refused = prompts(args.split(' ').filter(Boolean))
  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(problem)
})

test('what the action refuses ends the command, in its words', async () => {
  await expect(run('--input', 'context=all')).rejects.toThrow(/^Error: context: /)
})
