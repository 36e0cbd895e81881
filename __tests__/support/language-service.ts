/** Checks workflows and action.yml with GitHub's language service, as an editor with its extension does. */

import { existsSync, readFileSync } from 'node:fs'
import { DescriptionDictionary, data } from '@actions/expressions'
import { registerLogger, type ValidationConfig, validate } from '@actions/languageservice'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { parse } from 'yaml'
import { HOME, withoutSelf } from './workflows.js'

const readFile = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined

interface Metadata {
  readonly name: string
  readonly description: string
  readonly inputs?: Record<string, { description: string; required?: boolean; default?: string }>
  readonly outputs?: Record<string, { description: string }>
}

// The service catches its own failures and only logs them: a check that failed must not pass.
registerLogger({
  error: (message) => {
    throw new Error(message)
  },
  warn: () => {},
  info: () => {},
  log: () => {},
})

/** What is wrong with a workflow, one line per problem. */
export const problemsOfWorkflow = (text: string): Promise<string[]> =>
  problems('.github/workflows/checked.yml', text)

/** What is wrong with an action.yml, one line per problem. */
export const problemsOfAction = (text: string): Promise<string[]> => problems('action.yml', text)

let checked = 0

async function problems(path: string, text: string): Promise<string[]> {
  // The service caches what it parsed by URL, so each check has its own.
  const document = TextDocument.create(`file:///${++checked}/${path}`, 'yaml', 1, withHostedActions(text))
  const found = await validate(document, CONFIGURATION)
  return found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)
}

/** The service ignores local actions, so they are named as users of the action name them. */
const withHostedActions = (text: string): string =>
  withoutSelf(text, './').replace(
    /(\buses: *)\.\/(?!\.github\/)([\w/-]*)/g,
    (_, uses, path) => `${uses}${HOME}${path === '' ? '' : `/${path}`}@v1`,
  )

const CONFIGURATION: ValidationConfig = {
  actionsMetadataProvider: {
    fetchActionMetadata: async ({ owner, name, path = '', ref }) =>
      metadataOf(path === '' ? `${owner}/${name}@${ref}` : `${owner}/${name}/${path}@${ref}`),
  },
  contextProviderConfig: {
    getContext: async (name, known, { job }) =>
      name === 'steps' && known ? withOutputs(known, job?.steps ?? []) : undefined,
  },
  fileProvider: {
    getFileContent: async (file) => {
      const isOurs = !('owner' in file) || `${file.owner}/${file.repository}@${file.version}` === `${HOME}@v1`
      const content = isOurs ? readFile(file.path) : undefined
      if (content === undefined) throw new Error(`${file.path} is not in this repository.`)
      return { name: file.path, content }
    },
  },
}

/** Undefined for an action of this repository that does not exist. Any input of other actions is accepted. */
function metadataOf(uses: string): Metadata | undefined {
  if (!uses.startsWith(`${HOME.split('/')[0]}/`)) return { name: uses, description: '' }
  const [action, version] = uses.split('@')
  if (version !== 'v1' || !`${action}/`.startsWith(`${HOME}/`)) return undefined
  const text = readFile(`${action}/action.yml`.slice(HOME.length + 1))
  return text === undefined ? undefined : parse(text)
}

type Steps = readonly { readonly id: string; readonly uses?: { readonly value: string } }[]

/** The `steps` context, in which the steps of our actions have the outputs of their action.yml and no others. */
function withOutputs(known: DescriptionDictionary, steps: Steps): DescriptionDictionary {
  for (const { id, uses } of steps) {
    const declared = uses && metadataOf(uses.value)?.outputs
    const step = known.get(id)
    const outputs = step instanceof DescriptionDictionary ? step.get('outputs') : undefined
    if (!declared || !(outputs instanceof DescriptionDictionary)) continue
    for (const name of Object.keys(declared)) outputs.add(name, new data.StringData(''))
    outputs.complete = true
  }
  return known
}
