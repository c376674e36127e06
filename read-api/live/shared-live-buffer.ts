import type { LiveMessage, LiveTopic } from '../contract/live-messages.ts'
import type { Viewer } from '../logs/log-response.ts'

/** A change of data that is sent to live sockets. Different viewers may receive different texts. */
export type LiveItem = {
  readonly topic: LiveTopic
  readonly position: number
  /**
   * The receivers of the item:
   * - a user id: this user, and admins unless `isPrivate` is set.
   * - `null`: admins.
   * - `auditors`: admins and auditors.
   * - `each`: all users for whom `textFor` returns a text.
   */
  readonly ownerId: number | null | 'each' | 'auditors'
  /** True if a user's data was erased. Earlier items in the buffer may contain this data. */
  readonly isErasure?: boolean
  /** True if only the owner receives the item, and admins do not receive it. */
  readonly isPrivate?: boolean
  /**
   * The approximate size of the item in memory, in bytes. Set only for tasks and entries of the
   * audit log, which can be large.
   */
  readonly weight?: number
  /** Returns the message for a user as JSON text, or null if the user receives no message. */
  readonly textFor: (viewer: Viewer, userId: number) => string | null
}

const ITEMS_MAX = 4_096
const WEIGHT_MAX = 32 * 1024 * 1024

/**
 * The latest items, in ascending order of their positions. The buffer contains all items with
 * positions after `from`, up to `upTo`. All sockets share one buffer, so items for slow clients are
 * stored only once.
 */
export class LiveBuffer {
  #items: LiveItem[] = []
  #weight = 0
  #from: number
  #upTo: number

  constructor(position: number) {
    this.#from = position
    this.#upTo = position
  }

  get from(): number {
    return this.#from
  }

  /** The event position up to which the buffer contains all items. */
  get upTo(): number {
    return this.#upTo
  }

  extend(items: readonly LiveItem[], upTo: number): void {
    this.#items.push(...items)
    this.#upTo = upTo
    for (const { weight = 0 } of items) this.#weight += weight
    const dropped = this.#items.splice(0, this.#excess())
    for (const { weight = 0 } of dropped) this.#weight -= weight
    this.#from = dropped.at(-1)?.position ?? this.#from
  }

  /**
   * Removes all items, because a user's data was erased and the items may contain parts of this
   * data. If a client has not received all of the removed items, the client is told to read its
   * data again.
   */
  clear(): void {
    this.#items = []
    this.#weight = 0
    this.#from = this.#upTo
  }

  /**
   * Returns the number of the oldest items that must be removed, so that the number of remaining
   * items and their total size are within the limits.
   */
  #excess(): number {
    let count = Math.max(0, this.#items.length - ITEMS_MAX)
    let left = this.#weight
    for (const { weight = 0 } of this.#items.slice(0, count)) left -= weight
    while (left > WEIGHT_MAX) {
      left -= this.#items[count]?.weight ?? 0
      count += 1
    }
    return count
  }

  /**
   * Yields the items with higher positions than `position`. `position` must not be lower than
   * `from`, because earlier items are no longer in the buffer.
   */
  *after(position: number): Generator<LiveItem> {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#items[middle]?.position ?? 0) > position) high = middle
      else low = middle + 1
    }
    for (let index = low; index < this.#items.length; index += 1) {
      const item = this.#items[index]
      if (item !== undefined) yield item
    }
  }
}

/**
 * Returns a function that returns the text of a message for a viewer. The text is created once for
 * each kind of viewer (admin or not, and language), and stored for later calls.
 */
export function cachedText(message: (viewer: Viewer) => LiveMessage): (viewer: Viewer) => string {
  const texts = new Map<string, string>()
  return (viewer) => {
    const key = `${viewer.isAdmin}${viewer.language}`
    const cached = texts.get(key)
    if (cached !== undefined) return cached
    const text = JSON.stringify(message(viewer))
    texts.set(key, text)
    return text
  }
}
