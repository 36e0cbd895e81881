/** The prompt file on a real file system: what is read, and everything that must not be read. */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { FILE_LIMIT, readPromptFile } from '../../src/inputs/prompt-file.js'
import { InvalidInput } from '../../src/inputs/values.js'
import { newFolder } from '../support/folder.js'
import { POSIX, posixTest } from '../support/platform.js'
import { scaled } from '../support/time.js'

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
  symlinkSync(join(base, 'work/repo-2'), join(workspace, 'repo-2'), 'junction')
  symlinkSync('a', join(workspace, 'inner-linked'), 'junction')
  symlinkSync(workspace, join(base, 'workspace-link'), 'junction')
  if (!POSIX) return
  symlinkSync(join(base, 'outside.md'), join(workspace, 'link.md'))
  symlinkSync('prompt.md', join(workspace, 'inner-link.md'))
  symlinkSync(join(base, 'gone'), join(workspace, 'dangling.md'))
  symlinkSync('loop.md', join(workspace, 'loop.md'))
  symlinkSync(join(base, 'outside.md'), join(temp, 'link.md'))
})

/** Its text, or what completes a line that begins with its path. */
function read(path: string, roots = { workspace, temp }): { text: string } | { problem: string } {
  try {
    return { text: readPromptFile(path, roots) }
  } catch (thrown) {
    if (!(thrown instanceof InvalidInput)) throw thrown
    return { problem: thrown.describe('').trim() }
  }
}
const text = (path: string): string => {
  const result = read(path)
  return 'text' in result ? result.text : `problem: ${result.problem}`
}
/** The problem, after checking that it has no text from the file. */
function problem(path: string, roots = { workspace, temp }): string {
  const result = read(path, roots)
  expect(JSON.stringify(result)).not.toContain(SECRET)
  return 'problem' in result ? result.problem : ''
}

describe('a path [input.file.inside]', () => {
  test.each([
    ['a path with dots', './a/../a/b/./prompt.md', 'Deep'],
    ['an absolute path in the workspace', join(workspace, 'a/b/prompt.md'), 'Deep'],
    ['an absolute path in temp', join(temp, 'prompt.md'), 'In temp'],
    ['a path that leaves the workspace and returns', '../repo/prompt.md', 'Hello'],
    ['a name that starts with two dots', '..prompt.md', 'Two dots'],
    ['a name with spaces and non-ASCII letters', ' odd name ü.md', 'Odd'],
  ])('%s is read', (_, path, content) => {
    expect(text(path)).toBe(content)
  })

  test.each([
    ['next to the workspace', '../repo-2/prompt.md'],
    ['above the workspace', '../../outside.md'],
    ['elsewhere, with a path that starts in temp', `${temp}/../outside.md`],
  ])('%s is rejected [input.file.inside]', (_, path) => {
    expect(problem(path)).toMatch(/outside/)
  })

  test('without a temp folder, only the workspace is allowed', () => {
    expect(read('prompt.md', { workspace, temp: '' })).toEqual({ text: 'Hello' })
    expect(problem(join(temp, 'prompt.md'), { workspace, temp: '' })).toMatch(/outside/)
    // An empty path would mean the current folder.
    expect(problem(join(process.cwd(), 'package.json'), { workspace, temp: '' })).toMatch(/outside/)
  })

  test('in a workspace that does not exist is said not to exist [input.problems.together]', () => {
    expect(problem('prompt.md', { workspace: join(base, 'none'), temp })).toMatch(/^does not exist/)
  })

  test.each([
    ['a relative path', 'prompt.md'],
    ['an absolute path past the link', join(workspace, 'prompt.md')],
    ['an absolute path through the link', join(base, 'workspace-link', 'prompt.md')],
  ])('%s is read in a workspace that is itself reached through a link', (_, path) => {
    expect(read(path, { workspace: join(base, 'workspace-link'), temp })).toEqual({ text: 'Hello' })
  })

  test.each(['repo-2/prompt.md', 'inner-linked/b/prompt.md'])(
    'behind a linked folder is rejected, and what to do is said: %s [input.problems.together]',
    (path) => {
      expect(problem(path)).toMatch(/ symbolic link\. Commit the file itself\.$/)
    },
  )

  posixTest.each([
    ['outside', 'link.md'],
    ['inside', 'inner-link.md'],
    ['outside, in temp', join(temp, 'link.md')],
    ['that is the link itself', 'loop.md'],
    ['that does not exist', 'dangling.md'],
  ])('that links to a file %s is rejected [input.file.inside]', (_, path) => {
    expect(problem(path)).toMatch(/symbolic link|^does not exist/)
  })
})

describe('a path that git uses for its own files [input.file.inside]', () => {
  test.each(['.git', '.Git/config', 'a/../.git/config', 'modules/x/.git'])(
    '%s is rejected, whether it exists or not',
    (path) => {
      expect(problem(path)).toMatch(/git uses/)
      // Windows does not allow these names, or changes them.
      if (POSIX && !path.includes('..')) write(join(workspace, 'own', path), SECRET)
      expect(problem(join('own', path))).toMatch(/git uses/)
      rmSync(join(workspace, 'own'), { recursive: true, force: true })
    },
  )

  test.each(['git-credentials-0b2c.config', 'Git-Credentials-0b2c.config'])(
    '%s in temp is rejected',
    (name) => {
      write(join(temp, name), SECRET)
      expect(problem(join(temp, name))).toMatch(/git uses/)
    },
  )

  const OTHERS =
    '.github/prompt.md x.git/prompt.md git/prompt.md git~x git-credits.md x-git-credentials-a'
  test.each(OTHERS.split(' '))('%s is read', (path) => {
    write(join(workspace, path), 'Fine')
    expect(text(path)).toBe('Fine')
  })
})

describe('something other than a regular file [input.file.inside]', () => {
  test.each(['a', '.', './', temp])('the folder %s is rejected', (path) => {
    expect(problem(path)).toBe('is a folder. Name a file in it.')
  })

  posixTest('a FIFO is rejected without blocking', () => {
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    // In a separate process, because nothing inside a process can end its wait for a writer.
    const module = JSON.stringify(new URL('../../src/inputs/prompt-file.js', import.meta.url).href)
    const call = `readPromptFile('fifo', ${JSON.stringify({ workspace, temp })})`
    const script = `import(${module}).then(({ readPromptFile }) => ${call}).catch((thrown) => console.log(thrown.describe('')))`
    const output = execFileSync(process.execPath, ['-e', script], {
      timeout: Math.ceil(scaled(10_000)),
      encoding: 'utf8',
    })
    expect(output).toMatch(/regular file/)
  })

  test.each(['gone.md', 'prompt.md/x'])(
    '%s is rejected because it does not exist [input.problems.together]',
    (path) => {
      expect(problem(path)).toMatch(/does not exist.*checkout/)
    },
  )

  test('a path that is too long is rejected with the error code [input.problems.together]', () => {
    expect(problem('x'.repeat(5000))).toMatch(
      POSIX ? /^can't be read \(ENAMETOOLONG\)\.$/ : /ENAMETOOLONG|does not exist/,
    )
  })

  const notForRoot = process.getuid?.() === 0 ? test.skip : posixTest
  notForRoot('an unreadable file is rejected [input.problems.together]', () => {
    write(join(workspace, 'locked.md'), SECRET)
    chmodSync(join(workspace, 'locked.md'), 0)
    expect(problem('locked.md')).toBe("can't be read (EACCES).")
  })
})

test('files are closed, whether they are accepted or not [input.file.text]', () => {
  const open = (): number => {
    const descriptor = openSync(join(workspace, 'prompt.md'), 'r')
    closeSync(descriptor)
    return descriptor
  }
  const before = open()
  for (let round = 0; round < 100; round++) {
    expect(text('prompt.md')).toBe('Hello')
    expect(problem('a')).toMatch(/folder/)
  }
  expect(open()).toBeLessThan(before + 50) // The system gives out the lowest free number.
})

describe('content [input.file.text]', () => {
  const content = (bytes: string | Uint8Array) => {
    write(join(workspace, 'content.md'), bytes)
    return read('content.md')
  }

  test.each([
    ['is trimmed at both ends alone', ' \n für\r\n\r\n\t日本  😀 \n', 'für\r\n\r\n\t日本  😀'],
    ['loses its byte order mark, but not one inside', '\ufeffa\ufeffb', 'a\ufeffb'],
  ])('%s', (_, bytes, expected) => {
    expect(content(bytes)).toEqual({ text: expected })
  })

  test.each([
    ['of 0 bytes', ''],
    ['of a byte order mark and white space', '\ufeff \r\n\t\n'],
  ])('%s is empty', (_, bytes) => {
    expect(content(bytes)).toEqual({ problem: expect.stringMatching(/empty/) })
  })

  test('of exactly 1 MiB is read', () => {
    expect(FILE_LIMIT).toBe(1_048_576)
    expect(content('x'.repeat(1_048_576))).toEqual({ text: 'x'.repeat(1_048_576) })
  })

  test.each([
    ['even if the last byte is white space', `${'x'.repeat(1_048_576)}\n`],
    ['counted in bytes', 'ü'.repeat(600_000)],
  ])('of more than 1 MiB is rejected, %s', (_, bytes) => {
    expect(content(bytes)).toEqual({ problem: expect.stringMatching(/larger than 1 MiB/) })
  })

  test.each([
    ['Latin-1', Buffer.from('für', 'latin1')],
    ['a truncated character', Buffer.from('für').subarray(0, 2)],
  ])('in %s is rejected', (_, bytes) => {
    expect(content(bytes)).toEqual({ problem: expect.stringMatching(/UTF-8/) })
  })
})
