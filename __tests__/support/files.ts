/** The files of the repository, as tests read them. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export const text = (file: string): string => readFileSync(file, 'utf8')

/** The files that match git's patterns, or all without any; also those that aren't added yet. */
export function filesLike(patterns: readonly string[], cwd = '.'): string[] {
  const options = [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--',
    ...patterns,
  ]
  const listed = execFileSync('git', options, { cwd, encoding: 'utf8' })
  return listed.split('\0').filter((file) => file !== '')
}
