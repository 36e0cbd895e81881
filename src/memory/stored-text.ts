/** Where texts with a state hidden in them are kept, and what an earlier step left there. */

import type { Pages, RequestMode } from '../github/client.js'
import type { StatusUpdate } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { type Identity, type MarkerKeys, readMarker } from './marker.js'

/** A text that may be this step's. */
export interface StoredText {
  readonly id: number
  /** Where the marker may be: anywhere in a comment, in the first line of a check's text. */
  readonly markers: string
  /** What the step that created it wrote into it, to find it again. */
  readonly nonce: string
}

export interface Place {
  /** What people call it, such as "comment". */
  readonly kind: string
  /**
   * Each attempt of each run creates its own, as a completed check run can't be reopened. Else, all
   * runs share one.
   */
  readonly perAttempt: boolean
  list(mode: RequestMode): Promise<Pages<StoredText>>
  /** Creates a text without a marker, because the marker needs its id. */
  create(update: StatusUpdate, nonce: string, mode: RequestMode): Promise<number>
  edit(
    id: number,
    update: StatusUpdate,
    marker: string | undefined,
    mode: RequestMode,
  ): Promise<void>
}

/** A place, how this step's texts there are signed, and what it may use to read them. */
export interface SignedPlace extends Pick<Step, 'environment' | 'log' | 'note'> {
  readonly place: Place
  readonly identity: Identity
  /** Undefined if nothing can be stored, because the key is missing. */
  readonly markerKeys: MarkerKeys | undefined
  readonly nonce: string
}

/** What an earlier step stored, and the id of the text to edit. */
export async function readEarlier(
  { place, environment, identity, markerKeys, log, note }: SignedPlace,
  mode: RequestMode,
) {
  const { kind, perAttempt } = place
  const { items, truncated } = markerKeys ? await place.list(mode) : { items: [], truncated: false }
  const texts = items.map((text) => ({
    ...text,
    state: markerKeys && readMarker(text.markers, text.id, identity, markerKeys),
  }))
  const own = texts
    .flatMap(({ state, ...text }) => (typeof state === 'object' ? [{ ...text, state }] : []))
    .filter(({ state }) => !perAttempt || state.run === environment.runId)
    // If two runs raced and created two comments, the newer one wins.
    .sort((one, other) => other.id - one.id)
  const [latest] = own
  if (latest === undefined) {
    if (truncated)
      log(`There are too many ${kind}s to read all: one by an earlier run may be among the others.`)
    // In a first attempt, the unverified checks of this name belong to other steps.
    const mayBeOwn = !perAttempt || environment.runAttempt > 1
    if (mayBeOwn && texts.some(({ state }) => state === 'unverified'))
      note(
        `An earlier ${kind} by this step can't be verified. It is ignored, and left as it is. ` +
          'If the key was replaced, set previous-api-key to the one before it.',
      )
  }
  return { before: latest?.state, id: perAttempt ? undefined : latest?.id }
}

/**
 * Creates a text. If the response is lost, the text is found by its nonce instead of being created
 * twice.
 */
export async function createOnce(
  { place, nonce }: SignedPlace,
  update: StatusUpdate,
  mode: RequestMode,
  mayExist: boolean,
): Promise<number> {
  const find = async (): Promise<StoredText | undefined> => {
    const { items } = await place.list({ ...mode, retried: false })
    return items.find((text) => text.nonce === nonce)
  }
  const lost = mayExist ? await find() : undefined
  return lost?.id ?? place.create(update, nonce, { ...mode, find })
}
