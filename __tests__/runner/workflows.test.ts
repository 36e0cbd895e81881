/** The self-test, by a real runner. */

import { readFileSync } from 'node:fs'
import { expect, jest, test } from '@jest/globals'
import { scaled } from '../support/time.js'
import { expectSuccess } from './act.js'
import { actionFiles, runWorkflow } from './world.js'

jest.setTimeout(scaled(120_000))

test('the self-test succeeds [house.emulator]', async () => {
  const yaml = readFileSync('.github/workflows/self-test.yml', 'utf8')
  const linux = yaml.replace(/os: \[.*\]/, 'os: [ubuntu-latest]')
  const files = { ...actionFiles(), '.gitattributes': readFileSync('.gitattributes', 'utf8') }
  const ran = await runWorkflow('self-test.yml', linux, { event: 'push', files })
  expectSuccess(ran)
  expect(ran.leftover).toEqual([])
  expect(ran.printed.match(/The emulator received/g)).toHaveLength(2)
})
