/** Who may start a job, and whose runs are skipped: for each event, by what its payload says. */

import { describe, expect, test } from '@jest/globals'
import { checkSkipAuthors } from '../../src/access/skip-authors.js'
import { type Person, refuseStrangers, whoNeedsAccess } from '../../src/access/who-may-start.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'

const RUN = { repository: 'your-org/docs', actor: 'actor', runAttempt: '1' } as RunEnvironment
const by = (login: string) => ({ user: { login } })
const sender = { login: 'octocat' }

describe('whose permission counts', () => {
  const people = (name: string, payload: unknown, allowed: readonly string[] = []) =>
    whoNeedsAccess(parseEvent(name, payload), RUN, new Set(allowed))
  const asked = (...of: Parameters<typeof people>) => people(...of).map(({ login }) => login)

  const pull = (head: unknown) => ({
    pull_request: {
      number: 1,
      ...by('author'),
      head: { repo: head },
      base: { repo: { full_name: 'your-org/docs' } },
    },
    sender,
  })
  const HERE = pull({ full_name: 'your-org/docs' })
  const FORK = pull({ full_name: 'someone/docs' })
  const runAfter = (event: string, repository = 'Your-Org/docs') => ({
    workflow_run: { event, actor: { login: 'first' }, head_repository: { full_name: repository } },
    sender,
  })
  const written = (login: string, field = 'comment') => ({ [field]: by(login), sender })

  test.each<[string, unknown, string[]]>([
    // It takes write access to cause one of these.
    ['push', written('writer'), []],
    ['create', written('writer'), []],
    ['delete', written('writer'), []],
    ['release', written('writer'), []],
    ['schedule', written('writer'), []],
    ['workflow_dispatch', written('writer'), []],
    ['repository_dispatch', written('writer'), []],
    ['merge_group', written('writer'), []],
    ['pull_request', HERE, []],
    // GitHub names the head of every pull request, and says null for a fork that was deleted.
    ['pull_request', { pull_request: { number: 1 }, sender }, []],
    ['pull_request', FORK, ['octocat']],
    ['pull_request', pull(null), ['octocat']],
    ['pull_request', { sender }, ['octocat']],
    ['pull_request_target', HERE, ['octocat']],
    ['pull_request_review', HERE, ['octocat']],
    ['pull_request_review_comment', HERE, ['octocat']],
    // The sender and the author, each once; an account that is gone can be asked of nobody.
    ['issue_comment', written('writer'), ['octocat', 'writer']],
    ['pull_request_review', written('writer', 'review'), ['octocat', 'writer']],
    ['discussion_comment', written('Octocat'), ['octocat']],
    ['commit_comment', { comment: { user: null }, sender }, ['octocat', '']],
    ['workflow_run', runAfter('push'), []],
    ['workflow_run', runAfter('schedule'), []],
    ['workflow_run', runAfter('pull_request'), []],
    ['workflow_run', runAfter('pull_request', 'someone/docs'), ['first']],
    ['workflow_run', runAfter('push', 'someone/docs'), ['first']],
    ['workflow_run', runAfter('pull_request_target'), ['first']],
    ['workflow_run', runAfter('issue_comment'), ['first']],
    ['workflow_run', runAfter('workflow_run'), ['first']],
    ['workflow_run', runAfter('an event of the future'), ['first']],
    ['workflow_run', { sender }, ['']],
    // Every other event.
    ['issues', { sender }, ['octocat']],
    ['watch', { sender }, ['octocat']],
    ['status', { sender }, ['octocat']],
    ['an event of the future', { sender }, ['octocat']],
    ['issues', {}, ['actor']],
    ['issues', undefined, ['actor']],
    // Outside of a workflow run.
    ['', { sender }, []],
  ])('of a %s with %j: %j', (name, payload, logins) => {
    expect(asked(name, payload)).toEqual(logins)
  })

  test('each is named with what they did', () => {
    expect(people('issue_comment', written('writer'))).toEqual([
      { login: 'octocat', did: 'triggered this run' },
      { login: 'writer', did: 'wrote the comment or review' },
    ])
    expect(people('workflow_run', runAfter('issues'))).toEqual([
      { login: 'first', did: 'triggered the run before this one' },
    ])
  })

  test.each([
    [['octocat'], ['Writer[bot]']],
    [['writer[bot]'], ['octocat']],
    [['writer'], ['octocat', 'Writer[bot]']],
    [['octocat', 'writer[bot]'], []],
    [['*'], []],
  ])('with %j allowed, %j are left to be asked', (allowed, rest) => {
    expect(asked('issue_comment', written('Writer[bot]'), allowed)).toEqual(rest)
  })

  test('no login stands for an account that is gone', () => {
    expect(asked('issue_comment', { comment: { user: null }, sender }, ['octocat'])).toEqual([''])
  })
})

describe('a stranger', () => {
  const RAW = { prompt: 'Do it', 'prompt-file': '', 'job-id': '', 'allow-users': '' }

  async function refuse(
    raw: Partial<typeof RAW>,
    event = parseEvent('issues', { sender }),
    runAttempt = '1',
  ) {
    const log: string[] = []
    const asked: (readonly Person[])[] = []
    const refusal = await refuseStrangers(
      { ...RAW, ...raw },
      { ...RUN, runAttempt },
      event,
      (line) => log.push(line),
      async (people) => {
        asked.push(people)
        return 'no write access'
      },
    )
    return { refusal, log, asked: asked.flat().map(({ login }) => login) }
  }

  const NOTHING_ASKED = { refusal: undefined, log: [], asked: [] }
  const ASKED = { refusal: 'no write access', log: [], asked: ['octocat'] }

  test.each([
    [{ 'job-id': 'job-1', prompt: ' ', 'prompt-file': '\n' }, NOTHING_ASKED],
    [{ 'job-id': 'job-1' }, ASKED],
    [{ 'job-id': 'job-1', prompt: '', 'prompt-file': 'prompt.md' }, ASKED],
    [{ 'job-id': ' ', prompt: '', 'prompt-file': '' }, ASKED],
    [{ 'allow-users': 'Octocat' }, NOTHING_ASKED],
    [{ 'allow-users': 'somebody, else' }, ASKED],
  ])('with %j: a step that only waits and an allowed user ask nobody', async (raw, result) => {
    expect(await refuse(raw)).toEqual(result)
  })

  test('can not be told from a payload that is unreadable, unless everyone is allowed', async () => {
    const event = { ...parseEvent('issues', undefined), problem: 'it is not JSON' }
    await expect(refuse({}, event)).rejects.toMatchObject({
      code: 'github',
      message: "Can't tell who triggered this run: it is not JSON.",
      advice:
        'Use a runner that provides the event payload, or let everyone start jobs with allow-users: "*".',
    })
    expect(await refuse({ 'allow-users': '*' }, event)).toEqual(NOTHING_ASKED)
  })

  test('is told on a re-run whose permission counts', async () => {
    expect(await refuse({}, undefined, '2')).toEqual({
      ...ASKED,
      log: ['This is a re-run: what counts is the permission of whoever triggered the first attempt.'],
    })
  })
})

describe('skip-authors', () => {
  const decide = (name: string, payload: object, authors = ['mintlify[bot]', 'other-bot']) =>
    checkSkipAuthors(parseEvent(name, payload), new Set(authors))
  const BOT = { login: 'Mintlify[bot]' }
  const pull = (author: string) => ({ pull_request: { number: 1, ...by(author) }, sender })
  const issue = { number: 1, ...by('mintlify[bot]'), pull_request: {} }
  const push = (...authors: string[]) => ({
    sender,
    commits: authors.map((username, nth) => ({ id: String(nth).repeat(40), author: { username } })),
  })

  test.each([
    ['pull_request', pull('Mintlify[bot]'), 'the pull request is by Mintlify[bot]'],
    ['pull_request_target', pull('other-bot'), 'the pull request is by other-bot'],
    [
      'pull_request',
      { ...pull('octocat'), sender: BOT },
      'this pull_request event was caused by Mintlify[bot]',
    ],
    ['push', { ...push('octocat'), sender: BOT }, 'the push is by Mintlify[bot]'],
    ['push', push('mintlify[bot]', 'OTHER-BOT'), 'every commit in the push is by one of skip-authors'],
    ['issue_comment', { sender, comment: by('other-bot') }, 'the comment or review is by other-bot'],
    [
      'pull_request_review',
      { ...pull('octocat'), review: by('other-bot') },
      'the comment or review is by other-bot',
    ],
    ['issues', { sender: BOT }, 'this issues event was caused by Mintlify[bot]'],
    [
      'an event of the future',
      { sender: BOT },
      'this an event of the future event was caused by Mintlify[bot]',
    ],
  ])('of a %s with %j: %s', (name, payload, reason) => {
    expect(decide(name, payload)).toEqual({ reason, commitsToCheck: [] })
  })

  test.each([
    ['pull_request', pull('octocat')],
    ['pull_request', pull('mintlify')],
    ['pull_request', pull('')],
    // A person's comment on a pull request of theirs is the person's.
    ['issue_comment', { issue, comment: by('octocat'), sender }],
    ['issue_comment', { issue, comment: { user: null }, sender }],
    ['pull_request_review', { ...pull('mintlify[bot]'), review: by('octocat') }],
    ['pull_request_review_comment', { ...pull('mintlify[bot]'), comment: by('octocat') }],
    ['push', push()],
    ['push', push('octocat')],
    ['push', push('')],
    ['schedule', {}],
    ['release', { sender }],
  ])('of a %s with %j: not skipped', (name, payload) => {
    expect(decide(name, payload)).toEqual({ reason: undefined, commitsToCheck: [] })
  })

  test('may be nobody', () => {
    expect(decide('pull_request', pull('mintlify[bot]'), []).reason).toBeUndefined()
  })

  test("of a push with others' commits: those may be merges", () => {
    expect(decide('push', push('mintlify[bot]', 'octocat', ''))).toEqual({
      reason: undefined,
      commitsToCheck: ['1'.repeat(40), '2'.repeat(40)],
    })
  })

  test('of a push of 2,048 commits or more: the payload may not list them all', () => {
    const of = (count: number) => decide('push', push(...Array(count).fill('mintlify[bot]')))
    expect(of(2047).reason).toBeDefined()
    expect(of(2048)).toEqual({ reason: undefined, commitsToCheck: [] })
  })
})
