/** The input job-key as people read it, who tell the comments of matrix legs apart by it. */

import { truncate } from '../text/escape.js'
import { parseJson } from '../text/safe.js'

/** The values of a matrix leg as GitHub shows them, or the user's own key; shortened. */
export function describeJobKey(jobKey: string): string {
  // A key of the user's own is no JSON, whatever it begins with; nor is what hiding a secret broke.
  const leg = parseJson(jobKey)
  const values = typeof leg === 'object' && leg !== null ? Object.values(leg) : []
  const text = values
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(', ')
    .trim()
  return truncate((text || jobKey).replace(/\s+/g, ' ').trim(), 99)
}
