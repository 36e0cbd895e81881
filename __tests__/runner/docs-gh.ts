/**
 * The commands of `gh` that the recipes call, as requests to the tests' GitHub, which knows the
 * permission that each needs. How a call becomes requests is as in pkg/cmd/api and pkg/cmd/pr/ready
 * of github.com/cli/cli, and which server and token it takes as in pkg/auth of
 * github.com/cli/go-gh.
 */

import { execFileSync } from 'node:child_process'
import { type Call, Failure } from './gh.js'

/** Where GitHub is: what `gh` calls it, and the URL of its API. */
export interface Host {
  readonly name: string
  readonly url: string
}

/** An answer of GitHub's. */
interface Response {
  readonly status: number
  readonly body: string
  readonly hasNext: boolean
}

type Send = (method: string, path: string, body?: object) => Promise<Response>
type Fields = Record<string, unknown>

/**
 * Answers calls. What they change is added to `writes`, and also a command that no recipe may call.
 */
export function docsGh(host: Host, writes: string[]) {
  return async (call: Call): Promise<string> => {
    const send = sender(host, call, writes)
    const [group, verb, ...args] = call.args
    if (group === 'api') return api(send, parseApi(call.args.slice(1)), call)
    if (group === 'pr' && verb === 'ready') return ready(send, args)
    writes.push(`unknown: ${call.args.join(' ')}`)
    throw new Failure('unknown command')
  }
}

/** Without `GH_HOST`, `gh` asks github.com. Other servers have a token of their own. */
function sender({ name, url }: Host, { env }: Call, writes: string[]): Send {
  const asked = env.GH_HOST || 'github.com'
  const variable = asked === 'github.com' ? 'GH_TOKEN' : 'GH_ENTERPRISE_TOKEN'
  const token = env[variable]
  if (!token) throw new Failure(`set the ${variable} environment variable`)
  return async (method, path, body) => {
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

interface ApiOptions {
  readonly path: string
  readonly method: string
  readonly fields: Fields
  readonly jq?: string | undefined
  readonly paginate: boolean
  readonly silent: boolean
}

function parseApi(args: readonly string[]): ApiOptions {
  const fields: Fields = {}
  const options: Record<string, string> = {}
  const paths: string[] = []
  for (let index = 0; index < args.length; index++) {
    const flag = args[index] ?? ''
    if (flag === '--paginate' || flag === '--silent') options[flag] = 'true'
    else if (flag === '-f' || flag === '-F') addField(fields, args[++index] ?? '', flag === '-F')
    else if (flag === '--method' || flag === '--jq') options[flag] = args[++index] ?? ''
    else if (flag.startsWith('-') || paths.push(flag) > 1)
      throw new Failure(`unknown argument ${flag}`)
  }
  if (options['--silent'] && options['--jq'])
    throw new Failure('only one of --jq and --silent may be used')
  return {
    path: paths.join(),
    method: options['--method'] ?? (Object.keys(fields).length > 0 ? 'POST' : 'GET'),
    fields,
    jq: options['--jq'],
    paginate: '--paginate' in options,
    silent: '--silent' in options,
  }
}

/** `name[]` is an item of a list. */
function addField(fields: Fields, text: string, typed: boolean): void {
  const [, name = '', list, value = ''] = /^([^=[]+)(\[\])?=(.*)$/s.exec(text) ?? []
  if (name === '') throw new Failure(`invalid field ${text}`)
  const parsed = typed && /^(?:\d+|true|false|null)$/.test(value) ? JSON.parse(value) : value
  fields[name] = list ? [...((fields[name] as unknown[] | undefined) ?? []), parsed] : parsed
}

/** The names of bots that GitHub knows, and no other users. */
const BOTS = ['mintlify[bot]', 'your-agent[bot]']

/** Each page is filtered by itself. An error is printed as it came, whatever the filter. */
async function api(send: Send, options: ApiOptions, { env }: Call): Promise<string> {
  const { path, method, fields, jq, paginate, silent } = options
  const [, user] = /^users\/(.+)$/.exec(path) ?? []
  if (user && !BOTS.includes(user)) throw new Failure('Not Found (HTTP 404)')
  if (user) return ''
  const isGet = method === 'GET'
  const query = new URLSearchParams()
  if (isGet) for (const [name, value] of Object.entries(fields)) query.set(name, String(value))
  if (paginate && !path.includes('per_page=') && !query.has('per_page'))
    query.set('per_page', '100')
  let printed = ''
  for (let page = 1; ; page++) {
    if (page > 1) query.set('page', String(page))
    const withQuery = query.size > 0 ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path
    const hasBody = !isGet && Object.keys(fields).length > 0
    const { status, body, hasNext } = await send(method, withQuery, hasBody ? fields : undefined)
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
async function ready(send: Send, args: readonly string[]): Promise<string> {
  const [number, flag, repository, undo, ...more] = args
  if (
    !/^\d+$/.test(number ?? '') ||
    flag !== '--repo' ||
    (undo ?? '--undo') !== '--undo' ||
    more.length > 0
  )
    throw new Failure(`unknown arguments ${args.join(' ')}`)
  const read = await send('GET', `repos/${repository}/pulls/${number}`)
  const { state, draft } = JSON.parse(read.body)
  if (read.status !== 200) throw new Failure('Could not resolve to a PullRequest')
  if (state !== 'open')
    throw new Failure('Only draft pull requests can be marked as "ready for review"')
  if (draft === (undo !== undefined)) return ''
  const to = undo ? 'draft' : 'ready'
  const { status, body } = await send('POST', `repos/${repository}/graphql/pulls/${number}/${to}`)
  if (status !== 200) throw new Failure(`API call failed: ${JSON.parse(body).message}`)
  return ''
}
