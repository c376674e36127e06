/**
 * For a stream that is read only for its usage: the maximum number of bytes that are read after the
 * caller has disconnected.
 */
const USAGE_BYTES_MAX = 1024 * 1024
/**
 * For a stream that is always read to its end, such as a stream of partial images: the maximum
 * number of bytes that are read after the caller has disconnected.
 */
const WHOLE_BYTES_MAX = 128 * 1024 * 1024

/** Limits the bytes of a stream that are read after its caller has disconnected. */
export class PostDisconnectReadLimit {
  hasBegun = false
  /** True if the stream is read to its end, and not only for its usage. */
  readsToEnd = false
  private bytesLeft = Number.POSITIVE_INFINITY

  begin(readsToEnd: boolean): void {
    this.hasBegun = true
    this.readsToEnd = readsToEnd
    this.bytesLeft = readsToEnd ? WHOLE_BYTES_MAX : USAGE_BYTES_MAX
  }

  /**
   * Counts the bytes of a chunk. Returns false once the limit is exceeded. All bytes count, because
   * usage chunks and incomplete events also cost memory and time.
   */
  covers(bytes: number): boolean {
    this.bytesLeft -= bytes
    return this.bytesLeft >= 0
  }
}
