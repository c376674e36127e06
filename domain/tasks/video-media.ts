/**
 * The video that a task makes: the request, completed by the defaults of the vendor. The hold
 * covers this video, and the settlement never charges more.
 */
export type VideoMedia = {
  /** The length of the video in seconds. */
  readonly seconds: number
  /**
   * The resolution, such as `720p`. Null if the vendor has only one resolution, or if its price
   * does not depend on the resolution.
   */
  readonly resolution: string | null
  /** The size as requested, such as `1280x720`, or null. */
  readonly size: string | null
  /** Other options that may change the price, such as `pro` and `audio`. */
  readonly options: readonly string[]
  /**
   * The maximum number of tokens that the vendor bills for the video. Omitted if it does not bill
   * tokens.
   */
  readonly tokensMax?: number
}
