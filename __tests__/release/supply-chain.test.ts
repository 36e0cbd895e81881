/** What the action is made of: licences, integrity, install scripts and the SBOM. */

import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { text } from '../support/files.js'
import { newFolder } from '../support/folder.js'
import { HOME } from '../support/workflows.js'

interface Package {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: true
  readonly optional?: true
  readonly hasInstallScript?: true
}

const read = (...parts: string[]): string => text(path.join(...parts))

/** All packages that the lock in a folder names. */
function lockedIn(
  project: string,
): (Package & { readonly folder: string; readonly name: string })[] {
  return Object.entries<Package>(JSON.parse(read(project, 'package-lock.json')).packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, one]) => ({ ...one, folder, name: folder.replace(/^.*node_modules\//, '') }))
}

/** The project, and the mutation tests, which are a package of their own. */
const PROJECTS = ['.', 'scripts/mutation']
const locked = lockedIn('.')

/** The packages whose code is in the bundle, as ncc names it before it is minified. */
function bundled(): string[] {
  const text = readdirSync('build/ncc')
    .map((file) => read('build/ncc', file))
    .join('\n')
  const names = [...text.matchAll(/node_modules\/((?:@[\w-]+\/)?[\w.-]+)\//g)].map(
    ([, name = '']) => name,
  )
  return [...new Set(names)]
}

/**
 * Licences that allow bundling with no more than their text, which dist/licenses.txt has; and what
 * each text says.
 */
const LICENCES: Readonly<Record<string, RegExp>> = {
  'Apache-2.0': /^Apache License Version 2\.0, January 2004 /,
  ISC: /Permission to use, copy, modify, and\/or distribute this software for any purpose with or without fee is hereby/,
  MIT: /Permission is hereby granted, free of charge, to any person obtaining a copy of this software/,
}

test('what users run has a licence of the list [house.packages]', () => {
  const run = locked.filter(({ dev, optional }) => !dev && !optional)
  expect(run.map(({ name }) => name)).toEqual(expect.arrayContaining(bundled()))
  const others = run.filter(({ license = 'none' }) => !Object.hasOwn(LICENCES, license))
  expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([])
})

// undici's llhttp is compiled, so no path names it.
test('what is bundled comes with the text of its licence [house.packages]', () => {
  const all = read('build/dist/licenses.txt').split(/^-{80}$/m)
  const texts = all.map(
    (text) => /^([^\s,]+).* \((\S+)\)$([\s\S]*)/m.exec(text)?.slice(1) ?? [text],
  )
  expect(texts.map(([name]) => name)).toEqual(
    expect.arrayContaining(['undici', 'llhttp', ...bundled()]),
  )
  const wrong = texts.filter(([, licence = '', text = '']) => {
    return (
      !LICENCES[licence]?.test(text.replace(/\s+/g, ' ').trim()) ||
      /\bGNU\b|Commons Clause/i.test(text)
    )
  })
  expect(wrong.map(([name, licence]) => `${name}: ${licence}`)).toEqual([])
})

/**
 * .npmrc keeps them from running. Each is listed with the reason why it may be here all the same.
 */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@parcel/watcher': 'compiles what `jest --watch` uses; npm installs a binary instead',
  'unrs-resolver': 'downloads a binary, which npm installs as an optional package instead',
}

describe.each(PROJECTS)('the packages of %s [house.packages]', (project) => {
  const packages = lockedIn(project)

  test('are pinned, and the lock names no registry', () => {
    const manifest = JSON.parse(read(project, 'package.json'))
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'])
      for (const version of Object.values(manifest[kind] ?? {}))
        expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(read(project, 'package-lock.json')).not.toContain('"resolved"')
  })

  test('have a SHA-512 each in the lock, by which npm checks what it downloads', () => {
    expect(packages.length).toBeGreaterThan(100)
    const without = packages.filter(
      ({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity),
    )
    expect(without.map(({ folder }) => folder)).toEqual([])
  })

  test('run none of their install scripts', () => {
    expect(read(project, '.npmrc')).toMatch(/^ignore-scripts=true$/m)
  })
})

test('every install script is listed, and no other [house.packages]', () => {
  const scripts = PROJECTS.flatMap(lockedIn).filter(({ hasInstallScript }) => hasInstallScript)
  const names = new Set(scripts.map(({ name }) => name))
  expect([...names].sort()).toEqual(Object.keys(INSTALL_SCRIPTS))
})

describe('the SBOM [house.packages]', () => {
  const GIT_DIR = path.resolve('.git')
  const run = (file: string, ...args: string[]): string =>
    execFileSync(file, args, { encoding: 'utf8', env: { ...process.env, GIT_DIR } }).trim()
  const sbom = (folder: string): string =>
    run(process.execPath, path.join(folder, 'scripts/sbom.mjs'))

  const first = sbom('.')

  test('is the same from another folder and at another time', () => {
    const folder = newFolder('sbom')
    for (const file of ['package.json', 'package-lock.json', '.npmrc', 'scripts'])
      cpSync(file, path.join(folder, file), { recursive: true })
    expect(sbom(folder)).toBe(first)
    expect(first).not.toContain('serialNumber')
  })

  test('says what it is about, by whom, and of when', () => {
    const { metadata } = JSON.parse(first)
    const authors = 'The authors of agent-job-action'
    expect(read('LICENSE')).toContain(authors)
    expect(metadata).toMatchObject({
      timestamp: new Date(run('git', 'log', '-1', '--format=%cI')).toISOString(),
      authors: [{ name: authors }],
      supplier: { name: authors, url: [`https://github.com/${HOME}`] },
      component: { purl: `pkg:github/${HOME}@${metadata.component.version}` },
    })
  })

  test('names what is bundled, with its version and licence', () => {
    const { components, metadata } = JSON.parse(first)
    expect(metadata.component).toMatchObject({ name: 'agent-job-action', type: 'application' })
    const names = components.map(({ group, name }: { group?: string; name: string }) =>
      group ? `${group}/${name}` : name,
    )
    expect(names).toEqual(expect.arrayContaining(bundled()))
    for (const { purl, version, hashes, licenses } of components) {
      expect(purl).toMatch(new RegExp(`^pkg:npm/.+@${version.replaceAll('.', '\\.')}$`))
      expect([hashes.length, licenses.length]).toEqual([1, 1])
    }
  })
})
