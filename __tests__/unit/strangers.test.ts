// Which runs are refused because of who caused them, and when GitHub is asked at all.
import { describe, expect, test } from '@jest/globals'
import type { Person } from '../../src/access/who-may-start.js'
import { refuseStrangers } from '../../src/access/who-may-start.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'

const RAW = { prompt: 'Do it', 'prompt-file': '', 'job-id': '', 'allow-users': '' }
const RUN = { repository: 'your-org/docs', actor: 'actor', runAttempt: '1' } as RunEnvironment
const ISSUE = parseEvent('issues', { sender: { login: 'octocat' } })

async function refuse({ raw = {}, run = {}, event = ISSUE }) {
  const log: string[] = []
  const asked: (readonly Person[])[] = []
  const refusal = await refuseStrangers(
    { ...RAW, ...raw },
    { ...RUN, ...run },
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
  [{ 'allow-users': '*' }, NOTHING_ASKED],
  [{ 'allow-users': 'somebody, else' }, ASKED],
])('with %j, a step that only waits and an allowed user ask nobody', async (raw, result) => {
  expect(await refuse({ raw })).toEqual(result)
})

describe('a payload that cannot be read', () => {
  const event = { ...parseEvent('issues', undefined), problem: 'it is not JSON' }

  test('ends the step, and nobody is asked', async () => {
    await expect(refuse({ event })).rejects.toMatchObject({
      code: 'github',
      message: "Can't tell who triggered this run: it is not JSON.",
      advice:
        'Use a runner that provides the event payload, or let everyone start jobs with allow-users: "*".',
    })
  })

  test('does not matter if everyone is allowed', async () => {
    expect(await refuse({ event, raw: { 'allow-users': '*' } })).toEqual(NOTHING_ASKED)
  })
})

test('a re-run says whose permission counts', async () => {
  expect(await refuse({ run: { runAttempt: '2' } })).toEqual({
    ...ASKED,
    log: ['This is a re-run: what counts is the permission of whoever triggered the first attempt.'],
  })
})
