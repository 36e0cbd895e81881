/** What Windows does not have. If only a part of a test needs it, the test checks `POSIX`. */

import { describe, test } from '@jest/globals'

/**
 * Whether there are signals that a process can catch (on Windows any `kill` ends it immediately),
 * FIFOs, file modes, and symbolic links to files (on Windows they need a privilege; a junction, to
 * a folder, needs none).
 */
export const POSIX = process.platform !== 'win32'

export const posixDescribe = POSIX ? describe : describe.skip
export const posixTest = POSIX ? test : test.skip
