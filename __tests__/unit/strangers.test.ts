// Which runs are refused because of who caused them, and when GitHub is asked at all.
import { expect, test } from '@jest/globals'
import { refuseStrangers } from '../../src/access/who-may-start.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'
import { DEFAULTS, type RawInputs, readGiven } from '../../src/inputs/inputs.js'

const ISSUE = parseEvent('issues', { sender: { login: 'octocat' } })
const UNREADABLE = { ...parseEvent('issues', undefined), problem: 'it is not JSON' }

async function refuse(raw: Partial<RawInputs> = {}, { runAttempt = '1', event = ISSUE } = {}) {
  const log: string[] = []
  let asked: string[] = []
  const step = {
    given: readGiven({ ...DEFAULTS, prompt: 'Do it', ...raw }),
    run: { repository: 'your-org/docs', actor: 'actor', runAttempt } as RunEnvironment,
    event,
    log: (line: string) => log.push(line),
  }
  const refusal = await refuseStrangers(step, async (people) => {
    asked = people.map(({ login }) => login)
    return 'no write access'
  })
  return { refusal, log, asked }
}

const NOTHING_ASKED = { refusal: undefined, log: [], asked: [] }
const ASKED = { refusal: 'no write access', log: [], asked: ['octocat'] }

test.each([
  [{ 'job-id': 'job-1', prompt: ' ', 'prompt-file': '\n' }, NOTHING_ASKED],
  [{ 'job-id': 'job-1' }, ASKED],
  [{ 'job-id': 'job-1', prompt: '', 'prompt-file': 'prompt.md' }, ASKED],
  [{ 'job-id': ' ', prompt: '' }, ASKED],
  [{ 'allow-users': 'Octocat' }, NOTHING_ASKED],
  [{ 'allow-users': '*' }, NOTHING_ASKED],
  [{ 'allow-users': 'somebody, else' }, ASKED],
])('with %j, a step that only waits and an allowed user ask nobody', async (raw, result) => {
  expect(await refuse(raw)).toEqual(result)
})

test('a payload that cannot be read ends the step, unless everyone is allowed', async () => {
  await expect(refuse({}, { event: UNREADABLE })).rejects.toMatchObject({
    code: 'github',
    message: "Can't tell who triggered this run: it is not JSON.",
    advice: 'Use a runner that provides the event payload, or let everyone start jobs with allow-users: "*".',
  })
  expect(await refuse({ 'allow-users': '*' }, { event: UNREADABLE })).toEqual(NOTHING_ASKED)
})

test('a re-run says whose permission counts', async () => {
  expect(await refuse({}, { runAttempt: '2' })).toEqual({
    ...ASKED,
    log: ['This is a re-run: what counts is the permission of whoever triggered the first attempt.'],
  })
})
