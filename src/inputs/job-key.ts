/** The input job-key as people read it, who tell the comments of matrix legs apart by it. */

import { truncate } from '../text/escape.js'

/**
 * The values of a matrix leg as GitHub shows them, or the user's own key; shortened.
 * [memory.leg-named]
 */
export function describeJobKey(jobKey: string): string {
  try {
    const leg: unknown = JSON.parse(jobKey)
    if (typeof leg === 'object' && leg !== null) {
      const values = Object.values(leg).map((value) =>
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      )
      const text = values.join(', ')
      if (text.trim() !== '') return shorten(text)
    }
  } catch {
    // A key of the user's own.
  }
  return shorten(jobKey)
}

// [memory.leg-named]
function shorten(text: string): string {
  return truncate(text.replace(/\s+/g, ' ').trim(), 99)
}
