/**
 * What changed in other repositories since this workflow's last successful run, as one list: one
 * docs job for all of them costs half of one for each, and their docs pull requests don't collide.
 */

import { getPath, getString } from '../event/payload.js'
import { asking, type GitHubRepo } from '../github/client.js'
import { CODE_EVENTS } from '../inputs/code-repositories.js'
import { InputError } from '../inputs/inputs.js'
import type { Skip } from '../run/result.js'
import type { Step } from '../run/step.js'
import { formatCount, shortSha } from '../text/format.js'
import { readHeads } from './changes/activity.js'
import { changesBetween } from './changes/between.js'
import { type OpenedRepository, openCode } from './changes/code-access.js'
import { unknownIfUnlistable } from './changes/find.js'
import { findSuccesses } from './changes/since-success.js'
import type { Findings, ListedChanges, Thread } from './changes/types.js'
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
const toCut = (run: unknown): number =>
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
      expects: (data: unknown) => toCut(data) > 0,
    }),
    run_id: Number(environment.runId),
  })
  const since = Date.parse(inputs.since)
  const isFirst = 'kind' in found && !since
  const mark = 'kind' in found ? since : Math.max(...found.marks.map(toCut))
  const [from, until] = [Math.min(mark, since || mark), toCut(run)]
  // A re-run, and a later run has seen it all.
  if (from >= until) return NOTHING_NEW
  const waitMs = until + WAIT_MS - Date.parse(headers.date ?? '')
  if (waitMs > 0 && !isFirst) {
    log('Waiting until what was merged just now is certainly listed.')
    await clock.sleep(waitMs, deadline.signal)
  }
  const open = openCode(step)
  const isHome = getPath(event.payload, 'repository.private') === true
  const changed: ListedChanges[] = []
  let isPrivate = false
  for (const repository of inputs.codeRepositories) {
    const code = await open(repository)
    // Of code that not all readers of the log may read, the numbers alone.
    const isHidden =
      code?.about.private === true &&
      (!isHome ||
        (getPath(event.payload, 'repository.visibility') === 'internal' &&
          code.about.visibility !== 'internal'))
    const found =
      code &&
      (await readChanges(code, isFirst ? until : from, until).catch((thrown) => {
        if (isHidden) {
          log(thrown.message)
          thrown.message = 'One of code-repositories could not be read, and the log says why.'
        }
        throw thrown
      }))
    // A token that can't read it, or its list, shows on the first day.
    if (isFirst) continue
    const whole = found && (await judgeWhole(inputs, 'schedule', found, code))
    const { removed } = whole?.findings ?? {}
    if (
      whole === undefined ||
      (whole.judged?.kind === 'skip' &&
        (!removed || judgeChanges(inputs, 'schedule', removed)?.kind === 'skip'))
    ) {
      log(`${repository.name}: nothing new.`)
      continue
    }
    const { changes, why } = whole.findings
    const { files, commits: [list] = [], range } = changes
    const least = list?.complete === false ? 'over ' : ''
    const commits = formatCount(list?.commits.length ?? 0, 'commit')
    const count = formatCount(filesThatCount(files, inputs).length, 'file')
    const where = isHidden ? '' : ` (${range})`
    log(`${repository.name}: ${least}${commits}, ${count}${where}.`)
    const gap = isHidden
      ? `one of code-repositories: ${why.replace(/\b[\da-f]{7,40}\b/g, '(hidden)')}`
      : `${repository.name}: ${why}`
    changed.push({ ...changes, gap: why && gap })
    isPrivate ||= isHidden
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
  return {
    changes: {
      kind: 'listed',
      range: `the commits of ${changed.length} of ${inputs.codeRepositories.length} repositories`,
      files: changed.flatMap(({ files }) => files),
      truncated: changed.some(({ truncated }) => truncated),
      commits: changed.flatMap(({ commits }) => commits ?? []),
      gap: changed.flatMap(({ gap }) => gap || []).join(' ') || undefined,
    },
    thread,
    bySince: inputs.since !== '',
    isMark: true,
    isPrivate,
  }
}

/**
 * What changed in one of them, with its name before the names of files; what rewritten history
 * removed, which decides as well [code.rewritten]; and why that isn't all. What has no list may
 * hide what counts. [code.names]
 */
async function readChanges(code: OpenedRepository, from: number, until: number) {
  const { base, head, lacks } = await readHeads(code, from, until)
  const changes = await changesBetween(code, base, head).catch(unknownIfUnlistable)
  const listed: Partial<ListedChanges> = changes.kind === 'listed' ? changes : {}
  const { commits = [], gap = '' } = listed
  const range = `${shortSha(base)}..${shortSha(head)}`
  const reason = getString(changes, 'reason')
  return {
    changes: {
      ...{ files: [], truncated: false, ...listed },
      kind: 'listed',
      range,
      commits: commits.map((list) => ({ ...list, of: `${code.repository}@${range}` })),
      gap: reason || undefined,
    },
    removed: gap && {
      changes: await changesBetween(code, head, base, { isNamed: true }).catch(unknownIfUnlistable),
    },
    why: reason || gap || lacks,
  } as const
}
