/** The files beside the code that a release and its users rely on. */

import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { documents, withoutCode } from '../support/documents.js'
import { filesLike, text } from '../support/files.js'
import { HOME } from '../support/workflows.js'

const DAYS = 7

test('the changelog has a section for the version of package.json, and one for each version [house.release]', () => {
  const { version } = JSON.parse(text('package.json'))
  const headings = [...text('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, one = '']) => one)
  const heading = /^(?:Unreleased|\d+\.\d+\.\d+(?:-[\w.]+)? - (?:\d{4}-\d{2}-\d{2}|Unreleased))$/
  expect(headings.filter((one) => !heading.test(one))).toEqual([])
  const versions = headings.map((one) => one.split(' ')[0])
  expect(versions).toContain(version)
  expect(new Set(versions).size).toBe(versions.length)
})

describe('Dependabot [house.packages]', () => {
  const { updates } = parse(text('.github/dependabot.yml'))

  test('covers every manifest', () => {
    // What is built names no packages.
    const kept = filesLike(['package.json', '*/package.json', '*go.mod', ':!dist'])
    const covered = updates.map(
      (one: Record<string, string>) => `${one['package-ecosystem']} ${one.directory}`,
    )
    const manifests = kept.map((file) => {
      const ecosystem = file.endsWith('go.mod') ? 'gomod' : 'npm'
      return `${ecosystem} ${path.posix.join('/', path.posix.dirname(file))}`
    })
    expect(covered.sort()).toEqual(['github-actions /', ...manifests].sort())
  })

  test('waits as long as `npm install` does, and groups its updates', () => {
    for (const { cooldown, groups } of updates) {
      expect(cooldown).toEqual({ 'default-days': DAYS })
      expect(Object.keys(groups).length).toBeGreaterThan(0)
    }
    for (const file of ['.npmrc', 'scripts/mutation/.npmrc'])
      expect(text(file)).toMatch(new RegExp(`^min-release-age=${DAYS}$`, 'm'))
  })
})

test('the threat model numbers its invariants, and goes on in what is said of releases [house.pages]', () => {
  const pages = text('docs/development/threat-model.md') + text('docs/development/releasing.md')
  const rows = pages.match(/^\| I\d+ (?=\| .+ \|$)/gm) ?? []
  expect(rows.length).toBeGreaterThan(10)
  expect(rows).toEqual(rows.map((_, index) => `| I${index + 1} `))
})

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (file: string): string[] =>
  [...withoutCode('.', file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

/** A document whose links to this repository are relative, as scripts/set-host.mjs finds them. */
const withRelativeLinks = (document: string): string =>
  document
    .replaceAll(`https://github.com/${HOME}/blob/HEAD/`, '')
    .replaceAll(`https://raw.githubusercontent.com/${HOME}/HEAD/`, '')

test.each(documents())('every link and picture in %s leads somewhere [house.pages]', (document) => {
  const links = withRelativeLinks(withoutCode('.', document)).matchAll(
    /(?:\]\(|src(?:set)?=")(?!<?https?:)([^)#"]*)#?([^)"]*)[)"]/g,
  )
  for (const [, target = '', anchor = ''] of links) {
    const file = target === '' ? document : path.join(path.dirname(document), target)
    // GitHub resolves it against the page of the file: the repository's issues.
    if (file === path.join('..', '..', 'issues')) continue
    expect({ file, exists: existsSync(file) }).toEqual({ file, exists: true })
    if (anchor !== '') expect(anchorsOf(file)).toContain(anchor)
  }
})

test('what verifies a release names the branch, and what looks up a tag names no branch [house.pages]', () => {
  const all = documents().map(text).join('\n').replaceAll('\\\n', '')
  const verifying = all.match(/^gh attestation verify .*$/gm) ?? []
  expect(verifying.length).toBeGreaterThan(0)
  for (const command of verifying)
    expect(command).toMatch(/--signer-workflow \S+\/release\.yml .*--source-ref refs\/heads\/main /)
  for (const command of all.match(/git ls-remote [^`\n]*/g) ?? [])
    expect(command).toContain(' refs/')
})

test.each(documents())('no blank line cuts a table of %s in two [house.pages]', (document) => {
  const lines = withoutCode('.', document).split('\n')
  const heads = lines.filter((line, at) => line.startsWith('|') && !lines[at - 1]?.startsWith('|'))
  const cut = heads.filter((head) => !/^\|[ :|-]+$/.test(lines[lines.indexOf(head) + 1] ?? ''))
  expect(cut).toEqual([])
})

/** A browser breaks a line at blanks and hyphens alone: a longer word cuts the table on a phone. */
test.each(
  documents().filter((name) => !/^(?:__tests__|docs\/(?:development|images))\//.test(name)),
)('no word in a table of %s is too wide for a phone [report.accessible]', (document) => {
  const rows = withoutCode('.', document)
    .replaceAll(/\]\([^)]*\)/g, '')
    .match(/^\|.*\|$/gm)
  const words = (rows ?? []).join(' ').split(/[\s|-]+/)
  const shown = words.map((word) => word.replaceAll(/^[[`*(]+|[`*).,:;]+$/g, ''))
  expect(shown.filter((word) => word.length > 20)).toEqual([])
})

test('the README is short enough to be read [house.pages]', () => {
  expect(Buffer.byteLength(withRelativeLinks(text('README.md')))).toBeLessThanOrEqual(14_000)
})
