/**
 * What one run of the world meets, drawn from a seed. Plain data, so that it can be printed, shrunk
 * and done again.
 */

import type { Behaviour } from '../support/proxy.js'
import {
  BAD_CODE,
  BAD_INPUTS,
  DOCS_TOKEN,
  type Draw,
  FINAL_POST_MS,
  HOSTILE_LABEL,
  ISSUE,
  OTHER_PULL,
  PROMPT_FILE,
  PULL_REQUEST,
  TOKEN,
} from './draw.js'
import { BEFORE, createEvent, type EventPlan, headOf, numberOf } from './events.js'
import { createGitHubPlan } from './github-plan.js'
import { hostileText } from './hostile.js'
import type { Connecting, NetworkPlan } from './network.js'
import { Random } from './random.js'
import { createServicePlan } from './service-plan.js'

export type Plan = ReturnType<typeof createPlan>
export type StepPlan = ReturnType<typeof createStep>
/** Something that happens to the process, some time after the nth of something else. */
export type ActionPlan = ReturnType<typeof createAction>
/**
 * `github`: a request to GitHub has come. `write`: one that writes has come, and nothing is written
 * yet. `written`: it was answered.
 */
export type Trigger = ActionPlan['after']
/** The pull request as GitHub has it: how often each part of it was changed. */
export type PullPlan = typeof FIRST_PULL

const WORD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Printable ASCII, which is what a key may consist of. */
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join(
  '',
)
/** What an id may consist of. */
const ID = `${WORD}._~:@=+,-`

export function createPlan(seed: number) {
  const random = new Random(seed)
  const key = createKey(random)
  const knownJob = `job-${random.text(ID, 4, 30)}`
  const usesGitHub = random.chance(0.5)
  const theme = random.name({
    any: 60,
    well: 52,
    lost: usesGitHub ? 3 : 0,
    pushes: usesGitHub ? 55 : 0,
    ranges: usesGitHub ? 28 : 0,
    freeze: 10,
    limit: 10,
    long: 8,
    refusals: usesGitHub ? 32 : 8,
  })
  const refusesLaterStep = theme === 'refusals' && usesGitHub && random.chance(0.7)
  const hostile = () => hostileText(random, key)
  const draw: Draw = { random, key, knownJob, usesGitHub, theme, refusesLaterStep, hostile }
  const steps = createSteps(draw)
  const hasProxy = random.chance(0.08)
  const mayConnect = hasProxy || theme === 'well'
  return {
    seed,
    theme,
    key,
    knownJob,
    /**
     * What a proxy does with its nth CONNECT; the last one again and again. Without one, the
     * service has no TLS.
     */
    proxy: hasProxy ? createProxy(draw) : undefined,
    network: createNetwork(draw),
    /** What happens to the attempts to connect, in turn; those that follow succeed. */
    connecting: {
      service: mayConnect ? [] : createConnecting(random, theme === 'long' ? 0.3 : 0.06),
      github: mayConnect ? [] : createConnecting(random, 0.03),
    },
    steps,
    service: createServicePlan(draw, steps[0].timeoutMs),
    /** Undefined if the steps need nothing of GitHub. */
    github: usesGitHub ? createGitHubPlan(draw) : undefined,
  }
}

function createKey(random: Random): string {
  const alphabet = random.weighted([5, WORD], [3, PRINTABLE], [1, `\\"%/${WORD}`], [0.5, '\\"'])
  const length = random.weighted<[number, number]>([8, [12, 40]], [1, [200, 4000]])
  return `mint_${random.text(WORD, 12)}${random.text(alphabet, ...length)}`
}

/** What is to happen at an exact time travels in a time that is known. */
function createNetwork({ random, theme }: Draw): NetworkPlan {
  if (theme === 'limit') return { travelMs: [1, 1], parts: 1 }
  const [min, max] = random.weighted<[number, number]>([5, [0.1, 2]], [2, [5, 60]], [1, [20, 400]])
  return { travelMs: [min, max], parts: random.pick(1, 1, 3, 8, 200) }
}

function createConnecting(random: Random, probability: number): Connecting[] {
  if (!random.chance(probability)) return []
  const how = random.name({ refused: 3, silent: 1, unknown: 1 })
  // So many take longer than an address is tried that never answers.
  const count = random.pick(1, 2, 3, 100, 100)
  return random.times(count, () => (count > 3 || random.chance(0.9) ? how : 'open'))
}

function createProxy({ random, theme }: Draw): Behaviour[] {
  if (theme === 'well' || random.chance(0.6)) return ['open']
  return random.times(random.int(1, 4), () =>
    random.weighted<Behaviour>(
      [6, 'open'],
      [1, 'drop'],
      [1, 'reset'],
      [0.5, 'silence'],
      [1, random.pick(400, 403, 407, 429, 500, 502, 503, 504)],
    ),
  )
}

function createSteps(draw: Draw): [StepPlan, ...StepPlan[]] {
  const { random, refusesLaterStep, usesGitHub } = draw
  const drawn = createStep(draw)
  // Its one request is the first create: the service refuses the later step.
  const quick = { inputs: { ...drawn.inputs, wait: 'false' }, actions: [] }
  const first: StepPlan = refusesLaterStep || draw.theme === 'lost' ? { ...drawn, ...quick } : drawn
  const { runId } = first
  if (draw.theme === 'lost') {
    const timeoutMs = random.int(2_500, 9_000)
    return [first, { ...first, runId: runId + 1 }, { ...first, runId, attempt: 2, timeoutMs }]
  }
  if (draw.theme === 'pushes')
    return random.chance(0.6) ? createPushes(draw, first) : [createOnMain(draw, first)]
  if (draw.theme === 'ranges') {
    const range = createRange(draw, first)
    const isNight = ['schedule', 'workflow_dispatch'].includes(range.event.name)
    return [range, ...(isNight && random.chance(0.6) ? [{ ...range, attempt: 2 }] : [])]
  }
  if (!usesGitHub || (first.inputs['job-scope'] === undefined && random.chance(0.9))) return [first]
  const count = refusesLaterStep
    ? 1
    : random.weighted([draw.theme === 'long' ? 9 : 3, 0], [6, 1], [2, 2], [1, 3])
  const steps: [StepPlan, ...StepPlan[]] = [first]
  for (let index = 0; index < count; index++) steps.push(createNext(draw, steps))
  return steps
}

/** To one pull request, one after the other: most change nothing of it. */
function createPushes(draw: Draw, drawn: StepPlan): [StepPlan, ...StepPlan[]] {
  const { random } = draw
  const { 'issue-number': _, ...others } = drawn.inputs
  const context = random.pick('event', 'diff')
  const people = { sender: 'writer', author: 'writer', fromFork: false } as const
  /** Several pull requests keep the docs job of one issue. */
  const isShared = random.chance(0.4)
  const scope = isShared
    ? random.pick(
        { 'job-scope': 'issue', 'issue-number': String(ISSUE) },
        { 'job-scope': 'pull-request', 'issue-number': String(PULL_REQUEST) },
      )
    : { 'job-scope': 'pull-request' }
  const first: StepPlan = {
    ...drawn,
    inputs: {
      ...others,
      ...scope,
      context,
      ...(random.chance(0.7) && { 'docs-token': DOCS_TOKEN }),
    },
    event: { ...drawn.event, ...people, name: 'pull_request', action: 'synchronize' },
    eventFile: undefined,
    lateMs: late(draw),
  }
  const steps: [StepPlan, ...StepPlan[]] = [first]
  /** The second one doesn't know of the first one, so there are two comments. */
  const isTogether = random.chance(0.15)
  for (let index = random.int(2, 3); index > 0; index--) {
    const last = steps.at(-1) ?? first
    const { event, runId } = last
    const isFollowUp = steps.length === 1 && random.chance(0.75)
    // What the agent works on when its docs are merged is sent again by the next push.
    const isChanged = random.chance(steps.length === 2 ? 0.3 : 0.6)
    const changed = isFollowUp
      ? { ...last.pull, patch: 1 }
      : isChanged
        ? changePull(draw, steps)
        : last.pull
    const action = random.name({
      synchronize: 14,
      labeled: 1,
      edited: 1,
      reopened: 1,
    })
    const attempt = Math.max(
      ...steps.filter((step) => step.runId === runId).map((step) => step.attempt),
    )
    const next: StepPlan = {
      ...first,
      runId: runId + 1,
      pull: changed,
      lateMs: late(draw),
      event: {
        ...event,
        action,
        ...toldOf(changed),
        before: headOf(last.pull),
        pull: isShared ? random.pick(PULL_REQUEST, OTHER_PULL) : PULL_REQUEST,
      },
      ...(isTogether && steps.length === 1 && { starts: { after: 'start', delayMs: 0 } }),
    }
    if (random.chance(0.25)) steps.push({ ...next, runId, event, attempt: attempt + 1, lateMs: 0 })
    else {
      // Of two quick pushes, the run of the first one reads what the second one brought.
      const isQuick = steps.length > 1 && last.runId !== first.runId && random.chance(0.15)
      if (isQuick) steps.splice(-1, 1, { ...last, pull: changed })
      steps.push(next)
    }
  }
  return steps
}

/** A push to `main`, which may have merged something, or a night. */
function createOnMain({ random }: Draw, drawn: StepPlan): StepPlan {
  const { 'issue-number': _, ...others } = drawn.inputs
  const person = () => random.pick('writer', 'reader')
  return {
    ...drawn,
    inputs: {
      ...others,
      'job-scope': 'pull-request',
      context: random.pick('event', 'diff'),
      'skip-authors': random.pick('mintlify[bot]', 'reader'),
      ...(random.chance(0.8) && { 'skip-labels': 'No Docs' }),
      ...(random.chance(0.3) && { 'context-paths': random.pick('*.md', 'docs/**') }),
    },
    event: {
      ...drawn.event,
      sender: person(),
      author: person(),
      action: 'created',
      name: random.pick('push', 'push', 'schedule'),
      push: random.pick(drawn.event.push, 'usual', 'usual', 'many', 'group', 'queue'),
    },
    eventFile: undefined,
  }
}

/** Commits are asked for, and no pull request. */
function createRange({ random }: Draw, drawn: StepPlan): StepPlan {
  const { 'issue-number': _, 'job-scope': __, ...others } = drawn.inputs
  return {
    ...drawn,
    inputs: { ...others, context: random.pick('diff', 'diff', 'event') },
    event: {
      ...drawn.event,
      sender: 'writer',
      author: 'writer',
      action: 'published',
      name: random.name({
        push: 3,
        release: 10,
        schedule: 3,
        workflow_dispatch: 1,
        merge_group: 1,
      }),
      push: random.pick('usual', 'group', 'tag', 'tag'),
    },
  }
}

/** How long GitHub lists the files that were there before a push: it is asked again for 90 s. */
function late({ random, theme }: Draw): number {
  const forGood = theme === 'well' ? 0 : 0.3
  return random.weighted([8, 0], [3, random.int(100, 20_000)], [forGood, 150_000])
}

/** What a payload says of the pull request as it is. */
function toldOf(pull: PullPlan) {
  const { title, body, labels } = pull
  return { words: { title, body, labels }, head: headOf(pull) }
}

/**
 * A later run that shares the job, a re-run, another leg of the matrix, or a step that looks the
 * same.
 */
function createNext(draw: Draw, steps: readonly [StepPlan, ...StepPlan[]]): StepPlan {
  const { random, refusesLaterStep, theme } = draw
  const before = random.pick(...steps)
  const { inputs, timeoutMs, actions } = createStep(draw)
  const cause = createEvent(draw)
  const runs = steps.map(({ runId }) => runId)
  const attempts = steps.filter(({ runId }) => runId === before.runId).map(({ attempt }) => attempt)
  const what = random.name({
    'later run': before.inputs['job-scope'] === undefined ? 1 : 8,
    're-run': 8,
    leg: refusesLaterStep ? 0 : 2,
    'same attempt': refusesLaterStep ? 0 : 1,
  })
  const isOrdered = refusesLaterStep || theme === 'well' || what === 're-run'
  const isConcurrent = !isOrdered && random.chance(what === 'leg' ? 0.8 : 0.3)
  const starts = isConcurrent
    ? {
        after: 'start' as const,
        delayMs: random.pick(0, 0, random.int(0, 300), random.int(0, timeoutMs)),
      }
    : { after: 'end' as const, delayMs: random.pick(0, 0, random.int(0, 5_000)) }
  const mayBeOwn = before.event.name.startsWith('issue') && random.chance(0.4)
  const isOnPull = numberOf(before.event) === PULL_REQUEST
  const last = steps.at(-1) ?? before
  const changed = what === 'later run' && random.chance(0.8) ? changePull(draw, steps) : last.pull
  const told = { ...toldOf(changed), before: headOf(last.pull) }
  // What somebody does on purpose, between pushes.
  const action = isOnPull && cause.name === before.event.name ? cause.action : before.event.action
  const event: EventPlan = mayBeOwn
    ? {
        ...before.event,
        name: 'issue_comment',
        onPull: isOnPull,
        isOwnComment: true,
        isQuoted: random.chance(0.4),
        author: 'writer',
        action: 'created',
        ...told,
      }
    : { ...before.event, sender: cause.sender, author: cause.author, action, ...told }
  const next = {
    ...before,
    attempt: Math.max(...attempts),
    inputs: {
      ...before.inputs,
      wait: inputs.wait ?? 'true',
      ...(inputs.prompt !== undefined &&
        before.inputs.prompt !== undefined && { prompt: inputs.prompt }),
    },
    timeoutMs,
    actions,
    starts,
    pull: changed,
    lateMs: 0,
  }
  switch (what) {
    case 'later run':
      return {
        ...next,
        runId: Math.max(...runs) + 1,
        attempt: 1,
        event,
        ...replaceKey(draw, next),
        lateMs: late(draw),
      }
    case 're-run':
      // On a re-run, the event is the same.
      return { ...next, attempt: next.attempt + 1 }
    case 'leg':
      return random.chance(0.2)
        ? { ...next, runId: Math.max(...runs) + 1, attempt: 1, workflow: 'other.yml' }
        : { ...next, inputs: { ...next.inputs, ...random.pick(...OTHER_LEGS) } }
    case 'same attempt':
      return next
  }
}

/**
 * Line numbers move when a branch is updated or rebased; anything else is something new. Somebody
 * may push an earlier head again.
 */
function changePull({ random }: Draw, steps: readonly StepPlan[]): PullPlan {
  const pull = steps.at(-1)?.pull ?? FIRST_PULL
  if (random.chance(0.15)) return random.pick(...steps).pull
  const part = random.name({
    lines: 5,
    title: 1,
    body: 1,
    patch: 1,
    files: 1,
    labels: 1,
  })
  return { ...pull, [part]: pull[part] + 1 }
}

const FIRST_PULL = { title: 0, body: 0, lines: 0, patch: 0, files: 0, labels: 0 }

/** What keeps a step apart from another one of its job. */
const OTHER_LEGS = [
  { 'job-key': '{"leg":2}' },
  { 'job-key': 'another' },
  { 'job-key': '' },
  { 'project-id': 'other' },
]

/** The key is replaced between two runs. */
function replaceKey(
  { random }: Draw,
  { inputs }: Pick<StepPlan, 'inputs'>,
): Pick<StepPlan, 'inputs'> {
  if (inputs['api-key'] === undefined || !random.chance(0.12)) return { inputs }
  const previous = random.chance(0.7) ? { 'previous-api-key': inputs['api-key'] } : {}
  return { inputs: { ...inputs, 'api-key': createKey(random), ...previous } }
}

/** Nothing happens to the processes, and their inputs are good. */
const isCalm = (theme: Draw['theme']): boolean => ['well', 'pushes', 'ranges'].includes(theme)

function createTimeout({ random, theme }: Draw): number {
  if (theme === 'long') return random.int(60_000, 1_800_000)
  if (theme === 'lost' || isCalm(theme)) return random.int(200_000, 400_000)
  return random.weighted(
    // A refusal is repeated for 10 s.
    [theme === 'refusals' ? 1_000 : 3, random.int(11_000, 40_000)],
    [6, random.int(2_500, 7_000)],
    [3, random.int(1_000, 3_000)],
    [1, random.int(100, 1_000)],
    [2, random.int(60_000, 200_000)],
  )
}

function createStep(draw: Draw) {
  const { random, key, knownJob, usesGitHub, refusesLaterStep, theme } = draw
  const createsOnly = refusesLaterStep || ['lost', 'pushes', 'ranges'].includes(theme)
  const task = random.name({
    create: 60,
    message: createsOnly ? 0 : usesGitHub ? 5 : 18,
    attach: createsOnly ? 0 : usesGitHub ? 5 : 14,
  })
  const timeoutMs = createTimeout(draw)
  const prompt = random.weighted(
    [5, 'Update the docs.'],
    [1, `Update: ${hostileText(random, 'no key here')}`],
    [0.3, 'Long '.repeat(random.int(1, 20_000))],
  )
  const event = createEvent(draw)
  const interval = random.weighted([6, String(random.int(1, 8) / 10)], [1, '2'], [4, ''])
  const inputs: Record<string, string> = {
    'api-key': key,
    'project-id': `docs-${random.text(ID, 1, 12)}`,
    'poll-interval-seconds': timeoutMs > 40_000 ? '' : interval,
    // An environment variable has no NUL.
    ...(task !== 'attach' && { prompt: prompt.replaceAll('\0', '') }),
    ...(task !== 'create' && { 'job-id': knownJob }),
    // What the runner fills in.
    'skip-authors': 'mintlify[bot]',
    ...(random.chance(0.2) && { wait: 'false' }),
    ...(random.chance(0.1) && { 'fail-on': random.pick('none', 'no-changes', 'failed timed-out') }),
    ...(random.chance(0.03) && { 'dry-run': 'true' }),
    ...(random.chance(0.1) && task !== 'attach' && { 'prompt-file': PROMPT_FILE }),
    ...(random.chance(isCalm(theme) ? 0 : 0.04) && random.pick(...BAD_INPUTS, { 'job-key': key })),
    ...(usesGitHub && gitHubInputs(draw, task, event)),
  }
  return {
    task,
    inputs,
    /** After the start or the end of the step before it. */
    starts: { after: 'end' as 'end' | 'start', delayMs: 0 },
    timeoutMs,
    runId: random.int(1_000, 1e9),
    attempt: 1,
    event,
    pull: FIRST_PULL,
    /** For so long after a push, the list of its files is that of the head before. */
    lateMs: late(draw),
    /** What the event's file holds, if not the event. */
    eventFile: random.chance(isCalm(theme) ? 0 : 0.02) ? random.pick('', '{', '[]') : undefined,
    /** The name of its file. */
    workflow: 'docs.yml',
    actions: createActions(draw, timeoutMs),
  }
}

function gitHubInputs(
  { random, theme }: Draw,
  task: string,
  event: EventPlan,
): Record<string, string> {
  const number = numberOf(event)
  const scope = random.weighted(
    [6, number === PULL_REQUEST || event.name === 'push' ? 'pull-request' : 'issue'],
    [1, 'pull-request'],
    [1, 'issue'],
    [theme === 'refusals' || theme === 'lost' ? 0 : 2, ''],
  )
  const hasScope = task === 'create' && scope !== ''
  // Without a pull request or an issue in the event, the scope needs a number.
  const needsNumber = hasScope && scope === 'issue' && number === undefined
  const usesPaths = random.chance(0.15)
  const usesSince = random.chance(0.2)
  const isWell = theme === 'well'
  const maybe = <T>(usual: T, ...others: readonly T[]): T =>
    random.chance(isWell ? 0 : 0.03) ? random.pick(...others) : usual
  return {
    'github-token': maybe(TOKEN, '', 'ghs_unknown'),
    context: random.pick('none', 'event', 'diff'),
    ...(hasScope && { 'job-scope': scope }),
    ...((needsNumber || random.chance(0.1)) && {
      'issue-number': String(random.pick(PULL_REQUEST, ISSUE)),
    }),
    ...(random.chance(0.3) && { comment: 'true' }),
    ...(random.chance(0.15) && { 'allow-users': random.pick('*', 'Reader', 'stranger, app[bot]') }),
    ...(random.chance(event.name === 'push' ? 0.3 : 0.05) && {
      'skip-authors': random.pick('', 'reader'),
    }),
    ...(random.chance(0.25) && {
      'skip-labels': random.pick('no docs', 'other\nNO DOCS', 'other', HOSTILE_LABEL.toLowerCase()),
    }),
    ...(random.chance(0.5) && { 'docs-token': maybe(DOCS_TOKEN, 'github_pat_unknown') }),
    ...(random.chance(0.2) && { 'job-key': random.pick('{"leg":1}', 'one') }),
    ...(usesPaths && { 'context-paths': random.pick('docs/**', '!docs/**', '*.md') }),
    ...(random.chance(isWell ? 0 : 0.03) && random.pick(...BAD_CODE)),
    ...(usesSince && { since: random.pick('v1.0.0', BEFORE, isWell ? 'v1.0.0' : 'unknown') }),
  }
}

function createActions(draw: Draw, timeoutMs: number): ActionPlan[] {
  const { random, theme } = draw
  if (isCalm(theme)) return []
  if (theme === 'freeze' || (theme === 'limit' && random.chance(0.3)))
    return [createFreeze(draw, timeoutMs)]
  const count = random.weighted([theme === 'refusals' ? 300 : 60, 0], [28, 1], [12, 2], [5, 3])
  const actions = random.times(count, () => createAction(draw, timeoutMs))
  const cancel = actions.find(({ what }) => what === 'cancel')
  // The runner's second signal comes 7.5 s after the first; a person may be quicker.
  const second = {
    ...cancel,
    delayMs: (cancel?.delayMs ?? 0) + random.pick(random.int(1, 3_000), 7_500),
  }
  return cancel && random.chance(0.3) ? [...actions, second as ActionPlan] : actions
}

function createAction({ random, usesGitHub }: Draw, timeoutMs: number) {
  const ofGitHub = usesGitHub ? 3 : 0
  return {
    after: random.name({
      start: 2,
      request: 2,
      post: 4,
      get: 2,
      response: 2,
      github: ofGitHub,
      write: ofGitHub,
      written: ofGitHub,
    }),
    nth: random.weighted([5, 1], [3, 2], [2, 3], [1, 4], [1, 5]),
    delayMs: random.weighted(
      [3, 0],
      [3, random.int(0, 100)],
      [2, random.int(100, 5_000)],
      [2, random.int(0, timeoutMs)],
      [1, 7_500],
    ),
    what: random.name({
      cancel: 6,
      freeze: 5,
      SIGKILL: usesGitHub ? 4 : 1,
      jump: 2,
      'disk full': 1,
      'log closed': 1,
      exception: 1,
    }),
    /** How long a freeze takes, or how far the wall clock jumps. */
    forMs: random.weighted(
      [1, random.int(10, 500)],
      [2, random.int(500, timeoutMs)],
      [2, random.int(timeoutMs, timeoutMs + 8_000)],
      [1, -random.int(1_000, 86_400_000)],
    ),
  }
}

/**
 * The process freezes while it waits for a response, and goes on after its deadline; or it freezes
 * while the response to a POST is waited for after the deadline, and goes on after that time.
 */
function createFreeze({ random, theme }: Draw, timeoutMs: number): ActionPlan {
  const what = 'freeze'
  if (theme === 'limit') {
    const delayMs = timeoutMs + random.int(0, 2_000)
    return { after: 'post', nth: 1, delayMs, what, forMs: FINAL_POST_MS + random.int(0, 1_000) }
  }
  const [delayMs, forMs] = [random.pick(0, 0, 200), random.int(timeoutMs, timeoutMs + 4_000)]
  return {
    after: random.pick('post', 'get', 'get'),
    nth: random.pick(1, 1, 2),
    delayMs,
    what,
    forMs,
  }
}
