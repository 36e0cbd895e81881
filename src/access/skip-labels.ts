/** Finds the label that says that a pull request or an issue needs no docs. Pure. */

import type { RunEvent } from '../event/event.js'
import { getArray, getPath, getString } from '../event/payload.js'
import { labelKey } from '../inputs/values.js'
import type { Skip } from '../run/result.js'
import { quote } from '../text/escape.js'

/**
 * Says why the run is skipped; undefined if it is not. [skip.labels.about]
 *
 * @param labels their keys
 * @param others what the run is about besides the event, as GitHub sends it
 */
export function checkSkipLabels(
  { payload }: Pick<RunEvent, 'payload'>,
  labels: ReadonlySet<string>,
  others: readonly unknown[] = [],
): Skip | undefined {
  const ofEvent = ['pull_request', 'issue'].map((name) => getPath(payload, name))
  for (const subject of [...others, ...ofEvent]) {
    const names = getArray(subject, 'labels').map((label) => getString(label, 'name'))
    const name = names.find((each) => labels.has(labelKey(each)))
    if (name !== undefined)
      return { reason: `#${getPath(subject, 'number')} has the label ${quote(name)}` }
  }
  return undefined
}
