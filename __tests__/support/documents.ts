/** The Markdown files, and their tables. */

import path from 'node:path'
import { filesLike, text as readText } from './files.js'

/** Every Markdown file of the repository, such as `docs/reference.md`. */
export const documents = (root = '.'): string[] => filesLike(['*.md'], root)

/** A document as it is read: without comments. */
const read = (file: string): string => readText(file).replaceAll(/\s*<!--.*?-->/g, '')

/** The text below a heading, up to the next one that is not below it. */
export function section(file: string, heading: string): string {
  const [, level = '', after = ''] =
    new RegExp(`^(#+) ${heading}$([^]*)`, 'm').exec(read(file)) ?? []
  const [text = ''] = after.split(new RegExp(`^#{1,${level.length}} `, 'm'))
  if (text === '') throw new Error(`${file} has no section ${heading}`)
  return text
}

/** The cells of the tables below a heading, without those of the head, row by row. */
export function rows(file: string, heading: string): string[][] {
  const lines = section(file, heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return lines
    .filter((line, index) => !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}

const isRule = (line = ''): boolean => /^\|(?: *:?-+:? *\|)+$/.test(line)

/** The names in a cell that has only these: `a`, `b`. */
export const names = (cell = ''): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

/** A document without comments and blocks of code, in which nothing is a link or a heading. */
export const withoutCode = (root: string, file: string): string =>
  read(path.join(root, file)).replace(/^```[\s\S]*?^```$/gm, '')
