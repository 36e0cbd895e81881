// Cuts out of GitHub's OpenAPI descriptions what the tests hold their fakes to: github-api.json and
// github-events.json in __tests__/support.
//
//   npm install --prefix /tmp/openapi --ignore-scripts @octokit/openapi@VERSION
//   npm run github-api -- /tmp/openapi/node_modules/@octokit/openapi
//
// That package is 390 MB, so it is no dependency. Prose and examples are left out. So is `required`
// in what GitHub sends: a fake may leave out what nobody reads. The schemas become those of JSON
// Schema, which has no `nullable`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ENDPOINTS } from '../build/__tests__/support/github-endpoints.js'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run github-api -- FOLDER, in which npm has unpacked @octokit/openapi')
  process.exit(2)
}

/** The version of the REST API whose differences the description has itself, as patches. */
const NEXT = '2026-03-10'

/** The events whose payloads are checked. */
const EVENTS = [
  'create',
  'delete',
  'deployment-status-created',
  'discussion-comment-created',
  'issue-comment-created',
  'issues-labeled',
  'issues-opened',
  'merge-group-checks-requested',
  'pull-request-closed',
  'pull-request-edited',
  'pull-request-labeled',
  'pull-request-opened',
  'pull-request-reopened',
  'pull-request-review-comment-created',
  'pull-request-review-submitted',
  'pull-request-synchronize',
  'push',
  'release-created',
  'release-deleted',
  'release-published',
  'release-released',
  'release-unpublished',
  'workflow-dispatch',
  'workflow-run-completed',
]

/**
 * What GitHub answers although its description doesn't say so, with the report, in the
 * description's own words.
 */
const CORRECTIONS = {
  schemas: {
    // Of a repository that was deleted: github.com/github/rest-api-description/issues/1586.
    'workflow-run': {
      properties: { head_repository: { $ref: '#/components/schemas/nullable-minimal-repository' } },
    },
  },
  parameters: {
    // A range in the search syntax, such as `>=2026-11-01`, as its own prose says.
    created: { schema: { format: null } },
  },
}

const PROSE =
  'description example examples title externalDocs deprecated default discriminator readOnly'.split(
    ' ',
  )
/** Formats of which a wrong value is worth an error. */
const FORMATS = ['date-time', 'uri']

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/**
 * A JSON merge patch (RFC 7396) or a JSON patch (RFC 6902) that removes and replaces: GitHub uses
 * both.
 */
function applyPatch(original, patch) {
  if (!Array.isArray(patch)) return merge(original, patch)
  const target = structuredClone(original)
  for (const { op, path: pointer, value } of patch) {
    const unescaped = (key) => key.replaceAll('~1', '/').replaceAll('~0', '~')
    const keys = pointer.slice(1).split('/').map(unescaped)
    const last = keys.pop()
    const parent = keys.reduce((here, key) => here[key], target)
    if (op === 'remove' && Array.isArray(parent)) parent.splice(Number(last), 1)
    else if (op === 'remove') delete parent[last]
    else parent[last] = value
  }
  return target
}

function merge(target, patch) {
  if (!isObject(patch)) return patch
  const merged = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = merge(merged[name], value)
  }
  return merged
}

/** What a merge patch has to say to make `to` of `from`; undefined if nothing. */
function difference(from, to) {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined
  if (!isObject(from) || !isObject(to)) return to
  const patch = {}
  for (const name of Object.keys({ ...from, ...to })) {
    const changed = name in to ? difference(from[name], to[name]) : null
    if (changed !== undefined) patch[name] = changed
  }
  return patch
}

/** The same description at another version: with every patch that it has for that version. */
function atVersion(value, version) {
  if (Array.isArray(value)) return value.map((item) => atVersion(item, version))
  if (!isObject(value)) return value
  const { 'x-github-breaking-changes': changes = [], ...rest } = value
  const patched = changes
    .filter((change) => change.version === version)
    .reduce((target, change) => applyPatch(target, change.patch), rest)
  return mapValues(patched, (item) => atVersion(item, version))
}

/** A description, reduced to what is used. */
class Cut {
  schemas = {}

  constructor(description) {
    this.description = merge(description, { components: CORRECTIONS })
  }

  operations() {
    const operations = {}
    for (const [method, template] of ENDPOINTS) {
      const operation =
        this.description.paths[`/repos/{owner}/{repo}${template}`]?.[method.toLowerCase()]
      if (operation) operations[`${method} ${template}`] = this.operation(operation)
    }
    return { operations, schemas: this.schemas }
  }

  events() {
    const all = this.description['x-webhooks']
    const events = EVENTS.map((name) => [name, this.clean(jsonOf(all[name].post.requestBody))])
    return { events: Object.fromEntries(events), schemas: share(this.schemas) }
  }

  resolve(value) {
    if (value?.$ref === undefined) return value
    const keys = value.$ref.slice(2).split('/')
    return keys.reduce((here, key) => here[key], this.description)
  }

  operation({ parameters = [], requestBody, responses }) {
    const resolved = parameters.map((one) => this.resolve(one))
    const inPlace = (place) => {
      const these = resolved.filter((one) => one.in === place)
      const properties = these.map((one) => [one.name, this.clean(one.schema, true)])
      const required = these.filter((one) => one.required && place === 'query')
      return {
        ...{
          type: 'object',
          properties: Object.fromEntries(properties),
          additionalProperties: false,
        },
        ...(required.length > 0 && { required: required.map((one) => one.name) }),
      }
    }
    const answers = Object.entries(responses).flatMap(([status, response]) => {
      const schema = jsonOf(this.resolve(response))
      return schema ? [[status, this.clean(schema)]] : []
    })
    const body = jsonOf(requestBody)
    return {
      path: inPlace('path'),
      query: inPlace('query'),
      ...(body && { body: this.clean(body, true) }),
      answers: Object.fromEntries(answers),
    }
  }

  clean(schema, keepsRequired = false) {
    const inner = (one) => this.clean(one, keepsRequired)
    if (typeof schema === 'boolean') return schema
    if (schema.$ref !== undefined) return this.reference(schema.$ref)
    const { nullable, allOf, oneOf, anyOf = oneOf, ...rest } = schema
    if (allOf)
      return this.orNull(inner(allOf.map(this.resolve, this).reduce(merge, rest)), nullable)
    const cleaned = {}
    for (const [name, value] of Object.entries(rest)) {
      if (PROSE.includes(name) || name.startsWith('x-')) continue
      if (name === 'required' && !keepsRequired) continue
      if (name === 'format' && !FORMATS.includes(value)) continue
      if (name === 'properties') cleaned[name] = mapValues(value, inner)
      else if (['items', 'additionalProperties'].includes(name)) cleaned[name] = inner(value)
      else cleaned[name] = value
    }
    if (cleaned.properties) cleaned.additionalProperties ??= false
    // Without `required`, more than one may fit.
    if (anyOf) cleaned.anyOf = anyOf.map(inner)
    return this.orNull(cleaned, nullable)
  }

  orNull(schema, nullable) {
    if (!nullable) return schema
    if (schema.type === undefined) return { anyOf: [schema, { type: 'null' }] }
    const { enum: values } = schema
    return {
      ...schema,
      type: [schema.type, 'null'],
      ...(values && { enum: [...new Set([...values, null])] }),
    }
  }

  reference(reference) {
    const name = reference.replace('#/components/schemas/', '')
    if (this.schemas[name] === undefined) {
      this.schemas[name] = {} // It may refer to itself.
      this.schemas[name] = this.clean(this.resolve({ $ref: reference }))
    }
    return { $ref: name }
  }
}

/**
 * Of two that are equal, and not small, makes one: payloads repeat their users and repositories.
 */
function share(schemas) {
  const places = new Map()
  const find = (value, place) => {
    if (typeof value !== 'object' || value === null) return
    const text = JSON.stringify(value)
    if (value.properties && text.length > 100)
      places.set(text, [...(places.get(text) ?? []), place])
    for (const [name, item] of Object.entries(value)) find(item, `${place}.${name}`)
  }
  for (const [name, schema] of Object.entries(schemas)) find(schema, name)
  const shared = {}
  const inside = (value) => (isObject(value) ? mapValues(value, rewrite) : value)
  const rewrite = (value) => {
    if (Array.isArray(value)) return value.map(rewrite)
    const [first, ...others] = places.get(JSON.stringify(value)) ?? []
    if (first === undefined || others.length === 0) return inside(value)
    const name = first.replace(/\.(?:properties|items|anyOf)(?=\.|$)/g, '')
    shared[name] ??= inside(value)
    return { $ref: name }
  }
  return { ...mapValues(schemas, inside), ...shared }
}

const jsonOf = (content) => content?.content?.['application/json']?.schema

/** JSON with a line for each entry down to a depth, so that a change can be read. */
function print(value, depth) {
  if (depth === 0 || !isObject(value)) return JSON.stringify(value)
  const lines = Object.entries(value).map(
    ([name, entry]) => `${JSON.stringify(name)}: ${print(entry, depth - 1)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

const read = (name) =>
  JSON.parse(readFileSync(path.join(folder, 'generated', `${name}.json`), 'utf8'))
const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
const servers = readdirSync(path.join(folder, 'generated')).flatMap(
  (file) => /^(ghes-\d+\.(\d+))\.json$/.exec(file)?.[1] ?? [],
)
const [oldest = ''] = servers.sort((one, other) =>
  one.localeCompare(other, 'en', { numeric: true }),
)

const github = read('api.github.com')
const current = new Cut(github).operations()
const next = new Cut(atVersion(github, NEXT)).operations()
const server = new Cut(read(oldest)).operations()
const differences = { [NEXT]: difference(current, next), [oldest]: difference(current, server) }
const source = `${name} ${version}`
const write = (file, content) =>
  writeFileSync(`__tests__/support/${file}.json`, `${print({ source, ...content }, 3)}\n`)
write('github-api', { ...current, differences })
write('github-events', new Cut(github).events())
