/** The commands of `gh` that the recipes call, which read and change the tests' GitHub. */

import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { type Repository, sha } from '../support/github.js'
import type { Call } from './gh.js'

export const DOCS = 'your-org/docs'
export const PR_LINK = `https://github.com/${DOCS}/pull/17`

/** What the tests' GitHub does not know of the docs pull request. */
export const USUAL = {
  /** Whether the plan has drafts. */
  drafts: true,
  /** How its checks end; undefined: there are none. */
  checks: 'success' as 'success' | 'failure' | undefined,
  preview: 'https://preview.localhost/17' as string | undefined,
}

/** A repository, and the token that may read and change it. */
interface Access {
  readonly repository: Repository
  readonly token: string
}

/** Flags without a value. */
const SWITCHES = ['--paginate', '--silent', '--undo', '--watch']

function parseArgs(args: readonly string[]) {
  const words: string[] = []
  const flags: Record<string, string> = {}
  const fields: Record<string, string> = {}
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (!word.startsWith('-')) words.push(word)
    else if (SWITCHES.includes(word)) flags[word] = 'true'
    else {
      const value = args[++index] ?? ''
      const [, key = '', content = ''] = /^([^=]+)=(.*)$/s.exec(value) ?? []
      if (/^-[fF]$/.test(word)) fields[key] = content
      else flags[word] = value
    }
  }
  return { words, flags, fields }
}

/** Answers calls. What they change is added to `writes`, without the docs pull request's URL. */
export function docsGh(accesses: readonly Access[], facts: typeof USUAL, writes: string[]) {
  return ({ args, token }: Call): string => {
    const { words, flags, fields } = parseArgs(args)
    const [group, verb = '', target = ''] = words
    const open = (name = ''): Repository => {
      const found = accesses.find((one) => one.repository.full_name === name && one.token === token)
      if (!found) throw new Error(`HTTP 404: no ${name} for this token`)
      return found.repository
    }
    const print = (value: unknown): string => {
      const filter = flags['--jq']
      const input = JSON.stringify(value)
      return filter ? execFileSync('jq', ['-r', filter], { input, encoding: 'utf8' }) : ''
    }
    if (group === 'api') {
      const [, name, rest = ''] =
        /^(?:https:\/\/api\.github\.com\/)?repos\/([^/]+\/[^/]+)\/(.*)$/.exec(verb) ?? []
      const answer = request(
        open(name),
        rest,
        { fields, limit: flags['--paginate'] ? undefined : 100 },
        facts,
      )
      if (rest.startsWith('statuses/')) writes.push(`${rest} ${fields.state} ${fields.target_url}`)
      return print(answer)
    }
    if (verb === 'list') return print(list(open(flags['--repo']), flags))
    const [, name, number] = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/pull\/(\d+)$/.exec(target) ?? []
    const { pulls } = open(name)
    const pull = pulls.get(Number(number))
    if (group !== 'pr' || !pull) throw new Error('unknown')
    const state = pull.merged ? 'MERGED' : pull.state.toUpperCase()
    if (verb === 'view') {
      return print({
        state,
        headRefOid: sha('docs'),
        statusCheckRollup: facts.checks ? [{ name: 'build' }] : [],
      })
    }
    if (verb === 'checks' && flags['--watch']) {
      if (facts.checks !== 'success') throw new Error('Some checks were not successful')
      return ''
    }
    writes.push(args.filter((word) => word !== 'pr' && word !== target).join(' '))
    if (verb === 'edit') {
      if (flags['--add-label']) pull.labels.add(flags['--add-label'])
      pull.labels.delete(flags['--remove-label'] ?? '')
    } else if (verb === 'ready' && state === 'OPEN') {
      if (!facts.drafts && flags['--undo']) throw new Error('Draft pull requests are not supported')
    } else if (verb === 'close' && state === 'OPEN') pulls.set(pull.number, { ...pull, state: 'closed' })
    else if (verb === 'reopen' && state === 'CLOSED') pulls.set(pull.number, { ...pull, state: 'open' })
    else throw new Error(`not possible if it is ${state}`)
    return ''
  }
}

/** The open pull requests of an app. A search leaves out a label. */
function list({ full_name, pulls }: Repository, flags: Record<string, string>) {
  const [, without = ''] = /^-label:(\S+)$/.exec(flags['--search'] ?? '') ?? []
  return [...pulls.values()]
    .filter(({ author, state, labels }) => {
      return author === `${flags['--app']}[bot]` && state === 'open' && !labels.has(without)
    })
    .map(({ number }) => ({ number, url: `https://github.com/${full_name}/pull/${number}` }))
}

function request(
  { full_name, runs }: Repository,
  rest: string,
  { fields, limit }: { fields: Record<string, string>; limit: number | undefined },
  { preview }: typeof USUAL,
): unknown {
  const [, workflow] = /^actions\/workflows\/([^/]+)\/runs$/.exec(rest) ?? []
  if (workflow && /^>=\d{4}-\d\d-\d\d$/.test(fields.created ?? '')) {
    return { workflow_runs: runs.filter((run) => path.basename(run.path) === workflow).slice(0, limit) }
  }
  if (rest === `deployments?sha=${sha('docs')}`) {
    const statuses_url = `https://api.github.com/repos/${full_name}/deployments/1/statuses`
    return preview ? [{ statuses_url }] : []
  }
  if (rest === 'deployments/1/statuses') return [{ environment_url: preview }]
  if (rest.startsWith('statuses/')) return {}
  throw new Error('unknown')
}
