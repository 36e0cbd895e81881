/**
 * What has to say the same in several places: action.yml, the documents, the layout, the code,
 * dist.
 */

import { readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { DEFAULT_SCENARIO, scenarios, serviceScenarios } from '../../emulator/scenarios.mjs'
import { SECRETS as EMULATOR_SECRETS } from '../../emulator/show.mjs'
import { FAIL_ON, FAILURES, failsStep, OUTCOMES, STATUSES } from '../../src/agent/job.js'
import { jobSchema } from '../../src/agent/schemas.js'
import { RANGES } from '../../src/context/changes/find.js'
import { DEFAULTS, SECRETS } from '../../src/inputs/inputs.js'
import { documents, names, rows, section } from '../support/documents.js'
import { text } from '../support/files.js'
import { posixTest } from '../support/platform.js'
import { job } from '../support/service.js'
import { OUTPUT_NAMES } from '../unit/scripted-run.js'

const REFERENCE = 'docs/reference.md'
const SERVICE_API = 'docs/service-api.md'
const action = parse(text('action.yml'))

test('the inputs are the same in the code, action.yml, the reference and the README, with the same defaults [house.defaults.once]', () => {
  const expected = Object.entries(DEFAULTS).map(([name, value]) => {
    return [name, value, ['project-id', 'api-key'].includes(name)]
  })
  const declared = Object.entries<{ default?: string; required?: boolean }>(action.inputs)
  expect(
    declared.map(([name, { default: value = '', required = false }]) => [name, value, required]),
  ).toEqual(expected)
  // An address would be too wide for a cell.
  const written = (value = '') =>
    value === "Mintlify's" ? DEFAULTS['base-url'] : value.replaceAll('`', '')
  const reference = rows(REFERENCE, 'Inputs').map(([name, meaning = '']) => [
    ...names(name),
    written(/Default: (`[^`]*`|Mintlify's)\.$/.exec(meaning)?.[1]),
    meaning.endsWith('Required.'),
  ])
  expect(reference).toEqual(expected)
  expect(section(REFERENCE, 'Inputs')).toContain(
    `Mintlify's address is \`${DEFAULTS['base-url']}\``,
  )
  const short = rows('README.md', 'Inputs')
  expect(short.flatMap(([name]) => names(name)).sort()).toEqual(Object.keys(DEFAULTS).sort())
  for (const [name, meaning = ''] of short) {
    const value = written(/\((`[^`]*`|Mintlify's)\)\.$/.exec(meaning)?.[1])
    expect([name, value]).toEqual([name, DEFAULTS[names(name)[0] as keyof typeof DEFAULTS]])
  }
})

test('the inputs and the outputs are described in sentences [house.defaults.once]', () => {
  const all: { description: string }[] = Object.values({ ...action.inputs, ...action.outputs })
  for (const { description } of all) expect(description).toMatch(/^[A-Z].*\.$/)
})

test('the outputs are the same in action.yml, the code, the reference and the README [house.defaults.once]', () => {
  expect(Object.keys(action.outputs)).toEqual(OUTPUT_NAMES)
  expect(rows(REFERENCE, 'Outputs').flatMap(([name]) => names(name))).toEqual(OUTPUT_NAMES)
  const short = rows('README.md', 'Outputs').flatMap(([name]) => names(name))
  expect(short.sort()).toEqual([...OUTPUT_NAMES, ...OUTCOMES].sort())
})

test('the outcomes, and which of them fail the step, are the same in the code, action.yml and the README [output.outcome]', () => {
  const byDefault = DEFAULTS['fail-on'].split(', ')
  const fails = (outcome: (typeof OUTCOMES)[number]): string => {
    if (failsStep(outcome, new Set())) return 'always'
    if (byDefault.includes(outcome)) return 'by default'
    return FAIL_ON.some((word) => word === outcome) ? 'if in `fail-on`' : 'no'
  }
  const told = rows('README.md', 'Outputs').flatMap(([cell, , fails]) =>
    names(cell).map((name) => `${name}: ${fails}`),
  )
  const expected = OUTCOMES.map((outcome) => `${outcome}: ${fails(outcome)}`)
  expect(told).toEqual(expect.arrayContaining(expected))
  for (const outcome of OUTCOMES) expect(action.outputs.outcome.description).toContain(outcome)
  for (const outcome of FAIL_ON) expect(action.inputs['fail-on'].description).toContain(outcome)
})

test('the statuses are the same in the code, action.yml and the documents [house.defaults.once]', () => {
  const cellOf = (file: string, heading: string, name: string) =>
    rows(file, heading).find(([cell]) => names(cell).includes(name))?.[1]
  expect(names(cellOf(REFERENCE, 'Outputs', 'status'))).toEqual(STATUSES)
  expect(names(cellOf(SERVICE_API, 'The job', 'status'))).toEqual(STATUSES)
  for (const status of STATUSES) expect(action.outputs.status.description).toContain(status)
})

test('the schema of a job has the fields of the service API, and requires the same ones [send.job.required]', () => {
  const fields = rows(SERVICE_API, 'The job').map(([field, meaning = '']) => [
    names(field)[0],
    meaning.startsWith('Required'),
    meaning.includes('or null'),
  ])
  const { id, status, prLink, archivedAt } = job()
  const given = { id, status, prLink, archivedAt }
  const isJob = (other: object) => jobSchema.safeParse({ ...given, ...other }).success
  expect(
    Object.keys(jobSchema.shape).map((name) => [
      name,
      !isJob({ [name]: undefined }),
      isJob({ [name]: null }),
    ]),
  ).toEqual(fields)
})

test('the events that have a list of changes are those of the reference [house.defaults.once] [range.others]', () => {
  const listed = rows(REFERENCE, 'Which changes').flatMap(([events]) => names(events))
  const onPulls = ['pull_request_review', 'pull_request_review_comment', 'issue_comment']
  expect(Object.keys(RANGES).sort()).toEqual([...listed, ...onPulls].sort())
})

test('the emulator has a scenario for each outcome of a job, and hides every secret [secret.name] [house.emulator]', () => {
  const outcomes = Object.values(scenarios).map(({ step }) => step.outcome)
  expect(outcomes).toEqual(expect.arrayContaining(['pr-opened', 'no-changes', ...FAILURES]))
  expect(EMULATOR_SECRETS).toEqual(SECRETS)
})

test.each(readdirSync('examples'))(
  '%s fails as a docs job does, or says otherwise [house.recipe.concurrency]',
  (name) => {
    const yaml = text(`examples/${name}`)
    const [comment = ''] = /^(?:#.*\n)+/.exec(yaml) ?? []
    for (const [, failOn = ''] of yaml.matchAll(/^ *fail-on: (?!none$)(.*)$/gm))
      for (const failure of FAILURES) expect(`${failOn}\n${comment}`).toContain(failure)
  },
)

test('the error codes are the same in the code, action.yml and the troubleshooting [output.error-code]', () => {
  const [, type = ''] =
    /^export type ErrorCode =\n([\s\S]*?)\n\n/m.exec(text('src/text/errors.ts')) ?? []
  const codes = names(type.replaceAll("'", '`'))
  expect(codes.length).toBeGreaterThan(5)
  const told = section('docs/troubleshooting.md', 'Error codes').matchAll(/^### (.*)$/gm)
  expect([...told].map(([, code]) => code)).toEqual(codes)
  for (const code of codes) expect(action.outputs['error-code'].description).toContain(code)
})

/**
 * How each error begins, read from where it is made, so that a new one is found here. What begins
 * with a value has its first words somewhere else: they are given.
 */
function beginnings(): string[] {
  const GIVEN: Readonly<Record<string, readonly string[]>> = {
    // Another error, and why it ended the step.
    'error.message': [],
    'thrown.message': [],
    // Ends a schedule whose runs GitHub doesn't list.
    reason: ['GitHub lists'],
    // The service's refusals.
    text: ['The service redirected the', 'A firewall or a proxy has refused the'],
    // explainFailure's, which has the server's name in it.
    'text.replace': [
      "The service's certificate is not trusted",
      "The proxy's certificate is not trusted",
      'The proxy rejected the credentials',
    ],
  }
  const literalOf = (code: string): string =>
    /^(["'`])((?:\\.|(?!\1).)*)\1/s.exec(code)?.[2] ?? `(not found: ${code.slice(0, 60)})`
  return readdirSync('src', { recursive: true, encoding: 'utf8' }).flatMap((file) => {
    if (!file.endsWith('.ts')) return []
    const source = text(`src/${file}`)
    const made = [
      ...source.matchAll(/new (?:ActionError|Refusal)\(\s*(?!thrown)(?:response, )?[\w'.]+,\s*/g),
    ]
    const messages = made.flatMap(({ index, 0: start }) => {
      const code = source.slice(index + start.length).replace(/^joinSentences\(\s*/, '')
      const [, name] = /^(\w+),/.exec(code) ?? []
      const either = /^\w+\s*\?\s*(.*)\n\s*:\s*(.*)/.exec(code)?.slice(1)
      if (name === undefined) return (either ?? [code]).map(literalOf)
      const put = [...source.matchAll(new RegExp(`const ${name} =\\s*(?=["'\`])`, 'g'))]
      const found = put.map(({ index, 0: start }) => source.slice(index + start.length))
      return (found.length > 0 ? found : [code]).map(literalOf)
    })
    const asked = source.matchAll(/(?<=['`])(?:reading|listing|comparing|writing) [^'`]*/g)
    return [
      ...messages.flatMap((message) => GIVEN[/^\$\{([\w.]+)/.exec(message)?.[1] ?? ''] ?? message),
      ...[...asked].map(([doing]) => `GitHub: ${doing}`),
    ]
  })
}

/** Up to a value, at most four words, so that the number of a pull request doesn't count. */
function firstWords(message: string): string {
  const parts = message.replaceAll('\\', '').split(/\$\{[^}]*\}/)
  const part = parts.find((one) => one.trim().includes(' ')) ?? message
  const words = part.trim().split(' ').slice(0, 4).join(' ')
  return words.replace(/[\s("#:.]+$/, '')
}

/** What GitHub says that ends a step, or has kept it from its start. */
const OF_GITHUB = [
  'Resource not accessible by integration',
  'Resource not accessible by personal access token',
  'Bad credentials',
  'Not Found',
  'API rate limit exceeded',
  'You have exceeded a secondary rate limit',
  'Resource protected by organization SAML enforcement',
  'has an IP allow list enabled',
  'Repository was archived so is read-only',
  'Unable to resolve action',
  'is not allowed to be used in',
  'The nested job is requesting',
  'Unexpected input(s)',
  'Argument list too long',
]

/** What is no error, or begins like others. */
const TOLD = [
  ...['create request', 'message', 'status request'].map(
    (what) => `The service refused the ${what}`,
  ),
  'The step waited',
  'The step was cancelled',
  "Couldn't get the docs job's status",
  'Undocumented status',
  'Writing the summary failed',
]

test('each error is found by its first words, which people paste [output.error-code]', () => {
  const page = text('docs/troubleshooting.md').replace(/\s+/g, ' ')
  const errors = beginnings()
  expect(errors.length).toBeGreaterThan(30)
  const pasted = [...errors.map(firstWords), ...TOLD, ...OF_GITHUB]
  const missing = pasted.filter((words) => !page.includes(words))
  expect([...new Set(missing)]).toEqual([])
})

test('each title that a summary or a comment may have is found [output.outcome]', () => {
  const texts = text('__tests__/unit/__snapshots__/texts.test.ts.snap')
  const titles = [...texts.matchAll(/(?<=[❌✅⏳🛑⏰📝⏭🚀🗄]\ufe0f? )[A-Z][^(:.\n]+\b/gu)]
  const all = new Set(titles.map(([title]) => title.replace(/ for `.*/, '')))
  const told = ['Green, but no docs pull request', 'Red'].flatMap((heading) =>
    rows('docs/troubleshooting.md', heading).map(([title]) => title),
  )
  const untold = [...all].filter((title) => !`${told}`.includes(`*${title}*`))
  expect(untold).toEqual(['The docs job opened a pull request'])
})

test('the workflows of the documents are those of examples/, which tests run, without the comment on top [house.pages]', () => {
  const all = documents().flatMap((file) => [...text(file).matchAll(/```yaml\n([\s\S]*?)```/g)])
  const blocks = all.map(([, yaml = '']) => yaml)
  expect(blocks.length).toBeGreaterThan(0)
  const examples = readdirSync('examples').map((file) => text(`examples/${file}`))
  expect(examples.map((yaml) => yaml.replace(/^(?:#.*\n)+/, ''))).toEqual(
    expect.arrayContaining(blocks),
  )
  for (const yaml of examples) expect(yaml).toMatch(/^# /)
})

test("docs/testing.md names the emulator's inputs and outputs, which have the defaults of its code [house.defaults.once]", () => {
  const emulator = parse(text('emulator/action.yml'))
  const page = section('docs/testing.md', 'In a workflow')
  for (const name of ['scenario', 'speed', 'log-file', ...serviceScenarios])
    expect(page).toContain(`\`${name}\``)
  expect(Object.keys(emulator.inputs)).toEqual(['scenario', 'speed'])
  expect(Object.keys(emulator.outputs)).toEqual(['base-url', 'log-file'])
  expect(emulator.inputs.scenario.default).toBe(DEFAULT_SCENARIO)
  expect(text('emulator/scenarios.mjs')).toContain(
    `DEFAULT_SPEED = ${emulator.inputs.speed.default}\n`,
  )
})

test('docs/recipes.md names every example, and what its DOCS_TOKEN may do [house.pages]', () => {
  const page = text('docs/recipes.md')
  const named = [...page.matchAll(/^- \[(.+?)\]\(\.\.\/examples\/\1\): /gm)].map(([, name]) => name)
  const examples = readdirSync('examples')
  expect(named.sort()).toEqual(examples.sort())
  const tokens = rows('docs/recipes.md', 'The token for the docs repository')
  const using = examples.filter((name) => text(`examples/${name}`).includes('secrets.DOCS_TOKEN'))
  expect(tokens.flatMap(([all = '']) => all.split(', ')).sort()).toEqual(using.sort())
})

describe('the code', () => {
  test('has every folder in the layout, and says in each file what it is for [house.layers]', () => {
    const [, layout = ''] =
      /^src\/\n((?: {2}.*\n)+)/m.exec(section('CONTRIBUTING.md', 'Code layout')) ?? []
    const named = [...layout.matchAll(/^ {2,4}(\S+)\/ /gm)].map(([, name]) => name)
    const entries = readdirSync('src', { withFileTypes: true, recursive: true })
    const folders = entries.filter((entry) => entry.isDirectory())
    expect(named.sort()).toEqual(folders.map(({ name }) => name).sort())
    for (const { name, parentPath } of entries.filter((entry) => entry.name.endsWith('.ts')))
      expect(text(`${parentPath}/${name}`)).toMatch(/^\/\*\*\s/)
  })

  test('loads the HTTP library, zod and Octokit only once a request is sent [net.cheap]', () => {
    expect(text('build/ncc/index.js')).not.toMatch(
      /(?:node_modules|packages)\/(?:undici|zod|@octokit|@actions\/github)\//,
    )
  })
})

describe('dist', () => {
  // On Windows ncc may put the modules in another order (vercel/ncc#1057).
  posixTest(
    'is what a clean build gives: else run `npm run build` and commit dist/ [house.bundle.same]',
    () => {
      expect(readdirSync('dist').sort()).toEqual(readdirSync('build/dist').sort())
      const isOld = (file: string) => text(`dist/${file}`) !== text(`build/dist/${file}`)
      expect(readdirSync('dist').filter(isOld)).toEqual([])
    },
  )

  test('runs on the Node that action.yml asks for [house.node]', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/index.js' })
  })
})

test('the emulator needs nothing but Node [house.emulator]', () => {
  for (const file of readdirSync('emulator').filter((name) => name.endsWith('.mjs')))
    for (const [, from] of text(`emulator/${file}`).matchAll(/^(?:import .*|}) from '([^']+)'/gm))
      expect(from).toMatch(/^(?:node:|\.\/)/)
})
