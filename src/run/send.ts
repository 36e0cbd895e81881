/** Sends a create or a message until it is taken, and never again once it may have been. */

import type { Reply, Service } from '../agent/client.js'
import type { Job } from '../agent/job.js'
import {
  delay,
  judgePost,
  type Post,
  type PostVerdict,
  UNREACHABLE_MS,
  unknownFate,
} from '../agent/verdict.js'
import { ActionError, Cancelled } from '../errors.js'
import { duration } from '../format.js'
import type { Ports } from './ports.js'

type Again = Extract<PostVerdict, { next: 'again' }>

/**
 * Sends it, again only where `judgePost` proves that it was not taken.
 *
 * @returns the job as the service answered; undefined for a message that was taken without a readable job.
 * @throws ActionError where it is refused, where its time is over, or where what became of it is unknown.
 * @throws Cancelled
 */
export async function send(
  post: Post,
  prompt: string,
  service: Service,
  ports: Ports,
): Promise<Job | undefined> {
  const { clock, stop, log, progress, publish } = ports
  const startedAt = clock.now()
  let answered = false
  let last: Again | undefined

  for (let tries = 1; ; tries++) {
    progress.sending = true
    publish()
    const reply = await request(post, prompt, service)
    progress.sending = false
    const verdict = judgePost(post, reply, clock.date())
    if (verdict.next === 'taken') return verdict.job
    if (stop.cancelled()) throw new Cancelled(verdict.next === 'again' ? undefined : verdict.unknown)
    if (verdict.next === 'fail') throw verdict.error
    if (verdict.next === 'stopped') throw verdict.unknown ?? last?.error ?? noTime()

    last = verdict
    answered ||= verdict.answered
    const left = answered
      ? stop.remainingMs()
      : Math.min(stop.remainingMs(), startedAt + UNREACHABLE_MS - clock.now())
    const { least, wait } = delay(verdict.pause, tries, ports.random())
    if (least >= left) throw outOfTime(verdict, tries, least)
    const pause = wait < left ? wait : least
    log(`${verdict.error.message} Trying again in ${duration(pause)}.`)
    publish()
    await clock.sleep(pause, stop.signal)
    if (stop.cancelled()) throw new Cancelled()
    if (stop.signal.aborted) throw outOfTime(verdict, tries, least)
  }
}

/** One try. Whatever is thrown on the way, the request may have left. */
async function request(post: Post, prompt: string, service: Service): Promise<Reply> {
  try {
    return await (post.kind === 'create' ? service.create(prompt) : service.message(post.jobId, prompt))
  } catch (thrown) {
    throw unknownFate(post, 'the action itself failed on the way', thrown)
  }
}

function outOfTime({ error, pause }: Again, tries: number, least: number): ActionError {
  const why =
    pause.retryAfterMs === undefined
      ? `Tried ${tries} ${tries === 1 ? 'time' : 'times'}.`
      : `It asks to wait ${duration(least)}, which is longer than the step has left.`
  return new ActionError(error.code, `${error.message} ${why}`, error.advice, { cause: error.cause })
}

function noTime(): ActionError {
  return new ActionError(
    'network',
    'The time was over before there was a connection to the service. Nothing was sent.',
    'Check base-url, the proxy variables and the network, or raise timeout-minutes.',
  )
}
