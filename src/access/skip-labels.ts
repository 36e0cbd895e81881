/** Finds the label that says that a pull request or an issue needs no docs. Pure. */

import { getArray, getString } from '../event/payload.js'
import { quote } from '../text/escape.js'

/**
 * Why the run is skipped; undefined if it is not.
 *
 * @param subjects what the run is about: pull requests and issues, as GitHub sends them
 * @param labels in lower case
 */
export function checkSkipLabels(
  subjects: readonly unknown[],
  labels: ReadonlySet<string>,
): string | undefined {
  const names = subjects
    .flatMap((subject) => getArray(subject, 'labels'))
    .map((label) => getString(label, 'name'))
  const name = names.find((listed) => labels.has(listed.toLowerCase()))
  return name && `the pull request or issue has the label ${quote(name)}`
}
