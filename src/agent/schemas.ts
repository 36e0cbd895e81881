/** The shapes of what the service responds with. Other fields are ignored. */

import * as z from 'zod/mini'
import { isId } from '../text/safe.js'

/** The API declares no field as required: `id` and `status` are. [send.job.required] */
export const jobSchema = z.object({
  id: z.string().check(z.refine(isId)),
  status: z.string(),
  /** What is no text is none that can be passed on, and told as that. */
  prLink: z.catch(z.nullish(z.string()), 'no text'),
  /** It is only compared: another one is another end, whatever it looks like. */
  archivedAt: z.optional(z.unknown()),
})

/** The service sends a job like this. */
export type ReceivedJob = z.infer<typeof jobSchema>

const words = z.catch(z.string(), '')

/** A gateway may have the message alone, such as Amazon's `{"message": "Forbidden"}`. */
export const errorSchema = z.catch(z.object({ error: words, message: words }), {
  error: '',
  message: '',
})
