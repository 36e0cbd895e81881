/** Bugs to plant in the compiled code, one at a time: the simulation has to notice each. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface Plant {
  readonly name: string
  /** Stands once in `build/src`, in whatever file; each blank for any white space. */
  readonly text: string
  readonly becomes: string
}

/** The name, the text and what it becomes. */
const TABLE = [
  // What is sent again.
  [
    'a docs job that is busy by now is given up [send.look-again]',
    '(verdict.isDoubted && hasEnded(now))',
    'verdict.isDoubted',
  ],
  [
    'a docs job that is busy by now is replaced [send.look-again]',
    '!hasEnded(now) || !refusesMessage(thrown)',
    '!refusesMessage(thrown)',
  ],
  [
    'a docs job is replaced, though it is busy while the new one waits [send.look-again]',
    'look: next };',
    'look: undefined };',
  ],
  [
    'a new docs job that had to wait is for nobody [skip.closed-meanwhile] [send.look-again]',
    'fingerprint: fingerprints[0], look }',
    'fingerprint: fingerprints[0] }',
  ],
  [
    'a docs job that is replaced is stored while the new one waits [send.look-again]',
    'tellNew(now, tools); return now;',
    'return now;',
  ],
  [
    'nobody looks again at a docs job [send.look-again]',
    'isUnsent || lookAgain === undefined',
    'true',
  ],
  ['a message that had to wait is that of the start [send.look-again]', 'prompt = now.prompt;', ''],
  [
    'the end that was there before a message is that of the start [poll.stale-end]',
    'tellAccepted(now,',
    'tellAccepted(task,',
  ],
  [
    'a look that is refused refuses the message [send.look-again]',
    " || thrown.request === 'poll'",
    '',
  ],
  [
    'a refusal is a failure of the look behind it [send.look-again]',
    "failed.code === 'network' ?",
    'false ?',
  ],
  [
    'what is gone is waited for as it asks [send.message.ended]',
    'isDoubted ? undefined : retryAfterMs',
    'retryAfterMs',
  ],
  [
    'a comment that was deleted is asked for again [memory.one-comment.no-twin]',
    'writtenIn(state) === undefined || !update.isEnd',
    'true',
  ],
  [
    'an end is seen, though nobody could look [docs.ended-early]',
    "(docs.isUnseen) return 'active'",
    "(false) return 'active'",
  ],
  [
    'what the clock asks for is paid again once its docs were merged [paid.push.merged]',
    "name === 'schedule' && environment.runAttempt === 1",
    'false',
  ],
  [
    'an end that is taken back is told [poll.link.late]',
    "tell({ kind: 'seen', job: result.job }); return result.job;",
    'return job;',
  ],
  [
    "a person's comment is the memory [memory.marker.author]",
    "isApps && getString(item, 'user.type') !== 'Bot'",
    'false',
  ],
  [
    'a green night is paid again [range.rerun.green]',
    "answer.data.conclusion === 'success'",
    'false',
  ],
  [
    'a pull request that was closed has its docs [skip.closed-meanwhile]',
    "pull?.state !== 'closed' || pull.merged",
    'true',
  ],
  [
    "a gateway's JSON ends a docs job [send.refused.foreign]",
    'foreign || (httpStatus === 404 && !hasError)',
    'foreign',
  ],
  [
    'a 503 counts as refused [send.unknown]',
    'status >= 500 || status ===',
    'status > 503 || status ===',
  ],
  [
    'a create is sent again after a reset [send.unknown]',
    'return failUnknown(result.reason, result.cause);',
    "return { kind: 'retry', error: failUnknown(result.reason).error, backoff: { capMs: 10_000 } };",
  ],
  ['a 303 counts as refused [send.unknown]', 'status >= 500 || status === 303', 'status >= 500'],
  [
    'a POST goes on a connection that was used [net.post.new-connection]',
    "if (request.method === 'POST') close();",
    '',
  ],
  [
    'a 429 is not waited for [send.limited]',
    'Math.max(retryAfterMs, 1000)',
    'Math.max(retryAfterMs / 2, 1000)',
  ],
  ['polls ignore Retry-After [poll.retry]', 'retry(reason, result.retryAfterMs)', 'retry(reason)'],
  // What is believed.
  ['a refusal is believed after three [poll.refused]', 'REFUSED_TRIES = 4;', 'REFUSED_TRIES = 3;'],
  [
    'a job that shows late has no grace [poll.new-job.grace]',
    'VISIBILITY_GRACE_MS = 30_000;',
    'VISIBILITY_GRACE_MS = 0;',
  ],
  [
    'a late link is not asked for [poll.link.late]',
    '!mayGetLink || deadline.remainingMs() <= LINK_MS',
    'true',
  ],
  [
    'a re-run forgets what was said [memory.rerun.unknown]',
    "...task, kind: 'waiting' });",
    "...task, kind: 'waiting', job: undefined });",
  ],
  [
    'a gateway knows of docs jobs [send.refused.foreign]',
    'if (isForeign && ![409, 429].includes(status))',
    'if (false)',
  ],
  [
    'a gateway ends a docs job [send.refused.foreign]',
    '&& !isForeign && !NOT_ABOUT',
    '&& !NOT_ABOUT',
  ],
  // Time.
  [
    'a dead address is tried for 30 s [send.unconnected]',
    'UNREACHABLE_MS = 120_000',
    'UNREACHABLE_MS = 30_000',
  ],
  [
    'a dead address is tried for 5 minutes [send.unconnected]',
    'UNREACHABLE_MS = 120_000',
    'UNREACHABLE_MS = 300_000',
  ],
  [
    "a POST's response is not waited for after the deadline [cancel.in-flight]",
    'finalPost: 5_000,',
    'finalPost: 0,',
  ],
  [
    "a POST's response is waited for too long after the deadline [cancel.in-flight]",
    'finalPost: 5_000,',
    'finalPost: 8_000,',
  ],
  [
    'what arrived during a freeze is thrown away [net.arrived-first]',
    'await readArrived(); if (!settled',
    'if (!settled',
  ],
  ['a response has half its time [net.limits]', 'POST: 60_000,', 'POST: 30_000,'],
  [
    'a response of any size is read [net.limits]',
    'MAX_RESPONSE_BYTES = 1024 * 1024',
    'MAX_RESPONSE_BYTES = 2048 * 1024',
  ],
  [
    'polls come too often [poll.interval]',
    'Math.max(5_000, elapsedMs / 10)) * (0.9 + random / 5)',
    '5_000) * random',
  ],
  [
    'there is no last poll at the deadline [poll.last]',
    'return Math.min(2_000, timeoutMs / 20);',
    'return 0;',
  ],
  [
    'a second signal is not handled [cancel.second]',
    "signals.second.addEventListener('abort',",
    '(() => undefined)(',
  ],
  [
    'each retry at GitHub waits for 5 s, whatever the deadline [net.deadline]',
    'Math.min(retries.remainingMs, remainingMs());',
    'RETRY_MS; await new Promise((resolve) => setTimeout(resolve, 5_000));',
  ],
  // Memory.
  [
    'a create overtakes its placeholder [send.placeholder.first]',
    'await tools.writePlaceholder()',
    'void tools.writePlaceholder()',
  ],
  ["a re-run hides a later run's job [memory.later-run]", 'replaces || !isOfLaterRun', 'true'],
  [
    'a placeholder over the marker of a later run stays [memory.later-run]',
    "|| place?.kind === 'written';",
    ';',
  ],
  ['a forged marker counts [memory.marker.signed]', 'isVerified ? parseJson(', 'true ? parseJson('],
  ['no marker is found [memory.marker.last]', "text.lastIndexOf('<!-- agent-job-action:2 ')", '-1'],
  [
    'who sent nothing writes to all [memory.silent]',
    'sentNothing ? comments.findCreated(mode) :',
    '',
  ],
  [
    'a re-run starts anew [memory.rerun.waits]',
    'whoLeft(state, environment.runId)',
    "'earlier run'",
  ],
  [
    'a step that looks the same is not refused [memory.identity.same-attempt]',
    'refuseSameAttempt(state, comment);',
    ';',
  ],
  [
    'the last edits are not waited for [memory.edit.retried]',
    'await report.closeComment(',
    'void report.closeComment(',
  ],
  [
    'a locked conversation is written in [memory.locked]',
    "'locked') === true",
    "'locked') === 'so'",
  ],
  [
    'a push to a branch of a merge queue is news [skip.merge-queue]',
    '.startsWith(QUEUE)',
    "=== ''",
  ],
  [
    'a release of the same commit is news [skip.release.same-commit]',
    "kind === 'identical' && isRepeated",
    'false',
  ],
  [
    "the step's own comment triggers it [skip.own-comment]",
    'ENDS_IN_MARKER.test(',
    'false && ENDS_IN_MARKER.test(',
  ],
  [
    'the key before no longer counts [memory.previous-key]',
    '= keys.some((key) =>',
    '= keys.slice(0, 1).some((key) =>',
  ],
  [
    'a no is asked again [memory.run.closed]',
    "pull === 'closed' && (isDone || unasked === 'own')",
    'false',
  ],
  [
    'a push is not about what it has merged [merge.found]',
    'if (pull === undefined ||',
    'if (true ||',
  ],
  [
    'a push of two squashes is about the second [merge.whole]',
    'if (commits.length === 1 &&',
    'if (true ||',
  ],
  ['a list that is late names no pull request [merge.late-list]', 'isListed ? []', 'true ? []'],
  [
    'a head that was pushed is consent to the words [merge.consent]',
    'isConsent: isConsent(pull)',
    'isConsent: true',
  ],
  [
    'a merge is looked for by its commit alone [merge.no-merge-commit]',
    "isMergedBy(['', after],",
    'isMergedBy([after],',
  ],
  [
    'a merge in another repository counts [merge.here]',
    "&& getString(pull, 'base.repo.full_name').toLowerCase() === repository.toLowerCase()",
    '',
  ],
  [
    'a capital letter hides a merge [merge.here]',
    "'base.repo.full_name').toLowerCase() ===",
    "'base.repo.full_name') ===",
  ],
  [
    'a capital letter hides the earlier runs [range.schedule.fork]',
    "'head_repository.full_name').toLowerCase() ===",
    "'head_repository.full_name') ===",
  ],
  [
    'what was lost on the way is no change [github.decides.retried]',
    'find(step, repo, named)',
    "find(step, repo, named).catch(() => ({ changes: { kind: 'unknown', reason: '' } }))",
  ],
  [
    'a docs pull request that fails to be read is open [github.decides.retried]',
    "|| thrown.kind === 'temporary')",
    ')',
  ],
  [
    'an issue that was transferred is not the one [range.number]',
    'Number.isSafeInteger(data.number)',
    'data.number === number',
  ],
  ['labels have one case [skip.labels.about]', 'labels.has(labelKey(each))', 'labels.has(each)'],
  [
    'nobody says what the agent changed [docs.files.told]',
    "?? '') && needsGitHub(",
    "?? '') && !needsGitHub(",
  ],
  ['a library writes to the log [github.quiet]', ', log: quiet },', ' },'],
  ['no link is remembered [memory.run.open-pull]', "link ?? '', run", "'', run"],
  [
    'an update of the branch is paid again [paid.push.unchanged]',
    ".replace(/\\n@@[^\\n]*/g, '\\n@@')",
    '',
  ],
  ['a label asks for nothing [paid.asked.sends]', 'isNews || unasked === undefined', 'isNews'],
  [
    'an edited title is nothing new [paid.push.unchanged]',
    'inputs.context, words, parts])',
    'inputs.context, parts])',
  ],
  [
    'a file more is nothing new [paid.push.unchanged]',
    'inputs.context, words, parts])',
    'inputs.context, words, parts[0]])',
  ],
  [
    'a job that failed is waited for [memory.run.continues]',
    'if (unusable !== undefined)',
    'if (unusable !== undefined && isAsked)',
  ],
  [
    'docs that were merged are told as new [paid.push.merged]',
    "pull === 'merged' && isDone",
    'false',
  ],
  [
    'a re-run reports what was closed [memory.rerun.reported]',
    'unusable === undefined && !isOver',
    'unusable === undefined',
  ],
  [
    'a message that an ended job refuses is sent until the deadline [send.message.ended]',
    '!(replaceable && conflicts + 1 >= MAX_CONFLICTS)',
    'true',
  ],
  // What is not sent, and why.
  ['a late list is believed [range.pull-request.late]', 'data.some(isLate)', 'false'],
  [
    'a search is believed [range.schedule.stale-search]',
    'for (const event of truncated ? events : [])',
    'items.length = 0; for (const event of events)',
  ],
  [
    'older runs are not listed [range.schedule.stale-search]',
    'readPages(RUN_PAGES, async',
    'readPages(1, async',
  ],
  [
    'a branch that was renamed is another [range.schedule.renamed]',
    'isScheduled || getString',
    'getString',
  ],
  [
    'the oldest run that succeeded is the mark [range.schedule.last-success]',
    'filter(isMark).sort((one, other) => other.id - one.id)',
    'filter(isMark).sort((one, other) => one.id - other.id)',
  ],
  ['runs after this one are counted [range.schedule.unlisted]', 'id <= Number(runId)', 'true'],
  [
    'a run that failed is the mark [range.schedule.last-success]',
    "run.conclusion === 'success' && isHere(run)",
    'isHere(run)',
  ],
  [
    'a run on another branch is the mark [range.schedule.last-success]',
    "(isScheduled || getString(run, 'head_branch') === branch) &&",
    '',
  ],
  [
    'a run of a pull request is the mark [range.schedule.last-success]',
    'events.includes(event) &&',
    '',
  ],
  [
    "a fork's run is the mark [range.schedule.fork]",
    "getString(run, 'head_repository.full_name').toLowerCase() === repository.toLowerCase() &&",
    '',
  ],
  [
    'a workflow whose runs were deleted has had none [range.schedule.unlisted]',
    'runNumber <= count',
    'true',
  ],
  [
    'a branch that went back has nothing new [range.schedule.rerun]',
    "mayBeBehind && comparison.kind === 'behind'",
    "comparison.kind === 'behind'",
  ],
  ['rewritten history has nothing new [range.rewritten]', 'gap: REWRITTEN', "kind: 'none'"],
  [
    'who presses the button gets nothing [skip.nothing-to-compare.by-hand]',
    "(context !== 'diff' || hasWords)",
    'hasWords',
  ],
  [
    'an issue that is named has no words [skip.nothing-to-compare]',
    "thread !== undefined && context !== 'none'",
    'false',
  ],
  [
    'a branch with commits is a new one [skip.nothing-to-compare]',
    "getPath(payload, 'commits.length') !== 0",
    'false',
  ],
  [
    'nothing new counts on each event [skip.schedule.no-commits]',
    'if (isAsked) return note(`No changes are sent: ${NOTHING_NEW}',
    'if (isAsked && !isAsked) return note(`No changes are sent: ${NOTHING_NEW}',
  ],
  [
    'commits that GitHub does not list are by nobody [skip.schedule.agents-own]',
    'list.complete &&',
    '',
  ],
  [
    'each commit counts as a merge [skip.schedule.agents-own]',
    'isMerge || skipAuthors.has(',
    'true || skipAuthors.has(',
  ],
  [
    'a list that is unknown skips [skip.list.cut]',
    "case 'unknown': return noteMissing(inputs, changes)",
    "case 'unknown': return skip('none')",
  ],
  ['a comparison is never cut [range.cut.parts]', 'files.length >= COMPARE_LIMIT', 'false'],
  ['a new name alone counts [context.paths.renamed]', '[path, previousPath];', '[path];'],
  [
    'paths count whoever asks [skip.paths.none-left]',
    'if (isAsked) return note(`${none} no changed file matches context-paths.`); const first',
    'const first',
  ],
  ['docs of a failed job count as done [paid.push.merged]', "job.status === 'failed'", 'false'],
  [
    "an issue's docs that were closed are wanted by nobody [memory.run.closed]",
    "isDone || unasked === 'own'",
    'true',
  ],
  [
    'docs that were merged end it [paid.push.merged]',
    "pull === 'merged' && isDone",
    "pull === 'merged' && unasked",
  ],
  [
    'docs that were closed end it [memory.run.closed]',
    "pull === 'closed' && (isDone || unasked === 'own')",
    "pull === 'closed'",
  ],
  ['each event is a push [paid.asked.sends]', "action !== 'synchronize' ||", ''],
  [
    'a file without a diff has no content [paid.push.unchanged]',
    "isWhole ? '' : patch",
    "patch ?? '-'",
  ],
  [
    'a first commit that is theirs makes a push theirs [skip.authors.push]',
    'others.length === 0',
    'others.length < commits.length',
  ],
  [
    'whoever pushes is the cause [skip.authors.push]',
    "name !== 'push' || sender.toLowerCase() ===",
    'true || sender ===',
  ],
  ['a push is of merges [skip.authors.push]', 'data.parents.length < 2', 'data.parents.length < 1'],
  [
    'a label in a group is ignored [skip.labels.merged]',
    'isKnown ? [] : await',
    'true ? [] : await',
  ],
  [
    'what a message names has a label [skip.labels.merged]',
    'pulls.filter((pull) => isMergedBy(shas, pull, environment))',
    'pulls',
  ],
  [
    'the label of another moment counts [skip.labels.about]',
    'labelled !== undefined',
    'inputs.skipLabels.size > 0',
  ],
  ['writers may not start jobs [access.permission.write]', "'admin', 'write'", "'admin'"],
  ['a schedule is anybody [access.events.writers]', "'release', 'schedule',", "'release',"],
  [
    'allow-users is for nobody [access.allow-users.first]',
    '!allowed.has(login.toLowerCase())',
    'true',
  ],
  [
    'a bot names no pull request [merge.late-list]',
    '(?:auto )?merge (?:pull request |PR |of )?#',
    'merge pull request #',
  ],
  [
    'a new job is not told of the open docs pull request [memory.run.open-pull]',
    'askToContinue(previousLink)',
    '',
  ],
  [
    'a lost message is told once [memory.rerun.unknown]',
    "= ['sending', 'unknown'].includes(state.state);",
    "= state.state === 'sending';",
  ],
  [
    'who waits does not say why [memory.rerun.told]',
    "a prompt.`; tell({ kind: 'noted', text });",
    'a prompt.`;',
  ],
  ['a push has no news [paid.push.unchanged]', 'isAsked = isNews ||', 'isAsked ='],
  [
    'a comment that quotes one is its own [skip.own-comment]',
    '[0-9a-f]{32}) -->\\s*$/',
    '[0-9a-f]{32}) -->/',
  ],
  [
    'a merge is work of a person [skip.schedule.agents-own]',
    'isMerge || skipAuthors.has(',
    'skipAuthors.has(',
  ],
  [
    'nothing is remembered of what was sent [paid.push.unchanged]',
    "fingerprint: (isKept && request.fingerprint) || ''",
    "fingerprint: ''",
  ],
  [
    'the agent starts docs jobs by its own work [skip.schedule.agents-own]',
    'list.commits.every(isSkipped)',
    'false',
  ],
  [
    'what has nothing to compare with is paid [skip.nothing-to-compare]',
    'return isAsked || hasWords ? noteMissing',
    'return true ? noteMissing',
  ],
  [
    'the words of an issue are paid for each quiet night [skip.schedule.no-commits]',
    "(isByHand && (context !== 'diff' || hasWords))",
    "(isByHand && context !== 'diff') || hasWords",
  ],
  [
    'a newcomer pays for no changes [skip.nothing-to-compare.by-hand]',
    "isByHand && (context !== 'diff' || hasWords)",
    'isByHand',
  ],
  [
    'a re-run is paid again [memory.rerun.reported]',
    "state === 'pr-opened' && link !== undefined",
    'false',
  ],
  [
    'a lost comment is made again [memory.one-comment.no-twin]',
    "items.find((item) => getString(item, 'body').includes(mark))",
    'undefined',
  ],
  // GitHub.
  [
    'a repository that was renamed is not found [github.redirect]',
    'if (target.origin === origin) continue;',
    '',
  ],
  [
    'compressed answers are not read [github.shape]',
    "received.get('content-encoding') === 'gzip'",
    'false',
  ],
  // Access.
  [
    'a stranger comments [access.events.others]',
    '...others.map((login) =>',
    '...[].map((login) =>',
  ],
  [
    'readers may start jobs [access.permission.write]',
    "'admin', 'write'",
    "'admin', 'write', 'read'",
  ],
  [
    'reopening asks nobody [access.pull-request.readers]',
    "(action === 'synchronize' || isApp)",
    "(action !== 'opened' || isApp)",
  ],
  [
    'a push is consent to the words of whoever opened it [access.words.asked]',
    'return authorBehind(event, first);',
    'return [];',
  ],
  [
    'so is one to a fork [access.words.asked]',
    "(event.action === 'synchronize' ? authorBehind(event, first) : [])",
    '[]',
  ],
  ['the agent starts jobs of its own [skip.authors.cause]', 'isCause && isListed(sender)', 'false'],
  // The prompt.
  [
    'what no path matches is asked for [skip.paths.none-left]',
    '{ contextPaths }).length > 0',
    '{ contextPaths }) !== undefined',
  ],
  [
    'an event has no title [context.facts.event]',
    'number, title, author=user.login, state, draft, merged, ',
    'number, state, draft, merged, ',
  ],
  [
    'diffs come with any context [context.level]',
    "level === 'diff' ? writeDiffs(",
    'true ? writeDiffs(',
  ],
  [
    'a key is in the context [context.secret.none]',
    'redactKeys(composeContext(text, context, omit).slice(text.length))',
    'composeContext(text, context, omit).slice(text.length)',
  ],
  [
    'a context that nobody asked for is sent [context.level]',
    "inputs.context === 'none' || findings ===",
    'findings ===',
  ],
  ['the changes are not sent [context.level]', 'const all = needsChanges', 'const all = false'],
  [
    'what happened is outside of the fence [context.fence.data]',
    'fence.around(shorten(safe, available))',
    '...shorten(safe, available)',
  ],
  [
    'names of files are outside of the fence [context.fence.data]',
    '[fixed, fence.around(kept),',
    '[fixed, ...kept,',
  ],
  [
    'diffs are outside of the fence [context.fence.data]',
    "'## Diffs', fence.around(kept)",
    "'## Diffs', ...kept",
  ],
  [
    "the user's words are cut [context.budget]",
    '[task.prompt, more]',
    '[task.prompt.slice(0, -1), more]',
  ],
  // The changes, whole.
  [
    'a comparison that GitHub cut is sent as it is [range.cut.parts]',
    'halves === undefined || !(truncated || files.some(lacksDiff))',
    'true',
  ],
  [
    'diffs that GitHub left out are not asked for [range.cut.parts]',
    'truncated || isCut',
    'truncated',
  ],
  [
    'a commit of many files has those of its first page [range.cut.parts]',
    'repo, gift.requests',
    'repo, 1',
  ],
  [
    'what was changed back comes with the parts of a range [range.cut.whole-leads]',
    'if (!truncated) return { files: known, truncated };',
    '',
  ],
  [
    'the middle of a range is on a branch that was merged [range.cut.parts]',
    "ways.get(parents[0] ?? '')",
    "ways.get(parents.at(-1) ?? '')",
  ],
  [
    'of a file that was changed twice, the last change is sent [range.cut.joined]',
    'before === undefined ? file : add(before, file)',
    'file',
  ],
  ['diffs that GitHub did not send are not counted [context.omitted.told]', 'unsent > 0', 'false'],
  [
    'diffs that were left out for length are not counted [context.omitted.told]',
    'omit(`The diffs of ${omitted} were left out for length.`, isAll);',
    '',
  ],
  [
    'names of files take the room of the diffs [context.budget]',
    'writeFileList(changes, context, fence, Math.min(room, SECTION_LIMIT), omit)',
    'writeFileList(changes, context, fence, room, omit)',
  ],
  [
    'a file that was never renamed counts whatever it is called [context.paths.excluded]',
    'file.previous_filename ? folder + file.previous_filename : undefined',
    "getString(file, 'previous_filename')",
  ],
  [
    'a folder that is excluded is in the prompt [context.paths.excluded]',
    "'listed' ? filesThatCount(changes.files, inputs)",
    "'listed' ? changes.files",
  ],
  [
    'a higher version came before a lower one [range.release.package]',
    'compare(version, own) < 0',
    'compare(version, own) !== 0',
  ],
  [
    'the tenth version came before the second [range.release.package]',
    "'en', { numeric: true }",
    "'en'",
  ],
  [
    "another package's release came before [range.release.package]",
    'version.prefix === own.prefix &&',
    '',
  ],
  [
    'the newest of lower versions came before, whichever is the highest [range.release.package]',
    '(one.isLower && compare(other.version, one.version)) ||',
    '',
  ],
  [
    'a dash makes a pre-release [range.release.pre-release]',
    'snapshot|test)/i',
    'snapshot|test|-)/i',
  ],
  [
    'a final release has only what came after its candidate [range.release.pre-release]',
    '(prerelease && !isPreRelease)',
    'false',
  ],
  ['a part that GitHub does not make ends the run [range.cut.gift]', 'if (isLimit)', 'if (true)'],
  [
    'a list that GitHub can not make is asked for as it was [github.pages.fewer]',
    'isLong && Number(',
    'false && Number(',
  ],
  ['a run that has not ended is none [github.late]', '?.conclusion === null', '?.conclusion === 0'],
  [
    'a token that is new is refused [github.token.new]',
    '!isTokenKnown && / failed: 401',
    'false && / failed: 401',
  ],
  [
    "a moment's 404 of a commit is believed [github.early]",
    '(mayBeEarly && isMissing(answer))',
    'false',
  ],
  [
    'a list of pull requests that is empty for a moment is believed [merge.empty-list]',
    'list.length === 0 && (await readNamed()).length === 0',
    'false',
  ],
  // What is lost, or promised.
  [
    'what the agent adds to docs that were merged is lost without a word [docs.ended-early]',
    'isContinued ? stateOf(',
    'false ? stateOf(',
  ],
  [
    'what was cut off by a merge is not sent again [docs.ended-early]',
    "&& docs.endedEarly !== 'merged'",
    '',
  ],
  [
    'a re-run that sends is promised to wait [report.advice.rerun]',
    "facts.request.kind !== 'none' && memory === 'stored'",
    "facts.request.kind !== 'none'",
  ],
  [
    'of two comments, the older one counts [memory.one-comment]',
    'own.sort((one, other) => other.id - one.id)',
    'own',
  ],
  [
    "a push to another pull request closes an issue's docs [memory.run.closed]",
    '[undefined, pullRequest.number].includes(inputs.issueNumber)',
    'true',
  ],
  // The machine.
  ['pr-number is empty [output.pr-number]', "'pr-number': number", "'pr-number': ''"],
  ['a full disk is not told [output.unwritable]', 'failure !== undefined && !isInternal', 'false'],
  [
    'a log that nobody reads ends the step [output.exit-code]',
    "process.stdout.on('error', () => undefined);",
    '',
  ],
  [
    'an exception that nobody caught ends without a word [cancel.exception]',
    'runner.onUncaughtException(endNow)',
    'void endNow',
  ],
  // Secrets and texts.
  ['nothing is redacted [secret.redacted]', 'createRedactor(...secrets)', 'createRedactor()'],
  [
    'one secret is not masked [secret.masked]',
    'of secrets) runner.mask(',
    'of secrets.slice(0, -1)) runner.mask(',
  ],
  [
    'text from outside is a command [text.command]',
    '=> escapeCommands(redact(text));',
    '=> redact(text);',
  ],
  [
    'fail-on fails no step [output.exit-code]',
    '!failsStep(result.outcome, this.#options.inputs.failOn)',
    '!result.error',
  ],
  [
    'bad input does not end the step [input.problems.together]',
    'if (inputProblem !== undefined)',
    'if (false)',
  ],
  ['a dry run sends the prompt [output.dry-run]', 'if (!inputs.dryRun) return', 'if (true) return'],
  // What is planted for the nights of `github/other-nights.test.ts`.
  [
    'changes end when they are read [code.range]',
    'const until = toCut(run)',
    'const until = Date.now()',
  ],
  ['what is not listed yet is asked for [code.range]', 'MARGIN_MS = 15 * 60_000', 'MARGIN_MS = 0'],
  [
    'a date moves the mark forward [code.since]',
    'Math.min(until, since, mark)',
    "Math.min(until, inputs.since === '' ? mark : since)",
  ],
  [
    'a docs job has one repository [code.one-list]',
    'of inputs.codeRepositories) {',
    'of inputs.codeRepositories.slice(0, 1)) {',
  ],
  [
    'a public log has commits of private code [code.readers]',
    'step.debug(hide(line, true))',
    'step.debug(line)',
  ],
  ['private code is named in public [code.readers]', "home === 'private' ?", 'true ?'],
  ['an empty list is believed [code.late]', 'if (isListed &&', 'if (isNone ||'],
  [
    'a red re-run takes the mark away [code.range] [range.schedule.attempts]',
    'isMark(run) || (await hasSucceeded(',
    'isMark(run) || (await (() => false)(',
  ],
  [
    'a branch of yesterday begins in what was merged [code.young]',
    "at = textOf('parents.0.sha')",
    "at = textOf('parents.1.sha') || textOf('parents.0.sha')",
  ],
] as const

export const PLANTS: readonly Plant[] = TABLE.map(([name, text, becomes]) => ({
  name,
  text,
  becomes,
}))

/**
 * Plants a bug in a folder of compiled code.
 *
 * @throws Error if its text doesn't stand exactly once in the code
 */
export function plantIn(folder: string, plant: Plant): void {
  const [file, ...others] = filesWith(folder, plant)
  if (file === undefined || others.length > 0)
    throw new Error(
      `"${plant.name}": not exactly one place in the code has this text: ${plant.text}`,
    )
  const code = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    code.replace(patternOf(plant), () => plant.becomes),
  )
}

/** The file of each place in the code that has the plant's text. */
export function filesWith(folder: string, plant: Plant): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.js')).map((name) => path.join(folder, name))
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(patternOf(plant))].map(() => file),
  )
}

function patternOf({ text }: Plant): RegExp {
  const literal = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(text.split(/\s+/).map(literal).join('\\s+'), 'g')
}
