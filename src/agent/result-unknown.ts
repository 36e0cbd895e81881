/**
 * What the user reads if the result of a request is unknown. A step that ends while it is in flight
 * needs this alone.
 */

import { ActionError, WHERE_TO_LOOK } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { SubmitRequest } from './client.js'

export const ENDED_FIRST = 'the step ended before a response arrived'

/** The request may have been accepted: it is never sent again. [send.unknown] */
export function resultUnknown(
  request: SubmitRequest,
  reason: string,
  { cause, isPage = false }: { cause?: unknown; isPage?: boolean } = {},
): ActionError {
  const [what, mayBe, advice] =
    request.kind === 'create'
      ? [
          'create request',
          'A docs job may exist',
          `${LOOK_FIRST} To wait for a docs job that you find, run a step with its job-id and no prompt.`,
        ]
      : [
          `message to docs job ${quote(request.jobId)}`,
          'The docs job may have received it',
          'The message was not retried: the docs job might then do the work twice. To check on it, run a step with this job-id and no prompt.',
        ]
  const message = `The ${what} was sent, but its result is unknown: ${reason}. ${mayBe}.`
  const ask = isPage ? ASK_NETWORK : ''
  return new ActionError('create-unknown', message, joinSentences(ask, advice), { cause })
}

export const LOOK_FIRST = `The request was not retried: that could create a second docs job. Before you re-run or start a new run, look ${WHERE_TO_LOOK}.`

export const ASK_NETWORK =
  'Check base-url. If it is right, ask whoever runs the network: a firewall, a proxy or a sign-in page may have answered in place of the service.'
