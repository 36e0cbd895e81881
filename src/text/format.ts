/** Formats durations, numbers and commits; joins texts, and cuts them to a size. Pure. */

/** Gives `850 ms`, `4 s`, `3 min 20 s`, `2 h 5 min`: rounded down. [report.words] */
export function formatDuration(milliseconds: number): string {
  if (!(milliseconds < 3.6e9)) return 'over 1,000 h'
  if (milliseconds < 1000) return `${Math.floor(milliseconds)} ms`
  const seconds = Math.floor(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joinUnits([minutes, 'min'], [seconds % 60, 's'])
  return joinUnits([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min'])
}

function joinUnits(...amounts: [number, string][]): string {
  return amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** With thousands separators, `1,048,576`. Node's own locale data takes 15 ms to load. */
export function formatInteger(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

export function formatCount(value: number, noun: string): string {
  return `${formatInteger(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** This text may be left out. */
type MaybeText = string | false | undefined

/** What is left out leaves no gap. */
export function joinSentences(...sentences: readonly MaybeText[]): string {
  return sentences.filter(Boolean).join(' ')
}

export function joinParagraphs(parts: readonly MaybeText[]): string {
  return parts.filter(Boolean).join('\n\n')
}

export function shortSha(sha: string): string {
  return sha.slice(0, 7)
}

/**
 * The texts that fit into `room` bytes, each with a line end, in order. One that doesn't fit is
 * skipped, so that it doesn't keep out smaller ones after it.
 */
export function takeFitting(texts: readonly string[], room: number): string[] {
  let remaining = room
  return texts.filter((text) => {
    const size = Buffer.byteLength(text) + 1
    if (size > remaining) return false
    remaining -= size
    return true
  })
}

/** The start of a text in at most `limit` bytes, never ending inside a character. */
export function truncateBytes(text: string, limit: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= limit) return text
  let end = limit
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return encoded.toString('utf8', 0, end)
}
