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
import { formatCount, shortSha } from '../text/format.js'
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
  const since = inputs.since === '' ? until : Date.parse(inputs.since)
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
    let code: OpenedRepository | undefined
    try {
      code = await open(repository)
      const news = code && (await readNews(step, code, from, until))
      if (news === undefined) log(`${name}: nothing new.`)
      else {
        changed.push({ ...news, shownGap: hide(news.gap ?? '', name, code?.about.visibility) })
        isPrivate ||= code?.isHidden === true
      }
    } catch (thrown) {
      if (!(thrown instanceof ActionError) || thrown.code === 'input') throw thrown
      const { message } = thrown
      thrown.message = hide(message, name, code?.about.visibility)
      if (thrown.message !== message) log(`${name}: ${thrown.message}`)
      throw thrown
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
    changed.flatMap((each) => each[key] || []).join(' ') || undefined
  return {
    changes: {
      kind: 'listed',
      range: `the commits of ${changed.length} of ${inputs.codeRepositories.length} repositories`,
      files: changed.flatMap(({ files }) => files),
      truncated: changed.some(({ truncated }) => truncated),
      commits: changed.flatMap(({ commits }) => commits ?? []),
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
  const listed: Partial<ListedChanges> = changes.kind === 'listed' ? changes : {}
  const range = `${shortSha(base)}..${shortSha(head)}`
  const reason = 'reason' in changes ? explainMissing(changes) : ''
  const found: ListedChanges = {
    files: [],
    truncated: false,
    ...listed,
    kind: 'listed',
    range,
    commits: listed.commits?.map((list) => ({ ...list, of: `${repository}@${range}` })) ?? [],
    gap: reason || undefined,
  }
  const whole = await judgeWhole(inputs, 'schedule', { changes: found }, code)
  if (whole.judged?.kind === 'skip') {
    if (!listed.gap) return undefined
    const removed = await changesBetween(code, head, base, { isNamed: true }).catch(
      unknownIfUnlistable,
    )
    if (judgeChanges(inputs, 'schedule', { changes: removed })?.kind === 'skip') return undefined
  }
  const { changes: all } = whole.findings
  const [list] = found.commits ?? []
  const count = formatCount(filesThatCount(all.files, inputs).length, 'file')
  const told = list
    ? `${list.complete ? '' : 'over '}${formatCount(list.commits.length, 'commit')}, ${count}`
    : 'what changed is unknown'
  log(`${repository}: ${told}${isHidden ? '' : ` (${range})`}.`)
  const why = reason || listed.gap || lacks
  return { ...all, gap: why && `${repository}: ${why}` }
}
