/** What Windows has not. Where only a part of a test needs it, the test asks for `POSIX`. */

import { describe, test } from '@jest/globals'

/**
 * Whether there are signals that a process can catch (on Windows `kill` ends it at once, whichever is named), FIFOs, file
 * modes, and symbolic links to files (on Windows they take a right; a junction, to a folder, takes none).
 */
export const POSIX = process.platform !== 'win32'

export const posixDescribe = POSIX ? describe : describe.skip
export const posixTest = POSIX ? test : test.skip
