/** Measures the action against what users would take instead: `npm run bench`, or `npm run bench -- --rounds 30`. */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { inputEnvironment, runnerEnvironment } from '../emulator/runner.mjs'
import { download } from './download.mjs'
import { median, memory, time } from './measure.mjs'
import { pollingTable } from './polling.mjs'
import { scale } from './scale.mjs'
import { startService } from './server.mjs'

/** @import { Command, Took } from './measure.mjs' */
/** @import { Service } from './server.mjs' */

const WARM_UP = 2
const INTERVAL = '0.1'
const MEBIBYTE = 1024 * 1024
const ACTION = path.resolve('build/dist/index.js')

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    only: { type: 'string', default: 'times,memory,polling,scale' },
  },
})
const parts = options.only.split(',')

/** @param {string[]} argv */
function version(argv) {
  const [file = '', ...args] = argv
  const { stdout, error } = spawnSync(file, args, { encoding: 'utf8' })
  return error ? undefined : stdout.split('\n')[0]?.trim()
}

/**
 * Bundles the action that uses the toolkit alone, as its author would: with ncc, in a folder of its own.
 * @param {string} folder
 * @returns {string} its main file
 */
function buildToolkitAction(folder) {
  const source = path.join(folder, 'toolkit')
  mkdirSync(source)
  cpSync('bench/candidates/toolkit.mjs', path.join(source, 'index.mjs'))
  symlinkSync(path.resolve('node_modules'), path.join(source, 'node_modules'))
  writeFileSync(path.join(source, 'package.json'), '{"type": "module"}')
  const ncc = path.resolve('node_modules/@vercel/ncc/dist/ncc/cli.js')
  const args = [ncc, 'build', 'index.mjs', '--no-cache', '--quiet', '--out', 'dist']
  execFileSync(process.execPath, args, { cwd: source, stdio: 'inherit' })
  return path.join(source, 'dist/index.mjs')
}

/**
 * @param {string} folder
 * @param {Service} service
 */
async function environments(folder, service) {
  const { PATH = '', HOME = '' } = process.env
  const runner = await runnerEnvironment(folder, {})
  const values = { url: service.url, project: 'docs', key: 'mint_bench', prompt: 'Shorten the introduction.' }
  const action = {
    ...runner,
    NODE_EXTRA_CA_CERTS: service.authority,
    ...inputEnvironment({
      'base-url': values.url,
      'project-id': values.project,
      'api-key': values.key,
      prompt: values.prompt,
      'poll-interval-seconds': INTERVAL,
    }),
  }
  const script = {
    ...runner,
    BASE_URL: values.url,
    PROJECT_ID: values.project,
    API_KEY: values.key,
    PROMPT: values.prompt,
    INTERVAL,
  }
  return {
    bare: { PATH, HOME },
    badInput: runner,
    action,
    fetch: { ...script, NODE_EXTRA_CA_CERTS: service.authority },
    curl: { ...script, CURL_CA_BUNDLE: service.roots },
  }
}

/** @param {string[]} cells */
const row = (cells) =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(34) : cell.padStart(13))).join('')
const ms = (/** @type {number} */ value) => value.toFixed(0)
const x = (/** @type {number} */ value) => `${value.toFixed(2)}x`

/**
 * Runs all in turn, round after round, so that what else the machine does meets all alike.
 * @param {Record<string, Command>} commands
 * @param {Service} service
 */
async function measure(commands, service) {
  /** @type {Record<string, Took[]>} */
  const took = {}
  /** @type {Record<string, { requests: number, connections: number }>} */
  const counts = {}
  const rounds = Number(options.rounds)
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, command] of Object.entries(commands)) {
      const result = await time(command)
      counts[name] = service.counts()
      if (round >= 0) took[name] = [...(took[name] ?? []), result]
    }
  }
  const of = (/** @type {string} */ name, /** @type {'cpu' | 'wall'} */ what) =>
    (took[name] ?? []).map((result) => result[what])
  console.log(
    `Milliseconds, of ${rounds} interleaved rounds after ${WARM_UP} to warm up; wall with three waits of ${INTERVAL} s.`,
  )
  console.log(
    row(['', 'CPU median', 'minimum', 'x floor', 'wall median', 'minimum', 'requests', 'connections']),
  )
  for (const name of Object.keys(commands)) {
    const cpu = of(name, 'cpu')
    const wall = of(name, 'wall')
    const { requests = 0, connections = 0 } = counts[name] ?? {}
    const factor = median(cpu) / median(of(FLOOR, 'cpu'))
    const cells = [ms(median(cpu)), ms(Math.min(...cpu)), x(factor), ms(median(wall)), ms(Math.min(...wall))]
    console.log(row([name, ...cells, String(requests), String(connections)]))
  }
  console.log('\nThe whole job, in CPU, against')
  for (const name of [FLOOR, FETCH, TOOLKIT, CURL]) {
    if (took[name] === undefined) continue
    const ratio = (/** @type {(values: number[]) => number} */ figure) =>
      x(figure(of(JOB, 'cpu')) / figure(of(name, 'cpu')))
    console.log(row([`  ${name}`, ratio(median), ratio((values) => Math.min(...values))]))
  }
}

const FLOOR = 'floor (node -e 0)'
const START = 'this action, bad input'
const JOB = 'this action, whole job'
const FETCH = 'node script with fetch'
const TOOLKIT = 'action of toolkit parts'
const CURL = 'bash with curl and jq'

const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
const service = await startService(folder)
try {
  const node = process.execPath
  const env = await environments(folder, service)
  const curl = version(['curl', '--version'])
  const jq = version(['jq', '--version'])
  const archive = download()
  console.log(`Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}`)
  console.log(`${curl?.split(' ').slice(0, 2).join(' ') ?? 'no curl'}, ${jq ?? 'no jq'}`)
  if (jq?.startsWith('jq-1.6')) console.log('jq 1.6 is known to be slow to start: 1.7 and later take less.')
  console.log(`The download (git archive | gzip): ${archive.bytes} bytes, ${archive.files.length} files\n`)

  if (parts.includes('times')) {
    /** @type {Record<string, Command>} */
    const commands = {
      [FLOOR]: { argv: [node, '-e', '0'], env: env.bare, exitCode: 0 },
      [START]: { argv: [node, ACTION], env: env.badInput, exitCode: 1 },
      [JOB]: { argv: [node, ACTION], env: env.action, exitCode: 0 },
      [FETCH]: { argv: [node, path.resolve('bench/candidates/fetch.mjs')], env: env.fetch, exitCode: 0 },
      [TOOLKIT]: { argv: [node, buildToolkitAction(folder)], env: env.action, exitCode: 0 },
    }
    if (curl && jq) {
      commands[CURL] = {
        argv: ['bash', path.resolve('bench/candidates/curl-jq.sh')],
        env: env.curl,
        exitCode: 0,
      }
    } else {
      console.log('curl or jq is missing: that script is left out.')
    }
    await measure(commands, service)
  }

  if (parts.includes('idle')) {
    service.counts()
    const command = { argv: [node, ACTION], env: { ...env.action, 'INPUT_POLL-INTERVAL-SECONDS': '60' } }
    await time({ ...command, exitCode: 0 })
    const { requests, connections } = service.counts()
    console.log(`\nA job with looks 60 s apart: ${requests} requests, ${connections} connections`)
  }

  if (parts.includes('memory')) {
    const long = path.join(env.action.GITHUB_WORKSPACE, 'prompt.md')
    writeFileSync(long, 'Say it shorter. '.repeat(MEBIBYTE / 16))
    const longPrompt = { ...env.action, ...inputEnvironment({ prompt: '', 'prompt-file': long }) }
    const cases = [
      { name: 'a whole job', env: env.action, bytes: 0 },
      { name: 'with a prompt of 1 MiB', env: longPrompt, bytes: 0 },
      { name: 'with answers of 1 MiB', env: env.action, bytes: MEBIBYTE },
      { name: 'with both', env: longPrompt, bytes: MEBIBYTE },
    ]
    console.log('\nThe largest memory of three runs, in MB (VmHWM)')
    const floor = await memory({ argv: [node, '-e', '0'], env: env.bare, exitCode: 0 }, folder)
    console.log(row(['  floor (node -e 0)', floor.toFixed(1)]))
    for (const { name, env: variables, bytes } of cases) {
      service.pad(bytes)
      const peaks = []
      for (let run = 0; run < 3; run++) {
        peaks.push(await memory({ argv: [node, ACTION], env: variables, exitCode: 0 }, folder))
      }
      console.log(row([`  ${name}`, Math.max(...peaks).toFixed(1)]))
    }
  }
} finally {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
}

if (parts.includes('polling')) console.log(`\n${pollingTable()}`)
if (parts.includes('scale')) console.log(`\n${await scale()}`)
