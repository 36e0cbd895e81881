// What the emulated service can be made to do, as a table: how a job ends, which faults come first, what the action makes of it.

/**
 * What one request meets in place of the ordinary answer. An empty one is the ordinary answer.
 * @typedef {object} Fault
 * @property {number} [times] for how many requests in a row (default 1)
 * @property {number} [status] answered in place of doing what was asked
 * @property {Record<string, string>} [headers] that go with `status`
 * @property {string} [error] the text that goes with `status`
 * @property {'before' | 'after'} [reset] the connection is reset before, or after, what was asked is done
 * @property {number} [delayMs] the answer comes this much later, in real milliseconds
 * @property {Record<string, unknown>} [job] fields shown in place of the job's own in this answer
 */

/**
 * How the service behaves. Seconds are on the service's clock.
 * @typedef {object} Service
 * @property {'completed' | 'failed' | 'archived'} [ends] how each job ends (default `completed`)
 * @property {boolean} [changesNothing] a completed job has no pull request
 * @property {number} [jobSeconds] how long a job is active (default 240)
 * @property {{ id: string, projectId: string, ageSeconds: number }[]} [seeds] jobs that are there from the start
 * @property {Fault[]} [create] what the first creates meet, in order
 * @property {Fault[]} [message] what the first messages meet
 * @property {Fault[]} [poll] what the first polls meet
 */

/**
 * What `npm start` runs, and how the action's step should end.
 * @typedef {object} Step
 * @property {Record<string, string>} [inputs] in place of the usual ones
 * @property {boolean} [cancel] the step is cancelled at its first poll
 * @property {boolean} [offline] nothing listens at the address
 * @property {string[]} [pullRequest] what happens to a pull request, such as `opened`, each with a run of the step
 *   (default: one run, by hand); every run ends as the rest says
 * @property {0 | 1} exitCode
 * @property {string} outcome
 * @property {string} errorCode empty without an error
 */

/** @typedef {{ description: string, service: Service, step: Step }} Scenario */

/** The project that the seeded jobs belong to. */
export const PROJECT_ID = 'your-project'
/** What the emulated GitHub accepts. */
export const GITHUB_TOKEN = 'ghs_emulated_token'
export const DEFAULT_SCENARIO = 'pr-opened'

const SEED_ID = '5eed0000-0000-4000-8000-000000000001'
const endedJob = { id: SEED_ID, projectId: PROJECT_ID, ageSeconds: 3600 }
const runningJob = { id: SEED_ID, projectId: PROJECT_ID, ageSeconds: 60 }
const staleLook = { status: 'completed', prLink: 'https://github.com/your-org/docs/pull/17' }

/** @type {Step} */
const opensPullRequest = { exitCode: 0, outcome: 'pr-opened', errorCode: '' }

/**
 * @param {string} errorCode
 * @returns {Step}
 */
const error = (errorCode) => ({ exitCode: 1, outcome: 'error', errorCode })

/** @type {Record<string, Scenario>} */
export const scenarios = {
  'pr-opened': {
    description: 'the agent edits files and opens a pull request',
    service: {},
    step: opensPullRequest,
  },
  'no-changes': {
    description: 'the agent finds nothing to change',
    service: { changesNothing: true },
    step: { exitCode: 0, outcome: 'no-changes', errorCode: '' },
  },
  failed: {
    description: 'the agent fails',
    service: { ends: 'failed' },
    step: { exitCode: 1, outcome: 'failed', errorCode: '' },
  },
  archived: {
    description: 'the job is archived while it is followed',
    service: { ends: 'archived' },
    step: { exitCode: 1, outcome: 'archived', errorCode: '' },
  },
  'timed-out': {
    description: 'the job takes longer than timeout-minutes',
    service: { jobSeconds: 86_400 },
    step: { inputs: { 'timeout-minutes': '0.05' }, exitCode: 1, outcome: 'timed-out', errorCode: '' },
  },
  started: {
    description: 'the job is created and not waited for',
    service: {},
    step: { inputs: { wait: 'false' }, exitCode: 0, outcome: 'started', errorCode: '' },
  },
  message: {
    description: 'a follow-up is sent to a job that has ended',
    service: { seeds: [endedJob] },
    step: {
      ...opensPullRequest,
      inputs: { prompt: 'Shorten the introduction.', 'job-id': SEED_ID },
    },
  },
  attach: {
    description: 'a job that runs already is waited for, nothing is sent',
    service: { seeds: [runningJob] },
    step: { ...opensPullRequest, inputs: { prompt: '', 'job-id': SEED_ID } },
  },
  'pull-request': {
    description: 'two runs on one pull request share a job, which its comment remembers and tells of',
    service: {},
    step: {
      ...opensPullRequest,
      pullRequest: ['opened', 'synchronize'],
      inputs: {
        prompt: 'Bring the docs in line with this pull request.',
        'job-scope': 'pull-request',
        'github-token': GITHUB_TOKEN,
      },
    },
  },
  'dry-run': {
    description: 'everything is checked, nothing is sent',
    service: {},
    step: { inputs: { 'dry-run': 'true' }, exitCode: 0, outcome: 'dry-run', errorCode: '' },
  },
  cancelled: {
    description: 'the run is cancelled while the job is active',
    service: {},
    step: { cancel: true, exitCode: 1, outcome: 'cancelled', errorCode: '' },
  },
  'rate-limited': {
    description: 'the create meets a 429 once, then it is taken',
    service: {
      create: [{ status: 429, headers: { 'retry-after': '1' }, error: 'Too many requests' }],
    },
    step: opensPullRequest,
  },
  'rate-limited-forever': {
    description: 'the create meets a 429 that lasts longer than timeout-minutes',
    service: {
      create: [
        {
          times: Infinity,
          status: 429,
          headers: { 'retry-after': '3600' },
          error: 'Too many requests',
        },
      ],
    },
    step: error('rate-limited'),
  },
  busy: {
    description: 'the message meets a busy job (409) twice, then it is taken',
    service: {
      seeds: [endedJob],
      message: [{ times: 2, status: 409, headers: { 'retry-after': '1' }, error: 'The job is busy' }],
    },
    step: {
      ...opensPullRequest,
      inputs: { prompt: 'Shorten the introduction.', 'job-id': SEED_ID },
    },
  },
  unavailable: {
    description: 'the create meets a 503: it may have been taken, so it is not sent again',
    service: {
      create: [
        {
          times: Infinity,
          status: 503,
          headers: { 'retry-after': '1' },
          error: 'Service unavailable',
        },
      ],
    },
    step: error('create-unknown'),
  },
  'flaky-polls': {
    description: 'polls meet a 503 and a reset, then the job ends well',
    service: {
      poll: [
        {},
        { status: 503, headers: { 'retry-after': '1' }, error: 'Service unavailable' },
        { reset: 'before' },
      ],
    },
    step: opensPullRequest,
  },
  'reset-before': {
    description: 'the connection is reset before the create is taken, which nobody can know',
    service: { create: [{ reset: 'before' }] },
    step: error('create-unknown'),
  },
  'reset-after': {
    description: 'the connection is reset after the create is taken: there is a job',
    service: { create: [{ reset: 'after' }] },
    step: error('create-unknown'),
  },
  slow: {
    description: 'answers take their time',
    service: { jobSeconds: 400, create: [{ delayMs: 1500 }], poll: [{ times: Infinity, delayMs: 700 }] },
    step: opensPullRequest,
  },
  stale: {
    description: 'after a message the job still reads completed for a moment',
    service: {
      jobSeconds: 360,
      seeds: [endedJob],
      message: [{ job: staleLook }],
      poll: [{ times: 2, job: staleLook }],
    },
    step: {
      ...opensPullRequest,
      inputs: { prompt: 'Shorten the introduction.', 'job-id': SEED_ID },
    },
  },
  'unknown-status': {
    description: 'the service says a status that is not in its list for a while',
    service: { poll: [{ times: 2, job: { status: 'queued' } }] },
    step: opensPullRequest,
  },
  'late-job': {
    description: 'the new job is not found at once',
    service: { poll: [{ times: 2, status: 404, error: 'Job not found' }] },
    step: opensPullRequest,
  },
  unauthorized: {
    description: 'the key is not accepted',
    service: { create: [{ times: Infinity, status: 401, error: 'Invalid API key' }] },
    step: error('auth'),
  },
  'bad-input': {
    description: 'several inputs are wrong: all are named, nothing is sent',
    service: {},
    step: {
      ...error('input'),
      inputs: { prompt: '', 'project-id': '..', wait: 'maybe', 'timeout-minutes': '0' },
    },
  },
  network: {
    description: 'nothing listens at the address',
    service: {},
    step: { ...error('network'), offline: true, inputs: { 'timeout-minutes': '0.05' } },
  },
}

/** Those that are about the service alone, and nothing else that a step would have to be given. */
export const serviceScenarios = Object.keys(scenarios).filter((name) => {
  const { inputs, cancel, offline, pullRequest } = findScenario(name).step
  return !inputs && !cancel && !offline && !pullRequest
})

/**
 * @param {string} name
 * @returns {Scenario}
 * @throws {RangeError} naming the scenarios there are
 */
export function findScenario(name) {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
  if (scenario) return scenario
  throw new RangeError(`unknown scenario '${name}'; there are ${Object.keys(scenarios).join(', ')}`)
}
