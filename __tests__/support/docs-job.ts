/** The parts of docs-job.yml that repeat action.yml: `npm run samples` writes them, a test compares them. */

import { parse, stringify } from 'yaml'
import { type InputName, SECRETS } from '../../src/inputs/inputs.js'

interface Input {
  readonly description: string
  readonly required: boolean
  readonly default?: string
}

interface Action {
  readonly inputs: Readonly<Record<InputName, Input>>
  readonly outputs: Readonly<Record<string, { readonly description: string }>>
}

/** Expressions that only work in a step: an empty value means the same. */
const isExpression = (value = ''): boolean => value.startsWith('${{')

const isSecret = (name: string): boolean => (SECRETS as readonly string[]).includes(name)

function inputOf({ description, required, default: value = '' }: Input) {
  if (required) return { description, type: 'string', required }
  if (/^(?:true|false)$/.test(value)) return { description, type: 'boolean', default: value === 'true' }
  if (/^\d+$/.test(value)) return { description, type: 'number', default: Number(value) }
  return { description, type: 'string', default: isExpression(value) ? '' : value }
}

function expressionOf(name: string): string {
  if (name === 'github-token') return '${{ secrets.github-token || github.token }}'
  return `\${{ ${isSecret(name) ? 'secrets' : 'inputs'}.${name} }}`
}

const mapNames = <T>(names: readonly string[], create: (name: string) => T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, create(name)]))

/** Each block by its name, and how far it is indented. */
function blocksOf({ inputs, outputs }: Action): Readonly<Record<string, readonly [indent: number, object]>> {
  const names = Object.keys(inputs)
  const ofInput = (name: string): Input => inputs[name as InputName]
  const plain = names.filter((name) => !isSecret(name))
  const secret = (name: string) => ({
    description: ofInput(name).description,
    required: ofInput(name).required,
  })
  const passedOn = (name: string) => ({
    description: outputs[name]?.description,
    value: `\${{ jobs.docs.outputs.${name} }}`,
  })
  const outputNames = Object.keys(outputs)
  return {
    inputs: [6, mapNames(plain, (name) => inputOf(ofInput(name)))],
    secrets: [6, mapNames(names.filter(isSecret), secret)],
    outputs: [6, mapNames(outputNames, passedOn)],
    'outputs of the job': [6, mapNames(outputNames, (name) => `\${{ steps.docs.outputs.${name} }}`)],
    with: [10, mapNames(names, expressionOf)],
  }
}

/**
 * The workflow with its blocks as action.yml has them now.
 *
 * @throws {Error} a block has no place in it
 */
export function withBlocks(workflow: string, actionYaml: string): string {
  return Object.entries(blocksOf(parse(actionYaml))).reduce((text, [name, [indent, block]]) => {
    const blanks = ' '.repeat(indent)
    const [start, end] = [`${blanks}# From action.yml: ${name}\n`, `${blanks}# End\n`]
    const [before = '', after = ''] = text.split(start)
    if (!after.includes(end)) throw new Error(`docs-job.yml has no ${start}…${end}`)
    const lines = stringify(block, { lineWidth: 120 - indent, singleQuote: true }).replace(/^(?=.)/gm, blanks)
    return `${before}${start}${lines}${after.slice(after.indexOf(end))}`
  }, workflow)
}
