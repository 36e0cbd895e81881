/**
 * The commands of `gh` that the recipes call, as requests to the tests' GitHub, which knows the
 * permission that each needs. How a call becomes requests is as in pkg/cmd/api and pkg/cmd/pr/ready
 * of github.com/cli/cli, and which server and token it takes as in pkg/auth of
 * github.com/cli/go-gh.
 */

import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type Call, Failure } from './gh.js'

/** Where GitHub is: what `gh` calls it, and the URL of its API. */
interface Host {
  readonly name: string
  readonly url: string
}

type Send = ReturnType<typeof sender>

const FLAG = { type: 'boolean' } as const
const TEXT = { type: 'string' } as const
const FIELD = { ...TEXT, multiple: true } as const

/** Throws on any other option. */
const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ method: TEXT, jq: TEXT, paginate: FLAG, silent: FLAG, repo: TEXT, undo: FLAG },
      'raw-field': { ...FIELD, short: 'f' },
      field: { ...FIELD, short: 'F' },
    },
  })
type Options = ReturnType<typeof parse>['values']

/**
 * Answers calls. What they change is added to `writes`, and also a command that no recipe may call.
 */
export function docsGh(host: Host, writes: string[]) {
  return async (call: Call): Promise<string> => {
    const send = sender(host, call, writes)
    const command = call.args.join(' ')
    if (/^(?:api|pr ready) /.test(command)) {
      const { values, positionals } = parse(call.args)
      const [group, path = '', number, ...more] = positionals
      if (group === 'pr') return ready(send, `${values.repo}/pulls/${number}`, values)
      if (number === undefined) return api(send, path, values, call)
      throw new Failure(`unknown arguments ${[number, ...more]}`)
    }
    writes.push(`unknown: ${command}`)
    throw new Failure('unknown command')
  }
}

/** Without `GH_HOST`, `gh` asks github.com. Other servers have a token of their own. */
function sender({ name, url }: Host, { env }: Call, writes: string[]) {
  const asked = env.GH_HOST || 'github.com'
  const variable = asked === 'github.com' ? 'GH_TOKEN' : 'GH_ENTERPRISE_TOKEN'
  const token = env[variable]
  if (!token) throw new Failure(`set the ${variable} environment variable`)
  return async (method: string, path: string, body?: object) => {
    if (asked !== name) throw new Failure('Bad credentials (HTTP 401)')
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: { authorization: `token ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.ok && method !== 'GET') writes.push(written(method, path, body))
    const hasNext = /rel="next"/.test(response.headers.get('link') ?? '')
    return { status: response.status, body: await response.text(), hasNext }
  }
}

/** A change in one line, without the name of the repository. */
function written(method: string, path: string, body: object = {}): string {
  const fields = Object.entries(body).map(([name, value]) => `${name}=${value}`)
  return [method, path.replace(/^repos\/[^/]+\/[^/]+\//, ''), ...fields].join(' ')
}

/** `name[]` is an item of a list. Here, `-F` adds a text, too: it is only used in queries. */
function fieldsOf(options: Options): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  for (const text of [...(options['raw-field'] ?? []), ...(options.field ?? [])]) {
    const [, name = '', list, value = ''] = /^([^=[]+)(\[\])?=(.*)$/s.exec(text) ?? []
    if (name === '') throw new Failure(`invalid field ${text}`)
    fields[name] = list ? [fields[name] ?? [], value].flat() : value
  }
  return fields
}

/** The names of bots that GitHub knows, and no other users. */
const BOTS = ['mintlify[bot]', 'your-agent[bot]']

/** Each page is filtered by itself. An error is printed as it came, whatever the filter. */
async function api(send: Send, path: string, options: Options, { env }: Call): Promise<string> {
  const { jq, silent, paginate } = options
  if (silent && jq) throw new Failure('only one of --jq and --silent may be used')
  const [, user] = /^users\/(.+)$/.exec(path) ?? []
  if (user && !BOTS.includes(user)) throw new Failure('Not Found (HTTP 404)')
  if (user) return ''
  const fields = fieldsOf(options)
  const hasFields = Object.keys(fields).length > 0
  const method = options.method ?? (hasFields ? 'POST' : 'GET')
  const isGet = method === 'GET'
  const query = new URLSearchParams(isGet ? fields : {})
  if (paginate && !path.includes('per_page=') && !query.has('per_page'))
    query.set('per_page', '100')
  let printed = ''
  for (let page = 1; ; page++) {
    if (page > 1) query.set('page', String(page))
    const withQuery = query.size > 0 ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path
    const sent = !isGet && hasFields ? fields : undefined
    const { status, body, hasNext } = await send(method, withQuery, sent)
    if (status >= 400) throw new Failure(`HTTP ${status}`, printed + body)
    if (jq)
      printed += execFileSync('jq', ['-r', jq], {
        input: body,
        encoding: 'utf8',
        env: { ...process.env, ...env },
      })
    else if (!silent) printed += body
    if (!paginate || !hasNext) return printed
  }
}

/** Reads the pull request, and changes it if it is open and in the other state. */
async function ready(send: Send, pull: string, { undo = false }: Options): Promise<string> {
  const read = await send('GET', `repos/${pull}`)
  const { state, draft } = JSON.parse(read.body)
  if (read.status !== 200) throw new Failure('Could not resolve to a PullRequest')
  if (state !== 'open')
    throw new Failure('Only draft pull requests can be marked as "ready for review"')
  if (draft === undo) return ''
  const path = `repos/${pull.replace('/pulls/', '/graphql/pulls/')}/${undo ? 'draft' : 'ready'}`
  const { status, body } = await send('POST', path)
  if (status !== 200) throw new Failure(`API call failed: ${JSON.parse(body).message}`)
  return ''
}
