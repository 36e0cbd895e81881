// Why a run was given no secrets: told for forks and for Dependabot, and for nothing else.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { explainMissingSecrets } from '../../src/event/secrets.js'
import { newFolder } from '../support/folder.js'

const folder = newFolder('event')

let files = 0
function why(name: string, payload: unknown, actor = 'octocat'): string | undefined {
  const path = join(folder, `${files++}.json`)
  writeFileSync(path, typeof payload === 'string' ? payload : JSON.stringify(payload))
  return explainMissingSecrets({ eventName: name, eventPath: path, actor })
}

const pull = (head: unknown) => ({
  pull_request: { head: { repo: head }, base: { repo: { full_name: 'your-org/docs' } } },
})
const OWN = pull({ full_name: 'your-org/docs' })
const FORK = pull({ full_name: 'someone/docs' })
const DELETED = pull(null)

test.each([
  ['pull_request', 'a fork', FORK],
  ['pull_request', 'a fork that was deleted', DELETED],
  ['pull_request_review', 'a fork', FORK],
  ['pull_request_review_comment', 'a fork', FORK],
])('%s from %s is told as a fork', (name, _, payload) => {
  expect(why(name, payload)).toMatch(/fork.*no secrets.*if: /)
})

test.each([['pull_request'], ['push']])('%s by Dependabot is told as Dependabot, fork or not', (name) => {
  expect(why(name, FORK, 'dependabot[bot]')).toMatch(/Dependabot.*Dependabot secrets.*if: /)
  expect(why(name, OWN, 'dependabot[bot]')).toMatch(/Dependabot/)
})

test.each([
  ['pull_request', 'the same repository', OWN],
  ['push', 'a payload without a pull request', {}],
  ['push', 'a pull request of a fork in its payload', FORK],
  ['pull_request_target', 'a fork', FORK],
  ['schedule', 'nothing', {}],
  ['workflow_dispatch', 'nothing', {}],
  ['issue_comment', 'nothing', {}],
  ['pull_request', 'no pull request in the payload', {}],
  ['pull_request', 'a payload that is no JSON', '{'],
  ['pull_request', 'a payload that is null', 'null'],
  ['pull_request', 'a head without a repository', { pull_request: { head: {}, base: {} } }],
])('%s with %s says nothing', (name, _, payload) => {
  expect(why(name, payload)).toBeUndefined()
})

test('a payload that is not there says nothing', () => {
  expect(
    explainMissingSecrets({ eventName: 'pull_request', eventPath: join(folder, 'none'), actor: '' }),
  ).toBeUndefined()
  expect(explainMissingSecrets({ eventName: 'pull_request', eventPath: '', actor: '' })).toBeUndefined()
})
