/** The reusable workflow and the self-test, by a real runner. */

import { readFileSync } from 'node:fs'
import { expect, jest, test } from '@jest/globals'
import { scaled } from '../support/time.js'
import { HOME } from '../support/workflows.js'
import { expectSuccess } from './act.js'
import { runWorkflow } from './world.js'

jest.setTimeout(scaled(120_000))

/** Calls the reusable workflow with what its usual caller leaves out. */
const caller = (runsOn: string): string => `name: Docs
on: push
permissions: {}
jobs:
  docs:
    permissions:
      contents: read
    uses: ${HOME}/.github/workflows/docs-job.yml@v1
    with:
      project-id: your-project
      prompt: Bring the docs in line.
      prompt-file: .github/docs/task.md
      poll-interval-seconds: '0.2'
      runs-on: ${runsOn}
    secrets:
      api-key: \${{ secrets.AGENT_API_KEY }}
  tell:
    needs: docs
    runs-on: ubuntu-latest
    steps:
      - env:
          OUTPUTS: \${{ toJSON(needs.docs.outputs) }}
        run: printenv OUTPUTS
`

test.concurrent.each(['self-hosted', `'["self-hosted"]'`])(
  'docs-job.yml runs on %s, reads a prompt file of the calling repository, and passes on every output',
  async (runsOn) => {
    const files = { '.github/docs/task.md': 'Be short.\n' }
    const ran = await runWorkflow('caller.yml', caller(runsOn), { event: 'push', files })
    expectSuccess(ran)
    const [create] = ran.service.requests
    expect(JSON.parse(create?.body ?? '').prompt).toBe('Bring the docs in line.\n\nBe short.')
    const outputs = JSON.parse(ran.printed.slice(ran.printed.indexOf('{'), ran.printed.lastIndexOf('}') + 1))
    expect(outputs).toMatchObject({
      status: 'completed',
      outcome: 'pr-opened',
      'pr-number': '17',
      'pr-repository': 'your-org/docs',
      reused: 'false',
      'elapsed-seconds': expect.stringMatching(/^\d+$/),
    })
    expect(JSON.parse(outputs.job)).toMatchObject({ id: outputs['job-id'], prLink: outputs['pr-link'] })
  },
)

test.concurrent('the self-test succeeds', async () => {
  const yaml = readFileSync('.github/workflows/self-test.yml', 'utf8')
  const linux = yaml.replace(/os: \[.*\]/, 'os: [ubuntu-latest]')
  const ran = await runWorkflow('self-test.yml', linux, { event: 'push' })
  expectSuccess(ran)
  expect(ran.leftover).toEqual([])
  expect(ran.printed.match(/The emulator received/g)).toHaveLength(2)
})
