/** Every workflow of the README, the examples and the repository, and every action.yml, as GitHub reads them. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { problemsOfAction, problemsOfWorkflow } from '../support/language-service.js'
import { HOME, missingKeys, workflowFiles } from '../support/workflows.js'

describe('every workflow', () => {
  const files = workflowFiles()

  test('is found, and has a name of its own', () => {
    const names = files.map(({ name }) => name)
    for (const start of [/^README\.md: /, /^examples\//, /^\.github\/workflows\//])
      expect(names).toContainEqual(expect.stringMatching(start))
    expect([...new Set(names)]).toEqual(names)
  })

  test.each(files)('is complete, and has no problem: $name', async ({ text }) => {
    expect([missingKeys(text), await problemsOfWorkflow(text)]).toEqual([[], []])
  })
})

test.each(['action.yml', 'emulator/action.yml'])('%s has no problem', async (file) => {
  expect(await problemsOfAction(readFileSync(file, 'utf8'))).toEqual([])
})

describe('the check', () => {
  const workflow = readFileSync('examples/start.yml', 'utf8')

  test.each([
    ['an unknown input', 'prompt:', 'promt:', "Invalid action input 'promt'"],
    ['a misspelt output', 'outputs.pr-link', 'outputs.pr-lnk', 'access might be invalid: pr-lnk'],
  ])('finds %s', async (_, from, to, text) => {
    expect(workflow).toContain(from)
    expect((await problemsOfWorkflow(workflow.replace(from, to))).join('\n')).toContain(text)
  })

  test('finds an unknown input of the action behind $/', async () => {
    const hosted = workflow.replace(`${HOME}@v1`, '$/')
    expect(hosted).toContain('uses: $/')
    expect(await problemsOfWorkflow(hosted)).toEqual([])
    const found = await problemsOfWorkflow(hosted.replace('prompt:', 'promt:'))
    expect(found.join('\n')).toContain("Invalid action input 'promt'")
  })

  test('finds a misspelt key of an action.yml', async () => {
    const action = readFileSync('action.yml', 'utf8').replace('\ninputs:', '\ninput:')
    expect(await problemsOfAction(action)).not.toEqual([])
  })

  test('finds what a fragment lacks', () => {
    expect(missingKeys('jobs:\n  docs: {}\n')).toEqual(['name', 'on'])
  })
})
