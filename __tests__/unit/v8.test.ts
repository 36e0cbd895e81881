// The V8 flag is set only on versions of Node that the tests run on.
import { afterEach, expect, jest, test } from '@jest/globals'

const setFlagsFromString = jest.fn<(flags: string) => void>()
// A built-in module, not one of the project's: a flag can be set, but neither read back nor reset.
jest.unstable_mockModule('node:v8', () => ({ setFlagsFromString }))
const { skipWasmOptimization } = await import('../../src/net/v8.js')

afterEach(() => {
  setFlagsFromString.mockClear()
})

test.each(['20.0.0', '20.19.5', '24.0.0', '24.21.0'])('Node %s gets the flag', (version) => {
  skipWasmOptimization(version)
  expect(setFlagsFromString.mock.calls).toEqual([['--wasm-tiering-budget=1000000000']])
})

test.each([
  '',
  '2.0.0',
  '4.0.0',
  '18.20.4',
  '19.9.0',
  '21.7.3',
  '22.12.0',
  '23.1.0',
  '25.0.0',
  '200.1.0',
  '240.1.0',
])('Node %j, which the tests do not run on, does not', (version) => {
  skipWasmOptimization(version)
  expect(setFlagsFromString).not.toHaveBeenCalled()
})

test('the running version decides by default', () => {
  skipWasmOptimization()
  const major = process.versions.node.split('.')[0] ?? ''
  expect(setFlagsFromString).toHaveBeenCalledTimes(['20', '24'].includes(major) ? 1 : 0)
})
