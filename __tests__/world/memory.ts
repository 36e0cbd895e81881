/** What GitHub remembers, and what it has shown to a step. */

import type { Received } from '../support/github.js'
import type { StepRecord } from './execute.js'

/** What a run leaves for the next one. */
export type Marker = NonNullable<ReturnType<typeof markerIn>>

export const MARKER = /(<!-- agent-job-action:\d+ [\w-]{22} )([\w-]+)( [\w-]{43} -->)/
const NAME = /agent-job-action:\d+ ([\w-]{22}) /
/** Who copies the comments of others; and whose account was deleted. */
export const STRANGERS = ['stranger', ''] as const
export const isStrangers = (login = ''): boolean => STRANGERS.some((one) => one === login)

/** Reads without the key what only a genuine step has written here. */
export function markerIn(text: string) {
  const [, , data, signature] = MARKER.exec(text) ?? []
  if (data === undefined) return undefined
  const stored = JSON.parse(Buffer.from(data, 'base64url').toString())
  const [jobId, link, run, attempt, state]: [string, string, string, number, string] = stored
  /** What tells the steps apart whose comments are on the same thread. */
  const name = NAME.exec(text)?.[1] ?? ''
  return { name, signature, jobId, link, run, attempt, state }
}

export function markersIn(texts: readonly string[]): Marker[] {
  return texts.map(markerIn).filter((marker) => marker !== undefined)
}

/** A comment that a list has shown. */
export type Shown = ReturnType<typeof withoutRepeats>[number]

const COMMENTS = /\/issues\/\d+\/comments/

/**
 * The markers that the lists have shown to a step before it wrote anything: one list for each time
 * that they were read, because nobody knows from outside which responses were read to the end, and
 * for each of what an edit has changed meanwhile.
 */
export function shownTo({ githubRequests, entries }: StepRecord): Shown[][] {
  const sentAt =
    entries.find(({ method }) => method === 'POST')?.startedAt ?? Number.POSITIVE_INFINITY
  const lists: Page[] = []
  for (const request of githubRequests) {
    if (!COMMENTS.test(request.path)) continue
    if (request.method !== 'GET' || request.at > sentAt) break
    const items = itemsIn(request)
    if (items === undefined) continue
    const isFirst = new URL(request.path, 'http://localhost').searchParams.get('page') === '1'
    if (isFirst || lists.length === 0) lists.push([])
    lists.at(-1)?.push(...items)
  }
  return lists.flatMap((items) => {
    const [first, last] = [withoutRepeats(items.toReversed()), withoutRepeats(items)]
    return JSON.stringify(first) === JSON.stringify(last) ? [last] : [first, last]
  })
}

/**
 * Of each comment that has a marker, what was shown last: pages that are read one after the other
 * may show it twice, before and after an edit.
 */
function withoutRepeats(items: Page) {
  const byId = new Map(items.map((item) => [item.id, item]))
  return [...byId.values()]
    .sort((one, other) => one.id - other.id)
    .flatMap(({ marker, ...item }) => (marker === undefined ? [] : [{ ...item, marker }]))
}

type Page = NonNullable<ReturnType<typeof itemsIn>>

type Item = { id: number; body: string; user: { login: string } | null }

function itemsIn({ at, status, answered }: Received) {
  if (status !== 200) return undefined
  try {
    const items: Item[] = JSON.parse(answered)
    return items.flatMap(({ id, body, user }) =>
      isStrangers(user?.login) ? [] : [{ at, id, marker: markerIn(body) }],
    )
  } catch {
    return undefined
  }
}

/** The docs jobs in the markers that others' comments have, of those that were shown to a step. */
export function strangersJobs({ githubRequests }: StepRecord): string[] {
  return githubRequests
    .filter(({ path, method, status }) => COMMENTS.test(path) && method === 'GET' && status === 200)
    .flatMap(({ answered }) => {
      try {
        const items: Item[] = JSON.parse(answered)
        return items.flatMap(({ body, user }) =>
          isStrangers(user?.login) ? [markerIn(body)?.jobId ?? ''] : [],
        )
      } catch {
        return []
      }
    })
    .filter((jobId) => jobId !== '')
}

/** What a step wrote with a marker, and whether GitHub has it. */
export type Written = ReturnType<typeof writtenBy>[number]

export function writtenBy({ githubRequests }: Pick<StepRecord, 'githubRequests'>) {
  return githubRequests.flatMap(({ method, path, body, at, status, tookEffect }) => {
    const marker = method === 'PATCH' ? markerIn(textIn(body)) : undefined
    return marker === undefined
      ? []
      : [{ at, id: Number(/\d+$/.exec(path)?.[0]), marker, status, tookEffect }]
  })
}

/** Of a comment that is written. */
export const textIn = (body: unknown): string => (body as { body?: string } | undefined)?.body ?? ''
