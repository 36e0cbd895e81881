/** Every workflow of the README, the examples and the repository, and every action.yml, as GitHub would read them. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { faultsOfAction, faultsOfWorkflow, type ReadFile, readFile } from '../support/language-service.js'
import { AROUND, broken, SAMPLE } from '../support/sample-workflow.js'
import { HOME, missingKeys, workflowFiles } from '../support/workflows.js'

const around: ReadFile = (file) => AROUND[file] ?? readFile(file)
const actions = ['action.yml', 'emulator/action.yml'].filter((file) => existsSync(file))

describe('every workflow', () => {
  const files = workflowFiles()

  test('has a name of its own', () => {
    const names = files.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(2)
    expect([...new Set(names)]).toEqual(names)
  })

  test.each(files)('is whole: $name', ({ text }) => {
    expect({ missing: missingKeys(text) }).toEqual({ missing: [] })
  })

  test.each(files)('has no fault: $name', async ({ text }) => {
    expect(await faultsOfWorkflow(text)).toEqual([])
  })
})

test.each(actions)('%s has no fault', async (file) => {
  expect(await faultsOfAction(readFile(file) ?? '')).toEqual([])
})

describe('the collector', () => {
  test('finds the blocks of the README, and the files of both folders where there are any', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'workflows-'))
    const write = (file: string, text: string): void => {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
      writeFileSync(path.join(root, file), text)
    }
    const names = (): string[] => workflowFiles(root).map(({ name }) => name)

    write('README.md', 'A.\n\n```yaml\nname: One\non: push\njobs: {}\n```\n\n```yml\n- uses: ./\n```\n')
    expect(names()).toEqual(['README.md: One', 'README.md: block 2, without a name'])
    expect(workflowFiles(root)[0]?.text).toBe('name: One\non: push\njobs: {}\n')
    expect(missingKeys(workflowFiles(root)[1]?.text ?? '')).toEqual([])
    expect(workflowFiles(root)[1]?.text).toMatch(/\n {4}steps:\n {6}- uses: \.\/\n$/)

    write('examples/two.yml', 'name: Two\n')
    write('examples/README.md', 'No workflow.\n')
    write('.github/workflows/three.yaml', 'name: Three\n')
    expect(names().slice(2)).toEqual(['examples/two.yml', '.github/workflows/three.yaml'])
    rmSync(root, { recursive: true })
  })

  test('tells a fragment from a whole workflow', () => {
    expect(missingKeys(SAMPLE)).toEqual([])
    expect(missingKeys('jobs:\n  docs: {}\n')).toEqual(['name', 'on'])
    expect(missingKeys('- uses: ./\n')).toEqual(['name', 'on', 'jobs'])
  })
})

/** The sample, with another name for the action's repository. */
function sampleWith(self: './' | '$/'): string {
  const renamed = SAMPLE.replace(
    new RegExp(`${HOME}(?:/([^@\\s]+))?@v1`, 'g'),
    (_, inside = '') => `${self}${inside}`,
  )
  expect(renamed).not.toContain(HOME)
  return renamed
}

describe('the checker', () => {
  test('finds nothing in a sound workflow, however it names the action', async () => {
    expect(await faultsOfWorkflow(SAMPLE, around)).toEqual([])
    expect(await faultsOfWorkflow(sampleWith('./'), around)).toEqual([])
    expect(await faultsOfWorkflow(sampleWith('$/'), around)).toEqual([])
    expect(await faultsOfWorkflow(AROUND['.github/workflows/docs-job.yml'] ?? '', around)).toEqual([])
  })

  test.each([
    ['an unknown input', 'prompt:', 'promt:', "Invalid action input 'promt'"],
    ['a missing input', 'project-id: your-project', 'job-key: a', 'Missing required input `project-id`'],
    [
      'a misspelt output',
      'docs.outputs.pr-link }}',
      'docs.outputs.pr-lnk }}',
      'access might be invalid: pr-lnk',
    ],
    ['a misspelt output over needs', 'needs.docs.outputs.pr-link', 'needs.docs.outputs.pr', 'be invalid: pr'],
    ['an output of a called workflow', 'called.outputs.outcome', 'called.outputs.end', 'be invalid: end'],
    ['a job that is not needed', 'needs: [docs, called]', 'needs: [called]', 'be invalid: docs'],
    ['a step that is not there', 'steps.emulator.outputs', 'steps.service.outputs', 'be invalid: service'],
    ['an unknown event', 'push:', 'pushed:', "Unexpected value 'pushed'"],
    ['an unknown context', 'github.sha', 'git.sha', "Unrecognized named-value: 'git'"],
    ['an unknown function', 'github.sha', 'sha(github)', "Unrecognized function: 'sha'"],
    ['an unknown permission', 'permissions: {}', 'permissions: { pulls: read }', "Unexpected value 'pulls'"],
    ['a bad cron', '17 3 * * 1-5', '17 25 * * 1-5', 'Invalid cron'],
    ['an unknown input of the emulator', 'scenario:', 'ending:', "Invalid action input 'ending'"],
    ['a misspelt output of the emulator', 'outputs.base-url', 'outputs.url', 'be invalid: url'],
    [
      'an unknown input of a called workflow',
      'project:',
      'project-id:',
      'project-id is not defined in the ref',
    ],
    ['a missing input of a called workflow', 'project:', 'other:', 'Input project is required'],
    ['a missing secret of a called workflow', 'agent-key: ${{', 'key: ${{', 'agent-key is required'],
    ['a called workflow that is not there', 'docs-job.yml', 'docs.yml', 'Unable to find reusable workflow'],
    ['an action that is not there', `${HOME}@v1`, `${HOME}@v9`, 'Unable to resolve action'],
  ])('finds %s', async (_, from, to, words) => {
    const found = await faultsOfWorkflow(broken(from, to), around)
    expect(found.join('\n')).toContain(words)
  })

  test('finds an unknown input of the action behind $/', async () => {
    const found = await faultsOfWorkflow(sampleWith('$/').replace('prompt:', 'promt:'), around)
    expect(found.join('\n')).toContain("Invalid action input 'promt'")
  })

  test('finds what is wrong with an action.yml', async () => {
    const action = AROUND['emulator/action.yml'] ?? ''
    expect(await faultsOfAction(action)).toEqual([])
    for (const [from, to] of [
      ['description: The service', 'describe: The service'],
      ['inputs:', 'input:'],
      ['composite', 'node24'],
      ['    - id:', '    - ident:'],
    ] as const)
      expect(await faultsOfAction(action.replace(from, to))).not.toEqual([])
  })
})
