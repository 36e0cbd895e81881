// `npm run prompts`: writes the prompts that the action would send for the merges, nights or weeks
// of a local clone, or for the nights or weeks of several. The action's bundle composes them, with
// a GitHub on loopback that knows what the clone knows, and sends them to the emulated service.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseInputs, readOptions, runCommand, UsageError } from './options.mjs'
import { newLog, renderLine, runAction } from './runner.mjs'
import { GITHUB_TOKEN, PROJECT_ID } from './scenarios.mjs'
import { startEmulator } from './server.mjs'

/** @import { AddressInfo } from 'node:net' */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DAY_MS = 86_400_000
/** The repository that follows several others. */
const DOCS = 'your-org/docs'
/** What one run is about, by `--per`: the recipe that has it, and the number of a time in it. */
const UNITS = {
  merge: { recipe: 'on-merge.yml', numberOf: undefined },
  night: { recipe: 'schedule.yml', numberOf: (/** @type {number} */ ms) => ms / DAY_MS },
  // The first day of 1970 was a Thursday.
  week: { recipe: 'schedule.yml', numberOf: (/** @type {number} */ ms) => (ms / DAY_MS + 3) / 7 },
}
const USAGE = `Writes the prompts that the action would send for what was merged in a local
clone, one file for each, and says how many diffs fit. It needs no network, and
sends nothing anywhere.

  npm run prompts -- --clone FOLDER --range FROM..TO [options]

  --clone FOLDER       a clone of any git repository, with its history; may be
                       repeated: then each prompt has the changes of all
                       (code-repositories)
  --range FROM..TO     two tags, branches or commits: what TO has and FROM
                       hasn't; for several clones, one for each, in their
                       order, or one for all
  --per UNIT           one prompt for each merge (the default), night or week,
                       in UTC
  --input NAME=VALUE   an input of the action; may be repeated. The default is
                       the recipe's prompt, with context: diff
  --out FOLDER         where to write the prompts (default: a new temporary
                       folder)
  --help               print this help
`

/**
 * The largest diff of a file, as GitHub answers (github.com/JabRef/jabref/pull/16101): a larger one
 * comes without a patch.
 */
const FILE_LIMIT = { lines: 3000, characters: 100_000 }
/**
 * After so many lines of patch, the files of a response have neither patch nor counts
 * (github.com/orgs/community/discussions/213491).
 */
const RESPONSE_LINES = 20_000

/** @typedef {ReturnType<typeof openClone>} Clone */
/** @typedef {{ base: string, head: string, date: string, subject: string, number: number }} Unit */
/** @typedef {{ clone: Clone, unit: Unit }} Changed */

/**
 * @param {string} folder
 * @throws {UsageError} it is no clone
 */
function openClone(folder) {
  /** @type {(...args: string[]) => { status: number | null, stdout: string, stderr: string }} */
  const run = (...args) => {
    const result = spawnSync('git', ['-C', folder, ...args], {
      encoding: 'utf8',
      maxBuffer: Infinity,
    })
    if (result.error) throw new Error(`git can't be run: ${result.error.message}`)
    return result
  }
  /** @type {(...args: string[]) => string} */
  const git = (...args) => {
    const { status, stdout, stderr } = run(...args)
    if (status !== 0) throw new Error(`git ${args[0]} failed in ${folder}: ${stderr.trim()}`)
    return stdout
  }
  if (run('rev-parse', '--git-dir').status !== 0)
    throw new UsageError(`--clone: ${folder} is no clone of a git repository`)
  const [, repository = 'your-org/your-repo'] =
    /github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(
      run('remote', 'get-url', 'origin').stdout.trim(),
    ) ?? []
  return {
    repository,
    /**
     * @param {string} name
     * @throws {UsageError} there is no such commit
     */
    resolve(name) {
      const { stdout } = run(
        'rev-parse',
        '--verify',
        '--quiet',
        '--end-of-options',
        `${name}^{commit}`,
      )
      if (stdout !== '') return stdout.trim()
      throw new UsageError(`--range: there is no commit '${name}' in ${folder}`)
    },
    /**
     * The commits, oldest first.
     * @param {string[]} range as `git log` takes it
     */
    log(...range) {
      const fields = git(
        'log',
        '--no-show-signature',
        '-z',
        '--reverse',
        '--format=%H%x00%P%x00%cI%x00%an%x00%ae%x00%B',
        ...range,
      ).split('\0')
      return Array.from({ length: Math.floor(fields.length / 6) }, (_, index) => {
        const [sha = '', parents = '', date = '', name = '', email = '', message = ''] =
          fields.slice(index * 6)
        // Only GitHub's own addresses say whose they are.
        const [, login] = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(email) ?? []
        return { sha, parents: parents.split(' '), date, name, login, message: message.trim() }
      })
    },
    /**
     * What GitHub lists of the files that differ.
     * @param {string} base
     * @param {string} head
     */
    files(base, head) {
      // Whatever the user's configuration says.
      const plain =
        '--find-renames --no-abbrev --no-color --no-ext-diff --no-textconv --submodule=short'
      const diff = ['diff', ...plain.split(' '), base, head]
      const sections = `\n${git(...diff, '--unified=3')}`.split('\ndiff --git ').slice(1)
      const names = git(...diff, '--raw', '-z').split('\0')
      const files = []
      while (names.length > 1) {
        const [, , , sha, [letter = ''] = ''] = (names.shift() ?? '').split(' ')
        const previous = letter === 'R' ? { previous_filename: names.shift() } : {}
        const filename = names.shift()
        // Where a link takes a file's place, git has two sections.
        const [section = ''] = sections.splice(0, letter === 'T' ? 2 : 1)
        const at = section.indexOf('\n@@ ') + 1
        const lines = at > 0 ? section.slice(at).split('\n') : []
        const isHuge = lines.length > FILE_LIMIT.lines || section.length > FILE_LIMIT.characters
        /** @type {(sign: string) => number} */
        const count = (sign) => lines.filter((line) => line.startsWith(sign)).length
        const [additions, deletions] = [count('+'), count('-')]
        const patch = !isHuge && lines.length > 0 ? { patch: lines.join('\n') } : {}
        files.push({
          filename,
          sha,
          status: STATUS[letter],
          additions,
          deletions,
          ...previous,
          ...patch,
        })
      }
      return files
    },
  }
}

/**
 * @template {{ additions: number, deletions: number, patch?: string }} F
 * @param {F[]} files of a response
 */
function cutDiffs(files) {
  let left = RESPONSE_LINES
  return files.map(({ patch = '', ...file }) => {
    left -= patch === '' ? 0 : patch.split('\n').length
    if (left < 0) return { ...file, additions: 0, deletions: 0 }
    return { ...file, ...(patch && { patch }) }
  })
}

/** @type {Record<string, string>} */
const STATUS = { A: 'added', D: 'removed', M: 'modified', R: 'renamed', T: 'changed' }

/**
 * @param {Clone} clone
 * @param {string} range
 * @param {((ms: number) => number) | undefined} numberOf
 * @returns {Unit[]} what each run is about, oldest first
 * @throws {UsageError}
 */
function listUnits(clone, range, numberOf) {
  const [, from, to] = /^(.+?)\.\.(?!\.)(.+)$/.exec(range) ?? []
  if (!from || !to) throw new UsageError(`--range expects FROM..TO, got '${range}'`)
  const [first, last] = [clone.resolve(from), clone.resolve(to)]
  /** @type {Unit[]} */
  const units = []
  let current = -1
  for (const { sha, parents, date, message } of clone.log('--first-parent', `${first}..${last}`)) {
    const number = numberOf ? Math.floor(numberOf(Date.parse(date))) : units.length
    const [base = ''] = number > current ? parents : [units.at(-1)?.base]
    if (number <= current) units.pop()
    current = Math.max(number, current)
    units.push({
      base,
      head: sha,
      date: new Date(date).toISOString().slice(0, 10),
      subject: message.split('\n')[0] ?? '',
      number: current,
    })
  }
  if (units.length === 0) throw new UsageError(`--range: ${range} has no commits`)
  return units
}

/**
 * What GitHub answers about a run.
 * @param {Clone} clone
 * @param {Unit} unit
 */
function createAnswers({ repository, ...clone }, { base, head }) {
  const files = clone.files(base, head)
  const commits = clone.log(`${base}..${head}`)
  /** @type {(commits: ReturnType<Clone['log']>) => object[]} */
  const describe = (all) =>
    all.map(({ sha, login, name, message, parents }) => ({
      sha,
      parents: parents.map((parent) => ({ sha: parent })),
      author: login ? { login } : null,
      commit: { message, author: { name } },
    }))
  const listed = describe(commits)
  const last = commits.at(-1)
  const repo = { full_name: repository }
  const [subject = '', ...body] = last?.message.split('\n') ?? []
  const isMerge = (last?.parents.length ?? 0) > 1
  const [title, ...rest] = isMerge ? body.join('\n').trim().split('\n') : [subject, ...body]
  const author = commits.find(({ parents }) => parents.length === 1) ?? last
  /** @type {(number: number) => object} what a message tells of the pull request that it names */
  const createPull = (number) => ({
    number,
    title: title?.replace(/ \(#\d+\)$/, ''),
    body: rest.join('\n').trim(),
    state: 'closed',
    user: author?.login ? { login: author.login } : null,
    merged_at: last?.date,
    merge_commit_sha: head,
    base: { ref: 'main', repo },
    head: { sha: last?.parents[1] },
    html_url: `https://github.com/${repository}/pull/${number}`,
  })
  const run = { id: 1, event: 'schedule', conclusion: 'success', head_branch: 'main' }
  return {
    push: {
      ref: 'refs/heads/main',
      before: base,
      after: head,
      head_commit: { id: head, message: last?.message },
      commits: commits.map(({ sha, login, name, message }) => ({
        id: sha,
        message,
        author: { name, username: login },
      })),
    },
    /** @type {(path: string, page: number, size: number) => unknown} */
    get(path, page, size) {
      const [, kind = '', number = '', list] =
        /^(?:\/[^/]+){3}\/(\w+)\/([^/]+)(?:\/(.+))?$/.exec(path) ?? []
      /** @type {<T>(items: T[]) => T[]} */
      const ofPage = (items) => items.slice((page - 1) * size, page * size)
      switch (kind) {
        case 'compare': {
          const [from = '', to = ''] = number.split('...')
          const between = describe(clone.log(`${from}..${to}`))
          return {
            status: 'ahead',
            files: cutDiffs(clone.files(from, to).slice(0, 300)),
            commits: ofPage(between),
            total_commits: between.length,
            merge_base_commit: { sha: from },
          }
        }
        case 'commits':
          if (list === 'pulls') return []
          return { files: cutDiffs(ofPage(clone.files(`${number}^`, number).slice(0, 3000))) }
        case 'actions':
          return {
            total_count: 1,
            workflow_runs: [{ ...run, head_sha: base, head_repository: repo }],
          }
        case 'pulls':
          if (list === 'files') return cutDiffs(ofPage(files))
          return list === 'commits' ? ofPage(listed) : createPull(Number(number))
        default: // The pull requests of a commit, of which only the message tells; comments.
          return []
      }
    },
  }
}

/** When the last good run was created, the other repositories changed, and this run was created. */
const [LAST, MOVED, NOW] = ['2026-01-01T03:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T03:00:00Z']
/** The head of a repository that hasn't changed, and where it was long before. */
const [UNCHANGED, BEFORE] = ['1'.repeat(40), '2'.repeat(40)]

/**
 * What GitHub answers about a run that follows several repositories.
 * @param {readonly Changed[]} changed
 */
function createCodeAnswers(changed) {
  const run = { event: 'schedule', head_branch: 'main', head_repository: { full_name: DOCS } }
  const runs = [
    { ...run, id: 2, created_at: NOW, head_sha: UNCHANGED },
    { ...run, id: 1, created_at: LAST, head_sha: UNCHANGED, conclusion: 'success' },
  ]
  return {
    /** @type {(path: string, page: number, size: number) => unknown} */
    get(path, page, size) {
      const [, repository = '', what = ''] = /^\/repos\/([^/]+\/[^/]+)\/?(\w*)/.exec(path) ?? []
      const found = changed.find(({ clone }) => clone.repository === repository)
      const { base, head } = found?.unit ?? { base: UNCHANGED, head: UNCHANGED }
      switch (what) {
        case 'actions':
          return path.endsWith('/2') ? runs[0] : { total_count: 2, workflow_runs: runs }
        case '':
          return { full_name: repository, default_branch: 'main', private: true, pushed_at: MOVED }
        case 'branches':
          return { name: 'main', commit: { sha: head } }
        case 'activity':
          return [
            found
              ? { before: base, after: head, timestamp: MOVED }
              : { before: BEFORE, after: head, timestamp: '2025-12-01T03:00:00Z' },
          ]
        default:
          return found && createAnswers(found.clone, found.unit).get(path, page, size)
      }
    },
  }
}

/**
 * @param {string} text of a recipe
 * @returns {string} its prompt
 */
function readPrompt(text) {
  const [, prompt = ''] = /^ {10}prompt: \|\n((?: {12}.*\n)+)/m.exec(text) ?? []
  return prompt.replace(/^ {12}/gm, '').trim()
}

/**
 * @param {string[]} args
 * @param {string} [root] the folder of the action to run
 * @returns {Promise<number>} the exit code
 */
export async function prompts(args, root = ROOT) {
  const options = readOptions(
    {
      clone: { type: 'string', multiple: true },
      range: { type: 'string', multiple: true },
      per: { type: 'string' },
      input: { type: 'string', multiple: true },
      out: { type: 'string' },
      help: { type: 'boolean' },
    },
    'npm run prompts',
    args,
  )
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  const { clone: folders = [], range: ranges = [], per = 'merge' } = options
  const [range] = ranges
  if (folders.length === 0 || range === undefined)
    throw new UsageError('--clone FOLDER and --range FROM..TO are required; see --help')
  if (!Object.hasOwn(UNITS, per))
    throw new UsageError(`--per expects merge, night or week, got '${per}'`)
  const { recipe, numberOf } = UNITS[/** @type {keyof typeof UNITS} */ (per)]
  const isOfSeveral = folders.length > 1
  if (isOfSeveral && numberOf === undefined)
    throw new UsageError('--per expects night or week for several clones')
  const given = parseInputs(options.input ?? [])
  const clones = folders.map(openClone)
  /** @type {Map<number, Changed[]>} by what the run is about */
  const units = new Map()
  for (const [index, clone] of clones.entries())
    for (const unit of listUnits(clone, ranges[index] ?? range, numberOf))
      units.set(unit.number, [...(units.get(unit.number) ?? []), { clone, unit }])
  const out = options.out ?? mkdtempSync(path.join(tmpdir(), 'prompts-'))
  mkdirSync(out, { recursive: true })

  /** @type {ReturnType<typeof createCodeAnswers>} */
  let answers = createCodeAnswers([])
  const github = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const body = await text(request)
    const answer = body
      ? { id: 1, ...JSON.parse(body) } // The comment.
      : answers.get(
          pathname,
          Number(searchParams.get('page') ?? 1),
          Number(searchParams.get('per_page')),
        )
    response.writeHead(request.method === 'POST' ? 201 : 200, {
      'content-type': 'application/json',
    })
    response.end(JSON.stringify(answer))
  })
  github.listen(0, '127.0.0.1')
  await once(github, 'listening')
  const service = await startEmulator()
  const inputs = {
    prompt: readPrompt(
      readFileSync(
        path.join(root, 'examples', isOfSeveral ? 'other-repositories.yml' : recipe),
        'utf8',
      ),
    ),
    context: 'diff',
    ...(isOfSeveral && {
      'code-repositories': clones.map(({ repository }) => repository).join('\n'),
    }),
    'job-scope': numberOf ? 'run' : 'pull-request',
    ...given,
    'project-id': PROJECT_ID,
    'api-key': 'mint_emulated_key',
    'github-token': GITHUB_TOKEN,
    'base-url': service.url,
    wait: 'false',
  }
  let cut = 0
  try {
    const inOrder = [...units.entries()].sort(([one], [other]) => one - other)
    for (const [index, [, changed]] of inOrder.entries()) {
      const [{ clone, unit }] = /** @type {[Changed]} */ (changed)
      const ofOne = createAnswers(clone, unit)
      answers = isOfSeveral ? createCodeAnswers(changed) : ofOne
      const sent = service.jobs.size
      const { exitCode, outputs, stdout } = await runAction({
        bundle: path.join(root, 'dist/index.js'),
        inputs,
        event: numberOf ? { schedule: '17 3 * * *' } : ofOne.push,
        env: {
          GITHUB_API_URL: `http://127.0.0.1:${/** @type {AddressInfo} */ (github.address()).port}`,
          GITHUB_EVENT_NAME: numberOf ? 'schedule' : 'push',
          GITHUB_REPOSITORY: isOfSeveral ? DOCS : clone.repository,
          GITHUB_RUN_ID: '2',
          GITHUB_SHA: unit.head,
        },
      })
      if (exitCode !== 0) throw new Error(findErrors(stdout))
      const prompt = [...service.jobs.values()].slice(sent)[0]?.prompts[0]
      const what = isOfSeveral ? `${changed.length}-changed` : unit.head.slice(0, 7)
      const name = `${String(index + 1).padStart(3, '0')}-${unit.date}-${what}.txt`
      if (prompt !== undefined) writeFileSync(path.join(out, name), prompt)
      const described = prompt === undefined ? outputs.outcome : describePrompt(prompt)
      if (/left out/.test(described ?? '')) cut += 1
      console.log(`${name}  ${described}  ${numberOf ? '' : unit.subject}`.trimEnd())
    }
  } finally {
    const closed = once(github.close(), 'close')
    github.closeAllConnections()
    await Promise.all([closed, service.close()])
  }
  console.log(
    `${service.jobs.size} ${service.jobs.size === 1 ? 'prompt' : 'prompts'} in ${out}, ${cut} of them without room for all diffs.`,
  )
  return 0
}

/** @param {string} stdout */
function findErrors(stdout) {
  const log = newLog()
  return stdout
    .split('\n')
    .map((line) => renderLine(line, log))
    .flatMap((shown) => (shown?.kind === 'error' ? shown.text : []))
    .join('\n')
}

/** @param {string} prompt */
function describePrompt(prompt) {
  const sent = prompt.split('\n').filter((line) => line.startsWith('=== ')).length
  const without = prompt.split(' (GitHub sent no diff)\n').length - 1
  const [, omitted = '0'] =
    /\nOmitted for length: the diffs of ([\d,]+) files?\.$/.exec(prompt) ?? []
  const notes = [
    ...(omitted === '0' ? [] : [`${omitted} left out`]),
    ...(without === 0 ? [] : [`${without} not sent by GitHub`]),
    ...(prompt.includes('\nGitHub truncated this list') ? ['more files not listed by GitHub'] : []),
  ]
  const kib = Math.ceil(Buffer.byteLength(prompt) / 1024)
  return [
    `${kib} KiB`.padStart(7),
    [`${sent} of ${sent + Number(omitted.replaceAll(',', '')) + without} diffs`, ...notes].join(
      ', ',
    ),
  ].join('  ')
}

await runCommand(import.meta.url, prompts)
