/** Measures texts in bytes of UTF-8, and picks those that fit. Pure. */

/** A text and its size in bytes, with the line end after it. */
export interface Chunk {
  readonly text: string
  readonly size: number
}

export function toChunk(text: string): Chunk {
  return { text, size: byteLength(text) + 1 }
}

/** The chunks that fit, in order; one that doesn't fit is skipped. */
export function takeFitting<C extends Chunk>(chunks: readonly C[], room: number): C[] {
  let remaining = room
  return chunks.filter(({ size }) => {
    if (size > remaining) return false
    remaining -= size
    return true
  })
}

export function totalSize(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { size }) => sum + size, 0)
}

export function textsOf(chunks: readonly Chunk[]): string[] {
  return chunks.map(({ text }) => text)
}

/** Renders part of the prompt in at most `room` bytes, or its minimum if `room` is smaller. */
export type Section = (room: number) => string

export const BLANK_LINE = '\n\n'

/** The parts that are not empty, with a blank line between them. */
export function joinParagraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(BLANK_LINE)
}

/** The start of a text in at most `limit` bytes, never ending inside a character. */
export function truncateBytes(text: string, limit: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= limit) return text
  let end = limit
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return encoded.toString('utf8', 0, end)
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
