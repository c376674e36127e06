/**
 * The number of chunks that are searched. It is more than one, because comments or content filter
 * events may come between the finish reason and the usage.
 */
const CHUNKS_MAX = 4
/**
 * The maximum length in bytes of a chunk that is kept to be searched later. Short chunks are kept,
 * because searching each at once would cost time. A longer chunk is searched at once, because four
 * of them could take more than 100 MiB.
 */
const KEPT_BYTES_MAX = 64 * 1024

/** Searches the most recent chunks of a stream for its finish reason. */
export class FinishReasonSearch {
  private readonly pattern: RegExp
  /** The most recent chunks. In place of a long chunk, only the result of its search is kept. */
  private readonly chunks: (Buffer | boolean)[] = []
  private added = 0

  constructor(pattern: RegExp) {
    this.pattern = pattern
  }

  /** Adds a chunk in place of the oldest one. */
  add(chunk: Buffer): void {
    const isLong = chunk.length > KEPT_BYTES_MAX
    this.chunks[this.added % CHUNKS_MAX] = isLong ? this.isMatch(chunk) : chunk
    this.added += 1
  }

  hasMatch(): boolean {
    return this.chunks.some((chunk) => (typeof chunk === 'boolean' ? chunk : this.isMatch(chunk)))
  }

  private isMatch(chunk: Buffer): boolean {
    return this.pattern.test(chunk.toString('latin1'))
  }
}
