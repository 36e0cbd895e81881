/**
 * `node scripts/set-host.mjs OWNER/REPO` sets the repository that hosts the action, in every
 * tracked text file. The current one is `repository` in package.json. Setting the old one again
 * restores the same bytes.
 *
 * It also makes the README's links and pictures absolute, because the Marketplace shows it at
 * another address.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

process.chdir(resolve(import.meta.dirname, '..'))
try {
  setHost(process.argv[2] ?? '')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

/** @param {string} host */
function setHost(host) {
  // The limits of GitHub's names. The last character is a letter, digit, _ or -, so that a full
  // stop can follow.
  if (!/^[a-z\d](?:-?[a-z\d]){0,38}\/[\w.-]{0,99}[\w-]$/i.test(host) || host.endsWith('.git'))
    throw new Error(`Expected the repository as OWNER/REPO, got ${JSON.stringify(host)}.`)
  const current = JSON.parse(readFileSync('package.json', 'utf8')).repository.replace('github:', '')
  if (host === current) {
    console.log(`The host is already ${host}.`)
    return
  }
  if (git('status', '--porcelain') !== '')
    throw new Error(
      'The working tree is not clean: commit or stash your changes first, so that this one is apart.',
    )
  const taken = filesWith(host)
  if (taken.length > 0)
    throw new Error(`${host} already occurs, so there would be no way back: ${taken.join(', ')}.`)

  console.log(`From ${current} to ${host}:`)
  for (const file of filesWith(current)) {
    // As latin1, every byte is a character, so all others stay as they are.
    const text = readFileSync(file, 'latin1')
    const replaced = text.replace(exactly(current), () => host)
    writeFileSync(file, file === 'README.md' ? withLinksTo(host, replaced) : replaced, 'latin1')
    console.log(`  ${file}`)
  }
}

/**
 * Nobody hosts the placeholder, so there the links are relative.
 *
 * @param {string} host
 * @param {string} readme
 */
function withLinksTo(host, readme) {
  const page = `https://github.com/${host}`
  const [files, pictures] = [
    `${page}/blob/HEAD/`,
    `https://raw.githubusercontent.com/${host}/HEAD/`,
  ]
  if (host.startsWith('your-org/'))
    return readme
      .replaceAll(`](${page}/issues)`, '](../../issues)')
      .replaceAll(`](${files}`, '](')
      .replaceAll(`="${pictures}`, '="')
  return readme
    .replaceAll('](../../issues)', `](${page}/issues)`)
    .replace(/\]\((?!https?:|#)/g, () => `](${files}`)
    .replace(/(?<= (?:src|srcset)=")(?!https?:)/g, () => pictures)
}

/** @param {string} host */
function filesWith(host) {
  return git('grep', '-l', '-z', '-I', '--fixed-strings', '-e', host)
    .split('\0')
    .filter((file) => file !== '' && exactly(host).test(readFileSync(file, 'latin1')))
}

/**
 * The repository's name, but not a part of a longer one. `.git` and a full stop may follow.
 *
 * @param {string} host
 */
function exactly(host) {
  const name = host.replace(/[.]/g, '\\$&')
  return new RegExp(`(?<![\\w.-])${name}(?![\\w-]|\\.(?!git\\b)\\w)`, 'g')
}

/** @param {string[]} args */
function git(...args) {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  } catch (error) {
    // `git grep` ends with 1 if there is no match.
    if (args[0] === 'grep' && error.status === 1) return ''
    throw error
  }
}
