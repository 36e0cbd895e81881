/** What the parts of a plan are drawn with, and the names that all plans have in common. */

import { INJECTED } from './hostile.js'
import type { Random } from './random.js'

export const REPOSITORY = 'your-org/Your-Repo'
export const TOKEN = 'ghs_token_0123456789'
/** It can read the docs repository, and nothing else can. */
export const DOCS_TOKEN = 'github_pat_docs_0123456789'
export const DOCS_REPOSITORY = 'your-org/docs'
export const DOCS_LINK = `https://github.com/${DOCS_REPOSITORY}/pull/17`
export const OWN_DOCS_LINK = `https://github.com/${REPOSITORY}/pull/17`
/** The numbers of the pull request, of the issue, and of another pull request. */
export const PULL_REQUEST = 1
export const ISSUE = 2
export const OTHER_PULL = 3
/** Of a label, which anybody who may write can give any. */
export const HOSTILE_LABEL = `No <img src=${INJECTED}> [x](y) ::error::${INJECTED}`
/** How long after a cancel or the deadline the response to a POST is waited for. */
export const FINAL_POST_MS = 5_000
/** How long the last poll may take after a freeze over the deadline. */
export const LATE_POLL_MS = 2_000

/** It is in the workspace, and it holds this. */
export const PROMPT_FILE = 'prompt.md'
export const FILED_PROMPT = '\n Mind the tone. 😀 \n'

/** The final statuses of a job that did not complete, which are also outcomes. */
export const FAILURES = ['failed', 'archived']

/** What `context-paths` may be, and the files that match. */
export const MATCHES: Readonly<Record<string, RegExp>> = {
  'docs/**': /^docs\//,
  '!docs/**': /^(?!docs\/)/,
  '*.md': /^[^/]*\.md$/,
}

export const BAD_JOB_ID = '../1'

/** Nights with other repositories are told in github/other-repositories.test.ts. */
export const BAD_CODE: readonly Record<string, string>[] = [
  { 'code-repositories': 'one' },
  { 'code-token': 'github_pat_of_no_repository' },
]

/** Each is one problem. */
export const BAD_INPUTS: readonly Record<string, string>[] = [
  { 'project-id': '' },
  { 'api-key': '' },
  { 'poll-interval-seconds': 'often' },
  { 'job-scope': 'everything' },
  { 'base-url': 'http://service.example' },
  { 'context-paths': './docs' },
  { since: 'a..b' },
  { 'prompt-file': 'missing.md' },
  { 'prompt-file': '../../outside.md' },
  { 'api-key': 'has a blank' },
  { 'timeout-minutes': '0' },
  { 'fail-on': 'everything' },
  { wait: 'perhaps' },
  { 'job-id': BAD_JOB_ID },
  { 'issue-number': '-1' },
  ...BAD_CODE,
]

/** What all parts of a plan are drawn with. */
export interface Draw {
  random: Random
  key: string
  /** An id that the service knows from the start. */
  knownJob: string
  usesGitHub: boolean
  /**
   * `well`: nothing goes wrong. And what is rare otherwise: a freeze over the deadline; a response
   * that arrives just when a time limit ends; a job of half an hour; and a service that refuses
   * what is about a job, for a moment or for good. `lost`: the re-run of an earlier run gets no
   * response to its placeholder. `pushes`: to a pull request, one after the other; maybe nobody
   * knows whether the second message was accepted. `ranges`: of commits, most of which GitHub cuts.
   */
  theme: 'any' | 'well' | 'lost' | 'pushes' | 'ranges' | 'freeze' | 'limit' | 'long' | 'refusals'
  /** It refuses a later step, which has a remembered job. */
  refusesLaterStep: boolean
  /** What others may write. */
  hostile: () => string
}
