/** Starts the servers and defines the commands that are measured. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { inputEnvironment, runnerEnvironment } from '../emulator/runner.mjs'
import { ACTION, bundleAlternative, copyWithoutFlag } from './bundles.mjs'
import { HEAD_SHA, NUMBER, pullRequestEvent, REPOSITORY, startGitHub } from './github.mjs'
import { startService } from './server.mjs'

/** @import { GitHub } from './github.mjs' */
/** @import { Command } from './measure.mjs' */
/** @import { Service } from './server.mjs' */

/** @typedef {Command['env']} Environment */

/**
 * @typedef {object} Bench
 * @property {string} folder for temporary files
 * @property {Service} service
 * @property {GitHub} github
 * @property {Record<string, Command>} commands by the names below; those with curl and jq only if both are installed
 * @property {string} toolkitAction the folder of its bundle
 * @property {string} commentAction the folder of its bundle
 * @property {() => Promise<void>} close
 */

export const BASELINE = 'baseline: `node -e 0`'
export const BAD_INPUT = 'this action: bad input'
export const JOB = 'this action: a job'
export const JOB_WITHOUT_FLAG = 'this action: a job without the V8 flag'
export const PULL_REQUEST = 'this action: a job on a pull request'
export const FETCH = 'a Node script with `fetch`'
export const TOOLKIT = 'an action built on `@actions/core`'
export const CURL = 'bash with `curl` and `jq`'
export const JQ = 'one start of `jq`'
export const COMMENT = 'an action that only writes a comment'

export const POLL_INTERVAL = '0.1'

/**
 * @param {string} folder for temporary files
 * @returns {Promise<Bench>}
 */
export async function startBench(folder) {
  const service = await startService(folder)
  const github = await startGitHub()
  const node = process.execPath
  const toolkitAction = bundleAlternative('toolkit', folder)
  const commentAction = bundleAlternative('comment', folder)

  const { PATH = '', HOME = '' } = process.env
  const job = await jobEnvironment(newFolder(folder, 'job'), service)
  const pullRequest = await pullRequestEnvironment(newFolder(folder, 'pull-request'), service, github)
  const badInput = await runnerEnvironment(newFolder(folder, 'bad-input'), {})
  const script = {
    ...(await runnerEnvironment(newFolder(folder, 'script'), {})),
    BASE_URL: service.url,
    PROJECT_ID: 'docs',
    API_KEY: 'mint_bench',
    PROMPT: 'Shorten the introduction.',
    INTERVAL: POLL_INTERVAL,
  }
  /** @type {(file: string, env: Environment, exitCode?: number) => Command} */
  const run = (file, env, exitCode = 0) => ({ argv: [node, file], env, exitCode })
  const action = path.join(ACTION, 'index.js')
  const curlScript = path.resolve('bench/alternatives/curl-jq.sh')
  /** @type {Record<string, Command>} */
  const commands = {
    [BASELINE]: { argv: [node, '-e', '0'], env: { PATH, HOME }, exitCode: 0 },
    [BAD_INPUT]: run(action, badInput, 1),
    [JOB]: run(action, job),
    [JOB_WITHOUT_FLAG]: run(path.join(copyWithoutFlag(folder), 'index.js'), job),
    [FETCH]: run(path.resolve('bench/alternatives/fetch.mjs'), {
      ...script,
      NODE_EXTRA_CA_CERTS: service.caFile,
    }),
    [TOOLKIT]: run(path.join(toolkitAction, 'index.mjs'), job),
    ...(version('curl') &&
      version('jq') && {
        [CURL]: {
          argv: ['bash', curlScript],
          env: { ...script, CURL_CA_BUNDLE: service.rootsFile },
          exitCode: 0,
        },
        [JQ]: { argv: ['jq', '-n', '0'], env: { PATH, HOME }, exitCode: 0 },
      }),
    [PULL_REQUEST]: run(action, pullRequest),
    [COMMENT]: run(path.join(commentAction, 'index.mjs'), pullRequest),
  }
  const close = async () => {
    await Promise.all([service.close(), github.close()])
  }
  return { folder, service, github, commands, toolkitAction, commentAction, close }
}

/**
 * @param {string} folder for the runner's files
 * @param {Service} service
 * @param {object} [event]
 */
export async function jobEnvironment(folder, service, event = {}) {
  return {
    ...(await runnerEnvironment(folder, event)),
    NODE_EXTRA_CA_CERTS: service.caFile,
    ...inputEnvironment({
      'base-url': service.url,
      'project-id': 'docs',
      'api-key': 'mint_bench',
      prompt: 'Shorten the introduction.',
      'poll-interval-seconds': POLL_INTERVAL,
    }),
  }
}

/**
 * @param {string} folder for the runner's files
 * @param {Service} service
 * @param {GitHub} github
 */
async function pullRequestEnvironment(folder, service, github) {
  return {
    ...(await jobEnvironment(folder, service, pullRequestEvent)),
    ...inputEnvironment({ 'job-scope': 'pull-request', context: 'diff', 'github-token': 'ghs_bench' }),
    GITHUB_API_URL: github.url,
    GITHUB_BASE_REF: 'main',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_HEAD_REF: 'retry',
    GITHUB_REF: `refs/pull/${NUMBER}/merge`,
    GITHUB_REF_NAME: `${NUMBER}/merge`,
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_SHA: HEAD_SHA,
    GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@refs/pull/${NUMBER}/merge`,
  }
}

/**
 * @param {string} parent
 * @param {string} name
 */
function newFolder(parent, name) {
  const folder = path.join(parent, name)
  mkdirSync(folder)
  return folder
}

/**
 * @param {string} program
 * @returns {string | undefined} the first line of its `--version`; undefined: it is not installed
 */
export function version(program) {
  const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return error ? undefined : stdout.split('\n')[0]?.trim()
}
