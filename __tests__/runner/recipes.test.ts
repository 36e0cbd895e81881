/** Every workflow of examples/, as it stands, by a real runner: what it asks for, what later steps get, how it ends. */

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { file, sha } from '../support/github.js'
import { startListening } from '../support/listening.js'
import { scaled } from '../support/time.js'
import { type Place, type Ran, REPOSITORY, runWorkflow, type Start } from './act.js'

const PR_LINK = 'https://github.com/your-org/docs/pull/17'
const LAST = sha('last')
const CREATE = 'POST /v2/agent/your-project/job'
const SEED = { id: 'seeded-job', projectId: 'your-project' }

/** The chat of the recipe that reacts. */
const chat = { url: '', messages: [] as unknown[], close: (): unknown => undefined }

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    chat.messages.push({ path: request.url, body: await json(request) })
    response.end('ok')
  })
  const { port, close } = await startListening(server)
  chat.url = `http://127.0.0.1:${port}`
  chat.close = close
})
afterAll(() => void chat.close())

function pullRequest({ author = 'octocat', from = REPOSITORY, action = 'opened', label = '', fields = {} }) {
  return {
    event: 'pull_request',
    actor: author,
    payload: {
      action,
      number: 1,
      ...(label !== '' && { label: { name: label } }),
      pull_request: {
        ...fields,
        number: 1,
        title: 'Add --retry',
        body: null,
        user: { login: author },
        html_url: `https://github.com/${REPOSITORY}/pull/1`,
        base: { ref: 'main', repo: { full_name: REPOSITORY } },
        head: { ref: 'retry', label: 'your-org:retry', repo: { full_name: from } },
      },
    },
    prepare: ({ repository }: Place) =>
      void repository.addPull({ author, files: [file('src/retry.ts', '@@ -1 +1 @@\n-once\n+twice')] }),
  }
}

const push: Start = {
  event: 'push',
  payload: ({ sha: after }) => ({
    ref: 'refs/heads/main',
    before: LAST,
    after,
    commits: [{ id: after, message: 'Retry', author: { username: 'octocat' } }],
    sender: { login: 'octocat' },
  }),
  prepare: ({ repository, sha: after }) =>
    repository.addComparison(LAST, after, { files: [file('src/retry.ts')] }),
}

/** An event of issue 40. The account `writer` has write access; the others may only read. */
function issueEvent(
  event: 'issues' | 'issue_comment',
  by: string,
  association = 'MEMBER',
  fields = {},
): Start {
  const issue = {
    number: 40,
    title: 'Explain --retry',
    state: 'open',
    labels: [{ name: 'bug' }, { name: 'docs' }],
    user: { login: 'stranger' },
  }
  const comment = { user: { login: by }, author_association: association, body: 'Show an example.' }
  return {
    event,
    actor: by,
    payload: {
      ...(event === 'issues'
        ? { action: 'labeled', label: { name: 'docs' } }
        : { action: 'created', comment }),
      issue: { ...issue, ...fields },
      sender: { login: by },
    },
    prepare: ({ repository }) => {
      repository.addIssue(40)
      repository.collaborators.set('writer', { permission: 'write', role_name: 'write' })
    },
  }
}

/** A run of the workflow that succeeded before, with or without a commit since. */
const since = (changed: boolean, workflow: string) => (place: Place) => {
  const { repository, sha: head } = place
  const path = `.github/workflows/${workflow}`
  repository.addRun({ path, head_sha: changed ? LAST : head })
  repository.addComparison(LAST, head, { files: [file('src/retry.ts')] })
}

/** A refresh with something to send, on tracking issue 40. */
const track = (place: Place): void => {
  since(true, 'tracking-issue.yml')(place)
  place.repository.addIssue(40)
}

/** What the service was asked, such as `POST /v2/agent/p/job`; looks that repeat count once. */
function asked({ service }: Ran): string[] {
  return [...new Set(service.requests.map(({ method, path }) => `${method} ${path}`))]
}

/** The prompts that were sent, oldest first. */
function prompts({ service }: Ran): string[] {
  return service.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => String(JSON.parse(body).prompt))
}

const creates = (ran: Ran): number => ran.service.requests.filter(({ path }) => path.endsWith('/job')).length

interface Case extends Start {
  readonly that: string
  readonly fails?: true
  /** Changes the workflow, to make something fail that usually does not. */
  readonly edit?: (yaml: string) => string
  readonly check: (ran: Ran) => void
}

const createsOne = (ran: Ran): void => {
  expect(asked(ran)).toEqual([CREATE, expect.stringMatching(/^GET /)])
  expect(ran.outputs).toEqual([expect.objectContaining({ outcome: 'pr-opened', 'pr-link': PR_LINK })])
  expect(ran.summaries.at(-1)).toContain(PR_LINK)
}

const asksNobody = (ran: Ran): void => {
  expect(ran.service.requests).toEqual([])
  expect(ran.outputs).toEqual([])
}

/** The comments on issue or pull request `number`. */
const commentsOn = ({ repository }: Ran, number: number): string[] =>
  [...repository.comments.values()].filter(({ issue }) => issue === number).map(({ body }) => body)

/** One job, a message to it by the second run, and one comment. */
const sharesOne = (ran: Ran, number: number): void => {
  expect(creates(ran)).toBe(1)
  expect(asked(ran)).toContainEqual(expect.stringMatching(/^POST .*\/message$/))
  expect(ran.outputs).toEqual([expect.objectContaining({ outcome: 'pr-opened', reused: 'true' })])
  expect(commentsOn(ran, number)).toEqual([expect.stringContaining(PR_LINK)])
}

const createsOneWithComment = (ran: Ran, number: number): void => {
  createsOne(ran)
  expect(commentsOn(ran, number)).toEqual([expect.stringContaining(PR_LINK)])
}

/** The step ran, and found that whoever caused the event may not start a job. */
const isRefused = (ran: Ran): void => {
  expect(ran.outputs).toEqual([expect.objectContaining({ outcome: 'skipped' })])
  expect(ran.service.requests).toEqual([])
  expect(ran.repository.comments.size).toBe(0)
}

/** Not even the job started, so it took no place in the queue. */
const isNotQueued = (ran: Ran): void => {
  asksNobody(ran)
  expect(ran.steps).toEqual([])
  expect(ran.github.requests).toEqual([])
}

const CASES: Record<string, readonly Case[]> = {
  'start.yml': [
    {
      ...push,
      that: 'opens a pull request, which a later step has',
      check: (ran) => {
        createsOne(ran)
        expect(prompts(ran)).toEqual([
          expect.stringMatching(/^Bring the API reference in line with these changes\./),
        ])
        expect(prompts(ran)[0]).toContain('+new')
        expect(ran.printed).toContain(`ready for review at ${PR_LINK}`)
      },
    },
    {
      ...push,
      that: 'may ask whether commits of the agent are merges',
      payload: ({ sha: after }) => ({
        ref: 'refs/heads/main',
        before: LAST,
        after,
        commits: [
          { id: sha('docs'), message: 'Docs', author: { username: 'mintlify[bot]' } },
          { id: after, message: 'Merge', author: { username: 'octocat' } },
        ],
        sender: { login: 'octocat' },
      }),
      prepare: ({ repository, sha: after }) =>
        void repository.addCommit({ sha: after, parents: [LAST, sha('docs')] }),
      check: (ran) => {
        expect(ran.outputs[0]).toMatchObject({ outcome: 'skipped' })
        expect(ran.service.requests).toEqual([])
      },
    },
    {
      ...push,
      that: 'says nothing where there is nothing to change',
      service: { scenario: 'no-changes' },
      check: (ran) => {
        expect(ran.outputs[0]).toMatchObject({ outcome: 'no-changes', 'pr-link': '' })
        expect(ran.printed).not.toContain('ready for review')
      },
    },
    {
      ...push,
      that: 'fails where the agent does',
      service: { scenario: 'failed' },
      fails: true,
      check: (ran) => expect(ran.outputs[0]).toMatchObject({ outcome: 'failed', status: 'failed' }),
    },
  ],
  'pull-request.yml': [
    {
      ...pullRequest({}),
      that: 'has one job for two runs, and one comment',
      runs: 2,
      service: { jobSeconds: 420 },
      check: (ran) => {
        expect(creates(ran)).toBe(1)
        expect(asked(ran)).toContainEqual(expect.stringMatching(/^POST .*\/message$/))
        expect(prompts(ran)[0]).toContain('+twice')
        expect(ran.outputs).toEqual([expect.objectContaining({ outcome: 'pr-opened', reused: 'true' })])
        const comments = [...ran.repository.comments.values()]
        expect(comments).toHaveLength(1)
        expect(comments[0]?.body).toContain(PR_LINK)
      },
    },
    { ...pullRequest({ from: 'stranger/your-repo' }), that: 'leaves out forks', check: asksNobody },
    { ...pullRequest({ author: 'dependabot[bot]' }), that: 'leaves out Dependabot', check: asksNobody },
  ],
  'schedule.yml': [
    {
      event: 'schedule',
      that: 'sends what changed since the last success',
      payload: { schedule: '17 3 * * 1-5' },
      prepare: since(true, 'schedule.yml'),
      check: (ran) => {
        createsOne(ran)
        expect(prompts(ran)[0]).toContain('src/retry.ts')
      },
    },
    {
      event: 'schedule',
      that: 'sends nothing where nothing changed',
      payload: { schedule: '17 3 * * 1-5' },
      prepare: since(false, 'schedule.yml'),
      check: (ran) => {
        expect(ran.outputs[0]).toMatchObject({ outcome: 'skipped' })
        expect(ran.service.requests).toEqual([])
      },
    },
    {
      event: 'workflow_dispatch',
      that: 'can be started by hand',
      prepare: since(true, 'schedule.yml'),
      check: createsOne,
    },
  ],
  'tracking-issue.yml': [
    {
      event: 'schedule',
      that: 'has one job for two runs, and one comment',
      payload: { schedule: '17 3 * * 1-5' },
      prepare: track,
      runs: 2,
      service: { jobSeconds: 420 },
      check: (ran) => {
        sharesOne(ran, 40)
        expect(prompts(ran)[1]).toContain('src/retry.ts')
      },
    },
    {
      event: 'schedule',
      that: 'has a new job once the docs pull request is merged',
      payload: { schedule: '17 3 * * 1-5' },
      prepare: (place) => {
        track(place)
        place.github.addRepository('your-org/docs', {}).addPull({ number: 17, state: 'closed', merged: true })
      },
      runs: 2,
      check: (ran) => {
        expect(creates(ran)).toBe(2)
        expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened', reused: 'false' })
        expect(commentsOn(ran, 40)).toHaveLength(1)
      },
    },
    {
      event: 'workflow_dispatch',
      that: 'can be started by hand',
      prepare: track,
      check: (ran) => createsOneWithComment(ran, 40),
    },
  ],
  'issue.yml': [
    {
      ...issueEvent('issues', 'writer'),
      that: 'has a job, and a comment',
      check: (ran) => {
        createsOneWithComment(ran, 40)
        expect(prompts(ran)[0]).toContain('Explain --retry')
      },
    },
    { ...issueEvent('issues', 'reader'), that: 'is skipped if a reader labels it', check: isRefused },
    {
      ...issueEvent('issues', 'writer', 'MEMBER', { state: 'closed' }),
      that: 'is left alone if it is closed',
      check: isNotQueued,
    },
    {
      ...issueEvent('issue_comment', 'writer', 'CONTRIBUTOR'),
      that: 'sends each comment to the one job',
      runs: 2,
      service: { jobSeconds: 420 },
      check: (ran) => {
        sharesOne(ran, 40)
        expect(prompts(ran)[1]).toContain('Show an example.')
      },
    },
    {
      ...issueEvent('issue_comment', 'stranger', 'NONE'),
      that: "does not even queue a stranger's comment",
      check: isNotQueued,
    },
    {
      ...issueEvent('issue_comment', 'reader', 'CONTRIBUTOR'),
      that: "skips a contributor's comment without write access",
      check: isRefused,
    },
    {
      ...issueEvent('issue_comment', 'writer', 'MEMBER', { labels: [{ name: 'bug' }] }),
      that: 'leaves out issues without the label',
      check: isNotQueued,
    },
    {
      ...issueEvent('issue_comment', 'writer', 'MEMBER', { pull_request: { url: 'any' } }),
      that: 'leaves out pull requests',
      check: isNotQueued,
    },
  ],
  'release.yml': [
    {
      event: 'release',
      that: 'sends what changed since the release before',
      payload: {
        action: 'published',
        release: { id: 5, tag_name: 'v1.2.0', published_at: '2026-01-02T00:00:00Z', body: 'Retries.' },
        sender: { login: 'octocat' },
      },
      prepare: ({ repository, sha: head }) => {
        repository.addRelease('v1.1.0', '2026-01-01T00:00:00Z')
        repository.addComparison(sha('v1.1.0'), head, { files: [file('src/retry.ts')] })
      },
      check: (ran) => {
        createsOne(ran)
        expect(prompts(ran)[0]).toContain('src/retry.ts')
        expect(prompts(ran)[0]).toContain('Retries.')
      },
    },
  ],
  'check.yml': [
    {
      ...push,
      that: 'has a check on the commit',
      check: (ran) => {
        createsOne(ran)
        expect([...ran.repository.checks.values()]).toEqual([
          expect.objectContaining({
            name: 'Docs with a check / docs: docs job (docs)',
            head_sha: ran.sha,
            status: 'completed',
            conclusion: 'success',
          }),
        ])
      },
    },
    {
      ...push,
      that: 'has a check that fails if the agent does',
      service: { scenario: 'failed' },
      fails: true,
      check: (ran) => {
        expect([...ran.repository.checks.values()]).toEqual([
          expect.objectContaining({ status: 'completed', conclusion: 'failure' }),
        ])
      },
    },
  ],
  'ready.yml': [
    {
      ...pullRequest({ action: 'ready_for_review', fields: { draft: false } }),
      that: 'has a job once it is ready for review',
      check: (ran) => createsOneWithComment(ran, 1),
    },
    {
      ...pullRequest({ action: 'labeled', label: 'docs', fields: { draft: true } }),
      that: 'has one job however often it is labelled',
      runs: 2,
      service: { jobSeconds: 420 },
      check: (ran) => sharesOne(ran, 1),
    },
    {
      ...pullRequest({ action: 'labeled', label: 'bug', fields: { draft: false } }),
      that: 'leaves out other labels',
      check: isNotQueued,
    },
    { ...pullRequest({ fields: { draft: true } }), that: 'leaves out drafts', check: isNotQueued },
    {
      ...pullRequest({ from: 'stranger/your-repo', fields: { draft: false } }),
      that: 'leaves out forks',
      check: isNotQueued,
    },
    { ...pullRequest({ author: 'dependabot[bot]' }), that: 'leaves out Dependabot', check: isNotQueued },
  ],
  'on-merge.yml': [
    {
      ...pullRequest({ action: 'closed', fields: { merged: true } }),
      that: 'has a job once it is merged, and a comment',
      check: (ran) => {
        createsOneWithComment(ran, 1)
        expect(prompts(ran)[0]).toContain('+twice')
      },
    },
    {
      ...pullRequest({ action: 'closed', fields: { merged: false } }),
      that: 'leaves out what is closed without a merge',
      check: isNotQueued,
    },
    {
      ...pullRequest({ action: 'closed', from: 'stranger/your-repo', fields: { merged: true } }),
      that: 'leaves out forks',
      check: isNotQueued,
    },
    {
      ...pullRequest({ action: 'closed', author: 'dependabot[bot]', fields: { merged: true } }),
      that: 'leaves out Dependabot',
      check: isNotQueued,
    },
  ],
  'manual.yml': [
    {
      event: 'workflow_dispatch',
      that: 'takes the form as it was filled in',
      payload: {
        inputs: { prompt: "It's $HOME, `x`", project: 'your-guides', wait: 'false', 'dry-run': 'false' },
      },
      check: (ran) => {
        expect(asked(ran)).toEqual(['POST /v2/agent/your-guides/job'])
        expect(prompts(ran)).toEqual(["It's $HOME, `x`"])
        expect(ran.outputs[0]).toMatchObject({ outcome: 'started', status: 'active' })
      },
    },
    {
      event: 'workflow_dispatch',
      that: 'only shows what would be sent',
      payload: { inputs: { prompt: 'Shorten it.', project: 'your-guides', wait: 'true', 'dry-run': 'true' } },
      check: (ran) => {
        expect(ran.service.requests).toEqual([])
        expect(ran.outputs[0]).toMatchObject({ outcome: 'dry-run' })
        expect(ran.printed).toContain('Shorten it.')
      },
    },
  ],
  'message.yml': [
    {
      event: 'workflow_dispatch',
      that: 'says more to the job',
      payload: { inputs: { 'job-id': SEED.id, prompt: 'Shorten it.' } },
      service: { scenario: { initialJobs: [{ ...SEED, ageSeconds: 3600 }] }, jobSeconds: 420 },
      check: (ran) => {
        expect(asked(ran)[0]).toBe(`${CREATE}/${SEED.id}/message`)
        expect(prompts(ran)).toEqual(['Shorten it.'])
        expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened', 'job-id': SEED.id, reused: 'true' })
      },
    },
    {
      event: 'workflow_dispatch',
      that: 'only waits without a prompt',
      payload: { inputs: { 'job-id': SEED.id, prompt: '' } },
      service: { scenario: { initialJobs: [{ ...SEED, ageSeconds: 60 }] } },
      check: (ran) => {
        expect(asked(ran)).toEqual([`GET /v2/agent/your-project/job/${SEED.id}`])
        expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened', reused: 'true' })
      },
    },
  ],
  'start-and-wait.yml': [
    {
      event: 'push',
      that: 'hands the job on to another job of the run',
      payload: { ref: 'refs/tags/v1.2.0', sender: { login: 'octocat' } },
      service: { jobSeconds: 420 },
      check: (ran) => {
        expect(asked(ran)).toEqual([CREATE, expect.stringMatching(/^GET /)])
        const [started, ended] = ran.outputs
        expect(started).toMatchObject({ outcome: 'started', reused: 'false' })
        expect(ended).toMatchObject({ outcome: 'pr-opened', reused: 'true', 'job-id': started?.['job-id'] })
        expect(ran.printed).toContain(`The docs of this release are at ${PR_LINK}`)
      },
    },
    {
      event: 'push',
      that: 'waits for the job even if the release fails',
      payload: { ref: 'refs/tags/v1.2.0', sender: { login: 'octocat' } },
      edit: (yaml) => yaml.replace('echo "Your slow steps go here."', 'exit 1'),
      fails: true,
      check: (ran) => {
        expect(ran.outputs.map(({ outcome }) => outcome)).toEqual(['started', 'pr-opened'])
      },
    },
    {
      event: 'push',
      that: 'waits for no job if none was started',
      payload: { ref: 'refs/tags/v1.2.0', sender: { login: 'octocat' } },
      service: { scenario: 'unauthorized' },
      fails: true,
      check: (ran) => {
        expect(ran.outputs).toEqual([expect.objectContaining({ outcome: 'error', 'error-code': 'auth' })])
      },
    },
  ],
  'several-projects.yml': [
    {
      ...push,
      that: 'goes on with the others where one fails',
      service: { scenario: { create: [{ status: 400, error: 'No such docs' }] } },
      fails: true,
      check: (ran) => {
        const projects = ['your-guides', 'your-reference', 'your-tutorials']
        expect(asked(ran)).toEqual(
          expect.arrayContaining(projects.map((project) => `POST /v2/agent/${project}/job`)),
        )
        expect(creates(ran)).toBe(3)
        expect(ran.outputs.map(({ outcome }) => outcome).sort()).toEqual(['error', 'pr-opened', 'pr-opened'])
      },
    },
  ],
  'react.yml': [
    {
      ...pullRequest({}),
      that: 'sets a label and writes a comment where there is a pull request',
      secrets: () => ({ CHAT_WEBHOOK: `${chat.url}/opened` }),
      check: (ran) => {
        createsOne(ran)
        expect([...(ran.repository.pulls.get(1)?.labels ?? [])]).toEqual(['documentation'])
        expect([...ran.repository.comments.values()].map(({ body }) => body)).toEqual([
          `Please review the docs together with this: ${PR_LINK}`,
        ])
        expect(chat.messages).not.toContainEqual(expect.objectContaining({ path: '/opened' }))
      },
    },
    ...(['failed', 'archived'] as const).map(
      (ends): Case => ({
        ...pullRequest({}),
        that: `tells the chat where the job is ${ends}`,
        secrets: () => ({ CHAT_WEBHOOK: `${chat.url}/${ends}` }),
        service: { scenario: { endStatus: ends } },
        ...(ends === 'failed' && { fails: true as const }),
        check: (ran) => {
          expect(chat.messages).toContainEqual({
            path: `/${ends}`,
            body: {
              text: expect.stringContaining(`Docs job: ${ends}, see https://github.com/${REPOSITORY}/`),
            },
          })
          expect(ran.repository.comments.size).toBe(0)
        },
      }),
    ),
    {
      ...pullRequest({}),
      that: 'tells the chat if the step did not run',
      secrets: () => ({ CHAT_WEBHOOK: `${chat.url}/did-not-run` }),
      edit: (yaml) => yaml.replace('    steps:\n', '    steps:\n      - run: exit 1\n'),
      fails: true,
      check: (ran) => {
        expect(ran.service.requests).toEqual([])
        expect(chat.messages).toContainEqual({
          path: '/did-not-run',
          body: { text: expect.stringContaining('Docs job: did not run, see ') },
        })
      },
    },
    {
      ...pullRequest({ author: 'mintlify[bot]' }),
      that: "says nothing of the agent's own pull request",
      secrets: () => ({ CHAT_WEBHOOK: `${chat.url}/skipped` }),
      check: (ran) => {
        expect(ran.outputs[0]).toMatchObject({ outcome: 'skipped' })
        expect(ran.service.requests).toEqual([])
        expect(chat.messages).not.toContainEqual(expect.objectContaining({ path: '/skipped' }))
      },
    },
    { ...pullRequest({ from: 'stranger/your-repo' }), that: 'leaves out forks', check: asksNobody },
    { ...pullRequest({ author: 'dependabot[bot]' }), that: 'leaves out Dependabot', check: asksNobody },
  ],
  'other-host.yml': [
    {
      ...push,
      that: 'asks at the address of the variable',
      service: { prefix: '/gateway' },
      vars: ({ service }) => ({ AGENT_BASE_URL: service.url }),
      check: (ran) => {
        expect(asked(ran)[0]).toBe('POST /gateway/v2/agent/your-project/job')
        expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened' })
      },
    },
    { ...push, that: 'asks at the usual address without one', check: createsOne },
  ],
  'ghes.yml': [
    {
      ...pullRequest({}),
      that: "reads and writes at the server's own API",
      apiPrefix: '/api/v3',
      hidesNetwork: true,
      vars: ({ network }) => ({ ...network, NO_PROXY: 'localhost' }),
      check: (ran) => {
        createsOne(ran)
        expect(ran.github.requests.every(({ path }) => path.startsWith('/api/v3/'))).toBe(true)
        expect([...ran.repository.comments.values()][0]?.body).toContain(PR_LINK)
      },
    },
  ],
  'long-prompt.yml': [
    {
      ...push,
      that: 'sends the files as the prompt',
      files: { '.github/docs/task.md': 'Do it.\n', '.github/docs/style.md': 'Be short.\n' },
      check: (ran) => {
        createsOne(ran)
        expect(prompts(ran)[0]).toMatch(/^Do it\.\nBe short\./)
        expect(prompts(ran)[0]).toContain('src/retry.ts')
      },
    },
  ],
  'organisation.yml': [
    {
      ...push,
      that: 'hands the outputs of the reusable workflow on',
      check: (ran) => {
        createsOne(ran)
        expect(prompts(ran)[0]).toContain('+new')
        expect(ran.printed).toContain(`ready for review at ${PR_LINK}`)
      },
    },
  ],
  'test-with-emulator.yml': [
    {
      ...pullRequest({}),
      that: 'needs no service, and shows what was asked',
      check: (ran) => {
        expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened' })
        expect(ran.service.requests).toEqual([])
        expect(ran.printed).toMatch(/The emulator received \d requests\.\n/)
        expect(ran.printed).toContain('POST /v2/agent/any/job 201 {"prompt":"Bring the docs')
      },
    },
    {
      ...pullRequest({ author: 'mintlify[bot]' }),
      that: "runs on the agent's own pull request, too",
      check: (ran) => expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened' }),
    },
    {
      ...pullRequest({ author: 'stranger', from: 'stranger/your-repo' }),
      that: 'runs on a pull request from a fork, too',
      check: (ran) => expect(ran.outputs[0]).toMatchObject({ outcome: 'pr-opened' }),
    },
  ],
}

const all = Object.entries(CASES).flatMap(([name, cases]) =>
  cases.map((one) => [`${name}, on ${one.event}: ${one.that}`, name, one] as const),
)

test.concurrent.each(all)(
  '%s',
  async (_, name, { fails = false, edit = (yaml) => yaml, check, ...start }) => {
    const ran = await runWorkflow(name, edit(readFileSync(`examples/${name}`, 'utf8')), start)
    try {
      expect(ran.succeeded).toBe(!fails)
      check(ran)
      expect(ran.leftover).toEqual([])
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n\n${ran.log}`, { cause: error })
    }
  },
  scaled(120_000),
)

test('every example is run, on each of its events, and nothing else', () => {
  const events = Object.fromEntries(
    readdirSync('examples').map((name) => {
      const { on } = parse(readFileSync(`examples/${name}`, 'utf8'))
      return [name, (typeof on === 'string' ? [on] : Object.keys(on)).sort()]
    }),
  )
  const run = Object.entries(CASES).map(([name, cases]) => [
    name,
    [...new Set(cases.map(({ event }) => event))].sort(),
  ])
  expect(Object.fromEntries(run)).toEqual(events)
})
