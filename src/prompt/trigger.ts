/** Describes what triggered the run, for the prompt. Pure. */

import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Trigger } from './compose.js'

export function describeTrigger(run: RunEnvironment, event: RunEvent): Trigger {
  const facts = event.pullRequest === undefined ? commitFacts(run, event) : pullRequestFacts(event)
  return {
    event: event.name,
    repository: run.repository,
    summary:
      event.action === '' ? `Triggered by ${event.name}.` : `Triggered by ${event.name} (${event.action}).`,
    facts: Object.entries(facts)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => ({ name, value })),
  }
}

function pullRequestFacts({ pullRequest, comment }: RunEvent): Record<string, string> {
  if (pullRequest === undefined) return {}
  const { number, title, author, url, base, head, body } = pullRequest
  return {
    number: String(number),
    title,
    author,
    link: url,
    base,
    head,
    body,
    ...(comment && { 'comment by': comment.author, comment: comment.body }),
  }
}

function commitFacts({ ref, sha }: RunEnvironment, { push }: RunEvent): Record<string, string> {
  const commits = push?.commits.map((commit) => `${commit.sha.slice(0, 7)} ${commit.message}`) ?? []
  return { ref, commit: sha, sender: push?.sender ?? '', commits: commits.join('\n') }
}
