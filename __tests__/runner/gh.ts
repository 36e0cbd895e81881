/** A stand-in for GitHub's command line that knows the recipes' commands, and changes the tests' GitHub. */

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { type Repository, sha } from '../support/github.js'
import { startListening } from '../support/listening.js'

export const DOCS = 'your-org/docs'
export const PR_LINK = `https://github.com/${DOCS}/pull/17`

/** What the tests' GitHub does not know of the docs pull request, and what was set on the code's commits. */
export interface Gh {
  /** The commands that change something, without the docs pull request's URL. */
  readonly writes: string[]
  /** Undefined: the plan has no drafts. */
  draft: boolean | undefined
  /** How its checks end; undefined: there are none. */
  checks: 'success' | 'failure' | undefined
  preview: string | undefined
}

/** By the repositories that they are for. */
type Tokens = Readonly<Record<string, string>>
type Repositories = Readonly<Record<string, Repository>>

/** What `gh` is in the PATH of the steps. */
const CLIENT = `#!/usr/bin/env node
const { GH_STAND_IN: url, GH_TOKEN: token } = process.env
const body = JSON.stringify({ args: process.argv.slice(2), token })
const { output, code } = await (await fetch(url, { method: 'POST', body })).json()
process[code === 0 ? 'stdout' : 'stderr'].write(output)
process.exitCode = code
`

export async function startGh(folder: string, repositories: Repositories, tokens: Tokens) {
  const gh: Gh = { writes: [], draft: false, checks: 'success', preview: 'https://preview.localhost/17' }
  const server = createServer(async (request, response) => {
    const { args, token } = (await json(request)) as { args: string[]; token: string }
    const answer = { output: '', code: 0 }
    try {
      answer.output = execute(args, gh, (name) => {
        const repository = repositories[name]
        if (!repository || tokens[name] !== token) throw new Error(`HTTP 404: no ${name} for this token`)
        return repository
      })
    } catch (error) {
      Object.assign(answer, { output: `gh ${args.join(' ')}: ${error}\n`, code: 1 })
    }
    response.end(JSON.stringify(answer))
  })
  const { port, close } = await startListening(server)
  await mkdir(folder)
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(path.join(folder, 'gh'), CLIENT, { mode: 0o755 })
  return { gh, url: `http://127.0.0.1:${port}`, close }
}

/** Flags without a value. */
const SWITCHES = ['--silent', '--undo', '--watch']

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

function execute(args: string[], gh: Gh, open: (repository: string) => Repository): string {
  const { words, flags, fields } = parseArgs(args)
  const [group = '', verb = '', target = ''] = words
  const print = (value: unknown): string => {
    const filter = flags['--jq']
    return filter
      ? execFileSync('jq', ['-r', filter], { input: JSON.stringify(value), encoding: 'utf8' })
      : ''
  }
  if (group === 'api') return print(request(verb, fields, gh, open))
  if (verb === 'list') return print(list(open(flags['--repo'] ?? ''), flags))
  const [, name = '', number = ''] = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/pull\/(\d+)$/.exec(target) ?? []
  const { pulls } = open(name)
  const pull = pulls.get(Number(number))
  if (group !== 'pr' || !pull) throw new Error('unknown')
  const change = (fields: Partial<typeof pull>): void => void pulls.set(pull.number, { ...pull, ...fields })
  const state = pull.merged ? 'MERGED' : pull.state.toUpperCase()
  if (verb === 'view') {
    const statusCheckRollup = gh.checks ? [{ name: 'build' }] : []
    return print({ state, headRefOid: sha('docs'), statusCheckRollup })
  }
  if (verb === 'checks' && flags['--watch']) {
    if (gh.checks !== 'success') throw new Error('Some checks were not successful')
    return ''
  }
  gh.writes.push(args.filter((word) => word !== 'pr' && word !== target).join(' '))
  if (verb === 'edit') {
    if (flags['--add-label']) pull.labels.add(flags['--add-label'])
    pull.labels.delete(flags['--remove-label'] ?? '')
    change({ title: flags['--title'] ?? pull.title })
  } else if (verb === 'ready' && state === 'OPEN') {
    if (gh.draft === undefined && flags['--undo']) throw new Error('Draft pull requests are not supported')
    if (gh.draft !== undefined) gh.draft = flags['--undo'] === 'true'
  } else if (verb === 'close' && state === 'OPEN') change({ state: 'closed' })
  else if (verb === 'reopen' && state === 'CLOSED') change({ state: 'open' })
  else throw new Error(`not possible if it is ${state}`)
  return ''
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

function request(where: string, fields: Record<string, string>, gh: Gh, open: (name: string) => Repository) {
  const [, name = '', rest = ''] =
    /^(?:https:\/\/api\.github\.com\/)?repos\/([^/]+\/[^/]+)\/(.*)$/.exec(where) ?? []
  const repository = open(name)
  const [, workflow] = /^actions\/workflows\/([^/]+)\/runs$/.exec(rest) ?? []
  if (workflow && /^>=\d{4}-\d\d-\d\d$/.test(fields.created ?? '')) {
    return { workflow_runs: repository.runs.filter((run) => path.basename(run.path) === workflow) }
  }
  if (rest === `deployments?sha=${sha('docs')}`) {
    return gh.preview ? [{ statuses_url: `https://api.github.com/repos/${name}/deployments/1/statuses` }] : []
  }
  if (rest === 'deployments/1/statuses') return [{ environment_url: gh.preview }]
  if (rest.startsWith('statuses/')) {
    gh.writes.push(`${rest} ${fields.state} ${fields.target_url}`)
    return {}
  }
  throw new Error('unknown')
}
