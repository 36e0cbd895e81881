// The scenarios: how a job ends, which faults come first, and how the action's step should end.

/**
 * What one request gets instead of the ordinary response. An empty fault is the ordinary response.
 * @typedef {object} Fault
 * @property {number} [times] for how many requests in a row (default 1)
 * @property {number} [status] sent instead of doing what was requested
 * @property {Record<string, string>} [headers] that go with `status`
 * @property {string} [error] the text that goes with `status`
 * @property {string} [others] goes with `status`: what somebody else has just asked the job for
 * @property {'before' | 'after'} [reset] the connection is reset before, or after, the request is
 * processed
 * @property {number} [delayMs] how long the response is delayed; speed doesn't shorten it
 * @property {Record<string, unknown>} [job] replaces these fields of the job in this response
 */

/**
 * How the service behaves. Seconds are those at speed 1.
 * @typedef {object} Service
 * @property {'completed' | 'failed' | 'archived'} [endStatus] how each job ends (default
 * `completed`)
 * @property {boolean} [withoutPullRequest] a completed job has no pull request
 * @property {number} [jobSeconds] how long a job takes (default 240)
 * @property {string[]} [projectIds] the projects that exist (default: any)
 * @property {{ id: string, projectId: string, ageSeconds: number }[]} [initialJobs] jobs that exist
 * from the start
 * @property {Fault[]} [create] for the first create requests, in order
 * @property {Fault[]} [message] for the first messages
 * @property {Fault[]} [poll] for the first polls
 */

/**
 * What `npm start` runs, and how the action's step should end.
 * @typedef {object} Step
 * @property {Record<string, string>} [inputs] instead of the usual ones
 * @property {Record<string, string>} [demoInputs] the same, but nothing to copy: they only suit the
 * demo
 * @property {boolean} [cancel] the step is cancelled at its first poll
 * @property {boolean} [offline] no service listens at the URL
 * @property {string[]} [pullRequest] what happens to a pull request, such as `opened`; each starts
 * a run of the step
 *   (default: one manual run). Every run ends in the way described below
 * @property {0 | 1} exitCode
 * @property {string} outcome
 * @property {string} errorCode empty without an error
 */

/** @typedef {{ description: string, service: Service, step: Step }} Scenario */

/** The project of the initial jobs. */
export const PROJECT_ID = 'your-project'
/** The one that exists where not every project does. */
const KNOWN_PROJECT_ID = 'known-project'
/** The token that the emulated GitHub accepts. */
export const GITHUB_TOKEN = 'ghs_emulated_token'
export const DEFAULT_SCENARIO = 'pr-opened'
/** How long a docs job takes at speed 1, unless the scenario says otherwise. */
export const JOB_SECONDS = 240
/** The speed of `npm start`, `npm run serve` and the emulator action: a docs job takes 4 s. */
export const DEFAULT_SPEED = 60

const INITIAL_JOB_ID = '5eed0000-0000-4000-8000-000000000001'
const endedJob = { id: INITIAL_JOB_ID, projectId: PROJECT_ID, ageSeconds: 3600 }
const runningJob = { id: INITIAL_JOB_ID, projectId: PROJECT_ID, ageSeconds: 60 }
/** The fields of the ended job that a message changes. */
const stale = { status: 'completed', prLink: 'https://github.com/your-org/docs/pull/17' }

/** @type {(outcome: string, exitCode: 0 | 1) => Step} */
const ends = (outcome, exitCode) => ({ exitCode, outcome, errorCode: '' })

/** @type {(errorCode: string) => Step} */
const failsWith = (errorCode) => ({ exitCode: 1, outcome: 'error', errorCode })

/** @type {(status: number, error: string, retryAfterSeconds?: number) => Fault} */
const refuse = (status, error, retryAfterSeconds) => ({
  status,
  error,
  ...(retryAfterSeconds && { headers: { 'retry-after': String(retryAfterSeconds) } }),
})

/** @type {(fault: Fault) => Fault[]} */
const always = (fault) => [{ ...fault, times: Infinity }]
const BAD_KEY = always(refuse(401, 'Invalid API key'))

/** @type {(fault: Fault) => Fault[]} */
const twice = (fault) => [{ ...fault, times: 2 }]

const opensPullRequest = ends('pr-opened', 0)
const sendsMessage = {
  ...opensPullRequest,
  inputs: { prompt: 'Shorten the introduction.', 'job-id': INITIAL_JOB_ID },
}

const followsUp = {
  ...opensPullRequest,
  pullRequest: ['opened', 'synchronize'],
  inputs: {
    prompt: 'Bring the docs in line with this pull request.',
    'job-scope': 'pull-request',
  },
  demoInputs: { 'github-token': GITHUB_TOKEN },
}

/** @type {Record<string, Scenario>} */
export const scenarios = {
  'pr-opened': {
    description: 'the agent edits files and opens a pull request',
    service: {},
    step: opensPullRequest,
  },
  'no-changes': {
    description: 'the docs job completes without a pull request',
    service: { withoutPullRequest: true },
    step: ends('no-changes', 0),
  },
  failed: {
    description: 'the agent fails',
    service: { endStatus: 'failed' },
    step: ends('failed', 1),
  },
  archived: {
    description: 'the docs job is archived while the step waits for it',
    service: { endStatus: 'archived' },
    step: ends('archived', 1),
  },
  'timed-out': {
    description: 'the docs job takes longer than timeout-minutes',
    service: { jobSeconds: 86_400 },
    step: { ...ends('timed-out', 1), demoInputs: { 'timeout-minutes': '0.1' } },
  },
  started: {
    description: "the docs job is created, and the step doesn't wait for it",
    service: {},
    step: { ...ends('started', 0), inputs: { wait: 'false' } },
  },
  message: {
    description: 'a follow-up is sent to a docs job that has ended',
    service: { initialJobs: [endedJob] },
    step: sendsMessage,
  },
  attach: {
    description: 'the step waits for a docs job that is already running, and sends nothing',
    service: { initialJobs: [runningJob] },
    step: { ...opensPullRequest, inputs: { prompt: '', 'job-id': INITIAL_JOB_ID } },
  },
  'pull-request': {
    description: 'two runs on one pull request share a docs job, and one comment tells of it',
    service: {},
    step: followsUp,
  },
  'dry-run': {
    description: 'everything is checked, nothing is sent',
    service: {},
    step: { ...ends('dry-run', 0), inputs: { 'dry-run': 'true' } },
  },
  cancelled: {
    description: 'the run is cancelled while the docs job is active',
    service: {},
    step: { ...ends('cancelled', 1), cancel: true },
  },
  'rate-limited': {
    description: 'the create request gets a 429 once, then is accepted',
    service: { create: [refuse(429, 'Too many requests', 1)] },
    step: opensPullRequest,
  },
  'rate-limited-forever': {
    description: 'the create request gets a 429 that outlasts timeout-minutes',
    service: { create: always(refuse(429, 'Too many requests', 3600)) },
    step: failsWith('rate-limited'),
  },
  busy: {
    description: 'the message hits a busy docs job (409) twice, then is accepted',
    service: { initialJobs: [endedJob], message: twice(refuse(409, 'The job is busy', 1)) },
    step: sendsMessage,
  },
  'busy-since': {
    description: 'a docs job that had ended is busy with what somebody else has asked for',
    service: { message: [{ ...refuse(409, 'The job is busy', 1), times: 3, others: 'Typos.' }] },
    step: followsUp,
  },
  unavailable: {
    description: 'a 503 to the create request, which may have been accepted: no retry',
    service: { create: always(refuse(503, 'Service unavailable', 1)) },
    step: failsWith('create-unknown'),
  },
  'flaky-polls': {
    description: 'polling hits a 503 and a connection reset, then the docs job completes',
    service: { poll: [refuse(503, 'Service unavailable', 1), { reset: 'before' }] },
    step: opensPullRequest,
  },
  'reset-before': {
    description: "a reset before the create request is accepted, which the step can't know",
    service: { create: [{ reset: 'before' }] },
    step: failsWith('create-unknown'),
  },
  'reset-after': {
    description: 'a reset after the create request is accepted: a docs job exists',
    service: { create: [{ reset: 'after' }] },
    step: failsWith('create-unknown'),
  },
  slow: {
    description: 'responses are slow',
    service: { create: [{ delayMs: 1500 }], poll: always({ delayMs: 700 }) },
    step: opensPullRequest,
  },
  stale: {
    description: 'after a message, the docs job still shows as completed for a moment',
    service: { initialJobs: [endedJob], message: [{ job: stale }], poll: twice({ job: stale }) },
    step: sendsMessage,
  },
  'taken-back': {
    description: 'the docs job shows as completed without a link, then as active again',
    service: { poll: ['completed', 'active'].map((status) => ({ job: { status, prLink: null } })) },
    step: opensPullRequest,
  },
  'unknown-status': {
    description: 'the service reports an unknown status for a while',
    service: { poll: twice({ job: { status: 'queued' } }) },
    step: opensPullRequest,
  },
  'late-job': {
    description: "the new docs job can't be found right away",
    service: { poll: twice(refuse(404, 'Job not found')) },
    step: opensPullRequest,
  },
  unauthorized: {
    description: 'the key is rejected',
    service: { create: BAD_KEY, message: BAD_KEY, poll: BAD_KEY },
    step: failsWith('auth'),
  },
  'not-found': {
    description: `the project does not exist: only ${KNOWN_PROJECT_ID} does`,
    service: { projectIds: [KNOWN_PROJECT_ID] },
    step: failsWith('not-found'),
  },
  'bad-input': {
    description: 'several inputs are invalid: all are reported, nothing is sent',
    service: {},
    step: {
      ...failsWith('input'),
      inputs: { prompt: '', 'project-id': '..', wait: 'maybe', 'timeout-minutes': '0' },
    },
  },
  network: {
    description: 'no service listens at the URL',
    service: {},
    step: { ...failsWith('network'), offline: true, demoInputs: { 'timeout-minutes': '0.05' } },
  },
}

/** Those that the emulator action accepts: they work with any step. */
export const serviceScenarios = Object.keys(scenarios).filter((name) => {
  const { inputs, demoInputs, cancel, offline, pullRequest } = findScenario(name).step
  return !inputs && !demoInputs && !cancel && !offline && !pullRequest
})

/**
 * Those that `npm run serve` accepts: the service behaves differently, even if some only matter to
 * certain inputs.
 */
export const servableScenarios = Object.keys(scenarios).filter(
  (name) => serviceScenarios.includes(name) || Object.keys(findScenario(name).service).length > 0,
)

/**
 * @param {string} name
 * @returns {Scenario}
 * @throws {RangeError} naming the available scenarios
 */
export function findScenario(name) {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
  if (scenario) return scenario
  throw new RangeError(
    `unknown scenario '${name}'; available: ${Object.keys(scenarios).join(', ')}`,
  )
}
