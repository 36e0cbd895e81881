/** Every workflow of the README, the examples and the repository, checked with actionlint. */

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { newFolder } from '../support/folder.js'
import { HOME, withoutSelf, workflowFiles } from '../support/workflows.js'
import { tool } from './tools.js'

/** What actionlint 1.7.12 doesn't know yet, and GitHub's own checker does (contract/workflows.test.ts). */
const TOO_NEW = /^examples\/.*: unexpected key "queue" for "concurrency" section\./

let actionlint: string

beforeAll(() => {
  actionlint = tool('actionlint')
}, 600_000)

test('actionlint finds nothing in any workflow', () => {
  const files = workflowFiles().map(({ name, text }) => [fileOf(name), text] as const)
  expect(files.length).toBeGreaterThan(2)
  const problems = lint(Object.fromEntries(files))
  expect(problems.filter((problem) => !TOO_NEW.test(problem))).toEqual([])
  expect(problems).toContainEqual(expect.stringMatching(TOO_NEW)) // or the exception can go
})

describe('actionlint', () => {
  const workflow = readFileSync('examples/start.yml', 'utf8')

  test.each([
    ['an unknown input', 'prompt:', 'promt:', 'input "promt" is not defined'],
    ['a misspelt output', 'outputs.pr-link', 'outputs.pr-lnk', '"pr-lnk" is not defined'],
  ])('finds %s', (_, from, to, text) => {
    expect(workflow).toContain(from)
    expect(lint({ 'broken.yml': workflow.replace(from, to) }).join('\n')).toContain(text)
  })
})

/** The file that a workflow is written to, by its name. */
function fileOf(name: string): string {
  return `${name.replace(/\.ya?ml$/, '').replace(/[^\w./-]+/g, '-')}.yml`
}

interface Problem {
  readonly filepath: string
  readonly line: number
  readonly message: string
}

/** What actionlint finds in these workflows, one line per problem. */
function lint(files: Readonly<Record<string, string>>): string[] {
  // The tools that it can call to check scripts are not installed everywhere.
  const options = ['-shellcheck=', '-pyflakes=', '-format', '{{json .}}']
  const { status, stdout, stderr, error } = spawnSync(actionlint, [...options, ...Object.keys(files)], {
    cwd: projectOf(files),
    encoding: 'utf8',
  })
  if (error) throw error
  if (status !== 0 && status !== 1) throw new Error(`actionlint ended with ${status}: ${stderr}`)
  return JSON.parse(stdout).map(({ filepath, line, message }: Problem) => `${filepath}:${line}: ${message}`)
}

/** A project with these workflows, the action and its emulator: actionlint knows only the actions of a project. */
function projectOf(files: Readonly<Record<string, string>>): string {
  const project = newFolder('actionlint')
  for (const folder of ['.git', '.github/workflows'])
    mkdirSync(path.join(project, folder), { recursive: true })
  for (const part of ['action.yml', 'dist', 'emulator'])
    cpSync(part, path.join(project, part), { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, file)), { recursive: true })
    writeFileSync(path.join(project, file), withLocalActions(text))
  }
  return project
}

function withLocalActions(text: string): string {
  return withoutSelf(text, './').replace(
    new RegExp(`${HOME}(/[^@\\s]+)?@v1`, 'g'),
    (_, inside = '/') => `.${inside}`,
  )
}
