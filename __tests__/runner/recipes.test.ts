/**
 * Every workflow of examples/, as it stands, by a real runner: what it sends, what its steps do,
 * how it ends.
 */

import { readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { expect, jest, test } from '@jest/globals'
import { parse } from 'yaml'
import { text } from '../support/files.js'
import type { Repository } from '../support/github.js'
import { BAD_GATEWAY, file, sha } from '../support/github.js'
import type { PullState } from '../support/github-state.js'
import { scaled } from '../support/time.js'
import { HOME } from '../support/workflows.js'
import { expectSuccess } from './act.js'
import {
  DOCS,
  ENTERPRISE,
  KEY,
  PR_LINK,
  type Ran,
  REPOSITORY,
  runWorkflow,
  SPEED,
  type Start,
  type World,
} from './world.js'

jest.setTimeout(scaled(120_000))

/** What triggers a recipe, and what comes out. */
type Case = Start &
  Partial<{
    /** The outcomes of the action's steps in the last run (default: pr-opened). */
    ends: string
    /** What all runs send (default: one new job if a step ends as if it had sent one). */
    sends: string
    /** What the last prompt contains. */
    prompt: string | readonly string[]
    /**
     * What each comment on the recipe's thread contains (default: one, with the link, if
     * something is sent).
     */
    comments: readonly string[]
    /** What `gh` changes. */
    gh: readonly string[]
    /** What the steps print. */
    says: string
    /** Default: if the agent fails, or on an error. */
    fails: boolean
    check: (ran: Ran) => void
    /** Changes the workflow, to make something fail that usually does not. */
    edit: readonly [from: string | RegExp, to: string] | ((yaml: string) => string)
    /** Changes the world before each run, after `prepare`. */
    also: (world: World, run: number) => unknown
  }>

/** What triggers it, what that shows, and what is special about it. */
type Row = readonly [start: Start, that: string, more?: Partial<Case>]

const JOB = 'your-project/job'
const MESSAGE = 'your-project/message'
const TWICE = { sends: `${JOB}, ${MESSAGE}` }
const MERGED_DOCS = { docsPull: { state: 'closed', merged: true } } as const
/** Once the docs of the first run are merged. */
const NEW_JOB = { ...MERGED_DOCS, sends: `${JOB}, ${JOB}` }
const NOT_RUN = { ends: '' }
const STOPPED = { ...NOT_RUN, fails: true }
const SKIPPED = { ends: 'skipped' }
/** After a first run that sent a job. */
const DRY_RUN = { ends: 'dry-run', sends: JOB }
const NO_CHANGES = { scenario: 'no-changes', ends: 'no-changes' }
const NO_COMMENT = { comments: [] }
/** In the folders of both projects of by-folder-on-merge.yml. */
const BOTH = ['apps/web/a.ts', 'services/api/b.ts']
const ASKS_BOTH = { ends: 'pr-opened, pr-opened', sends: 'your-api-docs/job, your-web-docs/job' }

const DOCS_LINK = `https://github.com/${DOCS}/pull/`
const CODE = `https://github.com/${REPOSITORY}/pull/1`
const sender = (login: string) => ({ login, type: login.endsWith('[bot]') ? 'Bot' : 'User' })

type Pull = Partial<{
  author: string
  /** Who triggers the last run. */
  by: string
  from: string
  label: string
  merged: boolean
  draft: boolean | 'after the first run'
  labels: readonly object[]
  /** What becomes of it once the service has accepted the docs job. */
  later: Partial<PullState>
}>

/**
 * Pull request 1, in a run for each action, such as `opened, closed`. It is closed if that is the
 * action.
 */
function pull(
  each = 'opened',
  { author = 'octocat', by = author, from = REPOSITORY, label, later, ...rest }: Pull = {},
) {
  const actions = each.split(', ')
  const { merged = false, draft = false, labels = [] } = rest
  return {
    event: 'pull_request',
    actor: by,
    runs: actions.length,
    payload: (_: World, run: number) => ({
      action: actions[run - 1],
      number: 1,
      ...(label && { label: { name: label } }),
      pull_request: {
        number: 1,
        body: null,
        ...{ title: 'Add --retry', labels, merged, user: sender(author), html_url: CODE },
        draft: draft === 'after the first run' ? run > 1 : draft,
        base: { ref: 'main', repo: { full_name: REPOSITORY } },
        head: { ref: 'retry', sha: sha('head'), repo: { full_name: from } },
      },
      sender: sender(run === actions.length ? by : author),
    }),
    prepare: ({ repository }: World, run: number) => {
      // A push that changes nothing sends nothing.
      const files = [file('src/retry.ts', `@@ -1 +1 @@\n-once\n+twice${' '.repeat(run - 1)}`)]
      const closed = actions[run - 1] === 'closed' && ({ state: 'closed', merged } as const)
      repository.addPull({ number: 1, author, files, ...closed })
    },
    accepted: (repository: Repository) => later && repository.addPull({ number: 1, ...later }),
  }
}

const UPDATED = pull('opened, synchronize')
const OPENED = pull()
const CLOSED_BY_MERGE = pull('opened, closed', { merged: true })
const READY_FOR_REVIEW = pull('ready_for_review')
const BY_RENOVATE = pull('opened', { author: 'renovate[bot]' })

/**
 * A run for a fork has no secrets, nor has one by Dependabot. If a person merges or pushes, it has.
 */
const LEFT_OUT: readonly Row[] = [
  [pull('opened', { from: 'stranger/your-repo' }), 'leaves out forks', NOT_RUN],
  [pull('opened', { author: 'dependabot[bot]', by: 'octocat' }), 'leaves out Dependabot', NOT_RUN],
  [pull('opened', { draft: true }), 'leaves out drafts', NOT_RUN],
]

/** A push with a commit of each author. */
const pushBy = (authors: readonly string[], ...changed: readonly string[]) => ({
  event: 'push',
  payload: ({ sha: after, before }: World) => ({
    ref: 'refs/heads/main',
    before,
    after,
    commits: authors.map((username, index) => ({
      id: index + 1 < authors.length ? sha(`commit ${index}`) : after,
      message: 'Retry',
      author: { username },
    })),
  }),
  prepare: ({ repository, sha: after, before }: World) =>
    repository.addComparison(before, after, { files: changed.map((name) => file(name)) }),
})
const push = (...changed: readonly string[]) => pushBy(['octocat'], ...changed)
const PUSH = push('src/retry.ts')
/** A push that merged pull request 1. */
function merge(author: string, changed = ['src/retry.ts']) {
  const { prepare, ...start } = pushBy([author], ...changed)
  return {
    ...start,
    prepare: (world: World) => {
      prepare(world)
      const files = changed.map((name) => file(name, '@@ -1 +1 @@\n-once\n+twice'))
      const closed = { state: 'closed', merged: true, mergeCommit: world.sha } as const
      world.repository.addPull({ number: 1, author, files, ...closed })
    },
  }
}
const MERGED = merge('octocat')
const MERGED_SEVERAL = { ...MERGED, payload: pushBy(['stranger', 'octocat']).payload }
const TAG = { event: 'push', payload: { ref: 'refs/tags/v1.2.0' } }

/** The same push, of a fork that is synced. */
const synced = (start: Start, more?: Partial<Case>): Row => [
  start,
  'is left alone in a fork',
  {
    ...more,
    ...NOT_RUN,
    payload: (world, run) => {
      const { payload = {} } = start
      const own = typeof payload === 'function' ? payload(world, run) : payload
      return { ...own, repository: { fork: true } }
    },
  },
]

/** An OpenAPI description before and after a push. */
const described = (before: object, after: string): Start => ({
  ...push('openapi.json'),
  filesBefore: { 'openapi.json': JSON.stringify(before) },
  files: { 'openapi.json': after },
})
const API = { openapi: '3.1.0', paths: { '/once': {} } }
const RETRY = '{"openapi":"3.1.0","paths":{"/once":{},"/retry":{}}}'
const ADDED = described(API, RETRY)

const dispatch = (inputs: object): Start => ({
  event: 'workflow_dispatch',
  payload: { inputs },
})
/** The form of manual.yml. */
const form = (inputs: object): Start =>
  dispatch({ project: 'your-project', wait: 'true', 'dry-run': 'false', ...inputs })
const SEED = { id: 'seeded-job', projectId: 'your-project' }
const seeded = (prompt: string, ageSeconds: number): Start => ({
  ...form({ 'job-id': SEED.id, prompt }),
  scenario: { initialJobs: [{ ...SEED, ageSeconds }] },
})

/** A comment on issue 40; without one, its label. */
function issue(by: string, body = '', association = 'MEMBER', fields = {}): Start {
  const comment = { user: sender(by), author_association: association, body }
  return {
    event: body ? 'issue_comment' : 'issues',
    actor: by,
    payload: {
      ...(body ? { action: 'created', comment } : { action: 'labeled', label: { name: 'docs' } }),
      issue: {
        number: 40,
        title: 'Explain --retry',
        state: 'open',
        user: sender('stranger'),
        ...fields,
      },
      sender: sender(by),
    },
  }
}

/** A comment on pull request 1, which is from a fork. */
const command = (by: string, body: string, association?: string): Start => ({
  ...issue(by, body, association, { number: 1, pull_request: {} }),
  prepare: pull('opened', { author: 'stranger' }).prepare,
})

/** Which comments count, and whose. */
const ofComments = (comment: typeof command): Row[] => [
  [comment('reader', '/docs'), 'refuses a member without write access', SKIPPED],
  [comment('stranger', '/docs', 'NONE'), 'does not even queue a stranger', NOT_RUN],
  [comment('octocat', '/docs\r\nShow it.'), 'takes more lines', { prompt: 'Show it.' }],
  [comment('octocat', 'Where are the /docs?'), 'leaves out other comments', NOT_RUN],
  [comment('octocat', '/docsearch is down'), 'leaves out other words', NOT_RUN],
]

/** Files that changed since v1.1.0. */
function addRelease({ repository, sha: head }: World, name: string): void {
  repository.addRelease('v1.1.0', '2026-01-01T00:00:00Z')
  repository.addComparison(sha('v1.1.0'), head, { files: [file(name)] })
}
const RELEASE: Start = {
  event: 'release',
  payload: {
    action: 'published',
    release: { id: 5, tag_name: 'v1.2.0', published_at: '2026-01-02T00:00:00Z', body: 'Retries.' },
  },
  prepare: (world) => {
    addRelease(world, 'src/retry.ts')
    world.repository.addRelease('v1.2.0', '2026-01-02T00:00:00Z')
  },
}

const startedOn = (ref: string): Start => ({
  ...RELEASE,
  event: 'workflow_dispatch',
  payload: { inputs: {}, ref },
})

/** A run of schedule.yml that succeeded before, with or without a commit since. */
const schedule = (event: string, changed: boolean, inputs = {}): Start => ({
  event,
  payload: { schedule: '17 3 * * 1-5', inputs },
  prepare: (world) => {
    const { repository, before, sha: head } = world
    repository.addRun({ path: '.github/workflows/schedule.yml', head_sha: changed ? before : head })
    repository.addComparison(before, head, { files: [file('src/retry.ts')] })
    addRelease(world, 'src/since.ts')
  },
})

/** Since the last success, the agent's docs and Renovate's update were merged. */
const NIGHT_OF_BOTS: Start = {
  ...schedule('schedule', true),
  prepare: ({ repository, before, sha: head }) => {
    repository.addRun({ path: '.github/workflows/schedule.yml', head_sha: before })
    const commits = ['mintlify[bot]', 'renovate[bot]'].map((author) =>
      repository.addCommit({ sha: author === 'renovate[bot]' ? head : sha(author), author }),
    )
    repository.addComparison(before, head, { files: [file('src/retry.ts')], commits })
  },
}

/** Since the last success, this page was changed. */
const translate = (event: string, page: string, inputs = {}): Start => ({
  event,
  payload: { schedule: '17 3 * * 1', inputs },
  prepare: (world) => {
    const { repository, before, sha: head } = world
    repository.addRun({ path: '.github/workflows/translations.yml', head_sha: before })
    repository.addComparison(before, head, { files: [file(page)] })
    addRelease(world, 'docs/en/since.mdx')
  },
})
/** One for each language. */
const BOTH_LANGUAGES = {
  ends: 'pr-opened, pr-opened',
  sends: `${JOB}, ${JOB}`,
  comments: [DOCS_LINK, DOCS_LINK],
}

/** Two other repositories, which anybody can read, and a night in which both changed. */
const NIGHT: Start = {
  event: 'schedule',
  payload: { schedule: '17 3 * * 1-5' },
  prepare: ({ github, repository }) => {
    const path = '.github/workflows/other-repositories.yml'
    repository.addRun({ id: 1, path, conclusion: null })
    repository.addRun({ path, created_at: '2026-11-19T03:17:00Z' })
    for (const [name, changed] of [
      ['your-org/your-other-repo', 'packages/a.ts'],
      ['your-org/code', 'src/retry.ts'],
    ] as const) {
      const code = github.addRepository(name, { foreign: true })
      for (const branch of ['main', 'release/2.x']) {
        code.push('2026-11-18T00:00:00Z', { branch })
        code.push('2026-11-19T12:00:00Z', { branch, commit: { files: [file(changed)] } })
      }
    }
  },
}
/** The tests' own repository has the recipe's first name. */
const OF_OTHERS: readonly [RegExp, string] = [/your-org\/your-repo/g, 'your-org/code']

/** Runs of budget.yml this month, and how many docs pull requests are open. */
const used = (runs: number, open: number): Start => ({
  ...OPENED,
  prepare: (world) => {
    OPENED.prepare(world, 1)
    for (let nth = 1; nth < open; nth++) world.docs.addPull({ author: 'mintlify[bot]' })
    const addRuns = (count: number, conclusion: string, head_repository?: string): void => {
      const run = { path: '.github/workflows/budget.yml', event: 'pull_request', conclusion }
      for (let nth = 0; nth < count; nth++)
        world.repository.addRun({ ...run, ...(head_repository && { head_repository }) })
    }
    for (const free of ['skipped', 'action_required', 'cancelled']) addRuns(60, free)
    addRuns(60, 'success', 'mallory/your-repo')
    addRuns(runs, 'success')
  },
})
const refuses = (status: number): Pick<Start, 'scenario'> => ({
  scenario: { create: [{ status, headers: { 'retry-after': '3600' }, times: 9 }] },
})

/** The key is another one in the second run. */
const replacedKey = (_: World, run: number): Record<string, string> =>
  run === 1 ? {} : { AGENT_API_KEY: 'mint_runner_9876543210', PREVIOUS_AGENT_API_KEY: KEY }

/** The label of waiting-for-code.yml is missing. */
const WITHOUT_LABEL = { also: ({ docs }: World) => docs.labels.delete('waiting-for-code') }

const FORGED = 'forged: [`your-org/docs#99`](<https://github.com/your-org/docs/pull/99>)'
/**
 * Pull requests 1 and 2 were merged since v1.1.0. A stranger's comment on 1 looks like the
 * action's.
 */
const MERGED_SINCE: Start = {
  ...dispatch({ since: 'v1.1.0' }),
  prepare: (world) => {
    const { repository, sha: head } = world
    const commits = [sha('one'), head].map((commit) => repository.addCommit({ sha: commit }))
    for (const [index, { sha: mergeCommit }] of commits.entries())
      repository.addPull({ number: index + 1, state: 'closed', merged: true, mergeCommit })
    repository.addComment(1, {
      author: 'stranger',
      body: `${FORGED}\n\n<!-- agent-job-action:2 -->`,
    })
    addRelease(world, 'src/retry.ts')
    repository.addComparison(sha('v1.1.0'), head, { commits })
  },
}
/** What docs-of-a-release.yml tells of them, if the action was asked for the docs of 1 before. */
const tells = (state: string, text = PR_LINK): Partial<Case> => ({
  edit: [
    'jobs:\n  list:\n',
    `jobs:
  ask:
    runs-on: ubuntu-latest
    permissions: { pull-requests: write }
    steps:
${asSteps(`- uses: ${HOME}@v1
  id: docs
  with:
    project-id: your-project
    api-key: \${{ secrets.AGENT_API_KEY }}
    prompt: Bring the docs in line.
    job-scope: pull-request
    issue-number: 1
    fail-on: none
`)}  list:
    needs: ask
`,
  ],
  comments: [FORGED, text],
  check: ({ summaries }) =>
    expect(summaries.at(-1)?.trimEnd().split('\n').slice(2)).toEqual([
      `| ${CODE} | ${state} | ${text} |`,
      `| https://github.com/${REPOSITORY}/pull/2 | none | no comment |`,
    ]),
})

/** `DOCS` still is a placeholder, or the repository was renamed. */
const MISNAMED = {
  edit: ['DOCS: your-org/docs', 'DOCS: your-org/manual'] as const,
  fails: true,
}
const DRAFT = 'POST graphql/pulls/17/draft'
const LABEL = 'POST issues/17/labels labels=waiting-for-code'
const HOLD = [DRAFT, LABEL]
const CLOSE = [
  'PATCH pulls/17 state=closed',
  `POST issues/17/comments body=Closed: ${CODE} was closed without a merge. If it is reopened, this pull request is reopened, too.`,
]
const READY = 'POST graphql/pulls/17/ready'
const FREE = [READY, 'DELETE issues/17/labels/waiting-for-code']

/**
 * A docs job that is slower than the step that starts it. The later runs begin when it has ended,
 * or at once.
 */
function slower(end: 'ended' | 'active', ...of: Parameters<typeof pull>): Case {
  return {
    ...pull(...of),
    scenario: { jobSeconds: end === 'ended' ? 6 * SPEED : 86_400 },
    edit: ['timeout-minutes: 120', 'timeout-minutes: 0.05'],
    also: (_, run) => run === 2 && end === 'ended' && setTimeout(6000),
    sends: JOB,
    comments: [''],
  }
}

/** The last step of on-merge.yml, which is commented out. */
const [REVIEW = ''] = /^ {6}# - if: [\s\S]*/m.exec(text('examples/on-merge.yml')) ?? []
/** A token that may neither make drafts nor read checks. */
const PULLS_ONLY = { docsToken: { pull_requests: 'write' } } as const
const EDIT = [
  'PATCH pulls/17 title=Docs: Add --retry',
  'POST pulls/17/requested_reviewers reviewers=octocat',
  'POST issues/17/labels labels=automated',
]
const BUILD = 'Mintlify Deployment'
const PREVIEW = 'https://preview.localhost/17'
const status = (state: string, result: string, link = PR_LINK): string =>
  `POST statuses/${sha('head')} context=docs preview state=${state} description=${BUILD}: ${result} target_url=${link}`

const edits = (...of: Parameters<typeof status>) => [...EDIT, status(...of)]

/** The checks of the docs pull request, by name, and its preview. */
const built = (checks: Readonly<Record<string, string>>, preview?: string, actions?: string) => {
  const { prepare, ...start } = pull(actions)
  return {
    ...start,
    prepare: (world: World, run: number) => {
      prepare(world, run)
      if (run > 1) return
      const head_sha = sha('docs')
      for (const [name, conclusion] of Object.entries(checks)) {
        const ended = { status: 'completed', conclusion } as (typeof world.docs.checks)[number]
        world.docs.checks.push({ ...ended, name, head_sha })
      }
      if (preview) world.docs.deployments.push({ sha: head_sha, environment_url: preview })
    },
  }
}
const BUILT = built({ [BUILD]: 'success' })
/** Waits less long for the check. */
const IMPATIENT = {
  edit: (yaml: string) => yaml.replace('{1..40}', '{1..2}').replace('sleep 30', 'true'),
}

/** On GitHub Enterprise Server, with what docs/enterprise.md says. */
const ENTERPRISE_SERVER: Partial<Case> = {
  enterprise: true,
  secrets: ({ network }) => network,
  edit: (yaml) =>
    yaml
      .replaceAll('GH_TOKEN', 'GH_ENTERPRISE_TOKEN')
      .replaceAll('mintlify[bot]', 'your-agent[bot]')
      .replace('permissions: {}\n', `$&env:\n  GH_HOST: ${ENTERPRISE}\n${NETWORK}`),
}
const NETWORK = ['HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS']
  .map((name) => `  ${name}: \${{ secrets.${name} }}\n`)
  .join('')

const asSteps = (steps: string): string => `${steps.trimEnd().replace(/^/gm, '      ')}\n`

/** The YAML in the comment of a recipe. */
const inComment = (yaml: string): string =>
  [...yaml.matchAll(/^# {3}(.*)$/gm)].map(([, line]) => line).join('\n')

/** The workflow in the comment calls the recipe. */
const CALLED = { edit: inComment, vars: () => ({ DOCS_JOBS: 'on' }) }
/** Its form. */
const asked = (inputs: object): Start => ({
  ...dispatch({ 'dry-run': 'false', ...inputs }),
  prepare: OPENED.prepare,
})

const EMULATED = { sends: '', says: 'POST /v2/agent/any/job 201 {"prompt":"Bring the docs' }

const CHATS = /^\/(?:slack|teams)$/
/** A push of which two chats are told a text; none is, if it is undefined. */
function announced(text: string | undefined): Partial<Case> {
  const slack = { text: expect.stringContaining(text ?? '') }
  const content = {
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', ...slack, wrap: true }],
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content }
  const teams = { type: 'message', attachments: [attachment] }
  return {
    secrets: ({ github: { url } }) => ({
      SLACK_WEBHOOK: `${url}/slack`,
      TEAMS_WEBHOOK: `${url}/teams`,
    }),
    also: (world) =>
      world.github.faults.push({ path: CHATS, times: 2, answer: { status: 200, body: 'ok' } }),
    check: ({ github }) => {
      const told = github.requests.filter(({ path }) => CHATS.test(path))
      const all = [['/slack', slack] as const, ['/teams', teams] as const]
      expect(told.map(({ path, body }) => [path, body])).toEqual(text === undefined ? [] : all)
    },
  }
}

const CASES: Readonly<Record<string, readonly Row[]>> = {
  'pull-request.yml': [
    [UPDATED, 'has one job', { ...TWICE, prompt: '+twice' }],
    [READY_FOR_REVIEW, 'has one once it is ready for review'],
    [UPDATED, 'has a new job once its docs are merged', NEW_JOB],
    [pull('opened', { by: 'reader' }), 'refuses a reader who opens it', SKIPPED],
    [
      pull('opened', { author: 'dependabot[bot]', by: 'octocat' }),
      'takes Dependabot without the line on it',
      { edit: [/.*'dependabot\[bot\]' &&\n/, ''] },
    ],
    ...LEFT_OUT,
  ],
  'ready.yml': [
    [READY_FOR_REVIEW, 'has a job once it is ready for review'],
    [pull('labeled, labeled', { label: 'docs', draft: true }), 'has one for its label', TWICE],
    [pull('labeled', { label: 'bug' }), 'leaves out other labels', NOT_RUN],
    [
      pull('labeled', { label: 'docs', labels: [{ name: 'docs' }] }),
      'has one if it is no draft, too',
    ],
    [
      pull('opened', { labels: [{ name: 'docs' }] }),
      'leaves it to the label if it is opened with it',
      NOT_RUN,
    ],
    [
      pull('ready_for_review', { labels: [{ name: 'docs' }] }),
      'has a job when a labelled draft is ready',
    ],
    [BY_RENOVATE, 'skips Renovate', SKIPPED],
    ...LEFT_OUT,
  ],
  'on-merge.yml': [
    [merge('stranger'), 'has a job for what a fork brought', { prompt: '+twice' }],
    [merge('dependabot[bot]'), 'has one for an update by Dependabot', { prompt: '+twice' }],
    [pushBy(['mintlify[bot]'], 'src/retry.ts'), 'skips what only the agent wrote', SKIPPED],
    [PUSH, 'has a job for a push without a pull request', { ...NO_COMMENT, prompt: '+new' }],
    [MERGED_SEVERAL, 'has one for a push that merges several', { ...NO_COMMENT, prompt: '+new' }],
    [
      { ...MERGED, ...dispatch({ 'pull-request': '1' }) },
      'can be asked by a number, and again',
      { ...TWICE, runs: 2, prompt: '+twice' },
    ],
    [
      MERGED,
      'can ask the author for a review, with the step that is commented out',
      {
        edit: (yaml) => yaml.replace(REVIEW, REVIEW.replaceAll(/^ {6}# /gm, '      ')),
        payload: (world) => ({
          ...MERGED.payload(world),
          head_commit: { id: world.sha, author: { username: 'octocat' } },
        }),
        ...PULLS_ONLY,
        gh: ['POST pulls/17/requested_reviewers reviewers=octocat'],
      },
    ],
    synced(MERGED),
  ],
  'by-folder-on-merge.yml': [
    [
      merge('stranger', BOTH),
      'asks both projects, each with a comment of its own',
      { ...ASKS_BOTH, comments: [DOCS_LINK, DOCS_LINK] },
    ],
    [
      merge('octocat', ['packages/schema/retry.json']),
      'asks the project whose folders changed',
      { ends: 'pr-opened, skipped', sends: 'your-api-docs/job' },
    ],
    [
      merge('octocat', BOTH),
      'goes on with the others if one fails',
      {
        ...ASKS_BOTH,
        scenario: { create: [{ status: 400, error: 'No such docs' }] },
        ends: 'error, pr-opened',
        comments: ['', ''],
      },
    ],
    [push(...BOTH), 'asks about a push without a pull request', { ...ASKS_BOTH, ...NO_COMMENT }],
    [
      merge('octocat', BOTH),
      'can ask about every push alone',
      {
        ...ASKS_BOTH,
        ...NO_COMMENT,
        edit: [/^ *(?:job-scope|pull-requests): .*\n/gm, ''],
      },
    ],
    [merge('renovate[bot]', BOTH), 'skips one of Renovate', { ends: 'skipped, skipped' }],
  ],
  'command.yml': [
    [
      command('octocat', '/docs Show it.', 'CONTRIBUTOR'),
      'sends each comment to the one job',
      { ...TWICE, runs: 2, prompt: ['Show it.', '+twice'] },
    ],
    ...ofComments(command),
    [issue('octocat', '/docs'), 'leaves out issues', NOT_RUN],
  ],
  'follow-code.yml': [
    [OPENED, 'makes the docs a draft and labels them', { gh: HOLD }],
    [UPDATED, 'holds them back at each push', { ...TWICE, gh: [...HOLD, LABEL] }],
    [
      OPENED,
      'only labels them if there are no drafts',
      {
        also: ({ docs }) => {
          docs.hasDrafts = false
        },
        gh: [LABEL],
      },
    ],
    [OPENED, 'only labels them if the token may not make drafts', { ...PULLS_ONLY, gh: [LABEL] }],
    [OPENED, 'only makes them a draft if there is no label', { ...WITHOUT_LABEL, gh: [DRAFT] }],
    [OPENED, 'fails if nothing holds them back', { ...WITHOUT_LABEL, ...PULLS_ONLY, fails: true }],
    [CLOSED_BY_MERGE, 'frees them when the code is merged', { ...DRY_RUN, gh: [...HOLD, ...FREE] }],
    [
      CLOSED_BY_MERGE,
      'frees them without a label, too',
      { ...DRY_RUN, ...WITHOUT_LABEL, gh: [DRAFT, READY] },
    ],
    [
      pull('opened, closed', { draft: 'after the first run' }),
      'closes them with a draft, too',
      { ...DRY_RUN, gh: [...HOLD, ...CLOSE] },
    ],
    [
      pull('opened, closed, reopened'),
      'closes and reopens them with the code',
      { ...DRY_RUN, gh: [...HOLD, ...CLOSE, 'PATCH pulls/17 state=open', LABEL] },
    ],
    [
      slower('ended', 'opened, closed'),
      'closes what a job opened after its step ended',
      { ends: 'dry-run, pr-opened', gh: CLOSE },
    ],
    [
      slower('ended', 'opened, reopened'),
      'holds back what a job opened after its step ended',
      { ends: 'dry-run, pr-opened', gh: HOLD },
    ],
    [
      UPDATED,
      'leaves them closed if somebody closed them',
      {
        ...SKIPPED,
        also: ({ docs }, run) => run === 2 && docs.addPull({ number: 17, state: 'closed' }),
        sends: JOB,
        gh: HOLD,
      },
    ],
    [
      slower('active', 'opened, closed', { merged: true }),
      'asks once for a job that is not done',
      { ends: 'dry-run, started' },
    ],
    [
      pull('opened, closed', { by: 'reader' }),
      'follows nobody without write access',
      { ...SKIPPED, sends: JOB, gh: HOLD },
    ],
    [
      pull('opened', { later: { state: 'closed', merged: true } }),
      'frees them if the code was merged meanwhile',
      { docsPull: { draft: true, labels: new Set(['waiting-for-code']) }, gh: FREE },
    ],
    [
      pull('opened', { later: { state: 'closed' } }),
      'closes them if the code was closed meanwhile',
      { gh: CLOSE },
    ],
    [
      CLOSED_BY_MERGE,
      'works on GitHub Enterprise Server',
      { ...ENTERPRISE_SERVER, ...DRY_RUN, gh: [...HOLD, ...FREE] },
    ],
    [OPENED, 'leaves docs alone that are merged', { ...MERGED_DOCS }],
    [
      pull('opened, closed'),
      'warns if the code is closed after its docs',
      {
        ...DRY_RUN,
        also: ({ docs }, run) =>
          run === 2 && docs.addPull({ number: 17, state: 'closed', merged: true }),
        gh: HOLD,
        check: ({ log }) =>
          expect(log).toContain(`::warning::${CODE} was closed, but its docs were merged`),
      },
    ],
    [OPENED, 'fails if the docs are elsewhere', MISNAMED],
    ...LEFT_OUT,
  ],
  'waiting-for-code.yml': [
    [
      pull('opened', { labels: [{ name: 'waiting-for-code' }] }),
      'fails while it has the label',
      STOPPED,
    ],
    [pull('opened', { labels: [{ name: 'docs' }] }), 'succeeds without it', NOT_RUN],
  ],
  'docs-pull-request.yml': [
    [
      built({ [BUILD]: 'success' }, PREVIEW),
      'edits the docs pull request, and shows its preview',
      { gh: edits('success', 'success', PREVIEW) },
    ],
    [
      built({ lint: 'success', [BUILD]: 'failure' }),
      'shows that the build failed, without a preview',
      { gh: edits('failure', 'failure') },
    ],
    [
      built({ [BUILD]: 'cancelled' }),
      "can't tell if the build was cancelled",
      { gh: edits('error', 'cancelled') },
    ],
    [
      built({ lint: 'success' }),
      "can't tell if there is no build",
      { ...IMPATIENT, gh: edits('error', 'unknown') },
    ],
    [
      BUILT,
      "can't tell if the token may not read checks",
      {
        ...IMPATIENT,
        ...PULLS_ONLY,
        gh: edits('error', 'unknown'),
      },
    ],
    [
      BUILT,
      'asks again if GitHub fails',
      {
        ...IMPATIENT,
        also: ({ github }) => github.faults.push({ path: /\/check-runs/, answer: BAD_GATEWAY }),
        gh: edits('success', 'success'),
      },
    ],
    [
      built({ [BUILD]: 'success' }, undefined, 'opened, synchronize'),
      'asks reviewers once',
      { ...TWICE, gh: [...EDIT, status('success', 'success'), status('success', 'success')] },
    ],
    [
      BUILT,
      'goes on if the author has no access to the docs repository',
      {
        also: ({ github }) => {
          const body = { message: 'Reviews may only be requested from collaborators.' }
          github.faults.push({ path: /requested_reviewers/, answer: { status: 422, body } })
        },
        gh: [...EDIT.filter((call) => !call.includes('reviewers')), status('success', 'success')],
        check: ({ log }) => expect(log).toContain("::notice::octocat can't be asked for a review"),
      },
    ],
    [BUILT, 'fails if the docs are elsewhere', MISNAMED],
    [
      BUILT,
      'fails if there is no such label',
      { also: ({ docs }) => docs.labels.delete('automated'), fails: true, gh: EDIT.slice(0, 2) },
    ],
    ...LEFT_OUT,
  ],
  'budget.yml': [
    [used(50, 2), 'sends up to the limits'],
    [
      used(51, 1),
      'sends nothing after so many runs, and says so',
      {
        ...NOT_RUN,
        check: ({ log }) => expect(log).toContain('::notice::No docs job: 51 runs this month'),
      },
    ],
    [BY_RENOVATE, 'leaves out bots', NOT_RUN],
    [used(1, 3), 'sends nothing while so many are open', NOT_RUN],
    [used(1, 1), 'fails if it may not read the docs repository', { ...STOPPED, docsToken: {} }],
    [
      used(1, 1),
      "takes the workflow's own token if there is no other",
      {
        edit: ['your-org/docs', REPOSITORY],
        secrets: () => ({ DOCS_TOKEN: '' }),
      },
    ],
    [
      used(1, 1),
      'fails if there is no such agent',
      { ...STOPPED, edit: ['AGENT: mintlify', 'AGENT: mintlfy'] },
    ],
    [
      used(1, 2),
      'works on GitHub Enterprise Server',
      { ...ENTERPRISE_SERVER, docsPull: { author: 'your-agent[bot]' } },
    ],
    [
      used(1, 1),
      "stays green at the service's limit",
      { ...refuses(429), ends: 'error', fails: false },
    ],
    [used(1, 1), 'fails on other errors', { ...refuses(403), ends: 'error' }],
    ...LEFT_OUT,
  ],
  'rolling.yml': [
    [PUSH, 'has one job for two pushes', { ...TWICE, runs: 2 }],
    [PUSH, 'has a new job once its pull request is merged', { ...NEW_JOB, runs: 2 }],
    synced(PUSH),
  ],
  'openapi.yml': [
    [
      ADDED,
      'sends what changed in the description',
      { prompt: ['Bring the API reference in line', '+    "/retry": {}'] },
    ],
    [described(API, `{"paths":{"/once":{}},"openapi":"3.1.0"}`), 'leaves out order', NOT_RUN],
    [described(API, '{'), 'fails if it is no JSON', STOPPED],
    [described(API, ''), 'fails if it is empty', STOPPED],
    [
      described(API, '{"error":"Request Entity Too Large","status":413}'),
      'fails if it is an error',
      STOPPED,
    ],
    [described(API, '{"openapi":"3.1.0","paths":{}}'), 'fails if it has lost all paths', STOPPED],
    [described({ error: 'Bad Gateway' }, RETRY), 'fails if it was broken before', STOPPED],
    [{ ...ADDED, filesBefore: {} }, 'fails if it is new or was moved', STOPPED],
    [
      ADDED,
      'fails if the commit before is gone',
      {
        ...STOPPED,
        payload: (world) => ({ ...push('openapi.json').payload(world), before: sha('lost') }),
      },
    ],
  ],
  'schedule.yml': [
    [
      schedule('schedule', true),
      'sends what changed since the last success',
      { prompt: 'src/retry.ts' },
    ],
    [schedule('schedule', false), 'sends nothing if nothing changed', SKIPPED],
    [NIGHT_OF_BOTS, 'sends nothing if only bots committed', SKIPPED],
    [schedule('workflow_dispatch', true), 'can be started by hand', { prompt: 'src/retry.ts' }],
    [
      schedule('workflow_dispatch', false, { since: 'v1.1.0' }),
      'can be told where to begin',
      { prompt: 'src/since.ts' },
    ],
  ],
  'translations.yml': [
    [
      translate('schedule', 'docs/en/retry.mdx'),
      'asks for each language with what changed in English',
      { ...BOTH_LANGUAGES, prompt: ['pages in docs/', 'docs/en/retry.mdx'] },
    ],
    [
      translate('schedule', 'docs/de/retry.mdx'),
      'sends nothing if only a translation changed',
      { ends: 'skipped, skipped' },
    ],
    [
      translate('workflow_dispatch', 'docs/en/retry.mdx', { since: 'v1.1.0' }),
      'can be told where to begin',
      { ...BOTH_LANGUAGES, prompt: 'docs/en/since.mdx' },
    ],
  ],
  'other-repositories.yml': [
    [
      NIGHT,
      'asks once, with what was merged in both since the last green run',
      {
        edit: OF_OTHERS,
        prompt: [
          'Bring the docs',
          'your-org/code/src/retry.ts',
          'your-org/your-other-repo/packages/a.ts',
        ],
      },
    ],
    [
      { ...NIGHT, ...dispatch({ since: '2026-11-19' }) },
      'can be told where to begin',
      { edit: OF_OTHERS, prompt: 'your-org/code/src/retry.ts' },
    ],
    [
      { ...NIGHT, ...dispatch({ since: 'v1.1.0' }) },
      'fails on what is no date',
      { edit: OF_OTHERS, ends: 'error', sends: '' },
    ],
  ],
  'release.yml': [
    [
      RELEASE,
      'sends what changed since the release before',
      { prompt: ['src/retry.ts', 'Retries.'] },
    ],
    [startedOn('refs/tags/v1.2.0'), 'can be started on a tag', { prompt: 'src/retry.ts' }],
    [startedOn('refs/heads/main'), 'is left alone on a branch', NOT_RUN],
  ],
  'start-and-wait.yml': [
    [
      TAG,
      'hands the job on to another job of the run',
      {
        ends: 'pr-opened, started',
        says: `The docs of this release are at ${PR_LINK}`,
        check: ({ outputs: [started, ended] }) =>
          expect(ended?.['job-id']).toBe(started?.['job-id']),
      },
    ],
    [
      TAG,
      'waits for the job even if the release fails',
      {
        edit: ['echo "Your slow steps go here."', 'exit 1'],
        ends: 'pr-opened, started',
        fails: true,
      },
    ],
    [TAG, 'waits for no job if none was started', { scenario: 'unauthorized', ends: 'error' }],
  ],
  'manual.yml': [
    [
      form({ prompt: "It's $HOME, `x`", wait: 'false' }),
      'takes the form as it was filled in',
      { ends: 'started', prompt: "It's $HOME, `x`" },
    ],
    [
      form({ prompt: 'Shorten it.', 'dry-run': 'true' }),
      'only shows what would be sent',
      { ends: 'dry-run', says: 'Shorten it.' },
    ],
    [seeded('Shorten it.', 3600), 'says more to a job', { sends: MESSAGE, prompt: 'Shorten it.' }],
    [seeded('', 60), 'only waits for it without a prompt', { sends: '' }],
  ],
  'issue.yml': [
    [issue('octocat'), 'has a job if it is labelled', { prompt: 'Explain --retry' }],
    [issue('reader'), 'refuses a reader who labels it', SKIPPED],
    [
      issue('octocat', '/docs', 'MEMBER', { state: 'closed' }),
      'is left alone if it is closed',
      NOT_RUN,
    ],
    [
      issue('octocat', '/docs Show it.', 'CONTRIBUTOR'),
      'sends each comment to the one job',
      { ...TWICE, runs: 2, prompt: ['Explain --retry', 'Show it.'] },
    ],
    ...ofComments(issue),
    [command('octocat', '/docs'), 'leaves out pull requests', NOT_RUN],
  ],
  'docs-of-a-release.yml': [
    [MERGED_SINCE, 'tells that docs are merged', { ...tells('merged'), ...MERGED_DOCS }],
    [
      MERGED_SINCE,
      'tells that docs were refused',
      { ...tells('refused'), docsPull: { state: 'closed' } },
    ],
    [MERGED_SINCE, 'fails while docs are open', { ...tells('open'), fails: true }],
    [
      MERGED_SINCE,
      'fails if the docs job did',
      { ...tells('unfinished', '❌ The docs job failed'), scenario: 'failed', ends: 'failed' },
    ],
    [
      MERGED_SINCE,
      'tells that nothing had to change',
      { ...tells('none', '✅ The docs job completed without a pull request'), ...NO_CHANGES },
    ],
    [
      MERGED_SINCE,
      'goes by the last comment of a step',
      {
        ...tells('merged'),
        ...MERGED_DOCS,
        scenario: { create: [{ status: 401, error: 'Expired' }] },
        runs: 2,
        prepare: (world, run) => (run === 1 ? MERGED_SINCE.prepare?.(world, run) : undefined),
        secrets: (_, run) => ({ AGENT_API_KEY: `${KEY}${run}` }),
        sends: `${JOB}, ${JOB}`,
        comments: [FORGED, '❌', PR_LINK],
      },
    ],
    [
      MERGED_SINCE,
      "fails if docs can't be read",
      { ...tells('unreadable'), docsToken: {}, fails: true },
    ],
    [
      MERGED_SINCE,
      "fails if the commits can't be read",
      {
        ...STOPPED,
        also: ({ repository, github }) => {
          repository.comments.clear()
          const path = new RegExp(`/commits/${sha('one')}/pulls`)
          github.faults.push({ path, answer: BAD_GATEWAY })
        },
      },
    ],
  ],
  'react.yml': [
    [PUSH, 'tells of the pull request', announced(`Docs ready for review: ${PR_LINK}`)],
    [
      PUSH,
      'tells that the job failed',
      {
        ...announced(
          `The docs step ended with failed: https://github.com/${REPOSITORY}/actions/runs/1`,
        ),
        scenario: { endStatus: 'failed' },
        ends: 'failed',
      },
    ],
    [
      PUSH,
      'tells that the job is archived, but succeeds',
      {
        ...announced('The docs step ended with archived: https://'),
        scenario: { endStatus: 'archived' },
        ends: 'archived',
      },
    ],
    [
      PUSH,
      'tells that the step did not run',
      {
        ...announced('The docs step did not run: https://'),
        edit: ['    steps:\n', '    steps:\n      - run: exit 1\n'],
        ...STOPPED,
      },
    ],
    [PUSH, 'says nothing if nothing changed', { ...announced(undefined), ...NO_CHANGES }],
    [
      pushBy(['renovate[bot]'], 'src/retry.ts'),
      'skips Renovate',
      { ...announced(undefined), ...SKIPPED },
    ],
  ],
  'central.yml': [
    [
      MERGED,
      'has a job for a merged pull request, which is to name it',
      { ...CALLED, prompt: ['link to the one that the change comes from', '+twice'] },
    ],
    [
      PUSH,
      'has one for a push without a pull request',
      { ...CALLED, ...NO_COMMENT, prompt: '+new' },
    ],
    [merge('renovate[bot]'), 'skips Renovate', { ...CALLED, ...SKIPPED }],
    [
      asked({ 'pull-request': '1' }),
      'has a button for one pull request',
      { ...CALLED, prompt: '+twice' },
    ],
    [
      asked({ 'pull-request': '1', 'dry-run': 'true' }),
      'has a dry run',
      { ...CALLED, ends: 'dry-run', says: 'Bring the docs in line with this change.' },
    ],
    [
      asked({ 'pull-request': '1' }),
      'goes on after the key was replaced',
      { ...CALLED, ...TWICE, runs: 2, secrets: replacedKey },
    ],
    [MERGED, 'is off where the variable is not seen', { edit: inComment, ...NOT_RUN }],
    synced(MERGED, CALLED),
  ],
  'ghes.yml': [
    [
      OPENED,
      "reads and writes at the server's own API",
      {
        enterprise: true,
        secrets: ({ network: { HTTPS_PROXY } }) => ({ HTTPS_PROXY }),
        vars: ({ network: { NODE_EXTRA_CA_CERTS } }) => ({
          NODE_EXTRA_CA_CERTS,
          NO_PROXY: 'localhost',
        }),
        check: ({ github }) =>
          expect(github.requests.every(({ path }) => path.startsWith('/api/v3/'))).toBe(true),
      },
    ],
    [pull('opened', { author: 'your-agent[bot]' }), 'skips the agent', SKIPPED],
    [
      OPENED,
      'asks at the address of the variable',
      {
        vars: ({ service }) => ({ AGENT_BASE_URL: service.url }),
        check: ({ service: { url, requests } }) =>
          expect(requests.every(({ headers }) => url === `http://${headers.host}`)).toBe(true),
      },
    ],
    ...LEFT_OUT,
  ],
  'test-with-emulator.yml': [
    [OPENED, 'needs no service, and shows what was asked', EMULATED],
    [dispatch({}), 'needs no service, and shows what was asked', EMULATED],
    [
      OPENED,
      'shows it if the job fails, too',
      {
        ...EMULATED,
        edit: ['id: emulator\n', '$&        with:\n          scenario: failed\n'],
        ends: 'failed',
      },
    ],
    [
      pull('opened', { author: 'mintlify[bot]' }),
      "runs on the agent's pull requests, too",
      { sends: '' },
    ],
    [
      pull('opened', { author: 'stranger', from: 'stranger/your-repo' }),
      'runs on forks, too',
      { sends: '' },
    ],
  ],
}

const sorted = (list: string): string[] => list.split(', ').filter(Boolean).sort()

function checkCase(ran: Ran, yaml: string, { ends = 'pr-opened', ...one }: Case): void {
  const sent = sorted(ends).filter((outcome) => outcome !== 'skipped' && outcome !== 'dry-run')
  const sends = sorted(one.sends ?? (sent.length > 0 ? JOB : ''))
  expect(ran.outputs.map(({ outcome }) => outcome).sort()).toEqual(sorted(ends))
  expect(ran.succeeded).toBe(!(one.fails ?? /failed|error/.test(ends)))
  const posts = ran.service.requests.filter(({ method }) => method === 'POST')
  const paths = posts.map(({ path }) =>
    path.replace('/v2/agent/', '').replace(/job\/.+\/message$/, 'message'),
  )
  expect(paths.sort()).toEqual(sends)
  const { prompt } = JSON.parse(posts.at(-1)?.body ?? '{}')
  for (const words of [one.prompt ?? []].flat()) expect(prompt).toContain(words)
  expect(ran.ghWrites).toEqual(one.gh ?? [])
  expect(ran.printed).toContain(one.says ?? '')
  const [, scope = ''] = /job-scope: (\S+)/.exec(yaml) ?? []
  const place = { 'pull-request': 1, issue: 40 }[scope]
  const comments = [...ran.repository.comments.values()].map(({ issue, body }) => [issue, body])
  const texts = one.comments ?? [ends.includes('error') ? '' : DOCS_LINK]
  const expected = texts.map((text) => [place, expect.stringContaining(text)])
  expect(comments).toEqual(place && sends.length > 0 ? expected : [])
  one.check?.(ran)
  expect(ran.leftover).toEqual([])
}

const readExample = (name: string): string => text(`examples/${name}`)

const rows = Object.entries(CASES).flatMap(([name, cases]) =>
  cases.map(([start, that, more]) => {
    const one: Case = { ...start, ...more }
    return [`${name}, on ${one.event}: ${that}`, name, one] as const
  }),
)
const run = (name: string, yaml: string, one: Case): Promise<Ran> =>
  runWorkflow(name, yaml, {
    ...one,
    prepare: async (world, run) => {
      world.repository.collaborators.set('octocat', { permission: 'write', role_name: 'write' })
      world.repository.issues.add(40)
      await one.prepare?.(world, run)
      await one.also?.(world, run)
    },
  })

function edit({ edit: how }: Case, yaml: string): string {
  if (how === undefined || typeof how === 'function') return how?.(yaml) ?? yaml
  expect(yaml).toMatch(how[0])
  return yaml.replace(...how)
}

test.concurrent.each(rows)('%s [house.recipe.runs]', async (_, name, one) => {
  const yaml = readExample(name)
  const edited = edit(one, yaml)
  const ran = await run(name, edited, one)
  try {
    checkCase(ran, name === 'central.yml' ? yaml : edited, one)
  } catch (error) {
    throw new Error(`${error}\n\n${ran.log}`, { cause: error })
  }
})

/** Those that have no dry run of their own, nor their step elsewhere, nor need a result. */
const dryRuns = rows.flatMap(([, name, one], at) => {
  const yaml = readExample(name)
  const dry = yaml.replace(/^ {10}project-id:/gm, '          dry-run: true\n$&')
  const isLeftOut =
    dry === yaml || /dry-run:/.test(yaml) || /^(?:central|test-with-emulator)/.test(name)
  return isLeftOut || rows[at - 1]?.[1] === name ? [] : [[name, dry, one] as const]
})
test.concurrent.each(dryRuns)(
  '%s changes nothing in a dry run [house.recipe.runs]',
  async (name, dry, one) => {
    const ran = await run(name, edit(one, dry), one)
    expectSuccess(ran)
    expect(new Set(ran.outputs.map(({ outcome }) => outcome))).toEqual(new Set(['dry-run']))
    const requests = [...ran.service.requests, ...ran.github.requests]
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([])
  },
)

test('every example is run, on each of its events, and nothing else [house.recipe.runs]', () => {
  const all = readdirSync('examples').flatMap((name) => {
    const yaml = readExample(name)
    // A workflow that is called runs on the events of the caller, which is in its comment.
    const { on } = parse(/^ {2}workflow_call:/m.test(yaml) ? inComment(yaml) : yaml)
    const events = Array.isArray(on) ? on : typeof on === 'string' ? [on] : Object.keys(on)
    return events.map((event) => `${name}, ${event}`)
  })
  const run = new Set(rows.map(([, name, { event }]) => `${name}, ${event}`))
  expect([...run].sort()).toEqual(all.sort())
})
