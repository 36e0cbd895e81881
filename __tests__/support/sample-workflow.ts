/** A sound workflow and the files that it uses, for the tests of the checkers to break. */

import { HOME } from './workflows.js'

export const SAMPLE = `name: Sample
on:
  push:
    branches: [main]
  schedule:
    - cron: '17 3 * * 1-5'
permissions: {}
jobs:
  docs:
    runs-on: \${{ vars.RUNNER }}
    outputs:
      pr-link: \${{ steps.docs.outputs.pr-link }}
    steps:
      - uses: actions/checkout@v5
      - uses: ${HOME}/emulator@v1
        id: emulator
        with:
          scenario: pr-opened
      - uses: ${HOME}@v1
        id: docs
        with:
          project-id: your-project
          api-key: \${{ secrets.AGENT_API_KEY }}
          prompt: Bring the docs in line with \${{ github.sha }}.
          base-url: \${{ steps.emulator.outputs.base-url }}
  tell:
    needs: [docs, called]
    runs-on: ubuntu-latest
    steps:
      - env:
          PR_LINK: \${{ needs.docs.outputs.pr-link }}
          OUTCOME: \${{ needs.called.outputs.outcome }}
        run: echo "$OUTCOME $PR_LINK"
  called:
    uses: ${HOME}/.github/workflows/docs-job.yml@v1
    with:
      project: your-project
    secrets:
      agent-key: \${{ secrets.AGENT_API_KEY }}
`

/** What the sample uses and the repository may spell otherwise, by path. */
export const AROUND: Readonly<Record<string, string>> = {
  'emulator/action.yml': `name: Emulator
description: The service in small.
inputs:
  scenario:
    description: How the job ends.
    required: true
outputs:
  base-url:
    description: The address.
    value: \${{ steps.start.outputs.base-url }}
runs:
  using: composite
  steps:
    - id: start
      shell: bash
      run: echo "base-url=http://127.0.0.1" >> "$GITHUB_OUTPUT"
`,
  '.github/workflows/docs-job.yml': `name: Docs job
on:
  workflow_call:
    inputs:
      project:
        type: string
        required: true
    secrets:
      agent-key:
        required: true
    outputs:
      outcome:
        value: \${{ jobs.docs.outputs.outcome }}
permissions: {}
jobs:
  docs:
    runs-on: ubuntu-latest
    outputs:
      outcome: \${{ steps.docs.outputs.outcome }}
    steps:
      - uses: ${HOME}@v1
        id: docs
        with:
          project-id: \${{ inputs.project }}
          api-key: \${{ secrets.agent-key }}
          prompt: Bring the docs in line.
`,
}

/** The sample with one thing in it changed. */
export function broken(from: string, to: string): string {
  if (!SAMPLE.includes(from)) throw new Error(`The sample workflow has no ${JSON.stringify(from)}.`)
  return SAMPLE.replace(from, () => to)
}
