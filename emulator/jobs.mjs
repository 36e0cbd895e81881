// The emulated service's jobs. Their states follow from the time of a request: one that was just
// created is active.

/** @import { Service } from './scenarios.mjs' */

const FIRST_PULL_REQUEST = 17
const REPOSITORY = 'https://github.com/your-org/docs'
/** For a comment on the real GitHub, where nobody may take its link for a real one. */
export const UNREAL_REPOSITORY = 'https://github.com/your-org/emulated-docs-not-real'

/**
 * A job as the service keeps it. Times are in milliseconds since 1970.
 * @typedef {object} Job
 * @property {string} id
 * @property {string} projectId
 * @property {number} createdAt
 * @property {number} endsAt until then it is active
 * @property {number} pullRequest the number of the pull request it may open
 * @property {string[]} prompts every instruction it was given
 */

/**
 * @typedef {object} Timing
 * @property {number} jobSeconds how long a job takes at speed 1
 * @property {number} speed how many times faster jobs run. Timestamps stay real: on a faster clock
 * they would lie in the
 *   future of the step that reports them
 * @property {string | undefined} [repository] the docs repository
 * @property {number} startedAt when the service started, in milliseconds since 1970
 */

/** @typedef {ReturnType<typeof createJobs>} Jobs */

/**
 * @param {Service} service
 * @param {Timing} timing
 */
export function createJobs(service, { jobSeconds, speed, startedAt, repository = REPOSITORY }) {
  const jobMs = jobSeconds * 1000
  /** @type {Map<string, Job>} */
  const byId = new Map()

  /** @type {(job: Omit<Job, 'pullRequest'>, number?: number) => Job} */
  const add = (job, number = byId.size) => {
    const added = { ...job, pullRequest: FIRST_PULL_REQUEST + number }
    byId.set(job.id, added)
    return added
  }
  for (const { id, projectId, ageSeconds } of service.initialJobs ?? []) {
    const remainingMs = jobMs - ageSeconds * 1000
    const endsAt = startedAt + (remainingMs > 0 ? remainingMs / speed : remainingMs)
    add({ id, projectId, createdAt: startedAt - ageSeconds * 1000, endsAt, prompts: [] })
  }

  return {
    byId,
    /** @type {(projectId: string, prompt: string, createdAt: number) => Job} */
    create(projectId, prompt, createdAt) {
      let number = byId.size
      while (byId.has(formatId(number))) number++
      const id = formatId(number)
      const endsAt = createdAt + jobMs / speed
      return add({ id, projectId, createdAt, endsAt, prompts: [prompt] }, number)
    },
    /**
     * The job of an earlier emulator, which a comment records: each workflow job has its own. It
     * has ended.
     * @type {(projectId: string, id: string) => Job | undefined}
     */
    recall(projectId, id) {
      const number = Number(OWN_ID.exec(id)?.[1] ?? 0) - 1
      if (number < 0) return undefined
      return add({ id, projectId, createdAt: startedAt, endsAt: startedAt, prompts: [] }, number)
    },
    /** @type {(job: Job, prompt: string, at: number) => void} */
    message(job, prompt, at) {
      job.prompts.push(prompt)
      job.endsAt = at + jobMs / speed
    },
    /**
     * @type {(job: Job, at: number) => Record<string, unknown>} the job as the service's responses
     * have it
     */
    toJson({ id, createdAt, endsAt, pullRequest }, at) {
      const status = at < endsAt ? 'active' : (service.endStatus ?? 'completed')
      const hasPullRequest = status === 'completed' && !service.withoutPullRequest
      return {
        id,
        status,
        source: { repository, ref: `docs-agent/${pullRequest}` },
        model: 'emulated',
        prLink: hasPullRequest ? `${repository}/pull/${pullRequest}` : null,
        createdAt: new Date(createdAt).toISOString(),
        archivedAt: status === 'archived' ? new Date(endsAt).toISOString() : null,
      }
    },
  }
}

const OWN_ID = /^00000000-0000-4000-8000-(\d{12})$/

/** @param {number} number from 0 */
const formatId = (number) => `00000000-0000-4000-8000-${String(number + 1).padStart(12, '0')}`
