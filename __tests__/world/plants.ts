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
  ['a 503 counts as refused', 'status >= 500 || status ===', 'status > 503 || status ==='],
  [
    'a create is sent again after a reset',
    'return failUnknown(result.reason, result.cause);',
    "return { next: 'retry', error: failUnknown(result.reason).error, backoff: { capMs: 10_000 } };",
  ],
  ['a 303 counts as refused', 'status >= 500 || status === 303', 'status >= 500'],
  ['a POST goes on a connection that was used', "if (request.method === 'POST') close();", ''],
  ['a 429 is not waited for', 'Math.max(retryAfterMs, 1000)', 'Math.max(retryAfterMs / 2, 1000)'],
  [
    'polls ignore Retry-After',
    'retry(reason, parseRetryAfter(result.retryAfter, date))',
    'retry(reason)',
  ],
  // What is believed.
  ['a refusal is believed after three', 'REFUSED_TRIES = 4;', 'REFUSED_TRIES = 3;'],
  [
    'a job that shows late has no grace',
    'VISIBILITY_GRACE_MS = 30_000;',
    'VISIBILITY_GRACE_MS = 0;',
  ],
  [
    'a late link is not asked for',
    "outcome !== 'no-changes' || deadline.remainingMs() <= LINK_MS",
    'true',
  ],
  ['a re-run forgets what was said', 'messageMayBeLost, job });', 'messageMayBeLost });'],
  ['a gateway knows of docs jobs', 'if (isForeign && ![409, 429].includes(status))', 'if (false)'],
  ['a gateway ends a docs job', '&& !isNothing && !NOT_ABOUT', '&& !NOT_ABOUT'],
  // Time.
  ['a dead address is tried for 30 s', 'UNREACHABLE_MS = 120_000', 'UNREACHABLE_MS = 30_000'],
  ['a dead address is tried for 5 minutes', 'UNREACHABLE_MS = 120_000', 'UNREACHABLE_MS = 300_000'],
  ['a refusal is believed after eight', 'REFUSED_TRIES = 4;', 'REFUSED_TRIES = 8;'],
  ["a POST's response is not waited for after the deadline", 'finalPost: 5_000,', 'finalPost: 0,'],
  [
    "a POST's response is waited for too long after the deadline",
    'finalPost: 5_000,',
    'finalPost: 8_000,',
  ],
  [
    'what arrived during a freeze is thrown away',
    'await readArrived(); if (!settled',
    'if (!settled',
  ],
  ['a response has half its time', 'POST: 60_000,', 'POST: 30_000,'],
  [
    'a response of any size is read',
    'MAX_RESPONSE_BYTES = 1024 * 1024',
    'MAX_RESPONSE_BYTES = 2048 * 1024',
  ],
  [
    'polls come too often',
    'Math.max(5_000, elapsedMs / 10)) * (0.9 + random / 5)',
    '5_000) * random',
  ],
  ['there is no last poll at the deadline', 'return Math.min(2_000, timeoutMs / 20);', 'return 0;'],
  [
    'a second signal is not handled',
    "signals.second.addEventListener('abort',",
    '(() => undefined)(',
  ],
  [
    'each retry at GitHub waits for 5 s, whatever the deadline',
    'signal === undefined ? deadline.remainingMs() : RETRY_MS);',
    'RETRY_MS); await new Promise((resolve) => setTimeout(resolve, 5_000));',
  ],
  // Memory.
  [
    'a create overtakes its placeholder',
    'await tools.writePlaceholder()',
    'void tools.writePlaceholder()',
  ],
  ["a re-run hides a later run's job", 'if (isOfLaterRun && !replaces) return;', ''],
  ['a placeholder over the marker of a later run stays', "|| this.#state.is === 'written';", ';'],
  ['a forged marker counts', "isVerified ? parse(data) : 'unverified'", 'parse(data)'],
  ['no marker is found', "text.lastIndexOf('<!-- agent-job-action:2 ')", '-1'],
  ['an unreadable comment is none', '??= {}; throw thrown;', '??= {}; return undefined;'],
  [
    'who sent nothing writes to all',
    'sentNothing || created !== undefined',
    'created !== undefined',
  ],
  ['a re-run starts anew', 'isOfThisRun ? howItEnded(state) : undefined', 'undefined'],
  ['a step that looks the same is not refused', 'refuseSameAttempt(state, comment);', ';'],
  ['the last edits are not waited for', 'await report.closeComment(', 'void report.closeComment('],
  ['a locked conversation is written in', "'locked') === true", "'locked') === 'so'"],
  ['a push to a branch of a merge queue is news', '.startsWith(QUEUE)', "=== ''"],
  ['a release of the same commit is news', 'previousRelease !== undefined && !isWanted', 'false'],
  ['commits that undo each other are news', '!truncated && files.length === 0', 'false'],
  ["the step's own comment triggers it", 'ENDS_IN_MARKER.test(', 'false && ENDS_IN_MARKER.test('],
  ['the key before no longer counts', '= keys.some((key) =>', '= keys.slice(0, 1).some((key) =>'],
  ['a no is asked again', "pull === 'closed' && (isDone || push === 'own')", 'false'],
  ['a push is not about what it has merged', 'if (pull === undefined ||', 'if (true ||'],
  ['a push of two squashes is about the second', 'if (commits.length === 1 &&', 'if (true ||'],
  ['a list that is late names no pull request', 'isListed || Number.isNaN(named) ?', 'true ?'],
  [
    'a head that was pushed is consent to the words',
    'isConsent: isConsent(pull)',
    'isConsent: true',
  ],
  ['the author of an unnamed merge is not looked at', "found, 'pull.user.login'", "undefined, ''"],
  ['a merge is looked for by its commit alone', "isMergedBy(['', after],", 'isMergedBy([after],'],
  [
    'a merge in another repository counts',
    "&& getString(pull, 'base.repo.full_name').toLowerCase() === repository.toLowerCase()",
    '',
  ],
  [
    'a merge into another branch counts',
    "`refs/heads/${getString(pull, 'base.ref')}` === ref &&",
    '',
  ],
  [
    'a capital letter hides a merge',
    "'base.repo.full_name').toLowerCase() ===",
    "'base.repo.full_name') ===",
  ],
  [
    'a capital letter hides the earlier runs',
    "'head_repository.full_name').toLowerCase() ===",
    "'head_repository.full_name') ===",
  ],
  [
    'what was lost on the way is no change',
    'findChanges(environment, event, repo, { ...inputs, thread: named })',
    "findChanges(environment, event, repo, { ...inputs, thread: named }).catch(() => ({ changes: { kind: 'unknown', reason: '' } }))",
  ],
  [
    'a docs pull request that fails to be read is open',
    "if (error.kind === 'temporary') throw error;",
    '',
  ],
  [
    'an issue that was transferred is not the one',
    'Number.isSafeInteger(data.number)',
    'data.number === number',
  ],
  [
    'a comment that is gone at once is made again',
    'if (!wasThere || !isMissing(thrown))',
    'if (!isMissing(thrown))',
  ],
  ['labels have one case', 'labels.has(each.toLowerCase())', 'labels.has(each)'],
  [
    'nobody says what the agent changed',
    "=== 'pr-opened' && needsGitHub(",
    "=== 'pr-opened' && !needsGitHub(",
  ],
  ['a library writes to the log', ', log: quiet },', ' },'],
  [
    'no link is remembered',
    '[jobId, link, run, attempt, state, fingerprint])',
    "[jobId, '', run, attempt, state, fingerprint])",
  ],
  ['an update of the branch is paid again', ".replace(/\\n@@[^\\n]*/g, '\\n@@')", ''],
  ['a label asks for nothing', 'isNews || push === undefined', 'isNews'],
  ['an edited title is nothing new', 'inputs.context, words, parts])', 'inputs.context, parts])'],
  [
    'a file more is nothing new',
    'inputs.context, words, parts])',
    'inputs.context, words, parts[0]])',
  ],
  [
    'a job that failed is waited for',
    'if (unusable !== undefined)',
    'if (unusable !== undefined && isAsked)',
  ],
  ['docs that were merged are told as new', "pull === 'merged' && isDone", 'false'],
  [
    'a re-run reports what was closed',
    'unusable === undefined && !isOver',
    'unusable === undefined',
  ],
  [
    'a message that an ended job refuses is sent until the deadline',
    '!(replaceable && conflicts + 1 >= MAX_CONFLICTS)',
    'true',
  ],
  // What is not sent, and why.
  ['a late list is believed', 'isListOf(late, data)', 'false'],
  ['a search is believed', '[...items, ...found.flatMap', '[...found.flatMap'],
  ['older runs are not listed', 'isFound ? 1 : PAGES', '1'],
  ['a branch that was renamed is another', 'isScheduled || getString', 'getString'],
  [
    'the oldest run that succeeded is the mark',
    'other.id - one.id); const ids',
    'one.id - other.id); const ids',
  ],
  ['runs after this one are counted', 'id <= Number(environment.runId)', 'true'],
  ['a run that failed is the mark', "getString(run, 'conclusion') === 'success' &&", ''],
  [
    'a run on another branch is the mark',
    "(isScheduled || getString(run, 'head_branch') === branch) &&",
    '',
  ],
  ['a run of a pull request is the mark', 'RUN_EVENTS.includes(event) &&', ''],
  [
    "a fork's run is the mark",
    "getString(run, 'head_repository.full_name').toLowerCase() === repository.toLowerCase() &&",
    '',
  ],
  ['a workflow whose runs were deleted has had none', 'runNumber <= count', 'true'],
  [
    'a branch that went back has nothing new',
    "mayBeBehind && relation === 'behind'",
    "relation === 'behind'",
  ],
  ['rewritten history has nothing new', 'gap: REWRITTEN', "kind: 'none'"],
  ['who presses the button gets nothing', 'isWanted || hasWords ?', 'hasWords ?'],
  ['an issue that is named has no words', "thread !== undefined && context !== 'none'", 'false'],
  ['a branch with commits is a new one', "getPath(payload, 'commits.length') !== 0", 'false'],
  [
    'nothing new counts on each event',
    "isByHand || (name !== 'schedule' && contextPaths.length === 0)",
    'false',
  ],
  ['commits that GitHub does not list are by nobody', 'commits?.complete &&', 'commits &&'],
  ['each commit counts as a merge', 'isMerge || skipAuthors.has(', 'true || skipAuthors.has('],
  [
    'a list that is unknown skips',
    "case 'unknown': return noteMissing(inputs, changes)",
    "case 'unknown': return skip('none')",
  ],
  ['a comparison is never cut', 'files.length >= COMPARE_LIMIT', 'false'],
  ['a new name alone counts', '[path, previousPath];', '[path];'],
  ['paths count whoever asks', 'if (isByHand) return undefined; const first', 'const first'],
  ['docs of a failed job count as done', "job.status === 'failed'", 'false'],
  ["an issue's docs that were closed are wanted by nobody", "isDone || push === 'own'", 'true'],
  ['docs that were merged end it', "pull === 'merged' && isDone", "pull === 'merged' && push"],
  [
    'docs that were closed end it',
    "pull === 'closed' && (isDone || push === 'own')",
    "pull === 'closed'",
  ],
  ['each event is a push', "action !== 'synchronize' ||", ''],
  ['a file without a diff has no content', "...(isMoved && { patch: '' })", "patch: '-'"],
  [
    'a first commit that is theirs makes a push theirs',
    'others.length === 0',
    'others.length < commits.length',
  ],
  [
    'whoever pushes is the cause',
    "name !== 'push' || sender.toLowerCase() ===",
    'true || sender ===',
  ],
  ['a push is of merges', 'data.parents.length < 2', 'data.parents.length < 1'],
  ['a label in a group is ignored', 'isKnown ? [] : await', 'true ? [] : await'],
  [
    'what a message names has a label',
    'pulls.filter((pull) => isMergedBy(',
    'pulls.filter((pull) => true || isMergedBy(',
  ],
  ['nobody is told that labels do not count', 'if (!isKnown && group.length === 0)', 'if (false)'],
  ['the label of another moment counts', 'labelled !== undefined', 'inputs.skipLabels.size > 0'],
  ['writers may not start jobs', "'admin', 'write'", "'admin'"],
  ['a schedule is anybody', "'release', 'schedule',", "'release',"],
  ['allow-users is for nobody', '!allowed.has(login.toLowerCase())', 'true'],
  [
    'a bot names no pull request',
    '(?:auto )?merge (?:pull request |PR |of )?#',
    'merge pull request #',
  ],
  [
    'a new job is not told of the open docs pull request',
    'previousLink ? askToContinue(previousLink)',
    'false ? askToContinue(previousLink)',
  ],
  [
    'a lost message is told once',
    "= ['sending', 'unknown'].includes(state);",
    "= state === 'sending';",
  ],
  ['who waits does not say why', "context.tell({ kind: 'noted', text, level: 'log' });", ''],
  ['a push has no news', 'isAsked = isNews ||', 'isAsked ='],
  ['a comment that quotes one is its own', '[0-9a-f]{32}) -->\\s*$/', '[0-9a-f]{32}) -->/'],
  ['a merge is work of a person', 'isMerge || skipAuthors.has(', 'skipAuthors.has('],
  [
    'nothing is remembered of what was sent',
    "fingerprint: isKept ? request.fingerprint : ''",
    "fingerprint: ''",
  ],
  ['the agent starts docs jobs by its own work', 'commits.commits.every(isSkipped)', 'false'],
  ['what has nothing to compare with is paid', 'isWanted || hasWords ?', 'true ?'],
  ['a newcomer pays for no changes', "isByHand && context !== 'diff'", 'isByHand'],
  ['a docs-token expires unseen', 'if (pull.isTokenRefused)', 'if (false)'],
  ['a re-run is paid again', "state === 'pr-opened' && link !== ''", 'false'],
  ['a lost comment is made again', 'items.find(({ body }) => body.includes(mark))', 'undefined'],
  // GitHub.
  ['a repository that was renamed is not found', 'target?.origin === origin &&', 'false &&'],
  ['compressed answers are not read', "received.get('content-encoding') === 'gzip'", 'false'],
  // Access.
  ['a stranger comments', '...others.map((login) =>', '...[].map((login) =>'],
  ['readers may start jobs', "'admin', 'write'", "'admin', 'write', 'read'"],
  [
    'reopening asks nobody',
    "(action === 'synchronize' || isApp)",
    "(action !== 'opened' || isApp)",
  ],
  [
    'a push is consent to the words of whoever opened it',
    'return authorBehind(event, first);',
    'return [];',
  ],
  [
    'so is one to a fork',
    "(event.action === 'synchronize' ? authorBehind(event, first) : [])",
    '[]',
  ],
  ['the agent starts jobs of its own', 'isCause && isListed(sender)', 'false'],
  // The prompt.
  [
    'what no path matches is asked for',
    '{ contextPaths }).length > 0',
    '{ contextPaths }) !== undefined',
  ],
  [
    'an event has no title',
    'number, title, author=user.login, state, draft, merged, ',
    'number, state, draft, merged, ',
  ],
  ['diffs come with any context', "level === 'diff' ? writeDiffs(", 'true ? writeDiffs('],
  ['a key is in the context', 'redact(prompt.slice(text.length))', 'prompt.slice(text.length)'],
  [
    'a context that nobody asked for is sent',
    "inputs.context === 'none' || findings ===",
    'findings ===',
  ],
  ['the changes are not sent', 'findings = needsChanges', 'findings = false'],
  [
    'what happened is outside of the fence',
    'fence.around(shorten(safe, available))',
    '...shorten(safe, available)',
  ],
  ['names of files are outside of the fence', '[fixed, fence.around(kept),', '[fixed, ...kept,'],
  ['diffs are outside of the fence', "'## Diffs', fence.around(kept)", "'## Diffs', ...kept"],
  ["the user's words are cut", '[task.prompt, ...more]', '[task.prompt.slice(0, -1), ...more]'],
  // The changes, whole.
  ['a comparison that GitHub cut is sent as it is', 'halves === undefined || left < 2', 'true'],
  ['diffs that GitHub left out are not asked for', 'truncated || isCut', 'truncated'],
  [
    'a commit of many files has those of its first page',
    'Math.min(requests, FILES_LIMIT / FILES_PAGE)',
    '1',
  ],
  [
    'what was changed back comes with the parts of a range',
    'if (!truncated) return { files: known, truncated };',
    '',
  ],
  [
    'the middle of a range is on a branch that was merged',
    '[...wayTo(own[0]), sha]',
    '[...wayTo(own.at(-1)), sha]',
  ],
  [
    'of a file that was changed twice, the last change is sent',
    'before === undefined ? file : add(before, file)',
    'file',
  ],
  ['diffs that GitHub did not send are not counted', 'unsent > 0', 'false'],
  [
    'diffs that were left out for length are not counted',
    'omit(`The diffs of ${omitted} were left out for length.`, isAll);',
    '',
  ],
  [
    'names of files take the room of the diffs',
    'writeFileList(changes, context, fence, Math.min(room, SECTION_LIMIT), omit)',
    'writeFileList(changes, context, fence, room, omit)',
  ],
  [
    'a file that was never renamed counts whatever it is called',
    "previousPath !== '' && { previousPath }",
    '{ previousPath }',
  ],
  ['a folder that is excluded is in the prompt', 'filesThatCount(all, inputs)', 'all'],
  ['a higher version came before a lower one', 'numeric: true }) < 0', 'numeric: true }) !== 0'],
  ['the tenth version came before the second', "'en', { numeric: true })", "'en')"],
  ["another package's release came before", 'prefixOf(tag) === prefixOf(than) &&', ''],
  ['a dash makes a pre-release', '/\\d\\.\\d+\\.\\d+-/', '/-/'],
  [
    'a final release has only what came after its candidate',
    'preRelease || !release.prerelease',
    'true',
  ],
  ["a moment's 404 of a commit is believed", '!mayBeGone && isMissing(answer) &&', 'false &&'],
  [
    'a list of pull requests that is empty for a moment is believed',
    "getPath(answer, 'length') === 0",
    'false',
  ],
  [
    'pull requests that are turned off are not accessible',
    'if (hasNoPulls(known?.data))',
    'if (false)',
  ],
  // What is lost, or promised.
  [
    'what the agent adds to docs that were merged is lost without a word',
    "isEnded = isContinued && (state === 'merged' || state === 'closed')",
    'isEnded = false',
  ],
  ['what was cut off by a merge is not sent again', "&& docs.endedEarly !== 'merged'", ''],
  [
    'a re-run that sends is promised to wait',
    "facts.request.kind !== 'none' && memory === 'stored'",
    "facts.request.kind === 'waiting' || memory === 'stored'",
  ],
  ['of two comments, the older one counts', 'own.sort((one, other) => other.id - one.id)', 'own'],
  [
    "a push to another pull request closes an issue's docs",
    '[undefined, pullRequest.number].includes(inputs.issueNumber)',
    'true',
  ],
  // The machine.
  ['pr-number is empty', "'pr-number': number", "'pr-number': ''"],
  ['a full disk is not told', 'failure === undefined || alreadyReported ?', 'true ?'],
  ['a log that nobody reads ends the step', "process.stdout.on('error', () => undefined);", ''],
  [
    'an exception that nobody caught ends without a word',
    'runner.onUncaughtException(endNow)',
    'void endNow',
  ],
  // Secrets and texts.
  ['nothing is redacted', 'createRedactor(...secrets)', 'createRedactor()'],
  ['one secret is not masked', 'of secrets) runner.mask(', 'of secrets.slice(0, -1)) runner.mask('],
  ['text from outside is a command', '=> escapeCommands(redact(text));', '=> redact(text);'],
  [
    'fail-on fails no step',
    '!failsStep(result.outcome, this.#options.inputs.failOn)',
    '!result.error',
  ],
  ['bad input does not end the step', 'if (inputProblem !== undefined)', 'if (false)'],
  ['a dry run sends the prompt', 'if (!inputs.dryRun) return await', 'if (true) return await'],
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
  const literal = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(text.split(/\s+/).map(literal).join('\\s+'), 'g')
}
