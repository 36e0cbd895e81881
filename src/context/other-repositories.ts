/**
 * What changed in other repositories since this workflow's last successful run, as one list: one
 * docs job for all of them costs half of one for each, and their docs pull requests don't collide.
 */

import { getString } from '../event/payload.js'
import { asking, type GitHubRepo } from '../github/client.js'
import { CODE_EVENTS } from '../inputs/code-repositories.js'
import { InputError } from '../inputs/inputs.js'
import type { Skip } from '../run/result.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { formatCount, joinSentences, shortSha } from '../text/format.js'
import { readHeads } from './changes/activity.js'
import { changesBetween } from './changes/between.js'
import { type OpenedRepository, openCode } from './changes/code-access.js'
import { unknownIfUnlistable } from './changes/find.js'
import { findSuccesses } from './changes/since-success.js'
import { explainMissing, type Findings, type ListedChanges, type Thread } from './changes/types.js'
import { filesThatCount, judgeChanges } from './judge.js'
import { judgeWhole } from './judge-whole.js'

/**
 * So long (ms) before a scheduled run was created, what it reads ends: what happened later may not
 * be listed everywhere yet, and comes with the next run. Others are about what was merged just now:
 * they wait, until so long after.
 */
const MARGIN_MS = 15 * 60_000
const WAIT_MS = 2 * 60_000

/** Where a run's changes end, and those of the next begin: it stays on a re-run. [code.range] */
const toCut = (run: unknown) =>
  Date.parse(getString(run, 'created_at')) -
  (getString(run, 'event') === 'schedule' ? MARGIN_MS : 0)

const NOTHING_NEW = { reason: 'there is nothing new in code-repositories' }

/**
 * What changed in all of them, from the last successful run of this workflow to this one; `since`
 * may only reach further back. [code.one-list] [code.since] At the first run, the next one begins
 * there. [code.first] One that can't be read ends the step: then all of it comes with the next run.
 * [code.unreadable] What is private is not told in public. [code.readers]
 *
 * @param thread what `issue-number` names
 * @throws ActionError `github`
 * @throws InputError
 */
export async function findElsewhere(
  step: Step,
  repo: GitHubRepo,
  thread?: Thread,
): Promise<Findings | Skip> {
  const { inputs, event, environment, clock, deadline, log } = step
  if (inputs.allowUsers.size > 0) log(`allow-users was ignored: ${event.name} asks nobody.`)
  if (thread?.isPull)
    throw new InputError([
      "issue-number: it is a pull request's, and code-repositories can't be about one. Name an issue, or none.",
    ])
  const found = await findSuccesses(environment, repo, CODE_EVENTS)
  const { data: run, headers } = await repo.github.actions.getWorkflowRun({
    ...asking(repo, 'reading this run', {
      needs: 'actions: read',
      expects: (data) => toCut(data) > 0,
    }),
    run_id: Number(environment.runId),
  })
  const isFirst = 'kind' in found && inputs.since === ''
  const until = toCut(run)
  const mark = 'kind' in found ? until : Math.max(...found.marks.map(toCut))
  const since = Date.parse(inputs.since || run.created_at)
  const from = Math.min(until, since, mark)
  // A re-run, and a later run has seen it all.
  if (from === until && !isFirst) return NOTHING_NEW
  const waitMs = until + WAIT_MS - Date.parse(headers.date ?? '')
  if (waitMs > 0 && !isFirst) {
    log('Waiting until what was merged just now is certainly listed.')
    await clock.sleep(waitMs, deadline.signal)
  }
  const { open, hide } = openCode(step)
  const changed: ListedChanges[] = []
  let isPrivate = false
  // At the first run, what a token can't read shows on the first day.
  for (const repository of inputs.codeRepositories) {
    const { name } = repository
    try {
      const code = await open(repository)
      const news = code && (await readNews(step, code, from, until))
      if (news === undefined) log(`${name}: nothing new.`)
      else {
        changed.push({ ...news, shownGap: hide(news.gap ?? '') })
        isPrivate ||= code?.isHidden === true
      }
    } catch (thrown) {
      if (!(thrown instanceof ActionError) || thrown.code === 'input') throw thrown
      const message = hide(thrown.message)
      if (message === thrown.message) throw thrown
      log(`${name}: ${message}`)
      // Without its cause, which debug logging would show.
      throw new ActionError(thrown.code, message, thrown.advice)
    }
  }
  if (isFirst) {
    // Where no run can have an earlier one, as on a tag, none begins.
    return {
      reason: found.reason,
      advice:
        found.kind === 'first'
          ? 'The next run begins here. For earlier changes, set since to a date.'
          : undefined,
    }
  }
  log(
    `The changes up to ${new Date(until).toISOString()} were read. Later ones come with the next run.`,
  )
  if (changed.length === 0) return NOTHING_NEW
  const join = (key: 'gap' | 'shownGap') =>
    joinSentences(...changed.map((each) => each[key])) || undefined
  return {
    changes: {
      kind: 'listed',
      range: `the commits of ${changed.length} of ${inputs.codeRepositories.length} repositories`,
      files: changed.flatMap(({ files }) => files),
      // The gap says which one's list is.
      truncated: false,
      commits: changed.flatMap(({ commits = [] }) => commits),
      gap: join('gap'),
      shownGap: join('shownGap'),
    },
    thread,
    bySince: inputs.since !== '',
    isMark: true,
    isPrivate,
  }
}

/**
 * What changed in one of them, with its name before the names of files [code.names]; undefined if
 * nothing is new, which what rewritten history removed decides, too. [code.rewritten] What has no
 * list may hide what counts.
 */
async function readNews(
  { inputs, log }: Step,
  code: OpenedRepository,
  from: number,
  until: number,
): Promise<ListedChanges | undefined> {
  const { repository, isHidden } = code
  const { base, head, lacks } = await readHeads(code, from, until)
  const changes = await changesBetween(code, base, head).catch(unknownIfUnlistable)
  if (changes.kind === 'none') return undefined
  const range = `${shortSha(base)}..${shortSha(head)}`
  const tell = (what: string) => log(`${repository}: ${what}${isHidden ? '' : ` (${range})`}.`)
  if ('reason' in changes) {
    tell('what changed is unknown')
    const gap = `${repository}: ${explainMissing(changes)}`
    return { kind: 'listed', range, files: [], truncated: false, gap }
  }
  const { commits = [], gap } = changes
  const found = {
    ...changes,
    commits: commits.map((list) => ({ ...list, of: `${repository}@${range}` })),
    gap: undefined,
  }
  const { findings, judged } = await judgeWhole(inputs, 'schedule', { changes: found }, code)
  if (judged?.kind === 'skip') {
    if (!gap) return undefined
    const removed = await changesBetween(code, head, base, { mayBeBehind: true }).catch(
      unknownIfUnlistable,
    )
    const of = { changes: { ...removed, gap: undefined } }
    if (judgeChanges(inputs, 'schedule', of)?.kind === 'skip') return undefined
  }
  const { changes: all } = findings
  const [list] = commits
  const count = formatCount(list?.commits.length ?? 0, 'commit')
  const files = formatCount(filesThatCount(all.files, inputs).length, 'file')
  const cut = all.truncated ? ' of a list that GitHub cut' : ''
  tell(`${list?.complete ? '' : 'over '}${count}, ${files}${cut}`)
  const why = joinSentences(gap || lacks, all.truncated && 'GitHub truncated its list of files.')
  return { ...all, gap: why && `${repository}: ${why}` }
}
