/** An action that only writes one comment on its pull request. The bench bundles it with ncc. */

import * as core from '@actions/core'
import { context, getOctokit } from '@actions/github'

try {
  const { rest } = getOctokit(core.getInput('github-token', { required: true }))
  const body = core.getInput('prompt', { required: true })
  const { data } = await rest.issues.createComment({
    ...context.repo,
    issue_number: context.issue.number,
    body,
  })
  core.setOutput('comment-id', data.id)
} catch (error) {
  core.setFailed(error instanceof Error ? error.message : String(error))
}
