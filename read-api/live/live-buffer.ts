import type { LiveMessage, LiveTopic } from '../contract/live.ts'
import type { Viewer } from '../logs/log-response.ts'

/** One change of the read models, with the live socket's message for each kind of viewer. */
export type LiveItem = {
  readonly topic: LiveTopic
  readonly position: number
  /**
   * The user who receives the item. null means only admins. `each` means all users for whom
   * `textFor` returns a text.
   */
  readonly ownerId: number | null | 'each'
  /** True if only the owner receives the item. Otherwise, admins receive the item as well. */
  readonly isPrivate?: boolean
  /** The approximate size in memory in bytes, for items that may be large. */
  readonly weight?: number
  /** Returns the message for a viewer, or null. */
  readonly textFor: (viewer: Viewer, userId: number) => string | null
}

const ITEMS_MAX = 4_096
const WEIGHT_MAX = 32 * 1024 * 1024

/**
 * The latest items after the position `from`, in ascending order. All sockets share the buffer, so
 * that items for slow clients are stored only once.
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

  /** The position up to which the buffer contains all items. */
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
   * Returns the number of oldest items that must be removed to keep the limits of items and memory.
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

  /** Yields the items after a position, which must be `from` or later. */
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

/** Returns a function that creates the text of a message once for each kind of viewer. */
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
