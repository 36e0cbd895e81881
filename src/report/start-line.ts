/** Writes the first line of the log: what is asked for, and where. Pure. */

import type { Inputs } from '../inputs/inputs.js'
import type { Task } from '../run/task.js'
import { oneLine, quote } from '../text/escape.js'
import { formatCount } from '../text/format.js'

export function formatStartLine(task: Task, { projectId, baseUrl, wait, dryRun }: Inputs): string {
  const where = `in project ${quote(projectId)} at ${oneLine(baseUrl)}`
  const say = (would: string, now: string) => (dryRun ? `Dry run: would ${would}` : now)
  switch (task.kind) {
    case 'create': {
      const what = say('create a docs job', 'Creating a docs job')
      return `${what} ${where}, with a prompt of ${describeSize(task.prompt)}.`
    }
    case 'message': {
      const what = say('send a message', 'Sending a message')
      return `${what} of ${describeSize(task.prompt)} to docs job ${quote(task.jobId)} ${where}.`
    }
    case 'attach': {
      const what = wait ? say('wait for', 'Waiting for') : say('check', 'Checking')
      return `${what} docs job ${quote(task.jobId)} ${where}; nothing is sent to it.`
    }
  }
}

function describeSize(text: string): string {
  return `${formatCount(text.length, 'character')} (${formatCount(Buffer.byteLength(text), 'byte')})`
}
