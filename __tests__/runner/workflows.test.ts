/** The self-test, by a real runner. */

import { expect, jest, test } from '@jest/globals'
import { text } from '../support/files.js'
import { scaled } from '../support/time.js'
import { expectSuccess } from './act.js'
import { actionFiles, runWorkflow } from './world.js'

jest.setTimeout(scaled(120_000))

test('the self-test succeeds [house.emulator]', async () => {
  const yaml = text('.github/workflows/self-test.yml')
  const linux = yaml.replace(/os: \[.*\]/, 'os: [ubuntu-latest]')
  const files = { ...actionFiles(), '.gitattributes': text('.gitattributes') }
  const ran = await runWorkflow('self-test.yml', linux, { event: 'push', files })
  expectSuccess(ran)
  expect(ran.leftover).toEqual([])
  expect(ran.printed.match(/The emulator received/g)).toHaveLength(2)
})
