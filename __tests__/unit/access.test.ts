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

describe('whose permission counts', () => {
  const people = (name: string, payload: unknown, allowed: readonly string[] = []) =>
    whoNeedsAccess(parseEvent(name.replace(/ \[.*/, ''), payload), RUN, new Set(allowed))
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
  const FORK = pull({ full_name: 'someone/docs' })
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
  test.each(WRITERS_ONLY)('of a %s: nobody [access.events.writers]', (name) => {
    expect(asked(name, written('writer'))).toEqual([])
  })

  test.each(['pull_request', 'pull_request_target', 'issues', 'an event of the future'])(
    'of a %s: the sender [access.events.others]',
    (name) => {
      expect(asked(name, { sender })).toEqual(['octoCat'])
    },
  )

  test.each<[string, unknown, string[]]>([
    ...WRITERS_ONLY.map((name): [string, unknown, string[]] => [name, runAfter(name), []]),
    ['push in a fork', runAfter('push', 'someone/docs'), ['first']],
    ['pull_request', runAfter('pull_request'), ['first']],
    ['an event of the future', runAfter('an event of the future'), ['first']],
    ['nobody knows what', { sender }, ['']],
  ])('of a workflow_run after a run of %s [access.workflow-run.before]', (_, payload, logins) => {
    expect(asked('workflow_run', payload)).toEqual(logins)
  })

  test.each<[string, unknown, string[]]>([
    // Only a push to a branch of this repository, or an app, shows write access: readers open,
    // triage labels. Whoever opened it wrote its title and description: a push by a writer is no
    // consent to those.
    [
      'pull_request [access.pull-request.readers] [access.words.asked]',
      byWriter({ login: 'Octocat' }),
      [],
    ],
    ['pull_request [access.words.asked]', byWriter({ login: 'reader' }), ['reader']],
    ['pull_request [access.words.asked]', byWriter({ login: 'an-app[bot]', type: 'Bot' }), []],
    ['pull_request [access.words.asked]', byWriter(null), ['']],
    [
      'pull_request [access.pull-request.readers]',
      byWriter(bot, { action: 'opened', sender: bot }),
      [],
    ],
    [
      'pull_request [access.words.asked]',
      byWriter({ login: 'reader' }, { action: 'labeled', sender: bot }),
      ['reader'],
    ],
    ...[...ACTIONS.split(' '), ''].map((action): [string, unknown, string[]] => [
      'pull_request [access.pull-request.readers]',
      { ...HERE, action },
      ['octoCat'],
    ]),
    [
      'pull_request [access.pull-request.readers]',
      byWriter(bot, { action: 'reopened', sender: { ...sender, type: 'User' } }),
      ['octoCat'],
    ],
    [
      'pull_request [access.pull-request.readers]',
      { ...FORK, action: 'opened', sender: bot },
      ['a-bot'],
    ],
    [
      'pull_request [access.words.asked]',
      { ...forkOf('Reader'), action: 'synchronize' },
      ['octoCat', 'Reader'],
    ],
    [
      'pull_request_target [access.words.asked]',
      { ...forkOf('reader'), action: 'synchronize' },
      ['octoCat', 'reader'],
    ],
    // Consent to what it says.
    [
      'pull_request_target [access.label.consent]',
      { ...forkOf('reader'), action: 'labeled' },
      ['octoCat'],
    ],
    [
      'pull_request_target [access.words.asked] [access.pull-request.readers]',
      { ...HERE, action: 'synchronize', sender: bot },
      ['a-bot', 'author'],
    ],
    [
      'pull_request [access.pull-request.readers] [access.events.others]',
      { action: 'synchronize', sender },
      ['octoCat'],
    ],
    [
      'pull_request [access.words.asked] [access.pull-request.readers]',
      { action: 'synchronize', sender, pull_request: { number: 1, head: null } },
      ['octoCat', ''],
    ],
    // The sender and the author, each once; an account that is gone can be asked of nobody.
    ['issue_comment [access.events.others]', written('writer'), ['octoCat', 'writer']],
    ['discussion_comment [access.events.others]', written('Octocat'), ['octoCat']],
    [
      'discussion [access.events.others]',
      { ...written('writer'), answer: by('other') },
      ['octoCat', 'writer', 'other'],
    ],
    ['issues [access.events.others]', { action: 'synchronize', sender: bot }, ['a-bot']],
    ['issues [access.events.others]', undefined, ['actor']],
    // Outside of a workflow run.
    [' [access.events.writers]', { sender }, []],
  ])('of a %s with %j: %j', (name, payload, logins) => {
    expect(asked(name, payload)).toEqual(logins)
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
    [['octocat', 'writer[bot]'], []],
    [['*'], []],
  ])('with %j allowed, %j are left to be asked [access.allow-users.first]', (allowed, rest) => {
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
  test.each<[Partial<Inputs>, object]>([
    [{ task: attach }, NOTHING_ASKED],
    [{ task: { ...attach, kind: 'message', prompt: 'Do it' } }, ASKED],
    [{ task: attach, hasPromptFile: true }, ASKED],
    [{}, ASKED],
  ])(
    'with %j: a step that only waits asks nobody [access.wait.free] [access.rerun.first-sender]',
    async (inputs, result) => {
      expect(await refuse(inputs)).toEqual(result)
    },
  )

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
  const decide = (
    name: string,
    payload: object,
    authors = ['a-bot', 'other-bot', 'mintlify[bot]'],
  ) => checkSkipAuthors(parseEvent(name.replace(/ \[.*/, ''), payload), new Set(authors))
  const bot = { login: 'A-Bot' }
  const agent = { login: 'Mintlify[bot]' }
  const pull = (author: string) => ({ pull_request: { number: 1, ...by(author) }, sender })
  const push = (...authors: string[]) => ({
    sender,
    commits: authors.map((username, nth) => ({ id: String(nth).repeat(40), author: { username } })),
  })

  const EVERY_COMMIT = 'every commit in the push is by an account in skip-authors'
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
      'pull_request [skip.authors.cause] [skip.authors.always]',
      { ...pull('Other-Bot'), action: 'synchronize' },
      `the pull request is by Other-Bot${LISTED}`,
    ],
    [
      'pull_request [skip.authors.cause]',
      { ...pull('octocat'), sender: bot },
      `this pull_request event was triggered by A-Bot${LISTED}`,
    ],
    [
      'an event of the future [skip.authors.cause]',
      { sender: bot },
      `this an event of the future event was triggered by A-Bot${LISTED}`,
    ],
    [
      'push [skip.authors.push]',
      { ...push('octocat'), sender: agent },
      `this push event was triggered by Mintlify[bot]${LISTED}`,
    ],
    ['issue_comment [skip.authors.cause]', { sender, comment: by('Other-Bot') }, WRITTEN],
    ...[`Done.\n\n${MARKER}`, `${MARKER}\n ${MARKER} \r\n`, `Nothing yet\n\n${NONCE}`].map(
      (body) =>
        [
          'comment of the future [skip.own-comment]',
          { action: 'edited', sender, comment: { ...by('octocat'), body } },
          OWN,
        ] as const,
    ),
    [
      'pull_request_review [skip.authors.cause]',
      { ...pull('octocat'), review: by('Other-Bot') },
      WRITTEN,
    ],
    [
      'discussion [skip.authors.cause]',
      { sender, comment: by('octocat'), answer: by('Other-Bot') },
      WRITTEN,
    ],
    ['push [skip.authors.push]', push('a-bot', 'OTHER-BOT'), EVERY_COMMIT],
    [
      'push [skip.merge-queue]',
      { ...push('octocat'), ref: `${QUEUE}/main/pr-9-${'c'.repeat(40)}` },
      'the push is to a branch of a merge queue, so nothing is merged yet',
    ],
  ])('of a %s with %j: %s', (name, payload, reason) => {
    expect(decide(name, payload)).toEqual({ skip: { reason } })
  })

  test.each([
    ['pull_request [skip.authors.cause]', pull('a-bo')],
    ['pull_request [skip.authors.cause]', pull('')],
    // A person's comment on a pull request of theirs is the person's, if it quotes ours, too.
    [
      'issue_comment [skip.authors.person] [skip.own-comment]',
      {
        issue: { number: 1, ...by('a-bot'), pull_request: {} },
        comment: { ...by('octocat'), body: `> Done.\n> ${MARKER}\n\nWhy?` },
        sender,
      },
    ],
    ['pull_request_review [skip.authors.person]', { ...pull('a-bot'), review: { user: null } }],
    ['push [skip.authors.push]', push()],
    ['push [skip.authors.push]', push('')],
    ['push [skip.merge-queue]', { ...push('octocat'), ref: `${QUEUE}-of-mine` }],
    ['workflow_dispatch [skip.merge-queue]', { sender, ref: `${QUEUE}/main/pr-9` }],
    // What one of them merges is not theirs.
    ['push [skip.authors.push]', { ...push('octocat'), sender: bot }],
    ['schedule [skip.authors.cause]', {}],
    ['label [skip.deleted]', { action: 'deleted' }],
    ['issues [skip.deleted]', { action: 'closed' }],
    ['release [skip.release.taken-back]', { action: 'edited' }],
  ])('of a %s with %j: not skipped', (name, payload) => {
    expect(decide(name, payload)).toEqual({})
  })

  test('may be nobody [skip.authors.always]', () => {
    expect(decide('pull_request', pull('a-bot'), []).skip).toBeUndefined()
  })

  test("of a push with others' commits, which may be merges: GitHub is asked [skip.authors.push]", () => {
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
    ['merges [skip.authors.push]', others(20), 2, 20, true],
    ['a merge of three [skip.authors.push]', others(1), 3, 1, true],
    ['no merges [skip.authors.push]', others(20), 1, 1, false],
    ['a first commit [skip.authors.push]', others(1), 0, 1, false],
    ['too many to be merges [skip.authors.unlisted]', others(21), 2, 0, false],
  ])('of %s', async (_, mayBeMerges, parents, count, isTheirs) => {
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

test.each(['issues', 'issue_comment', 'discussion', 'discussion_comment'])(
  '%s that was deleted is skipped [skip.deleted]',
  (name) => {
    expect(checkSkipAuthors(parseEvent(name, { action: 'deleted' }), new Set())).toEqual({
      skip: { reason: 'what the event is about was deleted' },
    })
  },
)
