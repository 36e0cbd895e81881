/**
 * Every workflow that the repository shows or runs: in the documents, the examples, and its own.
 */

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { documents } from './documents.js'

export interface Workflow {
  /** Its file, or the document and its `name:`, such as `README.md: Docs`. */
  readonly name: string
  readonly text: string
}

/**
 * The repository that hosts the action: `scripts/set-host.mjs` sets it here and in the documents.
 */
export const HOME: string = JSON.parse(readFileSync('package.json', 'utf8')).repository.replace(
  'github:',
  '',
)

export const workflowFiles = (root = '.'): Workflow[] => [
  ...documents(root).flatMap((file) => blocksIn(root, file)),
  ...yamlIn(root, 'examples'),
  ...yamlIn(root, '.github/workflows'),
]

function blocksIn(root: string, file: string): Workflow[] {
  const document = readFileSync(path.join(root, file), 'utf8')
  return [...document.matchAll(/```ya?ml\n([\s\S]*?)```/g)].map(([, block = '']) => {
    const text = block.startsWith('- ') ? around(block) : block
    return { name: `${file}: ${/^name: *(.+)$/m.exec(text)?.[1]}`, text }
  })
}

/** A workflow around a list of steps, which may follow the action's. */
function around(steps: string): string {
  const head =
    'name: Steps\non: push\npermissions: {}\njobs:\n  steps:\n    runs-on: ubuntu-latest\n    steps:\n'
  const docs = '- { uses: ./, id: docs, with: { project-id: any, api-key: any, prompt: any } }\n'
  return head + (steps.includes('id: docs') ? steps : docs + steps).replace(/^(?=.)/gm, '      ')
}

function yamlIn(root: string, folder: string): Workflow[] {
  return readdirSync(path.join(root, folder))
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .map((file) => ({
      name: `${folder}/${file}`,
      text: readFileSync(path.join(root, folder, file), 'utf8'),
    }))
}
