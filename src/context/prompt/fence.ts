/** Marks text written by others as data, with a marker that nobody can guess. Pure. */

import { showCodePoint } from '../../text/escape.js'

export type Fence = Readonly<{
  opening: string
  closing: string
  /** A text that can't end the fence, with its invisible characters shown. */
  safe: (text: string) => string
  /** Safe texts between the marker lines; nothing for no texts. */
  around: (safeTexts: readonly string[]) => string
}>

/**
 * Encloses what others wrote: it must not become the task. [context.fence.data]
 *
 * @param boundary random hexadecimal digits
 */
export function createFence(boundary: string): Fence {
  const opening = `<data ${boundary}>`
  const closing = `</data ${boundary}>`
  const pattern = new RegExp(boundary, 'gi')
  return {
    opening,
    closing,
    // The replacement has letters that are not hexadecimal digits, so it can't form a new boundary
    // with what is around it.
    safe: (text) => showControls(text.toWellFormed()).replace(pattern, '[marker]'),
    // If there is nothing to show, there is no empty fence.
    around: (safeTexts) =>
      safeTexts.length === 0 ? '' : `${opening}\n${safeTexts.join('\n')}\n${closing}`,
  }
}

/** Shows control characters but tab and LF, and tag characters, which hide text, as `\u{…}`. */
function showControls(text: string): string {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]/gu, showCodePoint)
}

/** Prose with LF alone: GitHub's forms send CR LF, and some readers know other line ends. */
export function normalizeNewlines(text: string): string {
  return text.replace(/\r\n?|[\x85\u2028\u2029]/g, '\n').trim()
}

/** A name on one line: as a JSON string unless it is plain. [context.fence.line] */
export function quoteName(name: string): string {
  const letters = name.replace(/[\w.\-/@+=~#%$!&^()[\]{}]+/g, 'a')
  // A plain name stays as it is. Most are ASCII, and V8 takes long to build
  // these classes.
  if (letters === 'a' || /^[\p{L}\p{N}]+$/u.test(letters)) return name
  return JSON.stringify(name).replace(
    /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu,
    (character) =>
      character.replace(
        /[\s\S]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  )
}
