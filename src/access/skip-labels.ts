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
  const listed = subjects.flatMap((subject) => getArray(subject, 'labels'))
  const names = listed.map((label) => getString(label, 'name'))
  const name = names.find((each) => labels.has(each.toLowerCase()))
  return name && `the pull request or issue has the label ${quote(name)}`
}
