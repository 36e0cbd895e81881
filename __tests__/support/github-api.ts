/**
 * GitHub's own description of what the action asks, to which the fakes are held: names, types, null
 * and enumerations of requests, answers and payloads. `npm run github-api` makes it.
 */

import { readFileSync } from 'node:fs'
import { Ajv, type Options, type ValidateFunction } from 'ajv'

/** JSON, as far as it is read here. */
interface Json {
  readonly [name: string]: Json
}

/** The versions of the REST API, and the oldest Enterprise Server. */
export const VERSIONS = ['2022-11-28', '2026-03-10', 'ghes-3.17'] as const
export type Version = (typeof VERSIONS)[number]

/** A request, as one of the endpoints that GitHub describes: `GET /pulls/{pull_number}`. */
interface Asked {
  readonly version: Version
  readonly endpoint: string
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: unknown
}

const FORMATS: NonNullable<Options['formats']> = {
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URL.canParse(text),
}

const read = (name: string): Json =>
  JSON.parse(readFileSync(`__tests__/support/${name}.json`, 'utf8'))

/** RFC 7396: null takes away, and what is no object replaces. */
function patched(target: Json | undefined, patch: Json): Json {
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch
  const changed = Object.entries(patch).flatMap(([name, value]): [string, Json | undefined][] => [
    [name, value === null ? undefined : patched(target?.[name], value)],
  ])
  return JSON.parse(JSON.stringify({ ...target, ...Object.fromEntries(changed) }))
}

/** The validator of a part of a description; undefined if there is no such part. */
type Find = (...place: readonly string[]) => ValidateFunction | undefined

function createFind(description: Json, coerceTypes = false): Find {
  // Most time goes into compiling, not into validating.
  const ajv = new Ajv({
    formats: FORMATS,
    coerceTypes,
    inlineRefs: false,
    code: { optimize: false },
  })
  for (const [name, schema] of Object.entries(description.schemas ?? {}))
    ajv.addSchema(schema, name)
  return (...place) => {
    const schema = place.reduce<Json | undefined>((part, name) => part?.[name], description)
    return schema && ajv.compile(schema) // It compiles the same object once.
  }
}

/** Calls once for each key, when it is needed. */
function once<K, V>(create: (key: K) => V): (key: K) => V {
  const created = new Map<K, V>()
  return (key) => {
    if (!created.has(key)) created.set(key, create(key))
    return created.get(key) as V
  }
}

const describe = once((version: Version): Json => {
  const { differences, ...current } = read('github-api')
  return patched(current as Json, differences?.[version] ?? ({} as Json))
})
const answers = once((version: Version) => createFind(describe(version)))
/** Numbers in a path and a query are texts. */
const parameters = once((version: Version) => createFind(describe(version), true))
const events = once((name: 'github-events') => {
  const description = read(name)
  return { description, find: createFind(description) }
})

/** What the description calls the payloads of an event: one for each action, or one. */
function namesOf(event: string): { readonly name: string; readonly all: readonly string[] } {
  const name = event.replace('pull_request_target', 'pull_request').replaceAll('_', '-')
  const all = Object.keys(events('github-events').description.events ?? {})
  return { name, all: all.filter((one) => one === name || one.startsWith(`${name}-`)) }
}

function problems(validate: ValidateFunction, what: string, value: unknown): string[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const details = Object.values(params).join(', ')
    return `${what}${instancePath} ${message} (${details})`
  })
}

/** Whether GitHub describes it; GraphQL is none of these. */
export const isDescribed = (endpoint: string): boolean =>
  describe('2022-11-28').operations?.[endpoint] !== undefined

export function requestProblems({ version, endpoint, path, query, body }: Asked): string[] {
  const find = parameters(version)
  const check = (place: string, value: unknown): string[] => {
    const validate = find('operations', endpoint, place)
    if (validate !== undefined) return problems(validate, `${endpoint}, ${place} `, value)
    return value === undefined ? [] : [`${endpoint}: it takes no ${place}`]
  }
  const validate = answers(version)('operations', endpoint, 'body')
  const inBody = validate && problems(validate, `${endpoint}, body `, body)
  return [
    ...check('path', { ...path }),
    ...check('query', Object.fromEntries(query)),
    ...(inBody ?? (body === undefined ? [] : [`${endpoint}: it takes no body`])),
  ]
}

/** Of an error that the endpoint's description doesn't name, the body is an error's. */
export function answerProblems(
  { version, endpoint }: Pick<Asked, 'version' | 'endpoint'>,
  status: number,
  body: unknown,
): string[] {
  const find = answers(version)
  const own = find('operations', endpoint, 'answers', String(status))
  const validate = own ?? (status >= 400 ? find('schemas', 'basic-error') : undefined)
  if (validate === undefined) return [`${endpoint}: it has no answer ${status}`]
  return problems(validate, `${endpoint}, ${status} `, body)
}

/**
 * Whether a value that a description allows may have this, by the names on the way to it; `[]` is
 * an item of a list.
 */
function mayHave(description: Json, schema: Json | undefined, names: readonly string[]): boolean {
  if (schema?.$ref) return mayHave(description, description.schemas?.[String(schema.$ref)], names)
  if (schema === undefined || names.length === 0) return schema !== undefined
  const alternatives = Object.values(schema.anyOf ?? {})
  if (alternatives.some((one) => mayHave(description, one, names))) return true
  const [name = '', ...rest] = names
  if (name === '[]') return mayHave(description, schema.items, rest)
  const { properties, additionalProperties } = schema as Json & { additionalProperties?: unknown }
  const isOpen =
    properties === undefined && alternatives.length === 0 && additionalProperties !== false
  return isOpen || mayHave(description, properties?.[name], rest)
}

/** Whether GitHub describes this of an answer, by the names on the way to it. */
export function describesAnswer(
  { version, endpoint }: Pick<Asked, 'version' | 'endpoint'>,
  names: readonly string[],
) {
  const answers = Object.values(describe(version).operations?.[endpoint]?.answers ?? {})
  return answers.some((schema) => mayHave(describe(version), schema, names))
}

/** The same of a payload, whatever its action. */
export function describesPayload(event: string, names: readonly string[]): boolean {
  const { description } = events('github-events')
  return namesOf(event).all.some((one) => mayHave(description, description.events?.[one], names))
}

/**
 * None if GitHub doesn't describe the event, such as a schedule. A payload that leaves out its
 * action fits if it would with one.
 */
export function payloadProblems(event: string, payload: object): string[] {
  const { name, all } = namesOf(event)
  const { action } = payload as { action?: string }
  const exact = `${name}-${action?.replaceAll('_', '-')}`
  const possible = all.filter((one) => one === name || action === undefined || one === exact)
  if (all.length > 0 && possible.length === 0)
    return [`${name}: no action ${action} among EVENTS in scripts/github-api.mjs, or at GitHub`]
  const found = possible.flatMap((one) => {
    const validate = events('github-events').find('events', one)
    return validate ? [problems(validate, one, payload)] : []
  })
  return found.find(({ length }) => length === 0) ?? found[0] ?? []
}
