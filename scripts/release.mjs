/**
 * The checks and steps of a release, on Node and git alone:
 *
 *   node scripts/release.mjs check 1.2.3     refuses whatever must not be released, and says why
 *   node scripts/release.mjs current 1.2.3   refuses if main has moved on, and no tag is there yet
 *   node scripts/release.mjs notes 1.2.3     prints the version's section of CHANGELOG.md
 *   node scripts/release.mjs major 1.2.3     moves the tag v1 to the release, if none is higher
 *
 * It imports only Node's own modules, because the jobs that may write run it.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** @typedef {{ numbers: number[], prerelease: boolean }} Version */

const COMMANDS = {
  check,
  current: (version) => refuseUnlessCurrent(version, remoteRefs()),
  notes: (version) => say(notes(version)),
  major,
}
/** A refusal, whose message is all that the reader has to see. */
class Refusal extends Error {}

process.chdir(resolve(import.meta.dirname, '..'))
const [command = '', version = ''] = process.argv.slice(2)
try {
  if (!Object.hasOwn(COMMANDS, command))
    throw new Refusal('Expected check, current, notes or major, and a version.')
  COMMANDS[command](version)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** @param {string} version */
function check(version) {
  parse(version)
  const { version: stated, repository } = JSON.parse(text('package.json'))
  const host = repository.replace('github:', '')
  if (host.startsWith('your-org/'))
    throw new Refusal('The action has no host yet: run `node scripts/set-host.mjs OWNER/REPO`.')
  // In two parts, so that set-host.mjs does not replace it here.
  const placeholder = ['your-org', 'agent-job-action'].join('/')
  const left = spawnSync('git', ['grep', '-l', '-F', '-e', placeholder], {
    encoding: 'utf8',
  }).stdout.trim()
  if (left !== '')
    throw new Refusal(
      `${placeholder} is still in ${left.split('\n').join(', ')}: replace it with ${host}.`,
    )
  const here = process.env.GITHUB_REPOSITORY || host
  if (here.toLowerCase() !== host.toLowerCase())
    throw new Refusal(
      `The documents name ${host} as the host, but this is ${here}: run scripts/set-host.mjs.`,
    )
  if (text('.github/CODEOWNERS').includes('@your-org/'))
    throw new Refusal('.github/CODEOWNERS names nobody yet: replace @your-org/maintainers.')
  if (/\]\((?!https?:|#)/.test(text('README.md')))
    throw new Refusal(
      'README.md has relative links, which lead nowhere on the Marketplace: name the host in them.',
    )
  if (git('status', '--porcelain') !== '')
    throw new Refusal('The working tree is not clean: commit or stash the changes.')
  const locked = JSON.parse(text('package-lock.json')).version
  if (stated !== version || locked !== version)
    throw new Refusal(
      `package.json is at ${stated} and package-lock.json at ${locked}, not at ${version}.`,
    )
  const refs = remoteRefs()
  refuseUnlessCurrent(version, refs)
  refuseUnlessHighest(version, refs)
  notes(version)
  checkDist()
  say(`v${version} can be released from ${head()}.`)
}

/** A build that fails leaves dist as it was, so the exit codes count as well as the bytes. */
function checkDist() {
  for (const args of [['compile'], ['bundle', '--', 'build/dist']]) {
    const { status } = spawnSync('npm', ['run', ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if (status !== 0)
      throw new Refusal(`The build failed: \`npm run ${args[0]}\` ended with ${status}.`)
  }
  const [committed, built] = [filesIn('dist'), filesIn('build/dist')]
  const names = [...new Set([...committed.keys(), ...built.keys()])]
  const differing = names.filter((name) => {
    const [one, other] = [committed.get(name), built.get(name)]
    return !one || !other?.equals(one)
  })
  if (differing.length > 0)
    throw new Refusal(
      `dist is not what a clean build gives: ${differing.join(', ')} differs. Run \`npm run build\`.`,
    )
}

/** @param {string} version */
function notes(version) {
  parse(version)
  const lines = text('CHANGELOG.md').split('\n')
  const start = lines.findIndex(
    (line) => line === `## ${version}` || line.startsWith(`## ${version} `),
  )
  if (start < 0) throw new Refusal(`CHANGELOG.md has no section ${version}.`)
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(lines[start] ?? ''))
    throw new Refusal(
      `The section ${version} of CHANGELOG.md has no date: expected "## ${version} - YYYY-MM-DD".`,
    )
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)
  const body = section.join('\n').trim()
  if (body.replace(/^#.*$/gm, '').trim() === '')
    throw new Refusal(`The section ${version} of CHANGELOG.md is empty.`)
  return body
}

/**
 * A workflow's token may not create a tag at a commit whose workflows differ from those of every
 * branch, so main must not have moved on. A tag that an earlier attempt left here is as good.
 *
 * @param {string} version
 * @param {Map<string, string>} refs
 */
function refuseUnlessCurrent(version, refs) {
  parse(version)
  const tagged = commitOf(refs, `refs/tags/v${version}`)
  if (tagged === head()) return
  if (tagged !== undefined)
    throw new Refusal(`The tag v${version} is at ${tagged} already: a version is released once.`)
  if (refs.get('refs/heads/main') !== head())
    throw new Refusal(
      'HEAD is not the head of main at origin. Nothing was released: run it on main as it is now.',
    )
}

/**
 * @param {string} version
 * @param {Map<string, string>} refs
 */
function refuseUnlessHighest(version, refs) {
  const higher = releases(refs).find(
    (other) => other !== version && compare(parse(other), parse(version)) >= 0,
  )
  if (higher)
    throw new Refusal(`${version} is not higher than ${higher}, which is released already.`)
}

/** @param {string} version */
function major(version) {
  const { prerelease, numbers } = parse(version)
  const tag = `v${numbers[0]}`
  const refs = remoteRefs()
  const released = commitOf(refs, `refs/tags/v${version}`)
  if (released !== head())
    throw new Refusal(
      `v${version} is at ${released ?? 'no commit'} at origin, expected HEAD, ${head()}.`,
    )
  if (prerelease) return say(`${tag} stays where it is: ${version} is a pre-release.`)
  const higher = releases(refs).find(
    (other) => parse(other).numbers[0] === numbers[0] && compare(parse(other), parse(version)) > 0,
  )
  if (higher) return say(`${tag} stays where it is: ${higher} is higher.`)
  // The push fails if somebody else moved the tag since it was read. An empty value means that
  // there was none.
  const lease = `--force-with-lease=refs/tags/${tag}:${refs.get(`refs/tags/${tag}`) ?? ''}`
  const { status } = spawnSync('git', ['push', lease, 'origin', `${released}:refs/tags/${tag}`], {
    stdio: 'inherit',
  })
  if (status !== 0)
    throw new Refusal(
      `${tag} was not moved: \`git push\` ended with ${status}. If main has other workflows by now, a workflow may not move it: docs/development/releasing.md says who may.`,
    )
  say(`${tag} is at ${released}.`)
}

/**
 * A version by semver.org, without build metadata, which would not tell two releases apart.
 *
 * @param {string} version
 * @returns {Version}
 */
function parse(version) {
  const number = '(0|[1-9]\\d*)'
  const found = new RegExp(
    `^${number}\\.${number}\\.${number}(-[\\dA-Za-z-]+(\\.[\\dA-Za-z-]+)*)?$`,
  ).exec(version)
  if (!found)
    throw new Refusal(
      `Expected a version such as 1.2.3 or 1.2.3-rc.1, got ${JSON.stringify(version)}.`,
    )
  return { numbers: found.slice(1, 4).map(Number), prerelease: found[4] !== undefined }
}

/**
 * @param {Version} one
 * @param {Version} other
 */
function compare({ numbers: one }, { numbers: other }) {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}

/**
 * The versions of the tags at origin that are no pre-releases.
 *
 * @param {Map<string, string>} refs
 */
function releases(refs) {
  return [...refs.keys()].flatMap((ref) => /^refs\/tags\/v(\d+\.\d+\.\d+)$/.exec(ref)?.[1] ?? [])
}

/**
 * The commit of a tag: an annotated one is an object of its own, and its commit is listed as
 * `tag^{}`.
 *
 * @param {Map<string, string>} refs
 * @param {string} ref
 */
function commitOf(refs, ref) {
  return refs.get(`${ref}^{}`) ?? refs.get(ref)
}

/** @returns {Map<string, string>} */
function remoteRefs() {
  const lines = git('ls-remote', 'origin', 'refs/heads/main', 'refs/tags/v*').split('\n')
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => /** @type {[string, string]} */ (line.split('\t').reverse())),
  )
}

/**
 * @param {string} folder
 * @returns {Map<string, Buffer>}
 */
function filesIn(folder) {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]))
}

function head() {
  return git('rev-parse', 'HEAD').trim()
}

/** @param {string[]} args */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Refusal(`\`git ${args.join(' ')}\` ended with ${status}.`)
  return stdout
}

/** @param {string} file */
function text(file) {
  if (!existsSync(file)) throw new Refusal(`${file} is missing.`)
  return readFileSync(file, 'utf8')
}

/** @param {string} line */
function say(line) {
  console.log(line)
}
