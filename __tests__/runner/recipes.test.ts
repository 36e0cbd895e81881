/** Every workflow of examples/, as it stands, by a real runner: what it sends, what its steps do, how it ends. */

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { file, sha } from '../support/github.js'
import { startListening } from '../support/listening.js'
import { scaled } from '../support/time.js'
import { type Place, type Ran, REPOSITORY, runWorkflow, type Start } from './act.js'
import { DOCS, PR_LINK } from './gh.js'

const CODE = `https://github.com/${REPOSITORY}/pull/1`
const JOB = 'your-project/job'
const MESSAGE = 'your-project/message'
const TWICE = { sends: [JOB, MESSAGE] }

interface Expected {
  /** The outcomes of the action's steps in the last run (default: pr-opened); none if it is not to run. */
  readonly ends?: readonly string[]
  /** What all runs send (default: one new job if a step ends as if there were one). */
  readonly sends?: readonly string[]
  /** What the last prompt contains. */
  readonly prompt?: readonly string[]
  /** What `gh` changes. */
  readonly gh?: readonly string[]
  /** What the steps print. */
  readonly says?: string
  readonly fails?: boolean
  readonly check?: (ran: Ran) => void
}

interface Case extends Start, Expected {
  readonly that: string
  /** Changes the workflow, to make something fail that usually does not. */
  readonly edit?: (yaml: string) => string
}

const on = (start: Start, that: string, more: Partial<Case> = {}): Case => ({ ...start, ...more, that })

const NOT_RUN = { ends: [] }
const SKIPPED = { ends: ['skipped'] }

/** Changes what there is before each run. */
const but = (start: Start, prepare: (place: Place) => void): Start => ({
  ...start,
  prepare: (place, run) => {
    start.prepare?.(place, run)
    prepare(place)
  },
})

/** Where the recipe that tells a chat posts to. */
const chat = {
  url: '',
  told: [] as { path: string | undefined; body: unknown }[],
  close: (): unknown => undefined,
}

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    chat.told.push({ path: request.url, body: await json(request) })
    response.end('ok')
  })
  const { port, close } = await startListening(server)
  chat.url = `http://127.0.0.1:${port}`
  chat.close = close
})
afterAll(() => void chat.close())

const sender = (login: string) => ({ login, type: login.endsWith('[bot]') ? 'Bot' : 'User' })

interface Pull {
  readonly author?: string
  /** Who triggers the last run. */
  readonly by?: string
  readonly from?: string
  /** One for each run. */
  readonly actions?: readonly string[]
  readonly label?: string
  readonly merged?: boolean
  readonly draft?: boolean
  readonly labels?: readonly object[]
}

/** Pull request 1, in one run or several. It is closed if that is the action. */
function pull({
  author = 'octocat',
  by = author,
  from = REPOSITORY,
  actions = ['opened'],
  label,
  ...rest
}: Pull = {}) {
  const { merged = false, draft = false, labels = [] } = rest
  return {
    event: 'pull_request',
    actor: by,
    runs: actions.length,
    payload: (_: Place, run: number) => ({
      action: actions[run - 1],
      number: 1,
      ...(label && { label: { name: label } }),
      pull_request: {
        number: 1,
        title: 'Add --retry',
        body: null,
        ...{ draft, labels, merged, user: sender(author), html_url: CODE },
        base: { ref: 'main', repo: { full_name: REPOSITORY } },
        head: { ref: 'retry', label: 'your-org:retry', sha: sha('head'), repo: { full_name: from } },
      },
      sender: sender(run === actions.length ? by : author),
    }),
    prepare: ({ repository }: Place, run: number) => {
      const files = [file('src/retry.ts', '@@ -1 +1 @@\n-once\n+twice')]
      const closed = { state: 'closed', merged } as const
      repository.addPull({ number: 1, author, files, ...(actions[run - 1] === 'closed' && closed) })
    },
  }
}

const push = (...changed: readonly string[]) => ({
  event: 'push',
  payload: ({ sha: after, before }: Place) => ({
    ref: 'refs/heads/main',
    before,
    after,
    commits: [{ id: after, message: 'Retry', author: { username: 'octocat' } }],
    sender: sender('octocat'),
  }),
  prepare: ({ repository, sha: after, before }: Place) =>
    repository.addComparison(before, after, { files: changed.map((name) => file(name)) }),
})
const PUSH = push('src/retry.ts')
const TAG = { event: 'push', payload: { ref: 'refs/tags/v1.2.0', sender: sender('octocat') } }
const dispatch = (inputs: object): Start => ({
  event: 'workflow_dispatch',
  payload: { inputs, sender: sender('octocat') },
})

interface IssueFields {
  readonly association?: string
  readonly state?: string
  readonly number?: number
  readonly pull_request?: object
}

/** A comment on issue 40; without one, its label. */
function issue(by: string, body = '', { association = 'MEMBER', ...fields }: IssueFields = {}) {
  const comment = { user: sender(by), author_association: association, body }
  return {
    event: body ? 'issue_comment' : 'issues',
    actor: by,
    payload: {
      ...(body ? { action: 'created', comment } : { action: 'labeled', label: { name: 'docs' } }),
      issue: { number: 40, title: 'Explain --retry', state: 'open', user: sender('stranger'), ...fields },
      sender: sender(by),
    },
    prepare: ({ repository }: Place) => void repository.issues.add(40),
  }
}

/** A comment on pull request 1, which is from a fork. */
const command = (by: string, body: string, fields = {}) => ({
  ...issue(by, body, { number: 1, pull_request: {}, ...fields }),
  prepare: pull({ author: 'stranger' }).prepare,
})
const CONTRIBUTOR = { association: 'CONTRIBUTOR' }
const STRANGER = { association: 'NONE' }

/** A run of schedule.yml that succeeded before, with or without a commit since. */
const schedule = (event: string, changed: boolean, inputs = {}): Start => ({
  event,
  payload: { schedule: '17 3 * * 1-5', inputs },
  prepare: ({ repository, before, sha: head }) => {
    repository.addRun({ path: '.github/workflows/schedule.yml', head_sha: changed ? before : head })
    repository.addComparison(before, head, { files: [file('src/retry.ts')] })
    repository.addRelease('v1.1.0', '2026-01-01T00:00:00Z')
    repository.addComparison(sha('v1.1.0'), head, { files: [file('src/since.ts')] })
  },
})

const RELEASE: Start = {
  event: 'release',
  payload: {
    action: 'published',
    release: { id: 5, tag_name: 'v1.2.0', published_at: '2026-01-02T00:00:00Z', body: 'Retries.' },
    sender: sender('octocat'),
  },
  prepare: ({ repository, sha: head }) => {
    repository.addRelease('v1.1.0', '2026-01-01T00:00:00Z')
    repository.addComparison(sha('v1.1.0'), head, { files: [file('src/retry.ts')] })
  },
}

/** Runs of budget.yml today, and the docs pull requests that are open. */
const today = (runs: number, open: readonly number[] = []): Start =>
  but(pull(), ({ repository, docs }) => {
    docs.pulls.clear()
    for (const number of open) docs.addPull({ number, author: 'mintlify[bot]' })
    for (let nth = 0; nth < 30; nth++) {
      const conclusion = nth < runs ? 'success' : 'skipped'
      repository.addRun({ path: '.github/workflows/budget.yml', event: 'pull_request', conclusion })
    }
  })
const refuses = (status: number): Pick<Start, 'service'> => ({
  service: { scenario: { create: [{ status, headers: { 'retry-after': '3600' }, times: 9 }] } },
})

/** An OpenAPI description before and after a push. */
const described = (before: object, after: string): Start => ({
  ...push('openapi.json'),
  filesBefore: { 'openapi.json': JSON.stringify(before) },
  files: { 'openapi.json': after },
})
const API = { openapi: '3.1.0', paths: { '/retry': {} } }

const docsMerged = ({ docs }: Place): void => void docs.addPull({ number: 17, state: 'closed', merged: true })
const WAIT = ['edit --add-label waiting-for-code', 'ready --undo']
const CLOSE = `close --comment Closed: ${CODE} was closed without a merge. If it reopens, so will this.`
const READY = ['edit --remove-label waiting-for-code', 'ready']
const EDIT = 'edit --title Docs: Add --retry --add-label automated --add-reviewer your-org/docs-team'
const STATUS = `statuses/${sha('head')}`

/** Of central.yml: the caller in its comment, and where that finds it. */
const CALL: Pick<Case, 'edit' | 'others'> = {
  edit: (yaml) => [...yaml.matchAll(/^# {3}(.*)$/gm)].map(([, line]) => line).join('\n'),
  others: {
    'your-org/workflows@main': { file: 'central.yml', yaml: readFileSync('examples/central.yml', 'utf8') },
  },
}

/** A push of which chats are told; `text` is part of the text, if there is one. */
function announced(name: string, text?: string): Pick<Case, 'secrets' | 'check'> {
  const slack = { text: expect.stringContaining(text ?? '') }
  const block = { type: 'TextBlock', ...slack, wrap: true }
  const content = { type: 'AdaptiveCard', version: '1.4', body: [block] }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content }
  const messages = [slack, { type: 'message', attachments: [attachment] }]
  return {
    secrets: () => ({ SLACK_WEBHOOK: `${chat.url}/${name}`, TEAMS_WEBHOOK: `${chat.url}/${name}` }),
    check: () => {
      const told = chat.told.filter(({ path }) => path === `/${name}`).map(({ body }) => body)
      expect(told).toEqual(text === undefined ? [] : messages)
    },
  }
}

const form = (inputs: object): Start =>
  dispatch({ project: 'your-guides', wait: 'true', 'dry-run': 'false', ...inputs })
const SEED = { id: 'seeded-job', projectId: 'your-project' }
const seeded = (prompt: string, ageSeconds: number): Start => ({
  ...form({ project: SEED.projectId, 'job-id': SEED.id, prompt }),
  service: { scenario: { initialJobs: [{ ...SEED, ageSeconds }] } },
})

const CASES: Record<string, readonly Case[]> = {
  'start.yml': [
    on(PUSH, 'opens a pull request, which a later step has', {
      prompt: ['Bring the API reference in line with these changes.', '+new'],
      says: `ready for review at ${PR_LINK}`,
    }),
    on(PUSH, 'says nothing if there is nothing to change', {
      service: { scenario: 'no-changes' },
      ends: ['no-changes'],
      check: ({ printed }) => expect(printed).not.toContain('ready for review'),
    }),
    on(PUSH, 'fails if the agent does', { service: { scenario: 'failed' }, ends: ['failed'], fails: true }),
  ],
  'pull-request.yml': [
    on(pull({ actions: ['opened', 'synchronize'] }), 'has one job for two runs', {
      ...TWICE,
      prompt: ['+twice'],
    }),
    on(pull({ by: 'reader' }), 'refuses a reader who opens it', SKIPPED),
  ],
  'ready.yml': [
    on(pull({ actions: ['ready_for_review'] }), 'has a job once it is ready for review'),
    on(
      pull({ actions: ['labeled', 'labeled'], label: 'docs', draft: true }),
      'has one job for its labels',
      TWICE,
    ),
    on(pull({ actions: ['labeled'], label: 'bug' }), 'leaves out other labels', NOT_RUN),
    on(pull({ draft: true }), 'leaves out drafts', NOT_RUN),
    on(pull({ author: 'renovate[bot]' }), 'skips Renovate', SKIPPED),
    on(pull({ author: 'mintlify[bot]' }), 'skips the agent', SKIPPED),
  ],
  'on-merge.yml': [
    on(pull({ actions: ['closed'], merged: true }), 'has a job once it is merged', { prompt: ['+twice'] }),
    on(pull({ actions: ['closed'] }), 'leaves out what is closed without a merge', NOT_RUN),
  ],
  'command.yml': [
    on(command('octocat', '/docs Show it.', CONTRIBUTOR), 'sends each comment to the one job', {
      ...TWICE,
      runs: 2,
      prompt: ['Show it.', '+twice'],
    }),
    on(command('reader', '/docs'), 'refuses a member without write access', SKIPPED),
    on(command('stranger', '/docs', STRANGER), 'does not even queue a stranger', NOT_RUN),
    on(command('octocat', 'Where are the /docs?'), 'leaves out other comments', NOT_RUN),
    on(issue('octocat', '/docs'), 'leaves out issues', NOT_RUN),
  ],
  'follow-code.yml': [
    on(pull(), 'labels the docs and makes them a draft', { gh: WAIT }),
    on(
      but(pull(), ({ gh }) => Object.assign(gh, { draft: undefined })),
      'only labels them if there are no drafts',
      { gh: WAIT },
    ),
    on(pull({ actions: ['opened', 'closed'], merged: true }), 'makes them ready when the code is merged', {
      ends: ['dry-run'],
      sends: [JOB],
      gh: [...WAIT, ...READY],
      check: ({ docs }) => expect(docs.pulls.get(17)?.labels.size).toBe(0),
    }),
    on(pull({ actions: ['opened', 'closed', 'reopened'] }), 'closes and reopens them with the code', {
      ends: ['dry-run'],
      sends: [JOB],
      gh: [...WAIT, CLOSE, 'reopen', ...WAIT],
    }),
    on(pull({ actions: ['opened', 'closed'], by: 'reader' }), 'follows nobody without write access', {
      ...SKIPPED,
      sends: [JOB],
      gh: WAIT,
    }),
    on(
      but(pull(), ({ repository }) => repository.addPull({ number: 1, state: 'closed', merged: true })),
      'sees that the code was merged meanwhile',
      { gh: READY },
    ),
    on(but(pull(), docsMerged), 'leaves docs alone that are merged'),
  ],
  'waiting-for-code.yml': [
    on(pull({ labels: [{ name: 'waiting-for-code' }] }), 'fails while there is the label', {
      ...NOT_RUN,
      fails: true,
    }),
    on(pull({ labels: [{ name: 'docs' }] }), 'succeeds without it', NOT_RUN),
  ],
  'docs-pull-request.yml': [
    on(pull(), 'edits the docs pull request, and shows its preview', {
      gh: [EDIT, `${STATUS} success https://preview.localhost/17`],
    }),
    on(
      but(pull(), ({ gh }) => Object.assign(gh, { checks: 'failure', preview: undefined })),
      'shows that the build failed, without a preview',
      { gh: [EDIT, `${STATUS} failure ${PR_LINK}`] },
    ),
    on(
      but(pull(), ({ gh }) => Object.assign(gh, { checks: undefined })),
      'gives up if no check comes',
      {
        edit: (yaml) => yaml.replace('{1..30}', '{1..2}').replace('sleep 10', 'true'),
        gh: [EDIT],
      },
    ),
  ],
  'budget.yml': [
    on(today(20, [1, 2]), 'sends up to the limits'),
    on(today(21), 'sends nothing after so many runs', NOT_RUN),
    on(today(1, [1, 2, 3]), 'sends nothing while so many are open', NOT_RUN),
    on(today(1), "stays green at the service's limit", {
      ...refuses(429),
      ends: ['error'],
      sends: [JOB],
    }),
    on(today(1), 'fails on other errors', {
      ...refuses(403),
      ends: ['error'],
      sends: [JOB],
      fails: true,
    }),
  ],
  'rolling.yml': [
    on(
      but(PUSH, ({ repository }) => repository.issues.add(40)),
      'has one job for two pushes',
      { ...TWICE, runs: 2 },
    ),
    on(
      but(PUSH, (place) => {
        place.repository.issues.add(40)
        docsMerged(place)
      }),
      'has a new job once its pull request is merged',
      { runs: 2, sends: [JOB, JOB] },
    ),
  ],
  'by-folder.yml': [
    on(push('packages/schema/retry.json'), 'asks the projects whose folders changed', {
      ends: ['pr-opened', 'skipped'],
      sends: ['your-api-docs/job'],
    }),
    on(push('apps/web/a.ts', 'services/api/b.ts'), 'goes on with the others if one fails', {
      service: { scenario: { create: [{ status: 400, error: 'No such docs' }] } },
      ends: ['error', 'pr-opened'],
      sends: ['your-api-docs/job', 'your-web-docs/job'],
      fails: true,
    }),
  ],
  'openapi.yml': [
    on(described({}, JSON.stringify(API)), 'sends what changed in the description', {
      prompt: ['Bring the API reference in line', '+    "/retry": {}'],
    }),
    on(
      described(API, JSON.stringify({ paths: API.paths, openapi: API.openapi })),
      'leaves out order',
      NOT_RUN,
    ),
    on(described(API, '{'), 'fails if it is no JSON', { ...NOT_RUN, fails: true }),
  ],
  'long-prompt.yml': [
    on(PUSH, 'sends the files as the prompt', {
      files: { '.github/docs/task.md': 'Do it.\n', '.github/docs/style.md': 'Be short.\n' },
      prompt: ['Do it.\nBe short.', 'src/retry.ts'],
    }),
  ],
  'schedule.yml': [
    on(schedule('schedule', true), 'sends what changed since the last success', { prompt: ['src/retry.ts'] }),
    on(schedule('schedule', false), 'sends nothing if nothing changed', SKIPPED),
    on(schedule('workflow_dispatch', true), 'can be started by hand', { prompt: ['src/retry.ts'] }),
    on(schedule('workflow_dispatch', false, { since: 'v1.1.0' }), 'can be told where to begin', {
      prompt: ['src/since.ts'],
    }),
  ],
  'release.yml': [
    on(RELEASE, 'sends what changed since the release before, and has a check', {
      prompt: ['src/retry.ts', 'Retries.'],
      check: ({ repository, sha: head_sha }) => {
        const check = { name: 'Docs of a release / docs: docs job (docs)', head_sha, conclusion: 'success' }
        expect([...repository.checks.values()]).toEqual([expect.objectContaining(check)])
      },
    }),
  ],
  'start-and-wait.yml': [
    on(TAG, 'hands the job on to another job of the run', {
      ends: ['started', 'pr-opened'],
      says: `The docs of this release are at ${PR_LINK}`,
      check: ({ outputs: [started, ended] }) => expect(ended?.['job-id']).toBe(started?.['job-id']),
    }),
    on(TAG, 'waits for the job even if the release fails', {
      edit: (yaml) => yaml.replace('echo "Your slow steps go here."', 'exit 1'),
      ends: ['started', 'pr-opened'],
      fails: true,
    }),
    on(TAG, 'waits for no job if none was started', {
      service: { scenario: 'unauthorized' },
      ends: ['error'],
      sends: [JOB],
      fails: true,
    }),
  ],
  'gate.yml': [
    on(dispatch({}), 'stops a release while docs are open', {
      ...NOT_RUN,
      fails: true,
      check: ({ steps }) => expect(steps.map(({ job }) => job)).not.toContain('release'),
    }),
    on(
      but(dispatch({}), ({ docs }) => docs.pulls.get(17)?.labels.add('waiting-for-code')),
      'lets it go on if they wait for their code',
      { ...NOT_RUN, says: 'Your release goes here.' },
    ),
  ],
  'manual.yml': [
    on(form({ prompt: "It's $HOME, `x`", wait: 'false' }), 'takes the form as it was filled in', {
      ends: ['started'],
      sends: ['your-guides/job'],
      prompt: ["It's $HOME, `x`"],
    }),
    on(form({ prompt: 'Shorten it.', 'dry-run': 'true' }), 'only shows what would be sent', {
      ends: ['dry-run'],
      says: 'Shorten it.',
    }),
    on(seeded('Shorten it.', 3600), 'says more to a job', { sends: [MESSAGE], prompt: ['Shorten it.'] }),
    on(seeded('', 60), 'only waits for it without a prompt', { sends: [] }),
  ],
  'by-number.yml': [
    on(dispatch({ 'pull-request': '1' }), 'sends what the pull request has', {
      prepare: pull().prepare,
      prompt: ['+twice'],
    }),
  ],
  'issue.yml': [
    on(issue('octocat'), 'has a job if it is labelled', { prompt: ['Explain --retry'] }),
    on(issue('reader'), 'refuses a reader who labels it', SKIPPED),
    on(issue('octocat', '/docs', { state: 'closed' }), 'is left alone if it is closed', NOT_RUN),
    on(issue('octocat', '/docs Show it.', CONTRIBUTOR), 'sends each comment to the one job', {
      ...TWICE,
      runs: 2,
      prompt: ['Explain --retry', 'Show it.'],
    }),
    on(issue('octocat', 'Good!'), 'leaves out other comments', NOT_RUN),
    on(issue('stranger', '/docs', STRANGER), 'does not even queue a stranger', NOT_RUN),
    on(issue('reader', '/docs'), 'refuses a member without write access', SKIPPED),
    on(command('octocat', '/docs'), 'leaves out pull requests', NOT_RUN),
  ],
  'react.yml': [
    on(PUSH, 'tells of the pull request', announced('opened', `Docs ready for review: ${PR_LINK}`)),
    on(PUSH, 'tells that the job failed', {
      ...announced('failed', `Docs job: failed, see https://github.com/${REPOSITORY}/actions/runs/1`),
      service: { scenario: { endStatus: 'failed' } },
      ends: ['failed'],
      fails: true,
    }),
    on(PUSH, 'tells that the job is archived, but succeeds', {
      ...announced('archived', 'Docs job: archived, see '),
      service: { scenario: { endStatus: 'archived' } },
      ends: ['archived'],
    }),
    on(PUSH, 'tells that the step did not run', {
      ...announced('did-not-run', 'Docs job: did not run, see '),
      edit: (yaml) => yaml.replace('    steps:\n', '    steps:\n      - run: exit 1\n'),
      ends: [],
      fails: true,
    }),
    on(PUSH, 'says nothing if nothing changed', {
      ...announced('no-changes'),
      service: { scenario: 'no-changes' },
      ends: ['no-changes'],
    }),
  ],
  'central.yml': [
    on(PUSH, 'is called with a project', { ...CALL, prompt: ['+new'] }),
    on(PUSH, 'can be switched off', { ...CALL, ...NOT_RUN, vars: () => ({ DOCS_JOBS: 'off' }) }),
  ],
  'ghes.yml': [
    on(pull(), "reads and writes at the server's own API", {
      apiPrefix: '/api/v3',
      hidesNetwork: true,
      vars: ({ network }: Place) => ({ ...network, NO_PROXY: 'localhost' }),
      check: ({ github }) =>
        expect(github.requests.every(({ path }) => path.startsWith('/api/v3/'))).toBe(true),
    }),
    on(pull(), 'asks at the address of the variable', {
      vars: ({ service, network }: Place) => ({ ...network, AGENT_BASE_URL: service.url }),
      check: ({ service: { url, requests } }) =>
        expect(requests.every(({ headers }) => url === `http://${headers.host}`)).toBe(true),
    }),
  ],
  'test-with-emulator.yml': [
    on(pull(), 'needs no service, and shows what was asked', {
      sends: [],
      says: 'POST /v2/agent/any/job 201 {"prompt":"Bring the docs',
    }),
    on(pull({ author: 'mintlify[bot]' }), "runs on the agent's pull requests, too", { sends: [] }),
    on(pull({ author: 'stranger', from: 'stranger/your-repo' }), 'runs on forks, too', { sends: [] }),
  ],
}

/** Recipes for pull requests leave out forks and Dependabot, which have no secrets. */
for (const name of [
  'pull-request',
  'ready',
  'on-merge',
  'follow-code',
  'docs-pull-request',
  'budget',
  'ghes',
]) {
  const event = name === 'on-merge' ? { actions: ['closed'], merged: true } : {}
  CASES[`${name}.yml`] = [
    ...(CASES[`${name}.yml`] ?? []),
    on(pull({ ...event, from: 'stranger/your-repo' }), 'leaves out forks', NOT_RUN),
    on(pull({ ...event, author: 'dependabot[bot]' }), 'leaves out Dependabot', NOT_RUN),
  ]
}

/** Outcomes that come after a job was created. */
const OF_A_JOB = ['pr-opened', 'no-changes', 'failed', 'archived', 'started']

function checkCase(ran: Ran, yaml: string, { ends = ['pr-opened'], fails = false, ...one }: Case): void {
  expect(ran.outputs.map(({ outcome }) => outcome).sort()).toEqual([...ends].sort())
  expect(ran.succeeded).toBe(!fails)
  const posts = ran.service.requests.filter(({ method }) => method === 'POST')
  const sent = posts.map(({ path }) =>
    path.replace(/.*\/agent\//, '').replace(/job\/[^/]+\/message$/, 'message'),
  )
  const sends = one.sends ?? (ends.some((outcome) => OF_A_JOB.includes(outcome)) ? [JOB] : [])
  expect(sent.sort()).toEqual([...sends].sort())
  const prompt = JSON.parse(posts.at(-1)?.body ?? '{}').prompt
  for (const words of one.prompt ?? []) expect(prompt).toContain(words)
  expect(ran.gh.writes).toEqual(one.gh ?? [])
  if (one.says !== undefined) expect(ran.printed).toContain(one.says)
  const [, scope] = /job-scope: (\S+)/.exec(yaml) ?? []
  const place = { 'pull-request': 1, issue: 40 }[scope ?? '']
  const comments = [...ran.repository.comments.values()].map(({ issue, body }) => [issue, body])
  const link = expect.stringContaining(ends.includes('error') ? '' : `https://github.com/${DOCS}/pull/`)
  expect(comments).toEqual(place && sends.length > 0 ? [[place, link]] : [])
  one.check?.(ran)
  expect(ran.leftover).toEqual([])
}

test.concurrent.each(
  Object.entries(CASES).flatMap(([name, cases]) =>
    cases.map((one) => [`${name}, on ${one.event}: ${one.that}`, name, one] as const),
  ),
)(
  '%s',
  async (_, name, one) => {
    const yaml = readFileSync(`examples/${name}`, 'utf8')
    const start = but(one, ({ repository }) =>
      repository.collaborators.set('octocat', { permission: 'write', role_name: 'write' }),
    )
    const ran = await runWorkflow(name, one.edit?.(yaml) ?? yaml, start)
    try {
      checkCase(ran, yaml, one)
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n\n${ran.log}`, { cause: error })
    }
  },
  scaled(120_000),
)

test('every example is run, on each of its events, and nothing else', () => {
  const events = readdirSync('examples').map((name) => {
    const { on } = parse(readFileSync(`examples/${name}`, 'utf8'))
    const named: string[] = typeof on === 'string' ? [on] : Object.keys(on)
    // A workflow that is called runs on the caller's event.
    return [name, named.map((event) => (event === 'workflow_call' ? 'push' : event)).sort()]
  })
  const run = Object.entries(CASES).map(([name, cases]) => [
    name,
    [...new Set(cases.map(({ event }) => event))].sort(),
  ])
  expect(Object.fromEntries(run)).toEqual(Object.fromEntries(events))
})
