/** Checks workflows and action.yml with GitHub's language service, as an editor with its extension does. */

import { existsSync, readFileSync } from 'node:fs'
import { DescriptionDictionary, data } from '@actions/expressions'
import { registerLogger, type ValidationConfig, validate } from '@actions/languageservice'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { parse } from 'yaml'
import { HOME, withoutSelf } from './workflows.js'

/** The text of a file of the repository, or nothing where there is no such file. */
export type ReadFile = (path: string) => string | undefined

export const readFile: ReadFile = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

interface Metadata {
  readonly name: string
  readonly description: string
  readonly inputs?: Record<string, { description: string; required?: boolean; default?: string }>
  readonly outputs?: Record<string, { description: string }>
}

// The service catches its own failures and tells them to a logger alone: a check that failed must not pass.
registerLogger({
  error: (message) => {
    throw new Error(message)
  },
  warn: () => {},
  info: () => {},
  log: () => {},
})

/** What is wrong with a workflow, a line for each fault. */
export const faultsOfWorkflow = (text: string, read: ReadFile = readFile): Promise<string[]> =>
  faults('.github/workflows/checked.yml', text, read)

/** What is wrong with an action.yml, a line for each fault. */
export const faultsOfAction = (text: string, read: ReadFile = readFile): Promise<string[]> =>
  faults('action.yml', text, read)

let checked = 0

async function faults(path: string, text: string, read: ReadFile): Promise<string[]> {
  // The service remembers what it parsed by address, so each check has its own.
  const address = `file:///${++checked}/${path}`
  const document = TextDocument.create(address, 'yaml', 1, withHostedActions(text))
  const found = await validate(document, configuration(read))
  return found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)
}

/** The service does not look up local actions, so they get the names that users of the action give them. */
const withHostedActions = (text: string): string =>
  withoutSelf(text, './').replace(
    /(\buses: *)\.\/(?!\.github\/)([\w/-]*)/g,
    (_, uses, path) => `${uses}${HOME}${path === '' ? '' : `/${path}`}@v1`,
  )

function configuration(read: ReadFile): ValidationConfig {
  return {
    actionsMetadataProvider: {
      fetchActionMetadata: async ({ owner, name, path = '', ref }) =>
        metadataOf(path === '' ? `${owner}/${name}@${ref}` : `${owner}/${name}/${path}@${ref}`, read),
    },
    contextProviderConfig: {
      getContext: async (name, known, { job }) =>
        name === 'steps' && known ? withOutputs(known, job?.steps ?? [], read) : undefined,
    },
    fileProvider: {
      getFileContent: async (file) => {
        const isOurs =
          !('owner' in file) || `${file.owner}/${file.repository}@${file.version}` === `${HOME}@v1`
        const content = isOurs ? read(file.path) : undefined
        if (content === undefined) throw new Error(`${file.path} is not in this repository.`)
        return { name: file.path, content }
      },
    },
  }
}

/** Nothing for an action of this repository that is not there; of others' actions all is taken. */
function metadataOf(uses: string, read: ReadFile): Metadata | undefined {
  if (!uses.startsWith(`${HOME.split('/')[0]}/`)) return { name: uses, description: '' }
  const [action, version] = uses.split('@')
  if (version !== 'v1' || !`${action}/`.startsWith(`${HOME}/`)) return undefined
  const text = read(`${action}/action.yml`.slice(HOME.length + 1))
  return text === undefined ? undefined : parse(text)
}

type Steps = readonly { readonly id: string; readonly uses?: { readonly value: string } }[]

/** The `steps` context, in which our steps have the outputs of their action.yml and no others. */
function withOutputs(known: DescriptionDictionary, steps: Steps, read: ReadFile): DescriptionDictionary {
  for (const { id, uses } of steps) {
    const declared = uses && metadataOf(uses.value, read)?.outputs
    const step = known.get(id)
    const outputs = step instanceof DescriptionDictionary ? step.get('outputs') : undefined
    if (!declared || !(outputs instanceof DescriptionDictionary)) continue
    for (const name of Object.keys(declared)) outputs.add(name, new data.StringData(''))
    outputs.complete = true
  }
  return known
}
