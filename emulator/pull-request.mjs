// Sets up the runs of a step on one pull request, with an emulated GitHub that stores its comment.
import { startGitHub } from './github.mjs'
import { GITHUB_TOKEN } from './scenarios.mjs'

/** @import { Comment, GitHub } from './github.mjs' */
/** @import { Run } from './runner.mjs' */

/**
 * @typedef {object} PullRequest
 * @property {(Pick<Run, 'event' | 'env'> & { title: string })[]} runs what differs between them
 * @property {GitHub['requests']} requests those that GitHub received
 * @property {() => Promise<void>} close
 */

const REPOSITORY = 'your-org/your-repo'
const NUMBER = 7

/**
 * @param {string[]} actions what happens to the pull request, such as `opened`; each starts a run
 * @param {(comment: Comment) => void} onComment
 * @returns {Promise<PullRequest>}
 */
export async function startPullRequest(actions, onComment) {
  const options = { token: GITHUB_TOKEN, repository: REPOSITORY, pullRequest: NUMBER, onComment }
  const { url, requests, close } = await startGitHub(options)
  const runs = actions.map((action, index) => ({
    title: `Run ${index + 1} of ${actions.length}: event pull_request, ${action}`,
    event: createPayload(action),
    env: createEnvironment(url, index + 1),
  }))
  return { runs, requests, close }
}

/** @param {string} action */
function createPayload(action) {
  const repo = { full_name: REPOSITORY }
  return {
    action,
    number: NUMBER,
    pull_request: {
      number: NUMBER,
      title: 'Add --retry',
      body: 'Retries a failed request.',
      user: { login: 'octocat' },
      html_url: `https://github.com/${REPOSITORY}/pull/${NUMBER}`,
      base: { ref: 'main', label: 'your-org:main', repo },
      head: { ref: 'retry', label: 'your-org:retry', repo },
    },
  }
}

/**
 * @param {string} apiUrl
 * @param {number} run counts from 1
 */
function createEnvironment(apiUrl, run) {
  const ref = `refs/pull/${NUMBER}/merge`
  return {
    GITHUB_API_URL: apiUrl,
    GITHUB_BASE_REF: 'main',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_HEAD_REF: 'retry',
    GITHUB_REF: ref,
    GITHUB_REF_NAME: `${NUMBER}/merge`,
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_RUN_ID: String(run),
    GITHUB_RUN_NUMBER: String(run),
    GITHUB_SHA: String(run).repeat(40),
    GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@${ref}`,
  }
}
