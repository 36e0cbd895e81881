/** What changed is in the prompt: all that counts, nothing else, or it is said what is missing. */

import type { FileState } from '../support/github-state.js'
import { changesOf, countedIn, MOST_LISTED } from './changes.js'
import { numberOf } from './events.js'
import type { Facts } from './facts.js'
import type { Rule } from './rules.js'

/** The requests whose answers list files. */
const LISTS = /\/pulls\/[13]\/files|\/compare\/|\/commits\/\w+\?/

/** The room for the names of files, if there are diffs. */
const NAMES_BYTES = 64 * 1024

export const CHANGES_RULES = {
  *'no file that does not count is in the prompt, and none that did not change [context.paths.excluded]'(
    facts,
  ) {
    for (const { told, counted } of sent(facts)) {
      const known = new Set(counted.flatMap(namesOf))
      for (const name of [...told.listed, ...told.titles].flatMap(plainNames))
        if (!known.has(name)) yield `it names ${name}`
    }
  },

  *'each file that changed and counts is in the prompt, or is counted among those left out [context.omitted.told]'(
    facts,
  ) {
    for (const { told, counted, isLong } of sent(facts)) {
      // Parts are read for diffs alone.
      const isWhole = hasParts(facts) && !isLong && facts.inputs.context === 'diff'
      if (told.isIgnored && isWhole) yield 'context-paths did not decide'
      if (told.isTruncated && isWhole) yield 'it says that the list was cut, and GitHub has it all'
      const count = told.listed.length + told.unlisted
      if (!isLong && !told.isTruncated && count !== counted.length)
        yield `${count} of ${counted.length} files`
    }
  },

  *'each diff that GitHub has is in the prompt, or is counted among those left out [range.cut.parts]'(
    facts,
  ) {
    for (const { told, counted, isLong, isOfCommit } of sent(facts)) {
      const { titles, unsent, omitted, isTruncated } = told
      if (facts.inputs.context !== 'diff') {
        if (titles.length > 0) yield 'nobody asked for diffs'
        continue
      }
      if (Buffer.byteLength(told.listed.join('\n')) > NAMES_BYTES)
        yield 'the names leave too little room for the diffs'
      if (isLong || isTruncated) continue
      const count = titles.length + unsent + omitted
      // A file that was only renamed has no diff, unless GitHub may have left it out.
      const renamed = counted.filter(({ status, patch }) => status === 'renamed' && !patch)
      if (count > counted.length || count < counted.length - renamed.length)
        yield `${count} of the diffs of ${counted.length} files`
      const missing = counted.filter(({ patch }) => patch === undefined).length
      // A page of a pull request or of a commit may have too many lines.
      if (hasParts(facts) && !facts.isOfLongPull && !isOfCommit && unsent > missing)
        yield `GitHub has more diffs: ${unsent} of ${counted.length} are said to be missing`
    }
  },

  *'a diff is whole, and the words of the event are there [context.diffs.whole]'(facts) {
    for (const { prompt, counted, told } of sent(facts)) {
      const plain = counted.filter(({ filename }) => /^docs.\d|^src.z/.test(filename))
      for (const { filename, patch = '' } of [...plain.slice(0, 1), ...plain.slice(-1)]) {
        const [title] = told.titles.filter((one) => one.endsWith(` ${filename}`))
        if (title !== undefined && !prompt.includes(`\n${title}\n${patch}\n`))
          yield `that of ${filename} is not`
      }
      if (numberOf(facts.event) !== undefined && !/^## Event\n[\s\S]*\bTitle\b/m.test(prompt))
        yield 'there is no title'
    }
  },
} satisfies Record<string, Rule>

/** Whether GitHub has each part of what it cut. */
const hasParts = ({ isGitHubWell, github }: Facts) => isGitHubWell && !github?.lacksParts

/** What was sent of changes of which GitHub has a list, and what had to be. */
function* sent(facts: Facts) {
  const { posts, inputs, isAlone, task } = facts
  const { context = 'none' } = inputs
  const changes = context === 'none' || task === 'attach' ? undefined : changesOf(facts)
  const lists = facts.requestsTo(LISTS)
  // What GitHub can't compare is unknown, though it may compare another release.
  const isUnknown = lists.some(({ status }) => status === 422) || lists.at(-1)?.status !== 200
  if (posts.length === 0 || changes === undefined || isUnknown || !isAlone) return
  const isOfCommit = lists.some(({ path }) => path.includes('/commits/'))
  const counted = countedIn(changes, inputs)
  const isTold = (text: string) => facts.lines.some((line) => line.startsWith(text))
  const isLong = changes.length >= MOST_LISTED
  const all = isTold("context-paths can't tell") ? [] : counted
  for (const { body } of posts) {
    const { prompt } = JSON.parse(body) as { prompt: string }
    if (/^Details of what triggered this run are omitted/m.test(prompt)) continue
    yield { prompt, counted: all, told: toldIn(prompt, facts), isLong, isOfCommit }
  }
}

/** What a prompt has of the changes, and what it and the log say that it lacks. */
function toldIn(prompt: string, { lines }: Facts) {
  const [, before = '', , list = '', after = ''] =
    /^## Changed files\n([\s\S]*?)^<data (\w+)>\n([\s\S]*?)^<\/data \2>([\s\S]*)/m.exec(prompt) ??
    []
  const logged = (pattern: RegExp) =>
    numberIn(lines.map((line) => pattern.exec(line)?.[1]).find((one) => one !== undefined))
  return {
    listed: list.split('\n').filter((line) => line !== ''),
    unlisted: numberIn(/^Omitted for length: ([\d,]+) of/m.exec(after)?.[1]),
    titles: after.match(/^=== .*$/gm) ?? [],
    unsent: logged(/GitHub sent no diff of ([\d,]+) file/),
    omitted: logged(/[Tt]he diffs? of ([\d,]+) files? (?:was|were) left out/),
    isTruncated: before.includes('GitHub truncated this list'),
    isIgnored: lines.some((line) =>
      /^context-paths (?:was ignored|can't tell that nothing is to do: GitHub)/.test(line),
    ),
  }
}

const numberIn = (text = '0'): number => Number(text.replaceAll(',', ''))

const namesOf = ({ filename, previous_filename: old = filename }: FileState) => [filename, old]

/** The names in a line that need no quotes. */
const plainNames = (line: string): string[] =>
  line.split(' ').filter((word) => /^(?:docs|src)\/[\w/-]+\.(?:ts|md)$/.test(word))
