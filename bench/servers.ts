/**
 * The tests' service and GitHub, as far as the measured steps use them, and what was counted there.
 */

import { file, startGitHub } from '../__tests__/support/github.js'
import { job, json, LINK, startService } from '../__tests__/support/service.js'

export interface Counts {
  readonly requests: number
  readonly connections: number
}

interface Counted {
  readonly received: readonly unknown[]
  readonly connections: () => number
}

/** Returns what was counted since the previous call. */
function countOf({ received, connections }: Counted): () => Counts {
  let before = { requests: 0, connections: 0 }
  return () => {
    const now = { requests: received.length, connections: connections() }
    const taken = {
      requests: now.requests - before.requests,
      connections: now.connections - before.connections,
    }
    before = now
    return taken
  }
}

/** The service, over TLS. A job is completed at its third poll. */
export async function startBenchService(tls: { readonly key: string; readonly cert: string }) {
  const polls = new Map<string, number>()
  const service = await startService({
    tls,
    posts: [
      (response) => {
        const id = `job-${polls.size + 1}`
        polls.set(id, 0)
        json(201, job({ id }))(response)
      },
    ],
    polls: [
      (response, { path }) => {
        const id = path.split('/').at(-1) ?? ''
        const polled = (polls.get(id) ?? 0) + 1
        polls.set(id, polled)
        json(200, job({ id, ...(polled >= 3 && { status: 'completed', prLink: LINK }) }))(response)
      },
    ],
  })
  return { ...service, takeCounts: countOf(service) }
}

export const REPOSITORY = 'your-org/your-repo'
export const NUMBER = 7
export const HEAD_SHA = '2'.repeat(40)
export const TOKEN = 'ghs_bench'

const CHANGED_FILES = Array.from({ length: 20 }, (_, index) => {
  const lines = Array.from({ length: 30 }, (_, line) => `+export const value${line} = ${line}`)
  return file(`src/module-${index + 1}.ts`, `@@ -1,0 +1,${lines.length} @@\n${lines.join('\n')}`)
})

/** GitHub with one pull request: its files and its comments. */
export async function startBenchGitHub() {
  const github = await startGitHub({ token: TOKEN })
  const repository = github.addRepository(REPOSITORY, { private: true })
  repository.addPull({ number: NUMBER, title: 'Add --retry', head: HEAD_SHA, files: CHANGED_FILES })
  // The docs pull request, whose files are told.
  github
    .addRepository('your-org/docs', {})
    .addPull({ number: 17, files: [file('guides/retry.mdx')] })
  return {
    ...github,
    takeCounts: countOf({ ...github, received: github.requests }),
    deleteComments: () => repository.comments.clear(),
    /** What was asked for that it doesn't have. */
    refusedRequests: () => github.requests.filter(({ status }) => Number(status) >= 400),
  }
}

/** The payload of the `pull_request` event. */
export const PULL_REQUEST_EVENT = {
  action: 'synchronize',
  number: NUMBER,
  pull_request: {
    number: NUMBER,
    title: 'Add --retry',
    body: 'Retries a failed request.',
    state: 'open',
    user: { login: 'octocat', type: 'User' },
    html_url: `https://github.com/${REPOSITORY}/pull/${NUMBER}`,
    base: {
      ref: 'main',
      label: 'your-org:main',
      sha: '1'.repeat(40),
      repo: { full_name: REPOSITORY },
    },
    head: { ref: 'retry', label: 'your-org:retry', sha: HEAD_SHA, repo: { full_name: REPOSITORY } },
  },
  repository: { full_name: REPOSITORY, private: true },
  sender: { login: 'octocat', type: 'User' },
}
