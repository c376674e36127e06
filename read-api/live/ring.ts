import type { LiveMessage, LiveTopic } from '../contract/live.ts'
import type { Viewer } from '../logs/log-answer.ts'

/** One thing that happened, as each kind of viewer may see it. */
export type LiveItem = {
  readonly topic: LiveTopic
  readonly position: number
  /** Whose it is; null: for admins alone; `each`: for whomever it has a text. */
  readonly ownerId: number | null | 'each'
  /** True: not for admins who are not its owner. */
  readonly isPrivate?: boolean
  /** About how many bytes it keeps, where that may be many. */
  readonly weight?: number
  /** The message as text, made once per kind of viewer; null: nothing for this one. */
  readonly textFor: (viewer: Viewer, userId: number) => string | null
}

const ITEMS_MAX = 4_096
const WEIGHT_MAX = 32 * 1024 * 1024

/**
 * The latest items, in order, shared by all sockets: what a slow reader has not got yet waits here
 * once for all, not once for each. `from`: everything after this position is in it.
 */
export class Ring {
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

  /** Every item up to here is in it, or was. */
  get upTo(): number {
    return this.#upTo
  }

  extend(items: readonly LiveItem[], upTo: number): void {
    this.#items.push(...items)
    this.#upTo = upTo
    for (const { weight = 0 } of items) this.#weight += weight
    const dropped = this.#items.splice(0, this.#overfull())
    for (const { weight = 0 } of dropped) this.#weight -= weight
    this.#from = dropped.at(-1)?.position ?? this.#from
  }

  /** How many of the oldest there is no room for, by number or by weight. */
  #overfull(): number {
    let count = Math.max(0, this.#items.length - ITEMS_MAX)
    let left = this.#weight
    for (const { weight = 0 } of this.#items.slice(0, count)) left -= weight
    while (left > WEIGHT_MAX) {
      left -= this.#items[count]?.weight ?? 0
      count += 1
    }
    return count
  }

  /** The items after a position that is not before `from`. */
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

/** The text of a message, made once per kind of viewer. */
export function cachedText(message: (viewer: Viewer) => LiveMessage): (viewer: Viewer) => string {
  const texts = new Map<string, string>()
  return (viewer) => {
    const key = `${viewer.isAdmin}${viewer.language}`
    const known = texts.get(key)
    if (known !== undefined) return known
    const text = JSON.stringify(message(viewer))
    texts.set(key, text)
    return text
  }
}
