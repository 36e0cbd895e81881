/** scripts/set-host.mjs: every text that names where the action is hosted, and the way back. */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { type Clone, copyOfThis, ENV, emptyClone } from '../support/repositories.js'
import { HOME, workflowFiles } from '../support/workflows.js'

/** In two parts, so that this file does not name it. */
const OTHER = ['an-owner', 'another.name'].join('/')

function setHost(clone: Clone, ...args: string[]) {
  const script = clone.path('scripts/set-host.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: ENV,
  })
  return { status, stdout, stderr }
}

/** Where the links and pictures of a document lead, in order. */
const targetsIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:\]\(| (?:src|srcset|href)=")([^)"]+)/g)].map(
    ([, target = '']) => target,
  )

/** A repository with the script and these files. */
function repository(files: Readonly<Record<string, string>>): Clone {
  const clone = emptyClone('host')
  clone.commit({
    'scripts/set-host.mjs': readFileSync('scripts/set-host.mjs', 'utf8'),
    'package.json': '{"repository":"github:one/action"}\n',
    ...files,
  })
  return clone
}

test('every file of this repository follows, none of them code, and the way back gives the same bytes', () => {
  const clone = copyOfThis()
  const before = clone.git('rev-parse', 'HEAD^{tree}')
  const { status, stdout } = setHost(clone, OTHER)
  expect(status).toBe(0)
  expect(clone.git('status', '--short').split('\n')).toHaveLength(
    stdout.trim().split('\n').length - 1,
  )
  expect(clone.git('grep', '--count', '--fixed-strings', '-e', OTHER)).toMatch(/^README\.md:[1-9]/m)
  expect(() => clone.git('grep', '--fixed-strings', '-e', HOME)).toThrow()
  expect(stdout).not.toMatch(/\b(?:src|dist|build|__tests__)\//)
  const using = (folder: string | undefined, host: string): string[] =>
    workflowFiles(folder).flatMap(({ name, text }) =>
      text.includes(`uses: ${host}@`) ? [name] : [],
    )
  clone.commit()
  expect(setHost(clone, OTHER)).toEqual({
    status: 0,
    stdout: `The host is already ${OTHER}.\n`,
    stderr: '',
  })
  expect(clone.git('status', '--porcelain')).toBe('')
  expect(using(clone.folder, OTHER)).toEqual(using(undefined, HOME))
  // Wherever the README is shown, each of its links and pictures leads to the file that it leads to
  // here.
  const [here, there] = [targetsIn('README.md'), targetsIn(clone.path('README.md'))]
  expect(here.length).toBeGreaterThan(20)
  expect(there).toEqual(
    here.map((target) => {
      if (/^(?:https?:|#)/.test(target)) return target.replace(HOME, OTHER)
      if (target === '../../issues') return `https://github.com/${OTHER}/issues`
      const [site, page] = target.endsWith('.png')
        ? ['raw.githubusercontent.com', '']
        : ['github.com', '/blob']
      return `https://${site}/${OTHER}${page}/HEAD/${target}`
    }),
  )

  expect(setHost(clone, HOME).status).toBe(0)
  clone.commit()
  expect(clone.git('rev-parse', 'HEAD^{tree}')).toBe(before)
})

test('replaces the name as a whole, in text files, and keeps every other byte', () => {
  const bytes = (name: string): Buffer => Buffer.from(`${name} \xff\r\n\tend\u00a0`, 'latin1')
  const names = (name: string): string =>
    `${name}@v1 ${name}/sub@v1 https://github.com/${name}.git See ${name}. (${name})\n`
  const others =
    'one/action-2 one/action_2 one/action.js someone/action one/actions oneone/action\n'
  const clone = repository({ 'a b.md': names('one/action') + others, binary: '\0one/action' })
  writeFileSync(clone.path('bytes.txt'), bytes('one/action'))
  clone.commit()

  expect(setHost(clone, 'new-owner/new.name')).toMatchObject({ status: 0, stderr: '' })
  expect(readFileSync(clone.path('a b.md'), 'utf8')).toBe(names('new-owner/new.name') + others)
  expect(readFileSync(clone.path('binary'), 'utf8')).toBe('\0one/action')
  expect(readFileSync(clone.path('bytes.txt'))).toEqual(bytes('new-owner/new.name'))
})

describe('refuses', () => {
  const clone = repository({
    'a.md': 'one/action and actions/checkout@v7\n',
    'b.md': 'actions/checkout2\n',
  })
  // No owner or no name, one segment more, what GitHub allows in neither, and what a pattern would
  // expand.
  const NAMES = [
    '',
    'owner',
    '/name',
    'owner/',
    'a/b/c',
    '-a/b',
    'a--b/c',
    'a/b c',
    'a/b.git',
    'a/..',
    'a/b$&',
  ]

  test.each(NAMES)('the name %p', (name) => {
    const stderr = `Expected the repository as OWNER/REPO, got ${JSON.stringify(name)}.\n`
    expect(setHost(clone, name)).toEqual({ status: 1, stdout: '', stderr })
  })

  test('a name that already occurs, from which there would be no way back', () => {
    const stderr = 'actions/checkout already occurs, so there would be no way back: a.md.\n'
    expect(setHost(clone, 'actions/checkout')).toEqual({ status: 1, stdout: '', stderr })
    expect(clone.git('status', '--porcelain')).toBe('')
  })

  test('a dirty tree', () => {
    clone.write('new.md', 'one/action\n')
    const stderr = expect.stringMatching(/^The working tree is not clean: /)
    expect(setHost(clone, 'new/name')).toEqual({ status: 1, stdout: '', stderr })
    expect(clone.git('status', '--porcelain')).toBe('?? new.md')
  })
})
