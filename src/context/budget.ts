/** Measures texts in bytes of UTF-8, and picks those that fit. Pure. */

export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}

/** The texts that fit, each with a line end, in order; one that doesn't fit is skipped. */
export function takeFitting<T>(items: readonly T[], room: number, textOf: (item: T) => string): T[] {
  let remaining = room
  return items.filter((item) => {
    const size = byteLength(textOf(item)) + 1
    if (size > remaining) return false
    remaining -= size
    return true
  })
}

/** The parts that are not empty, with a blank line between them. */
export function joinParagraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
