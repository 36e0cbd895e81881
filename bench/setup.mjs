/** Starts the servers and defines the commands that are measured. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { inputEnvironment, runnerEnvironment } from '../emulator/runner.mjs'
import { ACTION, ALTERNATIVES, bundleAlternative, copyWithoutFlag } from './bundles.mjs'
import { HEAD_SHA, NUMBER, pullRequestEvent, REPOSITORY, startGitHub } from './github.mjs'
import { startService } from './server.mjs'

/** @import { GitHub } from './github.mjs' */
/** @import { Command } from './measure.mjs' */
/** @import { Service } from './server.mjs' */

/** @typedef {Command['env']} Environment */

/** The commands, as the tables name them. */
export const NAMES = {
  baseline: 'baseline: `node -e 0`',
  badInput: 'this action: bad input',
  job: 'this action: a job',
  jobWithoutFlag: 'this action: a job without the V8 flag',
  fetch: 'a Node script with `fetch`',
  toolkit: 'an action built on `@actions/core`',
  curl: 'bash with `curl` and `jq`',
  jq: 'one start of `jq`',
  pullRequest: 'this action: a job on a pull request',
  comment: 'an action that only writes a comment',
}

/** @typedef {keyof typeof NAMES} Name */
/** @typedef {'curl' | 'jq'} Optional the commands that are missing if curl or jq is not installed */
/** @typedef {Record<Exclude<Name, Optional>, Command> & Partial<Record<Optional, Command>>} Commands */

/**
 * @typedef {object} Bench
 * @property {string} folder for temporary files
 * @property {Service} service
 * @property {GitHub} github
 * @property {Commands} commands in the order of the tables
 * @property {() => Promise<void>} close
 */

const PROJECT = 'docs'
const KEY = 'mint_bench'
const PROMPT = 'Shorten the introduction.'
const POLL_INTERVAL = '0.1'

/**
 * @param {string} folder for temporary files
 * @returns {Promise<Bench>}
 */
export async function startBench(folder) {
  const service = await startService(folder)
  const github = await startGitHub()
  const { PATH = '', HOME = '' } = process.env
  const bare = { PATH, HOME }
  const job = await jobEnvironment(newFolder(folder, 'job'), service)
  const pullRequest = await pullRequestEnvironment(newFolder(folder, 'pull-request'), service, github)
  const badInput = await runnerEnvironment(newFolder(folder, 'bad-input'), {})
  const script = {
    ...(await runnerEnvironment(newFolder(folder, 'script'), {})),
    BASE_URL: service.url,
    PROJECT_ID: PROJECT,
    API_KEY: KEY,
    PROMPT,
    INTERVAL: POLL_INTERVAL,
    NODE_EXTRA_CA_CERTS: service.caFile,
    CURL_CA_BUNDLE: service.rootsFile,
  }
  /** @type {(argv: string[], env: Environment, exitCode?: number) => Command} */
  const command = (argv, env, exitCode = 0) => ({ argv, env, exitCode })
  const node = process.execPath
  const action = path.join(ACTION, 'index.js')
  const hasCurlAndJq = version('curl') !== undefined && version('jq') !== undefined
  /** @type {Commands} */
  const commands = {
    baseline: command([node, '-e', '0'], bare),
    badInput: command([node, action], badInput, 1),
    job: command([node, action], job),
    jobWithoutFlag: command([node, path.join(copyWithoutFlag(folder), 'index.js')], job),
    fetch: command([node, path.join(ALTERNATIVES, 'fetch.mjs')], script),
    toolkit: command([node, path.join(bundleAlternative('toolkit', folder), 'index.mjs')], job),
    ...(hasCurlAndJq && {
      curl: command(['bash', path.join(ALTERNATIVES, 'curl-jq.sh')], script),
      jq: command(['jq', '-n', '0'], bare),
    }),
    pullRequest: command([node, action], pullRequest),
    comment: command([node, path.join(bundleAlternative('comment', folder), 'index.mjs')], pullRequest),
  }
  const close = async () => {
    await Promise.all([service.close(), github.close()])
  }
  return { folder, service, github, commands, close }
}

/**
 * @param {string} folder for the runner's files
 * @param {Service} service
 * @param {object} [event]
 */
async function jobEnvironment(folder, service, event = {}) {
  return {
    ...(await runnerEnvironment(folder, event)),
    NODE_EXTRA_CA_CERTS: service.caFile,
    ...inputEnvironment({
      'base-url': service.url,
      'project-id': PROJECT,
      'api-key': KEY,
      prompt: PROMPT,
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
