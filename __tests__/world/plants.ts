/** Bugs to plant in the compiled code, one at a time: the simulation has to notice each. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface Plant {
  readonly name: string
  /** Stands once in `build/src`, in whatever file; each blank for any white space. */
  readonly text: string
  readonly becomes: string
}

export const PLANTS: readonly Plant[] = [
  // What is sent again.
  {
    name: 'a 503 counts as refused',
    text: 'if (status >= 500 || status === 303) return failUnknown(',
    becomes: 'if ((status >= 500 && status !== 503) || status === 303) return failUnknown(',
  },
  {
    name: 'a create is sent again after a reset',
    text: "case 'no-response': return failUnknown(result.reason, result.cause);",
    becomes:
      "case 'no-response': return { next: 'retry', error: failUnknown(result.reason).error, backoff: { retryAfterMs: undefined, capMs: 10_000 } };",
  },
  {
    name: 'a redirect that says that it was done counts as refused',
    text: 'if (status >= 500 || status === 303) return failUnknown(',
    becomes: 'if (status >= 500) return failUnknown(',
  },
  {
    name: 'a POST goes on a connection that was used',
    text: "if (request.method === 'POST') close();",
    becomes: '',
  },
  {
    name: 'Retry-After is not waited for after a 429',
    text: 'const minDelayMs = Math.max(retryAfterMs, 1000);',
    becomes: 'const minDelayMs = Math.max(retryAfterMs / 2, 1000);',
  },
  {
    name: 'polls ignore Retry-After',
    text: 'return retry(reason, parseRetryAfter(result.retryAfter, date));',
    becomes: 'return retry(reason);',
  },
  // What is believed.
  {
    name: 'a 404 is believed at once',
    text: 'const REFUSED_TRIES = 4;',
    becomes: 'const REFUSED_TRIES = 1;',
  },
  {
    name: 'a refusal is believed after three',
    text: 'const REFUSED_TRIES = 4;',
    becomes: 'const REFUSED_TRIES = 3;',
  },
  {
    name: 'a job that shows late has no grace',
    text: 'VISIBILITY_GRACE_MS = 30_000;',
    becomes: 'VISIBILITY_GRACE_MS = 0;',
  },
  {
    name: 'a job that ended without a link is not asked for once more',
    text: 'if (!mayHaveLink || deadline.remainingMs() <= LINK_MS) return outcome;',
    becomes: 'return outcome;',
  },
  // Time.
  {
    name: 'a re-run that waits forgets what the service has just said',
    text: 'tools.onJob(task.job);',
    becomes: 'tools.publish();',
  },
  {
    name: "a POST's response is not waited for after the deadline",
    text: 'finalPost: 5_000,',
    becomes: 'finalPost: 0,',
  },
  {
    name: "a POST's response is waited for too long after the deadline",
    text: 'finalPost: 5_000,',
    becomes: 'finalPost: 8_000,',
  },
  {
    name: 'what arrived during a freeze is thrown away',
    text: 'await readArrived();\n                if (!settled',
    becomes: 'if (!settled',
  },
  {
    name: 'a response has half its time',
    text: 'POST: 60_000,',
    becomes: 'POST: 30_000,',
  },
  {
    name: 'polls come too often',
    text: 'return fixedMs ?? Math.min(12_000, Math.max(5_000, elapsedMs / 10)) * (0.9 + random / 5);',
    becomes: 'return (fixedMs ?? 5_000) * random;',
  },
  {
    name: 'there is no last poll at the deadline',
    text: 'return Math.min(2_000, timeoutMs / 20);',
    becomes: 'return 0;',
  },
  {
    name: 'a second signal is not handled',
    text: "signals.second.addEventListener('abort', () => endNow(new Cancelled(report.resultUnknown())));",
    becomes: '',
  },
  {
    name: 'each retry at GitHub waits for 5 s, whatever the deadline',
    text: 'signal === undefined ? deadline.remainingMs() : RETRY_MS);',
    becomes: 'RETRY_MS); await new Promise((resolve) => setTimeout(resolve, 5_000));',
  },
  // Memory.
  {
    name: 'a create does not wait for its placeholder',
    text: 'await tools.writePlaceholder();',
    becomes: 'tools.writePlaceholder().catch(() => undefined);',
  },
  {
    name: "a re-run hides a later run's job",
    text: 'if (isOfLaterRun && !replaces) return;',
    becomes: '',
  },
  {
    name: 'a forged marker counts',
    text: "return isVerified ? parse(data) : 'unverified';",
    becomes: 'return parse(data);',
  },
  {
    name: 'no marker is found',
    text: "const start = text.lastIndexOf('<!-- agent-job-action:2 ');",
    becomes: 'const start = -1;',
  },
  {
    name: 'a comment that cannot be read counts as none',
    text: "const decides = slot.role === 'decides' || runAttempt > 1;",
    becomes:
      "if (slot.role === 'decides') return slot.find(false).catch(() => undefined); const decides = runAttempt > 1;",
  },
  {
    name: 'a re-run starts anew',
    text: 'return await slot.find(decides);',
    becomes: "return slot.role === 'decides' ? await slot.find(decides) : undefined;",
  },
  {
    name: 'a step that looks the same is not refused',
    text: 'refuseSameAttempt(state, context);',
    becomes: ';',
  },
  {
    name: 'the last edits are not waited for',
    text: 'await report.closeStatus(deadline);',
    becomes: 'report.closeStatus(deadline).catch(() => undefined);',
  },
  {
    name: "the step's own comment triggers it",
    text: 'if (await memory.isAbout(event))',
    becomes: 'if (false)',
  },
  {
    name: 'the key before no longer counts',
    text: 'const isVerified = keys.some((key) =>',
    becomes: 'const isVerified = keys.slice(0, 1).some((key) =>',
  },
  // Access.
  {
    name: 'a stranger comments',
    text: "...others.map((login) => ({ login, did: 'wrote the comment, review or answer' })),",
    becomes: '',
  },
  {
    name: 'readers may start jobs',
    text: "const WRITERS = ['admin', 'write'];",
    becomes: "const WRITERS = ['admin', 'write', 'read'];",
  },
  {
    name: 'reopening a pull request asks nobody',
    text: "(action === 'synchronize' || isApp);",
    becomes: "(action === 'synchronize' || action === 'reopened' || isApp);",
  },
  {
    name: 'whoever opened a pull request is not asked when somebody else pushes',
    text: 'if (isPullRequestByWriter(event)) return authorBehind(event, first);',
    becomes: 'if (isPullRequestByWriter(event)) return [];',
  },
  {
    name: 'a push to a pull request from a fork is consent to the words of whoever opened it',
    text: "...(event.action === 'synchronize' ? authorBehind(event, first) : []),",
    becomes: '',
  },
  {
    name: 'the agent starts jobs of its own',
    text: 'if (isListed(sender)) {',
    becomes: 'if (false) {',
  },
  // Secrets and texts.
  {
    name: 'the key is in the summary',
    text: 'replaceFile(path, redact(markdown));',
    becomes: 'replaceFile(path, `${markdown}\\n${process.env["INPUT_API-KEY"]}\\n`);',
  },
  {
    name: 'nothing is redacted',
    text: 'const redact = createRedactor(...secrets);',
    becomes: 'const redact = createRedactor();',
  },
  {
    name: 'one secret is not masked',
    text: 'for (const secret of secrets) runner.mask(secret);',
    becomes: 'for (const secret of secrets.slice(0, -1)) runner.mask(secret);',
  },
  {
    name: 'text from outside is a command',
    text: '=> escapeCommands(redact(text));',
    becomes: '=> redact(text);',
  },
  {
    name: 'what fail-on lists does not fail the step',
    text: 'return progress.result !== undefined && !failsStep(progress.result.outcome, inputs.failOn) ? 0 : 1;',
    becomes:
      "return progress.result !== undefined && progress.result.outcome !== 'error' && progress.result.outcome !== 'cancelled' ? 0 : 1;",
  },
  {
    name: 'a dry run sends the prompt',
    text: 'if (!inputs.dryRun) return await run(',
    becomes: 'if (true) return await run(',
  },
]

/**
 * Plants a bug in a folder of compiled code.
 *
 * @throws Error if its text doesn't stand exactly once in the code
 */
export function plantIn(folder: string, plant: Plant): void {
  const [file, ...others] = filesWith(folder, plant)
  if (file === undefined || others.length > 0)
    throw new Error(`"${plant.name}": not exactly one place in the code has this text: ${plant.text}`)
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
  return files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(patternOf(plant))].map(() => file))
}

function patternOf({ text }: Plant): RegExp {
  const literal = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(text.split(/\s+/).map(literal).join('\\s+'), 'g')
}
