/** scripts/reproduce.mjs: dist can be built again, elsewhere. */

import { spawnSync } from 'node:child_process'
import { expect } from '@jest/globals'
import { posixTest } from '../support/platform.js'
import { scaled } from '../support/time.js'

// On Windows ncc may put the modules in another order (vercel/ncc#1057).
posixTest(
  'dist is the same from another folder, time zone and language [house.bundle.same]',
  () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/reproduce.mjs'], {
      encoding: 'utf8',
    })
    expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' })
  },
  scaled(300_000),
)
