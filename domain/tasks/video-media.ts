/**
 * What a video task makes: what was requested, completed by the defaults of the vendor. The hold
 * covers it, and the settlement never exceeds it.
 */
export type VideoMedia = {
  /** The length of the video in seconds. */
  readonly seconds: number
  /** The resolution, such as `720p`; null if the vendor has only one or bills none. */
  readonly resolution: string | null
  /** The size as requested, such as `1280x720`, or null. */
  readonly size: string | null
  /** Other options that may change the price, such as `pro` and `audio`. */
  readonly options: readonly string[]
  /** The most tokens that the vendor bills for this; omitted if it bills none. */
  readonly tokensMax?: number
}
