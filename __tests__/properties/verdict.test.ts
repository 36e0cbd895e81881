// What is sent again, in any order of results. Each result alone is in unit/verdict.test.ts.

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { ServiceResult, SubmitRequest } from '../../src/agent/client.js'
import { send } from '../../src/run/send.js'
import { ActionError, Cancelled } from '../../src/text/errors.js'
import { createScriptedRun, jobResult, noJob, noResponse, notSent } from '../unit/scripted-run.js'

const JOB_ID = 'job-1'
const requests = fc.constantFrom<SubmitRequest>({ kind: 'create' }, { kind: 'message', jobId: JOB_ID })
const retryAfters = fc.constantFrom(undefined, '0', '2.5', '100000', 'soon', 'Sat, 01 Mar 2025 12:00:30 GMT')

const jobs = fc
  .record({ id: fc.constantFrom(JOB_ID, 'job-2'), status: fc.constantFrom('active', 'completed') })
  .map(({ id, status }) => jobResult(status, { id }))
const errorResponses = fc
  .record({
    status: fc.oneof(fc.integer({ min: 300, max: 999 }), fc.constantFrom(303, 404, 409, 429)),
    retryAfter: retryAfters,
  })
  .map((fields): ServiceResult => ({ kind: 'error-response', description: `${fields.status}`, ...fields }))
const permanent = fc.constantFrom(
  undefined,
  'server-certificate',
  'proxy-certificate',
  'proxy-authentication',
)

const results: fc.Arbitrary<ServiceResult> = fc.oneof(
  jobs,
  errorResponses,
  fc.constantFrom(noJob, noResponse),
  permanent.map((why) => ({ ...notSent, permanent: why }) as ServiceResult),
  fc.boolean().map((sent): ServiceResult => ({ kind: 'aborted', sent })),
)

/** Written from what a second job costs, not from the code: everything else may have been accepted. */
function isRefused(result: ServiceResult): boolean {
  switch (result.kind) {
    case 'not-sent':
      return true
    case 'aborted':
      return !result.sent
    case 'error-response':
      return result.status < 500 && result.status !== 303
    default:
      return false
  }
}

function mayBeRetried(request: SubmitRequest, result: ServiceResult): boolean {
  if (result.kind === 'not-sent') return result.permanent === undefined
  if (result.kind !== 'error-response') return false
  return result.status === 429 || (result.status === 409 && request.kind === 'message')
}

test('a create request or a message is never sent again if it may have been accepted', async () => {
  await fc.assert(
    fc.asyncProperty(
      requests,
      fc.array(results, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 600_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      async (request, script, timeoutMs, random, replaceable) => {
        const results = [...script, noResponse]
        const { tools, calls } = createScriptedRun(results, { timeoutMs, random })
        const end = await send(request, 'Do it', tools, { replaceable }).then(
          () => 'accepted',
          (thrown: unknown) => thrown,
        )
        const seen = results.slice(0, calls.length)
        for (const earlier of seen.slice(0, -1)) expect(mayBeRetried(request, earlier)).toBe(true)
        const last = seen.at(-1)
        if (last === undefined) throw new Error('Nothing was sent.')
        if (end === 'accepted') expect(['job', 'no-job']).toContain(last.kind)
        else if (end instanceof ActionError) {
          const knows = ['create-unknown', 'contract'].includes(end.code)
          expect(knows || isRefused(last)).toBe(true)
        } else expect(end).toBeInstanceOf(Cancelled)
      },
    ),
    { numRuns: 500 },
  )
})
