/** Steps on a pull request that remembers its job, against a service that follows a script. */

import type { Ended, Options } from './action.js'
import { type RunOptions, startWorld, type World } from './pull-request.js'
import { type Received, type Script, type ScriptedService, startService } from './service.js'

export const CREATE_PATH = '/v2/agent/docs/job'

export interface Remembering {
  readonly world: World
  readonly service: ScriptedService
  /** Runs a step with `job-scope: pull-request`. */
  readonly step: (inputs?: Record<string, string>, run?: RunOptions & Options) => Promise<Ended>
  /** Runs a step that starts the job and doesn't wait for it. */
  readonly start: () => Promise<Ended>
  readonly creates: () => Received[]
  readonly messages: () => Received[]
}

export async function onPullRequest(
  script: Script,
  story: (remembering: Remembering) => Promise<void>,
): Promise<void> {
  const [world, service] = await Promise.all([startWorld(), startService(script)])
  const step: Remembering['step'] = (inputs = {}, run = {}) =>
    world.runBundle({ 'base-url': service.url, 'job-scope': 'pull-request', ...inputs }, run)
  try {
    await story({
      world,
      service,
      step,
      start: () => step({ wait: 'false' }),
      creates: () => service.posts().filter(({ path }) => path === CREATE_PATH),
      messages: () => service.posts().filter(({ path }) => path.endsWith('/message')),
    })
  } finally {
    await Promise.all([world.close(), service.close()])
  }
}

/** The prompt that a request carried. */
export const promptOf = ({ body }: Received): string => JSON.parse(body).prompt
