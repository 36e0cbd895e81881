/** The check runs with one name on a commit: each attempt of a step creates its own. */

import { getString } from '../event/payload.js'
import { type GitHub, type RequestMode, readPages, requestParams } from '../github/client.js'
import type { Conclusion, StatusUpdate } from '../run/status-update.js'
import { shortSha } from '../text/format.js'
import { hasId } from './comment.js'
import type { Place } from './stored-text.js'

/** No more check runs of the name than this are read. */
const CHECK_RUNS_LIMIT = 1000

export function openCheckRuns(
  github: GitHub,
  repository: string,
  sha: string,
  name: string,
): Place {
  const commit = `commit ${shortSha(sha)}`
  const writing = (mode: RequestMode) =>
    requestParams({ repository, ...mode }, `writing the check on ${commit}`, 'checks: write', hasId)
  return {
    kind: 'check',
    perAttempt: true,
    async list(mode) {
      const hasList = ({ check_runs }: { check_runs?: unknown }) => Array.isArray(check_runs)
      const doing = `reading the checks of ${commit}`
      const common = requestParams({ repository, ...mode }, doing, 'checks: write', hasList)
      const { items, truncated } = await readPages(CHECK_RUNS_LIMIT / 100, async (page) => {
        // `latest`, the default, hides the check runs of earlier attempts.
        const params = { ...common, ...page, ref: sha, check_name: name, filter: 'all' } as const
        const { data, headers } = await github.checks.listForRef(params)
        return { data: data.check_runs, headers }
      })
      const texts = items.map((check) => {
        const [markers = ''] = getString(check, 'output.text').split('\n')
        return { id: check.id, markers, nonce: getString(check, 'external_id') }
      })
      return { items: texts, truncated }
    },
    async create(update, external_id, mode) {
      const params = { ...writing(mode), name, head_sha: sha, external_id, ...contentOf(update) }
      const { data } = await github.checks.create(params)
      return data.id
    },
    async edit(check_run_id, update, marker, mode) {
      const content = contentOf(update, marker)
      await github.checks.update({ ...writing(mode), check_run_id, ...content })
    },
  }
}

type Content = (
  | { readonly status: 'in_progress' }
  | { readonly status: 'completed'; readonly conclusion: Conclusion }
) & { readonly output: { title: string; summary: string; text?: string } }

function contentOf({ title, summary, conclusion }: StatusUpdate, marker?: string): Content {
  const text = marker === undefined ? {} : { text: marker }
  const output = { title, summary, ...text }
  return conclusion === undefined
    ? { status: 'in_progress', output }
    : { status: 'completed', conclusion, output }
}
