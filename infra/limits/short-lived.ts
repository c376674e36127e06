/**
 * Values that live for minutes and are used once: verification codes, OAuth states. Methods reject
 * with `ShortLivedUnavailable` when the values can't be reached: then nobody gets in by one.
 */
export interface ShortLived {
  /** Replaces an older value of the same kind and key, and its tries. */
  put(kind: string, key: string, value: string, ttlMs: number): Promise<void>
  /** The value, to one asker alone, however many ask at once; null when there is none. */
  take(kind: string, key: string): Promise<string | null>
  peek(kind: string, key: string): Promise<string | null>
  /**
   * Counts a try at the value, made before it is compared. How many are left after this one; null
   * when there is no value, or this would be more than `max`: then it is void for good.
   */
  countTry(kind: string, key: string, max: number): Promise<number | null>
}

export class ShortLivedUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('short-lived values can not be reached', options)
    this.name = 'ShortLivedUnavailable'
  }
}
