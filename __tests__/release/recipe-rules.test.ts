/** What is true of every recipe: rules that no run of a single one can show. */

import { readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { text } from '../support/files.js'

interface Job {
  readonly if?: string
  readonly needs?: unknown
  readonly permissions?: object
  readonly strategy?: { readonly matrix?: object }
  readonly concurrency?: string | { readonly group: string }
  readonly steps?: readonly Step[]
}

interface Step {
  readonly id?: string
  readonly if?: string
  readonly env?: object
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}

const stepsOf = (job: Job): readonly Step[] => job.steps ?? []
const asks = (job: Job): boolean => stepsOf(job).some((step) => step.with?.['api-key'])

/** What the rules look at: the file, its events with their filters, and its workflow jobs. */
function readRecipe(text: string) {
  const { on, permissions, concurrency, jobs } = parse(text)
  const named = Object.entries<Job>(jobs)
  const all = named.map(([, job]) => job)
  const steps = all.flatMap(stepsOf)
  const events = Array.isArray(on) ? on : Object.keys(on)
  return { text, on, events, permissions, concurrency, named, all, steps }
}

type Recipe = ReturnType<typeof readRecipe>

/** Which rules a recipe breaks, a line for each. */
const brokenRules = (text: string): string[] => RULES.flatMap((rule) => [...rule(readRecipe(text))])

const RULES: readonly ((recipe: Recipe) => Iterable<string>)[] = [
  // A stranger's event would take the place of a run that waits.
  ({ concurrency }) => (concurrency ? ['has one queue for the whole workflow'] : []),
  (recipe) => recipe.all.flatMap((job) => [...brokenByJob(job, recipe)]),
  brokenByFork,
  brokenByDraft,
  brokenByCondition,
  brokenByCaller,
  brokenByNames,
  brokenByLines,
  brokenByGh,
  brokenByWords,
  (recipe) => recipe.steps.flatMap((step) => [...brokenByPrompt(step, recipe)]),
]

/** A pull request is merged by one push alone. */
function* brokenByJob(job: Job, { events, ...recipe }: Recipe) {
  const { strategy, concurrency } = job
  const steps = stepsOf(job)
  const group = typeof concurrency === 'string' ? concurrency : concurrency?.group
  const uses = steps.filter(({ env }) => JSON.stringify(env ?? '').includes('outputs.pr-number'))
  const isOpened = (condition = ''): boolean => condition.includes("outcome == 'pr-opened'")
  // The outputs of a run that is skipped name the docs pull request, too, and a dry run asks for
  // it.
  const isRecord = recipe.steps.some(({ with: inputs }) => inputs?.['dry-run'] !== undefined)
  if (!isRecord && !isOpened(job.if) && !uses.every((step) => isOpened(step.if)))
    yield 'changes a docs pull request that may be closed'
  const paid = steps.findIndex((step) => step.uses?.includes('/agent-job-action@'))
  if (paid >= 0 && steps.slice(paid).some(({ run = '' }) => /\b(?:gh|curl) /.test(run)))
    yield 'would start the docs job again to repeat a later step'
  if (strategy?.matrix && group !== undefined && !group.includes('matrix.'))
    yield 'has one group for all legs of a matrix, which then replace each other'
  for (const { id, with: inputs = {} } of steps) {
    if (inputs['job-scope'] === undefined) continue
    // Otherwise, each open thread pays for a second docs job when the key is replaced.
    if (inputs['previous-api-key'] !== '${{ secrets.PREVIOUS_AGENT_API_KEY }}')
      yield 'forgets its docs jobs when the key is replaced'
    if (strategy?.matrix && inputs['job-key'] === undefined)
      yield 'forgets its docs jobs when the matrix is edited'
    if (id === undefined) yield 'has no id for a step that is remembered by it'
    const isOfMerge = inputs['job-scope'] === 'pull-request' && events.join() === 'push'
    if (!isOfMerge && !group?.includes('github.workflow'))
      yield 'lets runs that share a docs job run side by side'
  }
}

/**
 * A fork that is synced has pushes, but no secrets. A workflow that is called may run on a push.
 */
function* brokenByFork({ all, events }: Recipe) {
  const first = all.filter((job) => !job.needs && stepsOf(job).some(({ uses }) => uses))
  const isGuarded = first.every((job) => job.if?.includes('!github.event.repository.fork'))
  const isOnPush = events.includes('push') || events.includes('workflow_call')
  if (isOnPush && !isGuarded) yield 'fails in each fork that is synced'
}

/** A draft isn't done, and some merge queues test in one of their own what they merge. */
function* brokenByDraft({ all, on }: Recipe) {
  const paid = all.filter(asks)
  if (!on.pull_request || paid.length === 0) return
  if (!paid.every((job) => job.if?.includes('github.event.pull_request.draft')))
    yield 'pays for drafts'
  if (!on.pull_request.types?.includes('ready_for_review'))
    yield "doesn't notice that a draft is ready"
}

/** docs/faq.md says that the first line may go, for those who want Dependabot's docs, too. */
function* brokenByCondition({ text, on }: Recipe) {
  const isAboutBots = /github\.event\.pull_request\.user\.\w+ !=/
  if (!on.pull_request || !isAboutBots.test(text)) return
  const [, first = ''] = /^ {4}if: >-\n {6}(.*)$/m.exec(text) ?? []
  if (!isAboutBots.test(first) || !/^[^&|()]+ &&$/.test(first))
    yield "has no line on bots of its own at the top of the workflow job's condition"
}

/**
 * If a called workflow asks for a permission that a caller doesn't grant, that caller's runs don't
 * start.
 */
function* brokenByCaller({ permissions, all, events }: Recipe) {
  if (
    events.includes('workflow_call') &&
    [{ permissions }, ...all].some((part) => part.permissions)
  )
    yield 'may ask for more than its callers grant'
}

/**
 * GitHub heads checks, summaries and annotations with a workflow job's name, so `docs` reads like
 * the docs job there. Later, a new name makes open pull requests forget theirs.
 */
function* brokenByNames({ text, named }: Recipe) {
  const [, called = 'ask'] = /^# +jobs:\n# +([\w-]+):/m.exec(text) ?? []
  const [asking = 'ask'] = named.find(([, job]) => asks(job)) ?? []
  for (const name of [called, asking].filter((name) => name !== 'ask'))
    yield `calls the workflow job that asks for docs ${name}`
  for (const [name] of named.filter(([name]) => name.includes('docs')))
    yield `calls a workflow job ${name}, which may be the agent's`
}

/**
 * What differs from repository to repository is marked, also in a workflow that a comment shows.
 */
function* brokenByLines({ text, on }: Recipe) {
  // With another name of the default branch, a workflow never starts. At the same time in many
  // repositories of a project, most fail.
  const lines = text.match(/^#? *(?:branches|- cron):.*$/gm) ?? []
  for (const line of lines.filter((line) => !line.endsWith(' # <- change')))
    yield `doesn't mark ${line.trim()}`
  if (text.split('\n').some((line) => line.length > 100))
    yield 'has a line that is too long to read'
  // A backport would be a docs job, too.
  if (on.pull_request?.paths && !on.pull_request.branches)
    yield 'is for pull requests into any branch'
}

/**
 * `gh api` with the name of a repository fails if it can't be read. Other commands read more than
 * they need (`gh pr edit`: github.com/cli/cli/issues/9166), or search, which finds nothing then
 * (`gh pr list --app`).
 */
function* brokenByGh({ text, steps }: Recipe) {
  const commands = steps.flatMap(
    ({ run = '' }) => run.replace(/\\\n */g, '').match(/\bgh [^|;&)\n]*/g) ?? [],
  )
  for (const command of commands) {
    if (!/^gh api .*"(?:repos|users)\/\$|^gh pr ready "\$\w+" --repo "\$/.test(command))
      yield `calls ${command.trim()}`
  }
  if (
    commands.length > 0 &&
    !text.replace(/\n# /g, ' ').includes('On GitHub Enterprise Server, see docs/enterprise.md.')
  )
    yield "doesn't say what gh needs on GitHub Enterprise Server"
}

/**
 * Who reviews the docs has to find the code, and nobody tells the agent more than the prompt: what
 * docs/prompts.md measured.
 */
function* brokenByPrompt({ with: { prompt = '', ...inputs } = {} }: Step, { events }: Recipe) {
  const says = (words: string): boolean => `${prompt}`.includes(words)
  if (inputs.context !== 'diff') return
  if (!says("state nothing that it doesn't show")) yield 'lets the agent guess'
  if (inputs['job-scope'] === 'pull-request' && !says(', link to '))
    yield 'asks for no link to the pull request of the code'
  const isAsked = events.includes('issue_comment') || events.includes('release')
  if (!isAsked && !says('change nothing')) yield "doesn't say when to change nothing"
}

/** A docs job is the agent's, a workflow job GitHub's. Whoever pays reads the comment first. */
function* brokenByWords({ text, on }: Recipe) {
  const [comment = ''] = /^(?:#.*\n)*/.exec(text) ?? []
  const prose = comment.replace(/^#(?: {2,}.*)?$/gm, '').replace(/\n# /g, ' ')
  const fields = Object.values<{ description: string }>(on.workflow_dispatch?.inputs ?? {})
  const said = [prose, ...fields.map(({ description }) => description)]
    .join('\n')
    .replaceAll(/\*Re-run (?:all|failed) jobs\*/g, '')
  for (const word of said.match(/(?<!docs |workflow |[\w`-])\bjobs?\b(?!-)/gi) ?? [])
    yield `says ${word} where it may be either's`
  if (!/\bcosts\b/.test(prose)) yield "doesn't say what it costs"
}

const recipes = readdirSync('examples')
const read = (name: string): string => text(`examples/${name}`)

test.each(recipes)('%s keeps the rules [house.workflows]', (name) => {
  expect(brokenRules(read(name))).toEqual([])
})

describe('the rules find what is wrong [house.recipe.concurrency]', () => {
  test.each([
    [
      'by-folder-on-merge.yml',
      '    runs-on:',
      '    concurrency: docs\n    runs-on:',
      'has one group for all legs of a matrix, which then replace each other',
    ],
    [
      'by-folder-on-merge.yml',
      '          job-key:',
      '          since:',
      'forgets its docs jobs when the matrix is edited',
    ],
    ['pull-request.yml', '        id: docs\n', '', 'has no id for a step that is remembered by it'],
    [
      'pull-request.yml',
      'docs-${{ github.workflow }}-',
      'docs-',
      'lets runs that share a docs job run side by side',
    ],
    [
      'docs-pull-request.yml',
      "needs.ask.outputs.outcome == 'pr-opened'",
      'needs.ask.outputs.outcome',
      'changes a docs pull request that may be closed',
    ],
    ['issue.yml', 'jobs:\n', 'concurrency: docs\njobs:\n', 'has one queue for the whole workflow'],
    ['schedule.yml', "1-5' # <- change", "1-5'", "doesn't mark - cron: '17 3 * * 1-5'"],
    [
      'on-merge.yml',
      'previous-api-key: ${{ secrets.PREVIOUS_AGENT_API_KEY }}',
      'comment: true',
      'forgets its docs jobs when the key is replaced',
    ],
    [
      'react.yml',
      '    if: ${{ !github.event.repository.fork }}\n',
      '',
      'fails in each fork that is synced',
    ],
    ['central.yml', ' && !github.event.repository.fork', '', 'fails in each fork that is synced'],
    [
      'central.yml',
      '    runs-on: ubuntu-latest\n',
      '    runs-on: ubuntu-latest\n    permissions: { contents: read }\n',
      'may ask for more than its callers grant',
    ],
    [
      'openapi.yml',
      'permissions: {}',
      `permissions: {} # ${'.'.repeat(100)}`,
      'has a line that is too long to read',
    ],
    ['test-with-emulator.yml', 'costs\n', 'takes\n', "doesn't say what it costs"],
    ['ready.yml', '    branches: [main] # <- change\n', '', 'is for pull requests into any branch'],
    [
      'start-and-wait.yml',
      'echo "The docs',
      'curl "https://chat.example/The docs',
      'would start the docs job again to repeat a later step',
    ],
    [
      'central.yml',
      'branches: [main] # <- change',
      'branches: [main]',
      "doesn't mark #       branches: [main]",
    ],
    [
      'follow-code.yml',
      '"repos/$DOCS/issues/$NUMBER/comments"',
      '"repos/{owner}/{repo}/issues/1/comments"',
      'calls gh api "repos/{owner}/{repo}/issues/1/comments" --silent -f body="$text"',
    ],
    [
      'follow-code.yml',
      'gh pr ready "$NUMBER" --repo "$DOCS" --undo',
      'gh pr edit "$NUMBER" --add-label x',
      'calls gh pr edit "$NUMBER" --add-label x',
    ],
    [
      'budget.yml',
      'Enterprise Server, see',
      'Server, see',
      "doesn't say what gh needs on GitHub Enterprise Server",
    ],
    [
      'rolling.yml',
      'jobs:\n  ask:',
      'jobs:\n  sync:',
      'calls the workflow job that asks for docs sync',
    ],
    [
      'central.yml',
      '#   jobs:\n#     ask:',
      '#   jobs:\n#     docs:',
      'calls the workflow job that asks for docs docs',
    ],
    [
      'docs-of-a-release.yml',
      'jobs:\n  list:',
      'jobs:\n  docs:',
      "calls a workflow job docs, which may be the agent's",
    ],
    ['ghes.yml', '      !github.event.pull_request.draft &&\n', '', 'pays for drafts'],
    ['budget.yml', ', ready_for_review]', ']', "doesn't notice that a draft is ready"],
    [
      'budget.yml',
      "!= 'Bot' &&\n     ",
      "!= 'Bot' &&",
      "has no line on bots of its own at the top of the workflow job's condition",
    ],
    ['schedule.yml', ", and state nothing that it doesn't show", '', 'lets the agent guess'],
    [
      'pull-request.yml',
      ', link to this one',
      ', say why',
      'asks for no link to the pull request of the code',
    ],
    ['react.yml', 'docs, change nothing', 'docs, stop', "doesn't say when to change nothing"],
    ['command.yml', 'starts a docs job', 'starts a job', "says job where it may be either's"],
    [
      'manual.yml',
      'an existing docs job to continue',
      'an existing job to continue',
      "says job where it may be either's",
    ],
  ])('in %s, with %j as %j', (name, from, to, broken) => {
    const text = read(name)
    expect(text).toContain(from)
    expect(brokenRules(text.replace(from, () => to))).toEqual([broken])
  })
})
