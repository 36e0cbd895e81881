// The two commands: `npm start` with the action's bundle, and `npm run serve`. scenarios.test.ts
// has more of the first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { UsageError, wrap } from '../../emulator/options.mjs'
import { scenarios, servableScenarios, serviceScenarios } from '../../emulator/scenarios.mjs'
import { serve } from '../../emulator/serve.mjs'
import { startEmulator } from '../../emulator/server.mjs'
import { createCommentPrinter } from '../../emulator/show.mjs'
import { start } from '../../emulator/start.mjs'
import { newFolder } from '../support/folder.js'
import { posixTest } from '../support/platform.js'
import { until } from '../support/time.js'

// Each command ends by itself, but a busy machine is slow to start one.
jest.setTimeout(120_000)

const START = fileURLToPath(new URL('../../emulator/start.mjs', import.meta.url))
// The command reads it beside the bundle, which here is the fresh one.
copyFileSync('action.yml', 'build/action.yml')

/** What the commands have printed in this test. */
let printed = ''
beforeEach(() => {
  printed = ''
  jest.spyOn(console, 'log').mockImplementation((line) => {
    printed += `${line}\n`
  })
})

describe('start [house.emulator]', () => {
  test('every option reaches the action', async () => {
    const inputs = [
      'API-KEY=secret=1',
      'wait=false',
      'comment=',
      'docs-token=ghp_key', // One that is longer would be refused in the prompt.
      'base-url= ',
    ]
    const exitCode = await start([
      ...['--prompt', 'One: two\nthree ghp_key', '--debug', '--speed', '2'],
      ...[...inputs, 'poll-interval-seconds=2', 'waiit=false'].flatMap((input) => [
        '--input',
        input,
      ]),
    ])
    expect(exitCode).toBe(0)
    for (const part of [
      '\nA docs job takes 2 min there.\n',
      '    prompt: |\n      One: two\n      three ***\n',
      '    docs-token: ***\n',
      // Given on the command line, so it is no part of the demo.
      '    poll-interval-seconds: 2\n',
      "\nLog\n  Warning: Unexpected input(s) 'waiit', valid inputs are ['prompt', ",
      "'dry-run']\n",
      '  Debug: POST ',
      'the service received 1 request',
    ])
      expect(printed).toContain(part)
    // An empty base-url means the emulated service, not the real one.
    expect(printed).toMatch(/^ {4}base-url: http:\/\/127\.0\.0\.1:\d+ {2}# only for this demo$/m)
    expect(printed).not.toMatch(/ghp_|secret|\bcomment:/)
  })

  test('uses the service of base-url, and emulates none', async () => {
    const service = await startEmulator({})
    const args = ['--input', `base-url=${service.url}`, '--input', 'wait=false']
    expect(await start(args).finally(service.close)).toBe(0)
    expect(printed).toContain(
      'would.\nNo emulated service is started: the step uses the one at base-url.\n',
    )
    expect(printed).not.toMatch(/poll-interval|demo|Scenario|Requests|Debug/)
    expect(printed.endsWith('\n\nExit code 0.\n')).toBe(true)
    expect(service.requests.map(({ method }) => method)).toEqual(['POST'])
  })

  test('a reader that stops reading, such as head, leaves no step and no folder behind', async () => {
    const temp = newFolder('temp')
    const env = { ...process.env, TMPDIR: temp, TMP: temp, TEMP: temp }
    const child = spawn(process.execPath, [START, '--scenario', 'started'], { env })
    const stderr = text(child.stderr)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await once(child, 'close')).toEqual([0, null])
    expect(await stderr).toBe('')
    expect(readdirSync(temp)).toEqual([])
  })

  test('the emulated pull request changes a file, which context sends, once', async () => {
    const args = ['--scenario', 'pull-request', '--speed', '100', '--input', 'context=diff']
    expect(await start([...args, '--input', 'dry-run=true'])).toBe(0)
    expect(printed).toContain("+  retry: { type: 'string', default: '3' },")
    expect(await start([...args, '--input', 'poll-interval-seconds=0.2'])).toBe(0)
    const sent = [...printed.matchAll(/^ {2}sent +(\w+)$/gm)].map(([, value]) => value)
    expect(sent.slice(2)).toEqual(['job', 'nothing'])
  })

  test('reports a missing bundle', async () => {
    await expect(start([], newFolder('elsewhere'))).rejects.toThrow(
      /dist[\\/]index\.js is missing; create it with 'npm ci && npm run build'$/,
    )
  })

  test('a wrong option is told in one line, with exit code 2', async () => {
    const child = spawn(process.execPath, [START, '--input', 'nope'])
    expect(await Promise.all([text(child.stdout), text(child.stderr)])).toEqual([
      '',
      "--input expects NAME=VALUE, got 'nope'\n",
    ])
    expect(child.exitCode ?? (await once(child, 'close'))[0]).toBe(2)
  })
})

describe('start, of a bundle that behaves in another way in each run, [house.emulator]', () => {
  /** Run 1 fails, or lasts until it gets a signal. */
  const BUNDLE = `
    const { INPUT_PROMPT: prompt, GITHUB_RUN_ID: run, HTTPS_PROXY, no_proxy } = process.env
    process.on('SIGINT', () => {
      console.log('SIGINT')
      setTimeout(() => process.exit(7), 400)
    })
    console.log('through ' + HTTPS_PROXY + ' but for ' + no_proxy)
    process.exitCode = run === '1' ? 3 : 0
    if (prompt === 'hang') setTimeout(() => {}, 60_000)`
  const folder = newFolder('commands')
  mkdirSync(path.join(folder, 'dist'))
  writeFileSync(path.join(folder, 'dist/index.js'), BUNDLE)
  cpSync('action.yml', path.join(folder, 'action.yml'))
  const onPullRequest = (prompt: string) =>
    start(['--scenario', 'pull-request', '--prompt', prompt], folder)
  Object.assign(process.env, { HTTPS_PROXY: 'http://proxy.test', no_proxy: 'other.test' })

  test('fails as the last run that failed, and passes on nothing that the step does not need', async () => {
    expect(await onPullRequest('fail')).toBe(3)
    expect(printed).toContain('A docs job takes 4 s there.\n')
    expect(printed.match(/^ {2}through undefined but for undefined$/gm)).toHaveLength(2)
    expect(printed).toMatch(
      /\nExit code 3;\n.*;\nGitHub received 0 requests \(0 POST, 0 PATCH, 0 GET\)\.\n$/,
    )
  })

  test('passes on the proxy if the service is elsewhere', async () => {
    await start(['--input', 'base-url=https://service.test'], folder)
    expect(printed).toContain('  through http://proxy.test but for other.test\n')
  })

  posixTest('forwards Ctrl-C once, though npm doubles it, and starts no further run', async () => {
    const exitCode = onPullRequest('hang')
    await until(() => printed.includes('through'))
    // It stands still: a busy machine may take longer than the time within which a signal counts as
    // doubled.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000)
    process.emit('SIGINT')
    await until(() => printed.includes('SIGINT'))
    process.emit('SIGINT')
    expect(await exitCode).toBe(7)
    clock.mockRestore()
    expect(printed.match(/SIGINT|━━ Run \d of 2/g)).toEqual(['━━ Run 1 of 2', 'SIGINT'])
  })
})

describe('serve [house.emulator]', () => {
  /** Runs the service until one request has been answered. Returns its URL. */
  async function serveOnce(args: string[], pathname: string): Promise<string> {
    const exitCode = serve(args)
    await until(() => printed.includes('Requests are logged'))
    const [url = ''] = /^http:\S+$/m.exec(printed) ?? []
    await fetch(`${url}${pathname}`, { headers: { authorization: 'Bearer mint_secret' } })
    process.emit('SIGTERM')
    expect(await exitCode).toBe(0)
    await expect(fetch(url)).rejects.toThrow()
    return url
  }

  test('prints how to use it and a line per request, never the key, and ends cleanly', async () => {
    const url = await serveOnce([], '/v2/agent/a%20b/job/x')
    expect(printed).toBe(`The emulated service is running at
${url}
Scenario pr-opened:
  the agent edits files and opens a pull request.
A docs job takes 4 s. Stop the service with Ctrl-C.
To run the action against it, in another terminal:
npm start -- --input base-url=${url}
Requests are logged below.
GET /v2/agent/a%20b/job/x 404
`)
  })

  test('names the docs job that a scenario starts with, and logs to a file', async () => {
    const log = path.join(newFolder('log'), 'requests.log')
    writeFileSync(log, 'before\n')
    const project = '/v2/agent/your-project/job/5eed0000-0000-4000-8000-000000000001'
    await serveOnce(
      ['--scenario', 'stale', '--speed', '1', '--job-seconds', '90', '--log', log],
      project,
    )
    expect(printed).toContain(
      '\nProject your-project already has a docs job: 5eed0000-0000-4000-8000-000000000001.\n',
    )
    expect(printed).toContain('\nA docs job takes 90 s. ')
    expect(printed.endsWith(`\nRequests are logged to ${log}.\n`)).toBe(true)
    expect(readFileSync(log, 'utf8')).toBe(`before\nGET ${project} 200\n`)
  })
})

const NETWORK = /\n {2}network {2,}error, network\n {4}no service listens at the URL\n\n\* also /
test.each([
  ['start', start, Object.keys(scenarios), NETWORK, '--input NAME=VALUE'],
  ['serve', serve, servableScenarios, /\n {2}stale {2,}pr-opened\n {4}/, '--log FILE'],
] as const)(
  '%s --list has scenarios, --help options [house.emulator]',
  async (_, command, names, line, option) => {
    expect(await command(['--list'])).toBe(0)
    const list = printed
    const named = [...list.matchAll(/^([* ]) ([\w-]+) {2,}\S/gm)]
    expect(named.map(([, , name]) => name)).toEqual(names)
    // The emulator action has these, too.
    expect(named.flatMap(([, mark, name]) => (mark === '*' ? [name] : []))).toEqual(
      serviceScenarios,
    )
    expect(list).toMatch(line)
    expect(await command(['--help'])).toBe(0)
    expect(printed.slice(list.length)).toContain(option)
    expect(printed.endsWith(list)).toBe(true)
    // Where a terminal breaks a line, the columns are lost.
    expect(printed.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

test.each([
  ['start', ['--nope'], "Unknown option '--nope'; available options: --scenario, --prompt, "],
  [
    'start',
    ['nope'],
    "Unexpected argument 'nope'; npm expects 'npm start -- [options]'; available options: ",
  ],
  [
    'start',
    ['--scenario'],
    "Option '--scenario <value>' argument missing; available options: --scenario, ",
  ],
  ['start', ['--scenario', 'nope'], "unknown scenario 'nope'; available: pr-opened, no-changes, "],
  ['start', ['--speed', '0'], "--speed expects a number above 0, got '0'"],
  [
    'start',
    ['--speed', '2', '--input', 'base-url=http://127.0.0.1:9'],
    "--scenario and --speed can't be combined with --input base-url=URL, since no service is emulated then",
  ],
  ['serve', ['--port', '70000'], "--port expects a whole number up to 65535, got '70000'"],
  [
    'serve',
    ['--log', '/no/such/folder/x.log'],
    "--log can't write to '/no/such/folder/x.log': ENOENT: ",
  ],
  [
    'serve',
    ['--scenario', 'dry-run'],
    "scenario 'dry-run' is about the step, not the service; available: ",
  ],
] as const)(
  '%s: a wrong option is told in one line, with those that there are: %j [house.emulator]',
  async (name, args, message) => {
    const error = await { start, serve }[name]([...args]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UsageError)
    expect(String(error)).toContain(`Error: ${message}`)
  },
)

test('a long error is wrapped for a terminal [house.emulator]', async () => {
  const error = await start(['--scenario', 'nope']).catch((thrown: unknown) => thrown)
  const { message } = error as Error
  const lines = wrap(message).split('\n')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.join(' ')).toBe(message)
  const path = '/folder'.repeat(20)
  expect(wrap(`can't write to ${path} now`)).toContain(path)
})

test('a comment is shown without the secrets [house.emulator]', () => {
  createCommentPrinter((text) => text.replaceAll('key', '***'))({ id: 1, body: 'The key' })
  expect(printed).toContain('│ The ***\n')
})
