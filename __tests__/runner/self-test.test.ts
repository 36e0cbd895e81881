/** The project's own self-test, and the emulator as an action in a job that fails, with a real runner. */

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { scaled } from '../support/time.js'
import { HOME } from '../support/workflows.js'
import { ACTION, type Ran, runWorkflow } from './act.js'

const TIMEOUT_MS = scaled(120_000)
const DOCS = `Main ${ACTION}`
const EMULATOR = `${HOME}/emulator@v1`

const FAILING = `name: Failing
on: push
permissions: {}
jobs:
  docs:
    runs-on: ubuntu-latest
    steps:
      - uses: ${EMULATOR}
        id: emulator
        with:
          scenario: failed
      - uses: ${ACTION}
        with:
          base-url: \${{ steps.emulator.outputs.base-url }}
          project-id: any
          api-key: mint_any
          prompt: "A ##[error]trap and a ::warning::trap"
`

const results = ({ steps }: Ran) => steps.map(({ name, result }) => `${name}: ${result}`)

test.concurrent(
  'the self-test succeeds',
  async () => {
    const yaml = readFileSync('.github/workflows/self-test.yml', 'utf8')
    const ran = await runWorkflow('self-test.yml', yaml, { event: 'push', matrix: 'os:ubuntu-latest' })
    expect({ succeeded: ran.succeeded, log: ran.succeeded ? '' : ran.log }).toEqual({
      succeeded: true,
      log: '',
    })
    expect(ran.leftover).toEqual([])
    expect(ran.printed.match(/The emulator received/g)).toHaveLength(2)
  },
  TIMEOUT_MS,
)

test.concurrent(
  'the emulator ends with a job that fails, leaves nothing behind, and shows its requests',
  async () => {
    const ran = await runWorkflow('failing.yml', FAILING, { event: 'push' })
    expect(results(ran)).toEqual([
      `Main ${EMULATOR}: success`,
      `${DOCS}: failure`,
      `Post ${EMULATOR}: success`,
    ])
    expect(ran.succeeded).toBe(false)
    expect(ran.leftover).toEqual([])
    const [, token] = /::stop-commands::(\S+)/.exec(ran.log) ?? []
    expect(ran.log).toMatch(new RegExp(`::stop-commands::${token}[^]*POST /v2[^]*::${token}::`))
    expect(ran.printed).toContain(
      'POST /v2/agent/any/job 201 {"prompt":"A # #[error]trap and a ::warning::trap"}',
    )
  },
  TIMEOUT_MS,
)
