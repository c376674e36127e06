import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { LatestIds } from './latest-ids.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import type { TranscriptionTerms } from './settings-in-force.ts'

/** The maximum number of items of a session whose transcriptions have not arrived. */
const ITEMS_MAX = 1_000

/** An item whose transcription has not arrived. */
export type AwaitedItem = {
  /**
   * The length of the item's audio in bytes of PCM of 24 kHz; null if the item is not yet
   * committed.
   */
  readonly bytes: number | null
  /** The estimated number of tokens of the text that the caller has already received. */
  textTokens: number
  /**
   * The estimated number of tokens of the text that the caller has received in segments. The same
   * text may also have arrived outside of segments and be counted in `textTokens`.
   */
  segmentTokens: number
  /** The terms with which the item is transcribed. */
  readonly terms: TranscriptionTerms
}
export const NO_TEXT = { textTokens: 0, segmentTokens: 0 }

export const isId = (id: unknown): id is string => typeof id === 'string' && id !== ''

/**
 * The items of a session whose transcriptions have not arrived. Some providers leave out the ids of
 * items. An event without an id belongs to the oldest committed item or, if no item is committed,
 * to the oldest item, because transcriptions arrive in the order of their items. An event with an
 * unknown id belongs to the oldest item without an id.
 */
export class AwaitedTranscriptions {
  private readonly items = new Map<string, AwaitedItem>()
  /** The keys of items without an id. These keys contain a space, so they differ from all ids. */
  private readonly unnamed = new Set<string>()
  private unnamedCount = 0
  /**
   * The first item beyond `ITEMS_MAX`, which makes the session end. The audio of this item is
   * charged when the session ends.
   */
  private beyond: AwaitedItem | null = null
  /** The ids of the latest transcriptions that were charged or have failed. */
  private readonly done = new LatestIds(ITEMS_MAX)
  /** The terms of the item that was added last, or null if none was added. */
  lastTerms: TranscriptionTerms | null = null

  get all(): readonly AwaitedItem[] {
    return this.beyond === null ? [...this.items.values()] : [...this.items.values(), this.beyond]
  }

  /** Counts a piece of a transcription for the item to which it belongs. */
  addText({ item_id, delta, text }: ServerEvent): void {
    const item = this.get(this.keyOf(item_id) ?? '')
    if (item !== undefined && typeof delta === 'string') item.textTokens += estimateTokens(delta)
    if (item !== undefined && typeof text === 'string') item.segmentTokens += estimateTokens(text)
  }

  get size(): number {
    return this.items.size
  }

  /** Reports whether the transcription of this item was charged or has failed. */
  hasEnded(id: unknown): boolean {
    return isId(id) && this.done.has(id)
  }

  /**
   * Returns the key of the item to which an event belongs, or undefined if there is none. `id` is
   * the item id in the event, which may be missing.
   */
  keyOf(id: unknown): string | undefined {
    if (isId(id)) {
      if (this.items.has(id)) return id
      return this.done.has(id) ? undefined : this.unnamed.values().next().value
    }
    const all = [...this.items]
    const [key] = all.find(([, { bytes }]) => bytes !== null) ?? all[0] ?? []
    return key
  }

  get(key: string): AwaitedItem | undefined {
    return this.items.get(key)
  }

  /**
   * Adds an item that was committed, or whose text has begun to arrive. Returns null, or the error
   * with which the session must end if too many transcriptions have not arrived. Without this
   * limit, the list of items could fill the memory, and items that are not in the list could not be
   * charged.
   */
  add(id: unknown, item: AwaitedItem): RelayError | null {
    if (this.hasEnded(id)) return null
    const begun = isId(id) && this.items.has(id) ? id : this.begun(isId(id))
    const existing = begun === undefined ? undefined : this.items.get(begun)
    if (existing !== undefined && existing.bytes !== null) return null
    this.lastTerms = item.terms
    if (existing === undefined && this.items.size >= ITEMS_MAX) {
      this.beyond = item
      const subject = `${ITEMS_MAX} transcriptions (this session)`
      return relayError('too_many_concurrent', { subject })
    }
    const { bytes, terms } = item
    const key = isId(id) ? id : (begun ?? this.newKey())
    if (begun !== undefined && begun !== key) this.delete(begun)
    this.items.set(key, { ...(existing ?? item), bytes, terms })
    return null
  }

  /**
   * Returns the key of the oldest item whose text has begun to arrive before its commit. If
   * `isUnnamed` is true, only items without an id are considered.
   */
  private begun(isUnnamed: boolean): string | undefined {
    const keys = isUnnamed ? [...this.unnamed] : [...this.items.keys()]
    return keys.find((key) => this.items.get(key)?.bytes === null)
  }

  private newKey(): string {
    this.unnamedCount += 1
    const key = `item ${this.unnamedCount}`
    this.unnamed.add(key)
    return key
  }

  delete(key: string): void {
    this.items.delete(key)
    this.unnamed.delete(key)
  }

  /**
   * Remembers that the transcription of an item was charged or has failed. `id` is the item id in
   * the provider's event, and `key` the key of the item to which the event belongs (see `keyOf`).
   * The id and the key differ if the event or the item has no id. Both are remembered, because
   * later events may contain either of them.
   */
  noteEnded(id: unknown, key?: string): void {
    for (const ended of [id, key]) if (isId(ended)) this.done.add(ended)
  }

  clear(): void {
    this.items.clear()
    this.unnamed.clear()
    this.beyond = null
  }
}
