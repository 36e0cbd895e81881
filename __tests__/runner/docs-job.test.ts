/** The reusable workflow, called with what its usual caller leaves out. */

import { expect, test } from '@jest/globals'
import { HOME } from '../support/workflows.js'
import { runWorkflow } from './act.js'

const MINUTES = 60_000

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
  'runs on %s, reads a prompt file of the calling repository, and passes on every output',
  async (runsOn) => {
    const ran = await runWorkflow('caller.yml', caller(runsOn), {
      event: 'push',
      files: { '.github/docs/task.md': 'Be short.\n' },
    })
    expect({ succeeded: ran.succeeded, log: ran.succeeded ? '' : ran.log }).toEqual({
      succeeded: true,
      log: '',
    })
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
  2 * MINUTES,
)
