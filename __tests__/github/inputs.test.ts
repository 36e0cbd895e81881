/**
 * Each input changes something: one that is parsed and never read would be noticed by nothing else.
 */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { DEFAULTS, type InputName } from '../../src/inputs/inputs.js'
import { newFolder } from '../support/folder.js'
import { inWorld, type RunOptions, type SimulatedWorld } from '../support/pull-request.js'

type Inputs = Record<string, string>

const ANOTHER_KEY = 'mint_another_key_0123456789'
const folder = newFolder('prompt')
writeFileSync(path.join(folder, 'prompt.md'), 'More words.')

const dispatch: RunOptions = { event: 'workflow_dispatch', payload: { inputs: {} } }
const octocat = { login: 'octocat' }
const comment: RunOptions = {
  event: 'issue_comment',
  payload: { issue: { number: 9 }, comment: { user: octocat }, sender: octocat },
}
const labels = [{ name: 'no docs' }]
const labelled: RunOptions = {
  payload: {
    action: 'synchronize',
    sender: octocat,
    pull_request: { number: 1, user: octocat, labels },
  },
}
const reported = { comment: 'true' }
const seldom = { 'poll-interval-seconds': '10' }

/** A value of each, other inputs that it takes, what triggers the run, and what happened before. */
const CASES: Record<
  InputName,
  readonly [
    value: string,
    inputs?: Inputs,
    run?: RunOptions,
    before?: (world: SimulatedWorld) => Promise<unknown>,
  ]
> = {
  prompt: ['Other words.'],
  'prompt-file': ['prompt.md', {}, { env: { GITHUB_WORKSPACE: folder } }],
  'project-id': ['other'],
  'api-key': [ANOTHER_KEY],
  'previous-api-key': [
    ANOTHER_KEY,
    { 'job-scope': 'pull-request' },
    {},
    (world) => world.step({ 'job-scope': 'pull-request', 'api-key': ANOTHER_KEY }),
  ],
  'job-id': ['job-9'],
  'job-scope': ['pull-request'],
  'issue-number': ['40', reported],
  'job-key': ['leg', reported],
  context: ['event'],
  'context-paths': ['other/**'],
  since: ['v1', { context: 'diff' }, dispatch],
  'code-repositories': ['your-org/api', { context: 'diff' }, dispatch],
  wait: ['false'],
  'timeout-minutes': ['0.5'],
  'poll-interval-seconds': ['60'],
  'fail-on': ['none', { 'timeout-minutes': '0.5' }],
  comment: ['true'],
  'github-token': ['ghs_other', reported],
  'code-token': [
    'ghp_code_0123456789',
    { context: 'diff', 'code-repositories': 'your-org/api', since: '2026-01-01' },
    dispatch,
    async ({ repository }) => repository.addRun({ id: 100, event: 'workflow_dispatch' }),
  ],
  'docs-token': ['ghp_docs_0123456789', reported],
  'allow-users': ['octocat', {}, comment],
  'skip-labels': ['no docs', { 'allow-users': '*' }, labelled],
  'skip-authors': ['octocat'],
  'base-url': ['http://127.0.0.1:1'],
  'dry-run': ['true'],
}

/**
 * All that a step does with an input, or without it. The same each time: the world is simulated.
 */
function observe(name: InputName, value: Inputs): Promise<unknown> {
  const [, inputs, run, before] = CASES[name]
  let seen: unknown
  return inWorld({ emulator: { speed: 1, scenario: { jobSeconds: 120 } } }, async (world) => {
    await before?.(world)
    const { outputs, exitCode, summary, milliseconds } = await world.step(
      { ...seldom, ...inputs, ...value },
      run,
    )
    const requests = [...world.emulator.requests, ...world.github.requests].map(
      ({ method, path: at, headers, body }) => [method, at, headers.authorization, body],
    )
    seen = JSON.stringify([outputs, exitCode, summary, milliseconds, requests]).replace(IDS, 'ID')
  }).then(() => seen)
}

/** What is random: the ids of jobs, nonces and boundaries. */
const IDS = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|agent-job-action:2 [^>]+|:\d\d:\d\d/g

test.each(Object.keys(DEFAULTS) as InputName[])(
  '%s changes something [input.values]',
  async (name) => {
    const without = await observe(name, {})
    expect(await observe(name, {})).toBe(without)
    expect(await observe(name, { [name]: CASES[name][0] })).not.toBe(without)
  },
)
