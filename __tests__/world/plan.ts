/** What one run of the action meets, drawn from a seed. Plain data, so that it can be printed and done again. */

import type { Fault } from '../support/github.js'
import type { Behaviour } from '../support/proxy.js'
import { DOCS_TOKEN, type Draw, FINAL_POST_MS, ISSUE, PULL_REQUEST, TOKEN } from './draw.js'
import { hostileText, INJECTED } from './hostile.js'
import { Random } from './random.js'
import { createServicePlan } from './service-plan.js'

export type Plan = ReturnType<typeof createPlan>
export type StepPlan = ReturnType<typeof createStep>
/** Something that happens to the process, some time after the nth of something else. */
export type ActionPlan = ReturnType<typeof createAction>
export type GitHubPlan = ReturnType<typeof createGitHubPlan>
export type Trigger = 'start' | 'request' | 'post' | 'get' | 'response' | 'github'
export type Person = 'writer' | 'reader' | 'stranger' | 'app[bot]'

const WORD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Printable ASCII, which is what a key may consist of. */
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('')
/** What an id may consist of. */
const ID = `${WORD}._~:@=+,-`

export function createPlan(seed: number) {
  const random = new Random(seed)
  const alphabet = random.weighted([5, WORD], [3, PRINTABLE], [1, `\\"%/${WORD}`], [0.5, '\\"'])
  const length = random.weighted<[number, number]>([8, [12, 40]], [1, [200, 4000]])
  const key = `mint_${random.text(WORD, 12)}${random.text(alphabet, ...length)}`
  const knownJob = `job-${random.text(ID, 4, 30)}`
  const usesGitHub = random.chance(0.35)
  const theme = random.weighted(
    [87, 'any'],
    [7, 'freeze'],
    [6, 'late response'],
    [usesGitHub ? 50 : 8, 'refusals'],
  )
  const refusesLaterStep = theme === 'refusals' && usesGitHub
  const hostile = (): string => hostileText(random, key)
  const draw: Draw = { random, key, knownJob, usesGitHub, theme, refusesLaterStep, hostile }
  const steps = createSteps(draw)
  return {
    seed,
    key,
    knownJob,
    /** What a proxy does with its nth CONNECT; the last one again and again. Without one, the service has no TLS. */
    proxy: random.chance(0.15) ? createProxy(random) : undefined,
    /** They run one after the other against the same service and GitHub. */
    steps,
    network: { travelMs: [0.1, 2] as [number, number], parts: 3, single: false },
    service: createServicePlan(draw, steps[0].timeoutMs),
    /** Undefined if the steps need nothing of GitHub. */
    github: usesGitHub ? createGitHubPlan(draw) : undefined,
  }
}

function createProxy(random: Random): Behaviour[] {
  if (random.chance(0.6)) return ['open']
  return random.times(random.int(1, 4), () =>
    random.weighted<Behaviour>(
      [6, 'open'],
      [1, 'drop'],
      [1, 'reset'],
      [0.5, 'silence'],
      [0.5, 'early'],
      [1, random.pick(400, 403, 407, 429, 500, 502, 503, 504)],
    ),
  )
}

function createSteps(draw: Draw): [StepPlan, ...StepPlan[]] {
  const { random, refusesLaterStep } = draw
  const drawn = createStep(draw)
  // Its one request is the first create: the service refuses the later step.
  const quick = { inputs: { ...drawn.inputs, wait: 'false' }, actions: [] }
  const first: StepPlan = refusesLaterStep ? { ...drawn, ...quick } : drawn
  const { 'job-scope': scope, check } = first.inputs
  if ((scope === undefined && check === undefined) || (!refusesLaterStep && random.chance(0.3)))
    return [first]
  // A later run that shares the job, or a re-run of the same one, which alone finds a check.
  const isRerun = scope === undefined || random.chance(0.5)
  const { inputs, timeoutMs, cause, actions } = createStep(draw)
  const later = { runId: first.runId + 1, cause }
  // What the first step wrote triggers the second.
  const ofOwnComment = { ...later, event: 'issue_comment' as const, isOwnComment: true }
  const mayBeOwn = first.event.startsWith('issue') && random.chance(0.5)
  return [
    first,
    {
      ...first,
      inputs: { ...first.inputs, wait: inputs.wait ?? 'true' },
      timeoutMs,
      actions,
      ...(isRerun ? { attempt: 2 } : mayBeOwn ? ofOwnComment : later),
    },
  ]
}

function createStep(draw: Draw) {
  const { random, key, knownJob, usesGitHub, theme, refusesLaterStep } = draw
  const person = (): Person =>
    random.chance(0.85) ? 'writer' : random.pick('reader', 'stranger', 'app[bot]')
  const task = random.weighted(
    [60, 'create'],
    [refusesLaterStep ? 0 : usesGitHub ? 5 : 18, 'message'],
    [refusesLaterStep ? 0 : usesGitHub ? 5 : 14, 'attach'],
  )
  const timeoutMs = random.weighted(
    // A 404 is repeated for 10 s.
    [theme === 'refusals' ? 1_000 : 0, random.int(11_000, 18_000)],
    [6, random.int(2_500, 7_000)],
    [3, random.int(1_000, 3_000)],
    [1, random.int(100, 1_000)],
  )
  const prompt = random.weighted(
    [5, 'Update the docs.'],
    [1, `Update: ${hostileText(random, 'no key here')}`],
    [0.3, 'Long '.repeat(random.int(1, 20_000))],
  )
  const event = usesGitHub
    ? random.weighted([7, 'pull_request'], [3, 'issues'], [2, 'issue_comment'], [3, 'workflow_dispatch'])
    : 'workflow_dispatch'
  const inputs: Record<string, string> = {
    'api-key': key,
    'project-id': `docs-${random.text(ID, 1, 12)}`,
    'poll-interval-seconds': random.weighted([8, String(random.int(1, 8) / 10)], [1, '2'], [1, '']),
    // An environment variable has no NUL.
    ...(task !== 'attach' && { prompt: prompt.replaceAll('\0', '') }),
    ...(task !== 'create' && { 'job-id': knownJob }),
    ...(random.chance(0.2) && { wait: 'false' }),
    ...(usesGitHub && gitHubInputs(draw, task, event)),
  }
  return {
    task,
    inputs,
    /** After the start or the end of the step before it. */
    starts: { after: 'end' as 'end' | 'start', delayMs: 0 },
    /** Counts from about when the process is up: on a busy machine that alone takes seconds. */
    timeoutMs,
    runId: random.int(1, 1e9),
    attempt: 1,
    event,
    /** The event is about the comment of the step before. */
    isOwnComment: false,
    /** Who did what. */
    cause: {
      /** Of the pull request. */
      action: random.pick('synchronize', 'synchronize', 'opened', 'labeled', 'edited', 'closed'),
      /** Who triggered the run. */
      sender: person(),
      /** Who wrote the comment. */
      author: person(),
    },
    actions: createActions(draw, timeoutMs),
  }
}

function gitHubInputs({ random, theme }: Draw, task: string, event: string): Record<string, string> {
  const scope = random.weighted(
    [6, event === 'pull_request' ? 'pull-request' : 'issue'],
    [1, 'pull-request'],
    [1, 'issue'],
    [theme === 'refusals' ? 0 : 2, ''],
  )
  const hasScope = task === 'create' && scope !== ''
  // Without a pull request or an issue in the event, the scope needs a number.
  const isAboutNone = event === 'workflow_dispatch'
  const needsNumber = hasScope && scope === 'issue' && isAboutNone
  const usesPaths = !isAboutNone && random.chance(0.15)
  return {
    'github-token': TOKEN,
    context: random.pick('none', 'event', 'diff'),
    ...(hasScope && { 'job-scope': scope }),
    ...((needsNumber || random.chance(0.15)) && { 'issue-number': String(random.pick(PULL_REQUEST, ISSUE)) }),
    ...(random.chance(0.3) && { comment: 'true' }),
    ...(random.chance(0.35) && { check: 'true' }),
    ...(random.chance(0.15) && { 'allow-users': random.pick('*', 'Reader', 'stranger, app[bot]') }),
    ...(random.chance(0.5) && { 'docs-token': DOCS_TOKEN }),
    ...(usesPaths && { 'context-paths': random.pick('docs/**', '!docs/**', '*.md') }),
  }
}

function createActions(draw: Draw, timeoutMs: number): ActionPlan[] {
  const { random, theme } = draw
  if (theme === 'freeze' || (theme === 'late response' && random.chance(0.5)))
    return [createFreeze(draw, timeoutMs)]
  const count = random.weighted([theme === 'refusals' ? 300 : 55, 0], [28, 1], [12, 2], [5, 3])
  return random.times(count, () => createAction(draw, timeoutMs))
}

function createAction({ random, usesGitHub }: Draw, timeoutMs: number) {
  return {
    after: random.weighted<Trigger>(
      [2, 'start'],
      [2, 'request'],
      [4, 'post'],
      [2, 'response'],
      [usesGitHub ? 3 : 0, 'github'],
    ),
    nth: random.weighted([5, 1], [2, 2], [1, 3]),
    delayMs: random.weighted([3, 0], [3, random.int(0, 100)], [2, random.int(0, timeoutMs)]),
    what: random.weighted<'cancel' | 'freeze' | 'SIGKILL' | 'jump'>(
      [6, 'cancel'],
      [5, 'freeze'],
      [0.5, 'SIGKILL'],
    ),
    /** How long a freeze takes, or how far the wall clock jumps. */
    forMs: random.weighted(
      [1, random.int(10, 500)],
      [2, random.int(500, timeoutMs)],
      [2, random.int(timeoutMs, timeoutMs + 8_000)],
    ),
  }
}

/**
 * The process freezes while it waits for a response, and goes on after its deadline; or it freezes while the response to
 * a POST is waited for after the deadline, and goes on after that time.
 */
function createFreeze({ random, theme }: Draw, timeoutMs: number): ActionPlan {
  const what = 'freeze'
  if (theme === 'late response') {
    const delayMs = timeoutMs + random.int(0, 2_000)
    return { after: 'post', nth: 1, delayMs, what, forMs: FINAL_POST_MS + random.int(0, 1_000) }
  }
  const [delayMs, forMs] = [random.pick(0, 0, 200), random.int(timeoutMs, timeoutMs + 4_000)]
  return { after: random.pick('post', 'get', 'get'), nth: random.pick(1, 1, 2), delayMs, what, forMs }
}

function createGitHubPlan(draw: Draw) {
  const { random, hostile } = draw
  const healthy = random.chance(0.5)
  const faults = random.times(healthy ? 0 : random.int(1, 4), () => createGitHubFault(draw))
  return {
    title: `Title ${hostile()}`.slice(0, 1000),
    body: hostile(),
    file: random.pick('docs/a.md', 'src/a.ts', `src/${INJECTED}\n::error::x.ts`, '@x/<img>`|.md'),
    patch: `@@ -1 +1 @@\n-old\n+${hostile()}`,
    /** Lists come in pages that are shorter than asked for, or the last page comes again and again. */
    pages: random.pick('usual', 'usual', 'short', 'repeated'),
    /** A stranger copies the comment of the first step, with another job in its marker. */
    copies: random.chance(0.5),
    /** Whether every request is answered as GitHub would. */
    healthy,
    faults,
  }
}

const GITHUB_PATHS = ' /comments /files /comments/\\d+$ /issues/ /pulls/ check-runs /permission'.split(' ')

function createGitHubFault({ random, hostile }: Draw) {
  const status = random.pick(500, 502, 503, 401, 401, 403, 403, 404, 404, 422, 429, 301)
  const message = JSON.stringify({ message: hostile() })
  const refusal = {
    status,
    headers: status === 429 ? { 'retry-after': random.pick('0', '1', '60') } : {},
    body: random.pick(message, '{}', '[]', 'null', '<html>Unicorn</html>', '', hostile()),
  }
  return {
    method: random.pick(undefined, 'GET', 'POST', 'PATCH'),
    path: random.pick(...GITHUB_PATHS),
    times: random.pick(1, 1, 2, 1000),
    takesEffect: random.chance(0.5),
    answer: random.weighted<Fault['answer']>(
      [1, 'silence'],
      [2, 'reset'],
      [2, 'cut off'],
      [2, { delayMs: random.int(0, 4_000) }],
      [4, refusal],
    ),
  }
}
