// The emulated runner: output files, the log's commands and masks, the inputs, and a bundle run in
// its environment.
import { readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import {
  hideSecrets,
  newLog,
  parseOutputs,
  readInputNames,
  renderLine,
  runAction,
} from '../../emulator/runner.mjs'
import { newFolder } from '../support/folder.js'
import { POSIX } from '../support/platform.js'

describe('parseOutputs [house.emulator]', () => {
  test.each([
    ['an empty file', '', {}],
    ['an empty value', 'a=\n', { a: '' }],
    ['a value with = and <<', 'a=b=c<<d\n', { a: 'b=c<<d' }],
    ['a heredoc', 'a<<END\none\n\ntwo=2\nEND\n', { a: 'one\n\ntwo=2' }],
    ['a line that only starts with the delimiter', 'a<<END\nENDE\nEND\n', { a: 'ENDE' }],
    ['empty lines between', '\na=1\n\n\nb=2\n', { a: '1', b: '2' }],
    ['a name twice', 'a<<E\n1\nE\nb=x\na<<E\n2\nE\n', { a: '2', b: 'x' }],
    ['a name such as __proto__', '__proto__=x\n', Object.fromEntries([['__proto__', 'x']])],
  ])('reads %s', (_, text, outputs) => {
    expect(parseOutputs(text)).toStrictEqual(outputs)
  })

  test.each([
    ['a\n', /Invalid format 'a'/],
    ['=1\n', /Invalid format/],
    ['a<<\n1\n\n', /Invalid format/],
    ['a<<E\n1\n', /Matching delimiter not found 'E'/],
  ])('rejects %j as the runner does', (text, message) => {
    expect(() => parseOutputs(text)).toThrow(message)
  })
})

describe('readInputNames [house.emulator]', () => {
  test.each(['action.yml', 'emulator/action.yml'])('finds the inputs of YAML in %s', (file) => {
    const manifest = readFileSync(file, 'utf8')
    const expected = Object.keys(parse(manifest).inputs)
    expect(expected.length).toBeGreaterThan(1)
    expect(readInputNames(manifest)).toEqual(expected)
    expect(readInputNames(manifest.replaceAll('\n', '\r\n'))).toEqual(expected)
  })
})

describe('renderLine [house.emulator]', () => {
  const show = (lines: string[], debug = false) => {
    const log = newLog(debug)
    return lines.map((line) => renderLine(line, log)?.text)
  }

  test.each([
    ['::notice::It is there', 'notice', 'Notice: It is there'],
    ['::warning title=Odd,file=a.md::Take care', 'warning', 'Warning: Take care'],
    ['::error::100%25 wrong%0Atwice%0D', 'error', 'Error: 100% wrong\ntwice\r'],
    ['::error::%250A stays', 'error', 'Error: %0A stays'],
    ['  ::error::a::b', 'error', 'Error: a::b'],
    ['plain %0A text', 'text', 'plain %0A text'],
    ['text ::error::x', 'text', 'text ::error::x'],
    ['::other::x', 'text', '::other::x'],
    ['', 'text', ''],
  ])('%j is shown as %s', (line, kind, text) => {
    expect(renderLine(line, newLog())).toStrictEqual({ kind, text })
  })

  test('debug lines are shown on request', () => {
    expect(show(['::debug::x'])).toEqual([undefined])
    expect(show(['::debug::x'], true)).toEqual(['Debug: x'])
  })

  test('groups are indented', () => {
    const lines = ['::group::One', 'a', '::error::b%0Ac', '::group::Two', 'd', '::endgroup::', 'e']
    expect(show(lines)).toEqual(['▾ One', '  a', '  Error: b\n  c', '▾ Two', '  d', undefined, 'e'])
  })

  test('masked values, and each of their lines, are hidden from then on', () => {
    const lines = [
      'key',
      '::add-mask::key',
      'a key',
      '::error::key',
      '::group::key',
      '::add-mask::x1%0Ay2',
      'x1 y2',
    ]
    expect(show(lines)).toEqual([
      'key',
      undefined,
      'a ***',
      'Error: ***',
      '▾ ***',
      undefined,
      '  *** ***',
    ])
  })

  test('a mask that is part of another one does not reveal the rest', () => {
    const log = newLog()
    for (const line of ['::add-mask::abc', '::add-mask::abcdef', '::add-mask::  '])
      renderLine(line, log)
    expect(hideSecrets('abcdef  abc', log)).toBe('***  ***')
  })
})

const BUNDLE = `
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
const { env } = process
const write = (file, text) => appendFileSync(env[file], text)
console.log('::notice::hello')
console.error('on stderr\\rafter a CR')
const outputs = {
  inputs: Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('INPUT_'))),
  names: Object.keys(env),
  cwd: process.cwd(),
  files: readdirSync(env.GITHUB_WORKSPACE),
  temp: existsSync(env.RUNNER_TEMP),
  extra: env.EXTRA,
  run: env.GITHUB_RUN_ID,
  event: JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8')),
  where: [env.GITHUB_WORKFLOW_REF, env.GITHUB_JOB, env.GITHUB_ACTION, env.GITHUB_REF],
}
write('GITHUB_OUTPUT', 'all<<E\\n' + JSON.stringify(outputs) + '\\nE\\n')
write('GITHUB_STEP_SUMMARY', '# Done\\n')
for (const file of ['GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_PATH']) write(file, 'a=b\\n')
console.log('written')
process.exitCode = 3
process.stdin.resume()
`

/** Every process on Windows has these: libuv adds them (src/win/process.c, required_vars). */
const WINDOWS_VARIABLES =
  /^(HOMEDRIVE|HOMEPATH|LOGONSERVER|SYSTEMDRIVE|SYSTEMROOT|TEMP|USERDOMAIN|USERNAME|USERPROFILE|WINDIR)$/i

/** Parses the one output of the bundle above. */
function readOutput({ outputs: { all = '' } }: Awaited<ReturnType<typeof runAction>>) {
  return JSON.parse(all)
}

describe('runAction [house.emulator]', () => {
  const folder = newFolder('runner')
  const bundle = path.join(folder, 'index.mjs')
  beforeAll(() => writeFile(bundle, BUNDLE))

  test('runs a bundle in the environment of a step', async () => {
    const lines: string[] = []
    const result = await runAction({
      bundle,
      inputs: { 'project-id': 'a', prompt: 'two\nlines' },
      env: { EXTRA: 'x', GITHUB_RUN_ID: '7' },
      event: { action: 'opened' },
      workspace: folder,
      onLine: (line) => lines.push(line),
    })
    expect(result).toMatchObject({
      exitCode: 3,
      stdout: '::notice::hello\nwritten\n',
      summary: '# Done\n',
    })
    expect(result.stderr).toBe('on stderr\rafter a CR\n')
    expect(lines.sort()).toEqual(['::notice::hello', 'after a CR', 'on stderr', 'written'])
    const seen = readOutput(result)
    expect(seen).toMatchObject({
      inputs: { 'INPUT_PROJECT-ID': 'a', INPUT_PROMPT: 'two\nlines' },
      cwd: folder,
      files: ['index.mjs'],
      temp: true,
      extra: 'x',
      run: '7',
      event: { action: 'opened' },
      where: [
        'your-org/your-repo/.github/workflows/docs.yml@refs/heads/main',
        'docs',
        'agent',
        'refs/heads/main',
      ],
    })
    const others = seen.names.filter(
      (name: string) => !/^(GITHUB_|RUNNER_TEMP$|INPUT_|EXTRA$)/.test(name),
    )
    expect(others.filter((name: string) => POSIX || !WINDOWS_VARIABLES.test(name)).sort()).toEqual([
      'HOME',
      'PATH',
    ])
  })

  test('gives the bundle an empty workspace, and leaves no folder behind', async () => {
    const { cwd, files } = readOutput(await runAction({ bundle, inputs: {} }))
    expect(files).toEqual([])
    await expect(readdir(path.dirname(cwd))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await readdir(folder)).toEqual(['index.mjs'])
  })
})
