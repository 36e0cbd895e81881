/** Who may start a job, and whose runs are skipped: for each event, by what its payload says. */

import { describe, expect, test } from '@jest/globals'
import { areMerges } from '../../src/access/ask-github.js'
import { checkSkipAuthors } from '../../src/access/skip-authors.js'
import { refuseStrangers, whoNeedsAccess } from '../../src/access/who-may-start.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'
import type { GitHubRepo } from '../../src/github/client.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { createMarker, deriveMarkerKeys, type Identity } from '../../src/memory/marker.js'
import { INPUTS } from './scripted-run.js'

const RUN = { repository: 'your-org/Docs', actor: 'actor', runAttempt: 1 } as RunEnvironment
const by = (login: string) => ({ user: { login } })
const sender = { login: 'octoCat' }
const bot = { login: 'a-bot', type: 'Bot' }

/** The event that a title begins with. */
const eventOf = (title: string): string => /^\w*/.exec(title)?.[0] ?? ''

describe('whose permission counts', () => {
  const people = (title: string, payload: unknown, allowed: readonly string[] = []) =>
    whoNeedsAccess(parseEvent(eventOf(title), payload), RUN, new Set(allowed))
  const asked = (...of: Parameters<typeof people>) => people(...of).map(({ login }) => login)

  const base = { repo: { full_name: 'your-org/docs' } }
  const pull = (head: unknown, user: unknown = { login: 'author' }) => ({
    pull_request: { number: 1, user, head: { repo: head }, base },
    sender,
  })
  const BRANCH = { full_name: 'your-org/docs' }
  const HERE = pull(BRANCH)
  const byWriter = (author: unknown, more: object = { action: 'synchronize' }) => ({
    ...pull(BRANCH, author),
    ...more,
  })
  const forkOf = (author: string) => pull({ full_name: 'someone/docs' }, { login: author })
  const runAfter = (event: string, repository = 'Your-Org/docs') => ({
    workflow_run: { event, actor: { login: 'first' }, head_repository: { full_name: repository } },
    sender: { login: 'actor' },
  })
  const written = (login: string) => ({ comment: by(login), sender })
  /**
   * All but `synchronize` (docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request).
   */
  const ACTIONS =
    'assigned auto_merge_disabled auto_merge_enabled closed converted_to_draft demilestoned dequeued edited enqueued ' +
    'labeled locked milestoned opened ready_for_review reopened review_request_removed review_requested unassigned ' +
    'unlabeled unlocked synchronized'

  // It takes write access to cause one of these.
  const WRITERS_ONLY =
    'push create delete release schedule workflow_dispatch repository_dispatch merge_group'.split(
      ' ',
    )
  test.each(WRITERS_ONLY)('a %s asks nobody [access.events.writers]', (name) => {
    expect(asked(name, written('writer'))).toEqual([])
  })

  test.each<[string, string[], object]>([
    ...WRITERS_ONLY.map((name): [string, string[], object] => [name, [], runAfter(name)]),
    ['push in a fork', ['first'], runAfter('push', 'someone/docs')],
    ['pull_request', ['first'], runAfter('pull_request')],
    ['kind that nobody knows', [''], { sender }],
  ])('a workflow_run after a %s asks %j [access.workflow-run.before]', (_, logins, payload) => {
    expect(asked('workflow_run', payload)).toEqual(logins)
  })

  test.each<[string, string[], unknown]>([
    // Only a push to a branch of this repository, or an app, shows write access: readers open,
    // triage labels. Whoever opened it wrote its title and description: a push by a writer is no
    // consent to those.
    [
      'pull_request that its author pushes to [access.pull-request.readers] [access.words.asked]',
      [],
      byWriter({ login: 'Octocat' }),
    ],
    [
      'pull_request of a reader that a writer pushes to [access.words.asked]',
      ['reader'],
      byWriter({ login: 'reader' }),
    ],
    [
      'pull_request of an app that a writer pushes to [access.words.asked]',
      [],
      byWriter({ login: 'an-app[bot]', type: 'Bot' }),
    ],
    ['pull_request of nobody that a writer pushes to [access.words.asked]', [''], byWriter(null)],
    [
      'pull_request that an app opens [access.pull-request.readers]',
      [],
      byWriter(bot, { action: 'opened', sender: bot }),
    ],
    [
      'pull_request of a reader that an app labels [access.words.asked]',
      ['reader'],
      byWriter({ login: 'reader' }, { action: 'labeled', sender: bot }),
    ],
    ...[...ACTIONS.split(' '), ''].map((action): [string, string[], unknown] => [
      `pull_request with the action "${action}" [access.pull-request.readers]`,
      ['octoCat'],
      { ...HERE, action },
    ]),
    [
      'pull_request that an app opens in a fork [access.pull-request.readers]',
      ['a-bot'],
      { ...forkOf('author'), action: 'opened', sender: bot },
    ],
    [
      'pull_request from a fork that is pushed to [access.words.asked]',
      ['octoCat', 'Reader'],
      { ...forkOf('Reader'), action: 'synchronize' },
    ],
    // Consent to what it says.
    [
      'pull_request_target that somebody labels [access.label.consent]',
      ['octoCat'],
      { ...forkOf('reader'), action: 'labeled' },
    ],
    [
      'pull_request_target that an app pushes to [access.words.asked] [access.pull-request.readers]',
      ['a-bot', 'author'],
      { ...HERE, action: 'synchronize', sender: bot },
    ],
    [
      'pull_request without a pull request [access.pull-request.readers] [access.events.others]',
      ['octoCat'],
      { action: 'synchronize', sender },
    ],
    [
      'pull_request without a head [access.words.asked] [access.pull-request.readers]',
      ['octoCat', ''],
      { action: 'synchronize', sender, pull_request: { number: 1, head: null } },
    ],
    // The sender and the author, each once; an account that is gone can be asked of nobody.
    ['issue_comment [access.events.others]', ['octoCat', 'writer'], written('writer')],
    ['discussion_comment of the sender [access.events.others]', ['octoCat'], written('Octocat')],
    [
      'discussion with an answer [access.events.others]',
      ['octoCat', 'writer', 'other'],
      { ...written('writer'), answer: by('other') },
    ],
    ['issues event without a payload [access.events.others]', ['actor'], undefined],
    ['future_event [access.events.others]', ['octoCat'], { sender }],
    // Outside of a workflow run.
    [' step without an event [access.events.writers]', [], { sender }],
  ])('a %s asks %j', (title, logins, payload) => {
    expect(asked(title, payload)).toEqual(logins)
  })

  test('each is named with what they did [access.refused.green]', () => {
    expect(people('issue_comment', written('writer'))).toEqual([
      { login: 'octoCat', did: 'triggered this run' },
      { login: 'writer', did: 'wrote the comment, review or answer' },
    ])
    expect(people('pull_request', byWriter({ login: 'reader' }))).toEqual([
      { login: 'reader', did: 'opened the pull request' },
    ])
    expect(people('workflow_run', runAfter('issues'))).toEqual([
      { login: 'first', did: 'triggered the run before this one' },
    ])
  })

  test.each([
    [['writer[bot]'], ['octoCat']],
    [['writer'], ['octoCat', 'Writer[bot]']],
    [['*'], []],
  ])('if %j are allowed, %j are left to be asked [access.allow-users.first]', (allowed, rest) => {
    expect(asked('issue_comment', written('Writer[bot]'), allowed)).toEqual(rest)
  })
})

describe('a stranger', () => {
  async function refuse(
    inputs: Partial<Inputs> = {},
    event = parseEvent('issues', { sender }),
    runAttempt = 1,
  ) {
    const log: string[] = []
    let asked: string[] = []
    const step = {
      inputs: { ...INPUTS, ...inputs },
      environment: { ...RUN, runAttempt },
      event,
      log: (line: string) => log.push(line),
    }
    const refusal = await refuseStrangers(step, async (people) => {
      asked = people.map(({ login }) => login)
      return { reason: 'no write access' }
    })
    return { refusal, log, asked }
  }

  const NOTHING_ASKED = { refusal: undefined, log: [], asked: [] }
  const ASKED = { refusal: { reason: 'no write access' }, log: [], asked: ['octoCat'] }

  const attach = { kind: 'attach', jobId: 'job-1' } as const
  test.each<[string, Partial<Inputs>, object]>([
    ['that only waits asks nobody', { task: attach }, NOTHING_ASKED],
    ['that waits with a prompt file asks', { task: attach, hasPromptFile: true }, ASKED],
    ['that creates a docs job asks', {}, ASKED],
  ])('a step %s [access.wait.free] [access.rerun.first-sender]', async (_, inputs, result) => {
    expect(await refuse(inputs)).toEqual(result)
  })

  test('can not be told from a payload that is unreadable, unless everyone is allowed [access.permission.unknown]', async () => {
    const event = { ...parseEvent('issues', undefined), problem: 'it is not JSON' }
    await expect(refuse({}, event)).rejects.toMatchObject({
      code: 'github',
      message: "Can't tell who triggered this run: it is not JSON.",
      advice: 'Use a runner that provides the event payload.',
    })
    expect(await refuse({ allowUsers: new Set('*') }, event)).toEqual(NOTHING_ASKED)
  })

  test('is told on a re-run whose permission counts [access.rerun.first-sender]', async () => {
    expect(await refuse({}, undefined, 2)).toEqual({
      ...ASKED,
      log: [
        'This is a re-run: what counts is the permission of whoever triggered the first attempt.',
      ],
    })
  })
})

describe('skip-authors', () => {
  const AUTHORS = new Set(['a-bot', 'other-bot', 'mintlify[bot]'])
  const decide = (title: string, payload: object) =>
    checkSkipAuthors(parseEvent(eventOf(title), payload), AUTHORS)
  const bot = { login: 'A-Bot' }
  const agent = { login: 'Mintlify[bot]' }
  const pull = (author: string) => ({ pull_request: { number: 1, ...by(author) }, sender })
  const push = (...authors: string[]) => ({
    sender,
    commits: authors.map((username, nth) => ({ id: String(nth).repeat(40), author: { username } })),
  })

  const LISTED = ', an account in skip-authors'
  const WRITTEN = `the comment, review or answer is by Other-Bot${LISTED}`
  const OWN = "the event is about this action's own comment"
  const stored = { state: 'active', jobId: 'job-1', link: undefined, fingerprint: '' } as const
  const identity: Identity = { repository: RUN.repository, number: 7, step: [] }
  const MARKER = createMarker(
    { ...stored, run: '1', attempt: 1 },
    1,
    identity,
    deriveMarkerKeys('mint_key', ''),
  )
  const QUEUE = 'refs/heads/gh-readonly-queue'
  const NONCE = `<!-- ${'0a'.repeat(16)} -->`
  test.each([
    [
      'pull_request of one of them [skip.authors.cause] [skip.authors.always]',
      `the pull request is by Other-Bot${LISTED}`,
      { ...pull('Other-Bot'), action: 'synchronize' },
    ],
    [
      'future_event that one of them causes [skip.authors.cause]',
      `this future_event event was triggered by A-Bot${LISTED}`,
      { ...pull('octocat'), sender: bot },
    ],
    [
      'push by the agent [skip.authors.push]',
      `this push event was triggered by Mintlify[bot]${LISTED}`,
      { ...push('octocat'), sender: agent },
    ],
    ...[`Done.\n\n${MARKER}`, `${MARKER}\n ${MARKER} \r\n`, `Nothing yet\n\n${NONCE}`].map(
      (body, nth) =>
        [
          `future_comment that ends like ours (${nth}) [skip.own-comment]`,
          OWN,
          { action: 'edited', sender, comment: { ...by('octocat'), body } },
        ] as const,
    ),
    [
      'pull_request_review by one of them [skip.authors.cause]',
      WRITTEN,
      { ...pull('octocat'), review: by('Other-Bot') },
    ],
    [
      'discussion that one of them answered [skip.authors.cause]',
      WRITTEN,
      { sender, comment: by('octocat'), answer: by('Other-Bot') },
    ],
    [
      'push of their commits [skip.authors.push]',
      'every commit in the push is by an account in skip-authors',
      push('a-bot', 'OTHER-BOT'),
    ],
    [
      'push of a merge queue [skip.merge-queue]',
      'the push is to a branch of a merge queue, so nothing is merged yet',
      { ...push('octocat'), ref: `${QUEUE}/main/pr-9-${'c'.repeat(40)}` },
    ],
    ...['issues', 'issue_comment', 'discussion', 'discussion_comment'].map(
      (name) =>
        [
          `${name} event about what was deleted [skip.deleted]`,
          'what the event is about was deleted',
          { action: 'deleted' },
        ] as const,
    ),
  ])('a %s is skipped: %s', (title, reason, payload) => {
    expect(decide(title, payload)).toEqual({ skip: { reason } })
  })

  test.each([
    ['pull_request of another account [skip.authors.cause] [skip.authors.always]', pull('a-bo')],
    // A person's comment on a pull request of theirs is the person's, if it quotes ours, too.
    [
      'issue_comment that quotes ours [skip.authors.person] [skip.own-comment]',
      {
        issue: { number: 1, ...by('a-bot'), pull_request: {} },
        comment: { ...by('octocat'), body: `> Done.\n> ${MARKER}\n\nWhy?` },
        sender,
      },
    ],
    [
      'pull_request_review by nobody [skip.authors.person]',
      { ...pull('a-bot'), review: { user: null } },
    ],
    ['push without commits [skip.authors.push]', push()],
    ['push of a commit by nobody [skip.authors.push]', push('')],
    [
      'push to a similar branch [skip.merge-queue]',
      { ...push('octocat'), ref: `${QUEUE}-of-mine` },
    ],
    [
      'workflow_dispatch on such a branch [skip.merge-queue]',
      { sender, ref: `${QUEUE}/main/pr-9` },
    ],
    // What one of them merges is not theirs.
    ['push that one of them merged [skip.authors.push]', { ...push('octocat'), sender: bot }],
    ['label that was deleted [skip.deleted]', { action: 'deleted' }],
    ['issues event about what was closed [skip.deleted]', { action: 'closed' }],
    ['release that was edited [skip.release.taken-back]', { action: 'edited' }],
  ])('a %s is not skipped', (title, payload) => {
    expect(decide(title, payload)).toEqual({})
  })

  test("ask GitHub about a push of others' commits, which may be merges [skip.authors.push]", () => {
    const mayBeMerges = ['1'.repeat(40), '2'.repeat(40)]
    expect(decide('push', push('a-bot', 'octocat', ''))).toEqual({ mayBeMerges })
  })

  test("don't decide a push of 2,048 commits or more: the payload may not list them all [skip.authors.unlisted]", () => {
    const of = (count: number) => decide('push', push(...Array(count).fill('a-bot')))
    expect(of(2047).skip).toBeDefined()
    expect(of(2048)).toEqual({})
  })
})

describe('what GitHub says of the commits of a push', () => {
  const others = (count: number) =>
    Array.from({ length: count }, (_, nth) => String(nth).padStart(40, '0'))
  test.each<[string, mayBeMerges: string[], parents: number, asked: number, isTheirs: boolean]>([
    ['merges are theirs [skip.authors.push]', others(20), 2, 20, true],
    ['a merge of three is theirs [skip.authors.push]', others(1), 3, 1, true],
    ['others are not [skip.authors.push]', others(20), 1, 1, false],
    ['a first commit is not [skip.authors.push]', others(1), 0, 1, false],
    ['too many are not even asked about [skip.authors.unlisted]', others(21), 2, 0, false],
  ])('%s', async (_, mayBeMerges, parents, count, isTheirs) => {
    const asked: string[] = []
    const getCommit = async ({ commit_sha }: { commit_sha: string }) => {
      asked.push(commit_sha)
      return { data: { parents: Array(parents).fill({}) } }
    }
    const repo = {
      github: { git: { getCommit } },
      repository: 'your-org/docs',
    } as unknown as GitHubRepo
    expect(await areMerges(mayBeMerges, repo)).toBe(isTheirs)
    expect(asked).toEqual(mayBeMerges.slice(0, count))
  })
})
