/** Every workflow of the README, the examples and the repository, as actionlint reads them. */

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { AROUND, broken, SAMPLE } from '../support/sample-workflow.js'
import { HOME, withoutSelf, workflowFiles } from '../support/workflows.js'
import { tool } from './tools.js'

const MINUTES = 60_000
const projects: string[] = []
let actionlint: string

beforeAll(() => {
  actionlint = tool('actionlint')
}, 10 * MINUTES)

afterAll(() => {
  for (const project of projects) rmSync(project, { recursive: true })
})

describe('in every workflow', () => {
  const files = workflowFiles().map(({ name, text }) => [fileOf(name), text] as const)

  test('actionlint finds nothing', () => {
    expect(files.length).toBeGreaterThan(2)
    expect(lint(Object.fromEntries(files))).toEqual([])
  })
})

describe('actionlint', () => {
  test('finds nothing in a sound workflow', () => {
    expect(lint({ ...AROUND, 'sample.yml': SAMPLE })).toEqual([])
  })

  test.each([
    ['an unknown input', 'prompt:', 'promt:', 'input "promt" is not defined'],
    ['a missing input', 'project-id: your-project', 'job-key: a', 'missing input "project-id"'],
    ['a misspelt output', 'docs.outputs.pr-link }}', 'docs.outputs.pr-lnk }}', '"pr-lnk" is not defined'],
    [
      'a misspelt output over needs',
      'needs.docs.outputs.pr-link',
      'needs.docs.outputs.pr',
      '"pr" is not def',
    ],
    [
      'an output of a called workflow',
      'called.outputs.outcome',
      'called.outputs.end',
      '"end" is not defined',
    ],
    ['an unknown context', 'github.sha', 'git.sha', 'undefined variable "git"'],
    ['a bad cron', '17 3 * * 1-5', '17 25 * * 1-5', 'invalid CRON format'],
    ['a bad expression of runs-on', 'vars.RUNNER', 'matrix.runner', '"runner" is not defined'],
    ['an unknown runner', 'runs-on: ubuntu-latest', 'runs-on: ubuntu-9', 'label "ubuntu-9" is unknown'],
    ['text of strangers in a script', '$PR_LINK', '${{ github.event.head_commit.message }}', 'untrusted'],
    ['an unknown input of the emulator', 'scenario:', 'ending:', 'input "ending" is not defined'],
    ['an unknown input of a called workflow', 'project:', 'project-id:', 'input "project-id" is not defined'],
    ['a missing secret of a called workflow', 'agent-key: ${{', 'key: ${{', 'secret "agent-key" is required'],
  ])('finds %s', (_, from, to, words) => {
    expect(lint({ ...AROUND, 'sample.yml': broken(from, to) }).join('\n')).toContain(words)
  })
})

/** A file for a workflow by the name it is collected under. */
function fileOf(name: string): string {
  return `${name.replace(/\.ya?ml$/, '').replace(/[^\w./-]+/g, '-')}.yml`
}

interface Fault {
  readonly filepath: string
  readonly line: number
  readonly message: string
}

/** What actionlint finds in the workflows among these files, a line for each fault. */
function lint(files: Readonly<Record<string, string>>): string[] {
  const workflows = Object.keys(files).filter((file) => path.basename(file) !== 'action.yml')
  // What it can call beside itself, to read scripts, is not installed everywhere.
  const options = ['-shellcheck=', '-pyflakes=', '-format', '{{json .}}']
  const { status, stdout, stderr, error } = spawnSync(actionlint, [...options, ...workflows], {
    cwd: projectOf(files),
    encoding: 'utf8',
  })
  if (error) throw error
  if (status !== 0 && status !== 1) throw new Error(`actionlint ended with ${status}: ${stderr}`)
  return JSON.parse(stdout).map(({ filepath, line, message }: Fault) => `${filepath}:${line}: ${message}`)
}

/** A project with the action, its emulator and these files. Actionlint knows the actions of a project alone. */
function projectOf(files: Readonly<Record<string, string>>): string {
  const project = mkdtempSync(path.join(tmpdir(), 'actionlint-'))
  projects.push(project)
  for (const folder of ['.git', '.github/workflows'])
    mkdirSync(path.join(project, folder), { recursive: true })
  for (const part of ['action.yml', 'dist', 'emulator'].filter((name) => existsSync(name)))
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
