/**
 * Tells steps on a pull request that remembers its job, against a service that follows a script.
 */

import { inWorld, type RunOptions, type SimulatedWorld } from './pull-request.js'
import { type Received, type Script, startService } from './service.js'
import type { StoryOptions } from './story.js'

const CREATE_PATH = '/v2/agent/docs/job'

async function startRemembering(world: SimulatedWorld, script: Script) {
  const service = await startService(script)
  /** Tells a step with `job-scope: pull-request`. */
  const step = (inputs: Record<string, string> = {}, run: RunOptions & StoryOptions = {}) =>
    world.step({ 'base-url': service.url, 'job-scope': 'pull-request', ...inputs }, run)
  return {
    world,
    service,
    step,
    /** Tells a step that starts the job and doesn't wait for it. */
    start: () => step({ wait: 'false' }),
    creates: () => service.posts().filter(({ path }) => path === CREATE_PATH),
    messages: () => service.posts().filter(({ path }) => path.endsWith('/message')),
  }
}

export const onPullRequest = (
  script: Script,
  story: (remembering: Awaited<ReturnType<typeof startRemembering>>) => Promise<void>,
): Promise<void> =>
  inWorld({}, async (world) => {
    const remembering = await startRemembering(world, script)
    await story(remembering).finally(remembering.service.close)
  })

/** The prompt that a request carried. */
export const promptOf = ({ body }: Received): string => JSON.parse(body).prompt
