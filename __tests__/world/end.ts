/** How a run ended, without what depends on times: the same in the simulation as with processes. */

import type { RunRecord, StepRecord } from './execute.js'
import { readOutputs } from './facts.js'
import { markerIn } from './memory.js'

export type RunEnd = ReturnType<typeof endOf>

export function endOf({ steps, comments, checks }: RunRecord) {
  return {
    steps: steps.map(endOfStep),
    comments: comments.map((body) => ({ title: firstLine(body), marker: markerOf(body) })),
    checks: checks.map(({ name, status, conclusion, output }) => ({
      ...{ name, status, conclusion },
      title: firstLine(output.title ?? ''),
      marker: markerOf(output.text ?? ''),
    })),
  }
}

function endOfStep({ outputFile, exitCode, signal, entries, githubRequests }: StepRecord) {
  const { outcome, 'error-code': code, 'job-id': jobId, status, 'pr-link': link } = readOutputs(outputFile)
  return {
    ...{ outcome, code, jobId, status, link },
    ended: signal ?? exitCode,
    /** How often it polls depends on times. */
    posts: entries.flatMap(({ method, path, body }) =>
      method === 'POST' ? [{ path, body: withoutNonce(body) }] : [],
    ),
    hasPolled: entries.some(({ method }) => method === 'GET'),
    /** How many edits there are depends on times, too. */
    asked: [
      ...new Set(githubRequests.map(({ method, path }) => `${method} ${path.replace(/\d{10,}$/, 'ID')}`)),
    ].sort(),
  }
}

function markerOf(text: string) {
  const { name: _, ...marker } = markerIn(text) ?? { name: '' }
  return marker
}

/** Without durations. */
const firstLine = (text: string): string => (text.split('\n')[0] ?? '').replace(/\d+ (?:ms|s|min)\b/g, 'TIME')

/** The mark of what others wrote can't be guessed. */
const withoutNonce = (text: string): string => text.replace(/\b[0-9a-f]{16,32}\b/g, 'NONCE')
