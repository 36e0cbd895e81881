/** Tells steps on a pull request that remembers its job, against a service that follows a script. */

import type { Ended } from './action.js'
import { inWorld, type RunOptions, type World } from './pull-request.js'
import { type Received, type Script, type ScriptedService, startService } from './service.js'
import type { StoryOptions } from './story.js'

const CREATE_PATH = '/v2/agent/docs/job'

export interface Remembering {
  readonly world: World
  readonly service: ScriptedService
  /** Tells a step with `job-scope: pull-request`. */
  readonly step: (inputs?: Record<string, string>, run?: RunOptions & StoryOptions) => Promise<Ended>
  /** Tells a step that starts the job and doesn't wait for it. */
  readonly start: () => Promise<Ended>
  readonly creates: () => Received[]
  readonly messages: () => Received[]
}

export const onPullRequest = (
  script: Script,
  story: (remembering: Remembering) => Promise<void>,
): Promise<void> =>
  inWorld({}, async (world) => {
    const service = await startService(script)
    const step: Remembering['step'] = (inputs = {}, run = {}) =>
      world.step({ 'base-url': service.url, 'job-scope': 'pull-request', ...inputs }, run)
    await story({
      world,
      service,
      step,
      start: () => step({ wait: 'false' }),
      creates: () => service.posts().filter(({ path }) => path === CREATE_PATH),
      messages: () => service.posts().filter(({ path }) => path.endsWith('/message')),
    }).finally(service.close)
  })

/** The prompt that a request carried. */
export const promptOf = ({ body }: Received): string => JSON.parse(body).prompt
