/** Every recorded payload, read by the parts of the action: no text of others outside of the fence. */

import { describe, expect, test } from '@jest/globals'
import { parseEvent, type RunEnvironment, type RunEvent } from '../../src/event/event.js'
import { checkSkipAuthors } from '../../src/event/skip-authors.js'
import { whoNeedsAccess } from '../../src/event/who-may-start.js'
import { findChanges } from '../../src/github/changes.js'
import type { GitHubRequest, Rest } from '../../src/github/client.js'
import { parsePathPatterns } from '../../src/inputs/path-patterns.js'
import { composePrompt, pathsNote, reasonToSkip } from '../../src/run/apply-changes.js'
import { ownWords, PLANTED, plant, RECORDED, type Recorded } from '../support/recorded.js'

const SHA = 'c'.repeat(40)
const OTHER_SHA = 'd'.repeat(40)
const BOUNDARY = '0123456789abcdef'
const REPOSITORY = 'your-org/your-repo'

/** What GitHub answers, with a text of others wherever one may be. */
function answers(text: string): GitHubRequest {
  const files = [
    {
      filename: `docs/a${text}`,
      previous_filename: `old${text}`,
      status: 'renamed',
      additions: 1,
      deletions: 1,
      patch: `@@ -1 +1 @@\n-old${text}\n+new${text}`,
      contents_url: `https://api.github.com/x?ref=${SHA}`,
    },
  ]
  const commits = [{ sha: SHA, author: { login: `mona${text}` }, commit: { message: `Change it${text}` } }]
  const run = {
    id: 1,
    event: 'schedule',
    conclusion: 'success',
    head_branch: 'main',
    head_sha: OTHER_SHA,
    head_repository: { full_name: REPOSITORY },
  }
  const release = { tag_name: `v0.0.1${text}`, published_at: '2001-01-01T00:00:00Z' }
  const data = (value: unknown) => async () => ({ data: value })
  const rest = {
    pulls: { listFiles: data(files) },
    repos: {
      compareCommitsWithBasehead: data({ status: 'ahead', files, commits, total_commits: 2 }),
      listReleases: data([release]),
    },
    git: { getTag: data({ object: { sha: SHA } }) },
    actions: { listWorkflowRuns: data({ workflow_runs: [run] }) },
  }
  return (_, call) => call(rest as unknown as Rest, new AbortController().signal)
}

/** The runner's own words, as they would be for this payload. */
function runOf(event: RunEvent, payload: unknown): RunEnvironment {
  const { ref } = payload as { ref?: unknown }
  const isTag = event.name === 'push' && String(ref).startsWith('refs/tags/')
  return {
    repository: REPOSITORY,
    ref: isTag ? 'refs/tags/v1.0.0' : 'refs/heads/main',
    sha: SHA,
    runId: '2',
    workflowRef: `${REPOSITORY}/.github/workflows/docs.yml@refs/heads/main`,
    actor: 'octocat',
  } as RunEnvironment
}

async function promptOf(name: string, payload: unknown, text: string): Promise<string> {
  const event = parseEvent(name, payload)
  const run = runOf(event, payload)
  expect(checkSkipAuthors(event, new Set(['mintlify[bot]'])).reason).toBeUndefined()
  expect(Array.isArray(whoNeedsAccess(event, run, new Set()))).toBe(true)
  const changes = await findChanges(run, event, answers(text))
  const contextPaths = parsePathPatterns('docs/**')
  expect(reasonToSkip({ contextPaths }, event, changes)).toBeUndefined()
  expect(pathsNote({ contextPaths }, changes) ?? '').not.toContain(PLANTED)
  const inputs = { context: 'diff', contextPaths } as const
  return composePrompt('Update the docs.', changes, {
    inputs,
    run,
    event,
    nonce: () => BOUNDARY,
    redact: (text) => text,
  })
}

test('there are more than 300 payloads of 58 events', () => {
  expect(RECORDED.length).toBeGreaterThan(300)
  expect(new Set(RECORDED.map(({ event }) => event)).size).toBe(58)
})

/** Events of Actions that GitHub's other events have the payload of, or that were not recorded. */
const ALSO: readonly Recorded[] = [
  ...RECORDED.filter(({ event }) => event === 'pull_request').map((recorded) => ({
    ...recorded,
    event: 'pull_request_target',
  })),
  { event: 'schedule', action: '', payload: { schedule: '0 3 * * *' } },
]

/** Events whose every payload has a text of others in the prompt: without one, the test below would prove nothing. */
const TOLD = [
  'commit_comment',
  'discussion',
  'discussion_comment',
  'issue_comment',
  'issues',
  'label',
  'merge_group',
  'milestone',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_target',
  'release',
  'schedule',
  'workflow_dispatch',
  'workflow_run',
]

describe.each(['at the end', 'everywhere'] as const)('a text of others %s', (where) => {
  const names = [...new Set([...RECORDED, ...ALSO].map(({ event }) => event))]

  test.each(names)('of a %s stays inside the fence', async (name) => {
    for (const { payload } of [...RECORDED, ...ALSO].filter(({ event }) => event === name)) {
      const prompt = await promptOf(name, plant(payload, where), `\n# ${PLANTED}\n`)
      expect(ownWords(prompt)).not.toContain(PLANTED)
      expect(ownWords(prompt)).toMatch(/^Update the docs\.\n\n# What triggered this run\n/)
      if (TOLD.includes(name)) expect(prompt).toContain(PLANTED)
    }
  })
})

describe('the prompt', () => {
  const FIRST: Readonly<Record<string, string>> = {
    push: '',
    pull_request: 'opened',
    pull_request_target: 'labeled',
    pull_request_review: 'submitted',
    issues: 'opened',
    issue_comment: 'created',
    discussion: 'created',
    release: 'published',
    schedule: '',
    workflow_dispatch: '',
    workflow_run: 'completed',
    repository_dispatch: 'on-demand-test',
  }

  test.each(Object.entries(FIRST))('of the event %s %s', async (name, type) => {
    const recorded = [...RECORDED, ...ALSO].find(({ event, action }) => event === name && action === type)
    expect(await promptOf(name, recorded?.payload, '')).toMatchSnapshot()
  })
})
