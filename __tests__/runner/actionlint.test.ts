/** Every workflow of the README, the examples and the repository, checked with actionlint. */

import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { text } from '../support/files.js'
import { emptyClone } from '../support/repositories.js'
import { HOME, type Workflow, workflowFiles } from '../support/workflows.js'
import { tool } from './tools.js'

const ACTIONLINT = tool('actionlint')
/** What actionlint 1.7.12 doesn't know yet, and GitHub does. */
const TOO_NEW = /^examples\/.*: unexpected key "queue" for "concurrency" section\./

test('actionlint finds nothing in any workflow [house.workflows]', () => {
  const problems = lint(workflowFiles())
  expect(problems.filter((problem) => !TOO_NEW.test(problem))).toEqual([])
  expect(problems).toContainEqual(expect.stringMatching(TOO_NEW)) // or the exception can go
})

/** Each recipe without one of the lines of a condition that may go, such as that on Dependabot. */
const SHORTER = workflowFiles().flatMap(({ name, text }) =>
  [...text.matchAll(/^ {6}!?github\.event\.[^&|()]* &&\n/gm)].map(({ 0: line, index }, nth) => ({
    name: `${name.replace('.yml', '')}-${nth + 1}.yml`,
    text: text.slice(0, index) + text.slice(index + line.length),
  })),
)

test('a condition is still right without any of its lines that end with && [house.recipe.concurrency]', () => {
  expect(SHORTER.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['ready', 'follow-code'].map((name) => `examples/${name}-1.yml`)),
  )
  expect(lint(SHORTER)).toEqual([])
})

test('actionlint knows the inputs and outputs of the action [house.defaults.once]', () => {
  const workflow = text('examples/start-and-wait.yml')
  const broken = workflow.replace('prompt:', 'promt:').replace('outputs.pr-link', 'outputs.pr-lnk')
  const problems = lint([{ name: '.github/workflows/broken.yml', text: broken }]).join('\n')
  expect(problems).toContain('input "promt" is not defined')
  expect(problems).toContain('"pr-lnk" is not defined')
})

test('actionlint knows what central.yml asks of its callers, and finds nothing in the one of its comment [house.pages]', () => {
  const central = { name: 'examples/central.yml', text: text('examples/central.yml') }
  const [comment = ''] = central.text.match(/(?:^# {3}.*\n)+/m) ?? []
  const caller = comment
    .replace(/^# {3}/gm, '')
    .replace('your-org/workflows/.github/workflows/central.yml@main', './examples/central.yml')
  const name = '.github/workflows/caller.yml'
  expect(lint([central, { name, text: caller }])).toEqual([])
  const broken = caller.replace('project-id:', 'project:').replace('  DOCS_TOKEN:', '  DOCS:')
  expect(lint([central, { name, text: broken }]).join('\n')).toMatch(
    /input "project" is not defined[\s\S]*secret "DOCS" is not defined/,
  )
})

/**
 * What actionlint finds in these workflows, one line per problem. It knows only the actions of a
 * project, which is a folder with `.git` and `.github/workflows`.
 */
function lint(workflows: readonly Workflow[]): string[] {
  const project = emptyClone('actionlint')
  for (const part of ['action.yml', 'dist', 'emulator'])
    cpSync(part, project.path(part), { recursive: true })
  const ours = new RegExp(`${HOME}(/[^@\\s]+)?@v1`, 'g')
  const files = workflows.map(({ name, text }) => {
    const file = `${name.replace(/\.ya?ml$/, '').replace(/[^\w./-]+/g, '-')}.yml`
    project.write(
      file,
      text.replace(ours, (_, inside = '/') => `.${inside}`),
    )
    return file
  })
  // The tools that it can call to check scripts are not installed everywhere.
  const options = ['-shellcheck=', '-pyflakes=', '-format', '{{json .}}']
  const { status, stdout, stderr, error } = spawnSync(ACTIONLINT, [...options, ...files], {
    cwd: project.folder,
    encoding: 'utf8',
  })
  if (status !== 0 && status !== 1)
    throw error ?? new Error(`actionlint ended with ${status}: ${stderr}`)
  return JSON.parse(stdout).map(
    ({ filepath, line, message }: Record<string, string>) => `${filepath}:${line}: ${message}`,
  )
}
