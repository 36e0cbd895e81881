/** What a run costs that does not vary: the bytes that the runner downloads, and what goes over the network. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { download } from '../../bench/download.mjs'
import { act } from '../support/action.js'
import { active, completed, created, startService } from '../support/service.js'

describe('the download', () => {
  const { bytes, files } = download()

  test('has at most 200,000 bytes', () => {
    expect(bytes).toBeLessThanOrEqual(200_000)
  })

  test('holds what a run needs and the licence, and no more', () => {
    const places = new Set(files.map((file) => file.replace(/\/.*/, '')))
    expect([...places].sort()).toEqual(['LICENSE', 'action.yml', 'dist', 'emulator'])
    expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/licenses.txt', 'dist/package.json']))
  })
})

test('what is loaded before the inputs are read has at most 56 kB', () => {
  expect(statSync('build/dist/index.js').size).toBeLessThanOrEqual(56_000)
})

test('what no run needs of undici is left out', () => {
  const bundled = readdirSync('build/dist')
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(`build/dist/${file}`, 'utf8'))
    .join('\n')
  for (const part of ['MockAgent', 'SnapshotAgent', 'EventSource', 'CacheStorage', 'WebSocketStream']) {
    expect(bundled).not.toMatch(new RegExp(`class ${part}\\b`))
  }
  for (const part of ['Client', 'Agent', 'Pool', 'Response']) {
    expect(bundled).toMatch(new RegExp(`class ${part}\\b`))
  }
})

test('a job takes one create, one request a look, and one connection', async () => {
  const service = await startService({ posts: [created], looks: [active, active, completed] })
  try {
    const ended = await act({ 'base-url': service.url, prompt: 'Go', 'poll-interval-seconds': '0.1' })
    expect(ended.outputs.outcome).toBe('pr-opened')
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET'])
    expect(service.connections()).toBe(1)
  } finally {
    await service.close()
  }
})
