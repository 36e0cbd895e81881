// The prompt file on a real file system: what is read, and everything that must not be.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { FILE_LIMIT, type FileText, readPromptFile } from '../../src/inputs/prompt-file.js'
import { newFolder } from '../support/folder.js'
import { POSIX, posixTest } from '../support/platform.js'

const base = newFolder('files')
const workspace = join(base, 'work', 'repo')
const temp = join(base, 'temp')
const SECRET = 'from outside'

function write(path: string, bytes: string | Uint8Array): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, bytes)
}

beforeAll(() => {
  mkdirSync(workspace, { recursive: true })
  mkdirSync(temp)
  write(join(workspace, 'prompt.md'), 'Hello')
  write(join(workspace, 'a/b/prompt.md'), 'Deep')
  write(join(workspace, '..prompt.md'), 'Two dots')
  write(join(workspace, ' odd name ü.md'), 'Odd')
  write(join(temp, 'prompt.md'), 'In temp')
  write(join(base, 'outside.md'), SECRET)
  write(join(base, 'work/repo-2/prompt.md'), SECRET)
  symlinkSync(base, join(workspace, 'linked'), 'junction')
  symlinkSync('a', join(workspace, 'inner-linked'), 'junction')
  symlinkSync(workspace, join(base, 'workspace-link'), 'junction')
  if (!POSIX) return
  symlinkSync(join(base, 'outside.md'), join(workspace, 'link.md'))
  symlinkSync('prompt.md', join(workspace, 'inner-link.md'))
  symlinkSync(join(base, 'gone'), join(workspace, 'dangling.md'))
  symlinkSync('loop.md', join(workspace, 'loop.md'))
  symlinkSync(join(base, 'outside.md'), join(temp, 'link.md'))
})

const read = (path: string, roots = { workspace, temp }): FileText => readPromptFile(path, roots)
const text = (path: string): string => {
  const result = read(path)
  return 'text' in result ? result.text : `fault: ${result.fault}`
}
/** The fault, after a look that nothing of the file is in it. */
function fault(path: string, roots = { workspace, temp }): string {
  const result = read(path, roots)
  expect(JSON.stringify(result)).not.toContain(SECRET)
  return 'fault' in result ? result.fault : ''
}

describe('a place', () => {
  test.each([
    ['a relative path', 'prompt.md', 'Hello'],
    ['a path with dots', './a/../a/b/./prompt.md', 'Deep'],
    ['an absolute path in the workspace', join(workspace, 'a/b/prompt.md'), 'Deep'],
    ['an absolute path in temp', join(temp, 'prompt.md'), 'In temp'],
    ['a way out and in again', '../repo/prompt.md', 'Hello'],
    ['a relative way to temp', '../../temp/prompt.md', 'In temp'],
    ['a name that begins with two dots', '..prompt.md', 'Two dots'],
    ['a name with blanks and letters outside of ASCII', ' odd name ü.md', 'Odd'],
  ])('%s is read', (_, path, content) => {
    expect(text(path)).toBe(content)
  })

  test.each([
    ['beside the workspace', '../repo-2/prompt.md'],
    ['above the workspace', '../../outside.md'],
    ['elsewhere', join(base, 'outside.md')],
    ['elsewhere, by a path that begins in the workspace', join(workspace, '../../outside.md')],
    ['elsewhere, by a path that begins in temp', `${temp}/../outside.md`],
    ['the workspace itself', '.'],
    ['temp itself', temp],
    ['the system', '/proc/self/environ'],
  ])('%s is outside', (_, path) => {
    expect(fault(path)).toMatch(/outside/)
  })

  test('without a temp folder there is only the workspace', () => {
    expect(read('prompt.md', { workspace, temp: '' })).toEqual({ text: 'Hello' })
    expect(fault(join(temp, 'prompt.md'), { workspace, temp: '' })).toMatch(/outside/)
  })

  test.each([
    ['a relative path', 'prompt.md'],
    ['an absolute path through the link', join(base, 'workspace-link', 'prompt.md')],
  ])('%s is read in a workspace that is itself behind a link', (_, path) => {
    expect(read(path, { workspace: join(base, 'workspace-link'), temp })).toEqual({ text: 'Hello' })
  })

  test.each([
    ['a parent folder that is a link to outside', 'linked/outside.md'],
    ['a parent folder that is a link to inside', 'inner-linked/b/prompt.md'],
  ])('%s is refused', (_, path) => {
    expect(fault(path)).toMatch(/symbolic link/)
  })

  posixTest.each([
    ['a link to a file outside', 'link.md'],
    ['a link to a file inside', 'inner-link.md'],
    ['a link in temp', join(temp, 'link.md')],
    ['a link to itself', 'loop.md'],
  ])('%s is refused', (_, path) => {
    expect(fault(path)).toMatch(/symbolic link/)
  })

  posixTest('a link to nothing is refused', () => {
    expect(fault('dangling.md')).toMatch(/does not exist|symbolic link/)
  })
})

describe('a place of git', () => {
  test.each([
    '.git/config',
    '.GIT/config',
    '.Git/config',
    'a/.git/config',
    '.git',
    '.git./config',
    '.git /config',
    '.git . ./config',
    '.git::$INDEX_ALLOCATION/config',
    '.git:x',
    'git~1/config',
    'GIT~1/config',
    'GiT~12/config',
    'modules/x/.git',
    'a/../.git/config',
  ])('%s is refused, there or not', (path) => {
    expect(fault(path)).toMatch(/git keeps/)
    // Windows has no such names, or has them by another one.
    if (POSIX && !path.includes('..')) write(join(workspace, 'own', path), SECRET)
    expect(fault(join('own', path))).toMatch(/git keeps/)
    rmSync(join(workspace, 'own'), { recursive: true, force: true })
  })

  test.each(['git-credentials-0b2c.config', 'Git-Credentials-0b2c.config', 'GIT-CR~1.CON'])(
    '%s in temp is refused',
    (name) => {
      write(join(temp, name), SECRET)
      expect(fault(join(temp, name))).toMatch(/git keeps/)
    },
  )

  test.each([
    '.gitignore',
    '.github/prompt.md',
    '.git-x/prompt.md',
    'x.git/prompt.md',
    'git/prompt.md',
    'git~x',
    'git-credits.md',
  ])('%s is read', (path) => {
    write(join(workspace, path), 'Fine')
    expect(text(path)).toBe('Fine')
  })
})

describe('a thing that is no regular file', () => {
  test('a folder is refused', () => {
    expect(fault('a')).toMatch(/regular file/)
  })

  posixTest('a FIFO is refused and not waited for', () => {
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    // In a process of its own: one that waits for a writer can be ended by nothing from inside.
    const module = JSON.stringify(new URL('../../src/prompt/files.js', import.meta.url).href)
    const call = `readPromptFile('fifo', ${JSON.stringify({ workspace, temp })})`
    const script = `import(${module}).then(({ readPromptFile }) => console.log(${call}.fault))`
    const said = execFileSync(process.execPath, ['-e', script], { timeout: 4000, encoding: 'utf8' })
    expect(said).toMatch(/regular file/)
  })

  test.each(['gone.md', 'gone/prompt.md', 'prompt.md/x'])('%s does not exist', (path) => {
    expect(fault(path)).toMatch(/does not exist.*checkout/)
  })

  test('a NUL in the path is refused', () => {
    expect(fault('prompt.md\0')).toMatch(/NUL/)
  })

  test('a path that is too long is refused in words', () => {
    expect(fault('x'.repeat(5000))).toMatch(POSIX ? /ENAMETOOLONG/ : /ENAMETOOLONG|does not exist/)
  })

  const notForRoot = process.getuid?.() === 0 ? test.skip : posixTest
  notForRoot('a file that may not be read is refused', () => {
    write(join(workspace, 'locked.md'), SECRET)
    chmodSync(join(workspace, 'locked.md'), 0)
    expect(fault('locked.md')).toMatch(/may not be read/)
  })
})

describe('a content', () => {
  const content = (bytes: string | Uint8Array): FileText => {
    write(join(workspace, 'content.md'), bytes)
    return read('content.md')
  }

  test.each([
    ['is trimmed at both ends and otherwise unchanged', ' \n a\r\n\r\n\tb  c \n', 'a\r\n\r\n\tb  c'],
    ['loses its byte order mark', '\ufeffHello', 'Hello'],
    ['keeps what is no letter of ASCII', 'für 日本 😀', 'für 日本 😀'],
    ['keeps a byte order mark inside', 'a\ufeffb', 'a\ufeffb'],
  ])('%s', (_, bytes, expected) => {
    expect(content(bytes)).toEqual({ text: expected })
  })

  test.each([
    ['of 0 bytes', ''],
    ['of white space only', ' \r\n\t\n'],
    ['of a byte order mark only', '\ufeff'],
    ['of a byte order mark and white space', '\ufeff \n'],
  ])('%s is empty', (_, bytes) => {
    expect(content(bytes)).toEqual({ fault: expect.stringMatching(/empty/) })
  })

  test('of exactly 1 MiB is read', () => {
    expect(FILE_LIMIT).toBe(1_048_576)
    expect(content('x'.repeat(1_048_576))).toEqual({ text: 'x'.repeat(1_048_576) })
  })

  test('of 1 MiB and a byte is refused, also where it would be white space', () => {
    expect(content('x'.repeat(1_048_577))).toEqual({ fault: expect.stringMatching(/larger than 1 MiB/) })
    expect(content(`${'x'.repeat(1_048_576)}\n`)).toEqual({
      fault: expect.stringMatching(/larger than 1 MiB/),
    })
  })

  test('of less than 1 MiB characters, but more bytes, is refused', () => {
    expect(content('ü'.repeat(600_000))).toEqual({ fault: expect.stringMatching(/larger than 1 MiB/) })
  })

  test.each([
    ['Latin-1', Buffer.from('für', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffHello', 'utf16le')],
    ['a cut character', Buffer.from('für').subarray(0, 2)],
    ['an overlong slash', Buffer.from([0x61, 0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('in %s is refused', (_, bytes) => {
    expect(content(bytes)).toEqual({ fault: expect.stringMatching(/UTF-8/) })
  })
})
