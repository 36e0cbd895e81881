/** Every recorded payload, read in this process: no text of others leaves the fence. */

import { describe, expect, test } from '@jest/globals'
import { checkSkipAuthors } from '../../src/access/skip-authors.js'
import { composePrompt, describePaths, reasonToSkip } from '../../src/context/apply.js'
import { findChanges } from '../../src/context/changes.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'
import type { Source } from '../../src/github/client.js'
import { parsePathPatterns } from '../../src/inputs/path-patterns.js'
import { ownWords, PLANTED, plant, RECORDED, type Recorded } from '../support/recorded.js'

const SHA = 'c'.repeat(40)
const REPOSITORY = 'your-org/your-repo'

/** Events of Actions that GitHub's other events have the payload of, or that were not recorded. */
const ALL: readonly Recorded[] = [
  ...RECORDED,
  ...RECORDED.filter(({ event }) => event === 'pull_request').map((recorded) => ({
    ...recorded,
    event: 'pull_request_target',
  })),
  { event: 'schedule', action: '', payload: { schedule: '0 3 * * *' } },
]
const NAMES = [...new Set(ALL.map(({ event }) => event))]

/** What GitHub answers, with a text of others wherever one may be. */
function sourceWith(text: string): Source {
  const file = { filename: `docs/a${text}`, previous_filename: `old${text}`, additions: 1, deletions: 1 }
  const patch = `@@ -1 +1 @@\n-old${text}\n+new${text}`
  const files = [{ ...file, status: 'renamed', patch, contents_url: `https://api.github.com/x?ref=${SHA}` }]
  const commits = [{ sha: SHA, author: { login: `mona${text}` }, commit: { message: `Change it${text}` } }]
  const run = {
    ...{ id: 1, event: 'schedule', conclusion: 'success', head_branch: 'main', head_sha: 'd'.repeat(40) },
    head_repository: { full_name: REPOSITORY },
  }
  const release = { tag_name: `v0.0.1${text}`, published_at: '2001-01-01T00:00:00Z' }
  const answer = (data: unknown) => async () => ({ data, headers: {} })
  const github = {
    pulls: { listFiles: answer(files) },
    repos: {
      compareCommitsWithBasehead: answer({ status: 'ahead', files, commits, total_commits: 2 }),
      listReleases: answer([release]),
    },
    git: { getTag: answer({ object: { sha: SHA } }) },
    actions: { listWorkflowRuns: answer({ workflow_runs: [run] }) },
  }
  return { github, repository: REPOSITORY } as unknown as Source
}

test('there are more than 300 payloads of 58 events', () => {
  expect(RECORDED.length).toBeGreaterThan(300)
  expect(new Set(RECORDED.map(({ event }) => event)).size).toBe(58)
})

describe('a text of others', () => {
  /** Events whose every payload has one in the prompt: without it, nothing would be proven. */
  const TOLD =
    'commit_comment discussion discussion_comment issue_comment issues label merge_group milestone pull_request ' +
    'pull_request_review pull_request_review_comment pull_request_target release schedule workflow_dispatch workflow_run'

  async function promptOf(name: string, payload: unknown, text: string): Promise<string> {
    const event = parseEvent(name, payload)
    const { ref } = payload as { ref?: unknown }
    const isTag = name === 'push' && String(ref).startsWith('refs/tags/')
    const run = {
      repository: REPOSITORY,
      ref: isTag ? 'refs/tags/v1.0.0' : 'refs/heads/main',
      sha: SHA,
      runId: '2',
      workflowRef: `${REPOSITORY}/.github/workflows/docs.yml@refs/heads/main`,
      actor: 'octocat',
    } as RunEnvironment
    expect(checkSkipAuthors(event, new Set(['mintlify[bot]'])).reason).toBeUndefined()
    const named = { since: undefined, issueNumber: undefined }
    const changes = await findChanges(run, event, sourceWith(text), named)
    const contextPaths = parsePathPatterns('docs/**')
    expect(reasonToSkip({ contextPaths }, event, changes)).toBeUndefined()
    expect(describePaths({ contextPaths }, changes) ?? '').not.toContain(PLANTED)
    return composePrompt('Update the docs.', changes, {
      inputs: { context: 'diff', contextPaths },
      run,
      event,
      nonce: () => '0123456789abcdef',
      redact: (text) => text,
    })
  }

  describe.each(['at the end', 'everywhere'] as const)('%s', (where) => {
    test.each(NAMES)('of a %s stays inside the fence', async (name) => {
      for (const { payload } of ALL.filter(({ event }) => event === name)) {
        const prompt = await promptOf(name, plant(payload, where), `\n# ${PLANTED}\n`)
        expect(ownWords(prompt)).not.toContain(PLANTED)
        expect(ownWords(prompt)).toMatch(/^Update the docs\.\n\n# What triggered this run\n/)
        if (TOLD.split(' ').includes(name)) expect(prompt).toContain(PLANTED)
      }
    })
  })

  test.each([
    ['push', ''],
    ['pull_request', 'opened'],
    ['issue_comment', 'created'],
    ['release', 'published'],
    ['workflow_dispatch', ''],
    ['workflow_run', 'completed'],
    ['repository_dispatch', 'on-demand-test'],
  ])('is in the prompt of the event %s %s', async (name, type) => {
    const recorded = ALL.find(({ event, action }) => event === name && action === type)
    expect(await promptOf(name, recorded?.payload, '')).toMatchSnapshot()
  })
})
