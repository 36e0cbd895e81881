/** Where the memory is: the name of the check and the number of the conversation. */

import { describe, expect, test } from '@jest/globals'
import { parseEvent, type RunEnvironment, type RunEvent } from '../../src/event/event.js'
import { checkName, findConversation, workflowId } from '../../src/memory/open-slots.js'

const RUN = { workflow: 'Docs', job: 'build' } as RunEnvironment

describe('the name', () => {
  test.each([
    ['agent', '', 'Docs / build: docs job (agent)'],
    ['__your-org_agent-job-action', '', 'Docs / build: docs job'],
    ['__your-org_agent-job-action_2', '', 'Docs / build: docs job (2)'],
    ['__self', 'fr', 'Docs / build: docs job (fr)'],
    ['agent', '{\n  "lang": "fr",\n  "node": 24\n}', 'Docs / build: docs job (agent, fr, 24)'],
    ['__self', '{"lang": "fr\\n"}', 'Docs / build: docs job (fr)'],
    ['__self', '{"lang": ""}', 'Docs / build: docs job ({"lang": ""})'],
    ['__self', '{"config": {"a": 1}}', 'Docs / build: docs job ({"a":1})'],
    ['__self', `a\n${'x'.repeat(99)}`, `Docs / build: docs job (a ${'x'.repeat(97)}…)`],
  ])('of step %j with the key %j is %j', (step, jobKey, name) => {
    expect(checkName({ ...RUN, step }, jobKey)).toBe(name)
  })
})

describe('the workflow', () => {
  const PATH = 'your-org/your-repo/.github/workflows/docs.yml'
  test.each([
    [`${PATH}@refs/heads/a@refs/b.yml@c`, PATH],
    [`${PATH}@0123456789abcdef0123456789abcdef01234567`, PATH],
    [
      'your-org/rules/.github/workflows/docs.yaml@main',
      'your-org/rules/.github/workflows/docs.yaml',
    ],
    ['your-org/your-repo/dynamic/agent@refs/heads/main', 'your-org/your-repo/dynamic/agent'],
    ['', 'Docs'],
  ])('of %j is %j', (workflowRef, id) => {
    expect(workflowId({ workflowRef, workflow: 'Docs' })).toBe(id)
  })
})

describe('the comment is on', () => {
  const event = (fields: object): RunEvent => ({ ...parseEvent('push', undefined), ...fields })
  const PULL = { number: 7, author: '', fromFork: false }
  const ONLY_PULL = 'pull-requests: write'
  const EITHER = 'issues: write or pull-requests: write'
  test.each([
    [
      'the pull request of the event, as an issue',
      { pullRequest: PULL },
      'issue',
      undefined,
      [7, ONLY_PULL],
    ],
    ['that pull request, by its number', { pullRequest: PULL }, 'issue', 7, [7, ONLY_PULL]],
    ['another one', { pullRequest: PULL }, 'pull-request', 8, [8, ONLY_PULL]],
    ['the issue of the event', { issue: 9 }, 'run', undefined, [9, 'issues: write']],
    ['that issue, by its number', { issue: 9 }, 'pull-request', 9, [9, 'issues: write']],
    ['a pull request', {}, 'pull-request', 8, [8, ONLY_PULL]],
    ['an issue or a pull request', {}, 'issue', 8, [8, EITHER]],
    ['nothing', {}, 'run', undefined, []],
    ['nothing, as the scope has no issues', { issue: 9 }, 'pull-request', undefined, []],
  ] as const)('%s', (_, fields, scope, number, expected) => {
    const conversation = findConversation(event(fields), scope, number)
    expect(
      conversation === undefined ? [] : [conversation.number, conversation.permission],
    ).toEqual(expected)
  })
})
