/** A text for readers at GitHub with the step's state hidden in it: found, created and edited, in a comment or a check run. */

import type { RunEnvironment } from '../event/event.js'
import type { How, Pages } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import type { StatusUpdate } from '../run/status-update.js'
import {
  createMarker,
  type Identity,
  isOfOtherStep,
  type MarkerKeys,
  readMarker,
  type StoredState,
} from './marker.js'

/** A text that may be this step's. */
export interface StoredText {
  readonly id: number
  /** Where the marker may be: anywhere in a comment, in the first line of a check's text. */
  readonly markers: string
  /** What the step that created it wrote into it, to find it again. */
  readonly nonce: string
  /** Ends a check run that is still in progress. */
  readonly conclude?: (how: How) => Promise<void>
}

/** Where texts are kept. */
export interface Place {
  readonly kind: 'comment' | 'check'
  list(how: How): Promise<Pages<StoredText>>
  /** Creates a text without a marker, because the marker needs its id. */
  create(update: StatusUpdate, nonce: string, how: How): Promise<number>
  edit(id: number, update: StatusUpdate, marker: string | undefined, how: How): Promise<void>
}

export interface Found {
  /** What an earlier step stored. */
  readonly state: StoredState | undefined
  /** A text claims to be this step's but can't be verified. */
  readonly unverified: boolean
  /** There are more texts than were read. */
  readonly truncated: boolean
}

export const NOTHING_FOUND: Found = { state: undefined, unverified: false, truncated: false }

interface StoreOptions {
  readonly place: Place
  readonly run: RunEnvironment
  readonly identity: Identity
  /** Undefined if nothing can be stored, because the key is missing. */
  readonly markerKeys: MarkerKeys | undefined
  /** Random hexadecimal digits. */
  readonly nonce: string
}

export class Store {
  readonly kind: Place['kind']
  readonly #options: StoreOptions
  #id: number | undefined
  /** The check runs of earlier attempts that died. */
  #dead: readonly StoredText[] = []
  /** A text was to be created, and no response said that it was. */
  #mayExist = false

  constructor(options: StoreOptions) {
    this.#options = options
    this.kind = options.place.kind
  }

  async find(how: How): Promise<Found> {
    const { place, run, identity, markerKeys } = this.#options
    if (markerKeys === undefined) return NOTHING_FOUND
    const { items, truncated } = await place.list(how)
    const texts = items.map((text) => ({
      ...text,
      state: readMarker(text.markers, text.id, identity, markerKeys),
    }))
    const own = texts
      .flatMap(({ state, ...text }) => (typeof state === 'object' ? [{ ...text, state }] : []))
      // Another run on the same commit has a check run of its own; the comment is the same for all runs.
      .filter(({ state }) => this.kind === 'comment' || state.run === run.runId)
      // If two runs raced and created two comments, the newer one wins.
      .sort((one, other) => other.id - one.id)
    this.#dead = own.filter(({ conclude, state }) => conclude && state.attempt < run.runAttempt)
    if (this.kind === 'comment') this.#id = own[0]?.id
    // In a first attempt, the unverified checks of this name belong to other steps.
    const mayBeOwn = this.kind === 'comment' || run.runAttempt > 1
    const unverified = mayBeOwn && texts.some(({ state }) => state === 'unverified')
    return { state: own[0]?.state, unverified, truncated }
  }

  /** Whether a comment is this step's own, the one that was found or one with its marker; or that of another step. */
  isByAction(id: number, text: string): boolean {
    const { identity, markerKeys } = this.#options
    if (id === this.#id || isOfOtherStep(text, identity)) return true
    return markerKeys !== undefined && typeof readMarker(text, id, identity, markerKeys) === 'object'
  }

  /** Creates or replaces the text and the state. Without a state, what was stored before keeps counting. */
  async write(update: StatusUpdate, state: StoredState | undefined, how: How): Promise<void> {
    const { identity, markerKeys } = this.#options
    await this.#concludeDead(how)
    if (this.#mayExist) this.#id ??= (await this.#findCreated(how))?.id
    if (state === undefined || markerKeys === undefined) {
      // Nothing to remember: one request is enough.
      if (this.#id === undefined) this.#id = await this.#create(update, how)
      else await this.#options.place.edit(this.#id, update, undefined, how)
      return
    }
    const edit = async (): Promise<void> => {
      this.#id ??= await this.#create({ ...update, ...update.beforeSending, conclusion: undefined }, how)
      const id = this.#id
      await this.#options.place.edit(id, update, createMarker(state, id, identity, markerKeys), how)
    }
    const existed = this.#id !== undefined
    await edit().catch((thrown) => {
      const wasDeleted = existed && thrown instanceof GitHubError && thrown.status === 404
      if (!wasDeleted) throw thrown
      this.#id = undefined
      return edit()
    })
  }

  /** If the response to a creation is lost, the text is found by its nonce instead of being created twice. */
  async #create(update: StatusUpdate, how: How): Promise<number> {
    const { place, nonce } = this.#options
    this.#mayExist = true
    const id = await place.create(update, nonce, { ...how, find: () => this.#findCreated(how) })
    this.#mayExist = false
    return id
  }

  async #findCreated(how: How): Promise<StoredText | undefined> {
    const { place, nonce } = this.#options
    const { items } = await place.list({ ...how, required: false })
    return items.find((text) => text.nonce === nonce)
  }

  /** Ends the check runs of earlier attempts that died. Nothing depends on it, so GitHub's errors are ignored. */
  async #concludeDead(how: How): Promise<void> {
    const dead = this.#dead
    this.#dead = []
    for (const text of dead) {
      await text.conclude?.({ ...how, required: false }).catch((thrown) => {
        if (!(thrown instanceof GitHubError)) throw thrown
      })
    }
  }
}
