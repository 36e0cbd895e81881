/**
 * Bad input: every problem in one error, and nothing is sent; prompt files that must not be read.
 */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type Ended, runAgainst, runStep } from '../support/action.js'
import { newFolder } from '../support/folder.js'

/** Runs a step that is refused. Returns it, and the lines of its error. */
async function refused(
  inputs: Record<string, string>,
): Promise<Ended & { readonly problems: string[] }> {
  const ended = await runAgainst({}, inputs)
  expect(ended.service.received).toEqual([])
  expect(ended.outputs).toMatchObject({
    outcome: 'error',
    'error-code': 'input',
    status: '',
    sent: 'nothing',
  })
  expect(ended.exitCode).toBe(1)
  expect(ended.commands('error')).toHaveLength(1)
  return { ...ended, problems: ended.commands('error')[0]?.split('\n') ?? [] }
}

test.concurrent('an input whose name is misspelt is not ignored, and a valid job-id is an output [input.misspelt] [output.job-id]', async () => {
  const { problems, outputs } = await refused({ 'job-id': 'job-1', dry_run: 'true' })
  expect(outputs['job-id']).toBe('job-1')
  expect(problems[0]).toBe('dry_run: no such input. Write "dry-run" instead.')
})

// The rules themselves are tested in unit/.
describe('a prompt file [input.file.inside]', () => {
  const workspace = newFolder('workspace')
  // Without an end, it is no expression that somebody forgot.
  writeFileSync(path.join(workspace, 'good.md'), 'Good: ${{')

  test.concurrent.each([
    ['pull_request_target', 1],
    ['an_event_of_the_future', 1],
    ['workflow_dispatch', 0],
  ])(
    'on %s, draws %d warnings: its words may be those of a stranger [input.file.warned]',
    async (name, count) => {
      const { commands, outputs } = await runStep(
        { 'prompt-file': 'good.md', 'dry-run': 'true', 'allow-users': '*' },
        { workspace, env: { GITHUB_EVENT_NAME: name } },
      )
      expect(commands('warning')).toEqual(
        Array(count).fill(
          expect.stringContaining(
            `prompt-file on ${name}: if the file comes from a pull request, whoever opened the pull request controls the prompt.`,
          ),
        ),
      )
      expect(outputs.outcome).toBe('dry-run')
    },
  )

  // Whoever moves a prompt into a file may leave it there, and each run pays for a prompt that says
  // less than it seems to.
  test.each([
    [
      'Document }} ${{ github.event\n.number }} ${{ x }}',
      'prompt-file: "${{ github.event .number }}" is sent as it is: expressions count only in the workflow file. What triggered the run comes with context.',
    ],
    ['}} begins none, ${{ ends in none'],
  ])(
    '%j draws a warning for an expression, which is sent as it is [input.file.warned]',
    async (text, ...warnings) => {
      writeFileSync(path.join(workspace, 'moved.md'), text)
      const inputs = { 'prompt-file': 'moved.md', prompt: 'Go', 'dry-run': 'true' }
      const { commands } = await runStep(inputs, { workspace })
      expect(commands('warning')).toEqual(warnings)
    },
  )
})
