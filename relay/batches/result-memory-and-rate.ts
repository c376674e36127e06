import type { BodyMemory, BodyMemoryShare } from '../limits/body-memory.ts'

const MIB = 1024 * 1024
/** The memory in bytes for the stored facts of one line of a batch. */
const FACTS_BYTES = 512
/**
 * The length in bytes that a result usually has at most. At its beginning, each download reserves
 * memory for one result of this length.
 */
const USUAL_RESULT_BYTES = MIB
/** The memory that a result needs, as a multiple of its length: for its bytes, text and answer. */
const COPIES = 3
/**
 * The memory in bytes in which a process settles batches. It is separate from the memory of request
 * bodies, so that settlements never make the relay refuse calls, and calls never delay a bill.
 */
export const SETTLEMENTS_BYTES_MAX = 272 * MIB
/**
 * The part of `SETTLEMENTS_BYTES_MAX` that all batches of one user may use together, whatever their
 * channels. It suffices for the largest batch of each API together with the longest result. The
 * rest is left for the batches of other users.
 */
const SETTLEMENTS_OF_USER_BYTES_MAX = 208 * MIB
/**
 * The average rate below which a download fails. The first `graceMs` do not count. The time limit
 * of a download therefore depends on its size.
 */
const LEAST_RATE: LeastRate = { graceMs: 60_000, bytesPerSecond: 32 * 1024 }

export type LeastRate = { readonly graceMs: number; readonly bytesPerSecond: number }

export class DownloadTooSlow extends Error {}

export class ResultsMemoryFull extends Error {}

/** Returns this user's share of the memory in which batches are settled. */
export const settlementOwnerOf = (userId: number): BodyMemoryShare => ({
  userId,
  bytesMax: SETTLEMENTS_OF_USER_BYTES_MAX,
})

/**
 * The memory in which the results of one batch are read. The memory counts towards a limit of the
 * process and a limit of the user. While a batch is settled, these limits are
 * `SETTLEMENTS_BYTES_MAX` and `SETTLEMENTS_OF_USER_BYTES_MAX`. While a caller reads the results,
 * they are the limits of request bodies.
 */
export class ResultsMemory {
  private bytes = 0
  private readonly usual: number
  private readonly limits: BodyMemory
  private readonly owner: BodyMemoryShare

  private constructor(limits: BodyMemory, owner: BodyMemoryShare, lines: number) {
    this.limits = limits
    this.owner = owner
    this.usual = lines * FACTS_BYTES + USUAL_RESULT_BYTES * COPIES
  }

  /**
   * Reserves memory for the facts of a batch with this number of lines, and for a result of usual
   * length. Returns null if too little memory is left. `close` must be called in the end.
   */
  static reserve(limits: BodyMemory, owner: BodyMemoryShare, lines: number): ResultsMemory | null {
    const memory = new ResultsMemory(limits, owner, lines)
    return memory.resize(memory.usual) ? memory : null
  }

  /**
   * Makes sure that memory is reserved for a result of at least this length, and gives back what an
   * earlier, longer result needed. Throws `ResultsMemoryFull` if too little memory is left.
   */
  cover(resultBytes: number): void {
    const needed = this.usual + Math.max(0, resultBytes - USUAL_RESULT_BYTES) * COPIES
    if (needed !== this.bytes && !this.resize(needed)) {
      throw new ResultsMemoryFull('too little memory is left for a result of a batch')
    }
  }

  close(): void {
    this.resize(0)
  }

  private resize(bytes: number): boolean {
    const { limits, owner } = this
    const more = bytes - this.bytes
    if (more > 0 && limits.takeOf(owner, more) !== null) return false
    if (more < 0) limits.giveBackOf(owner, -more)
    this.bytes = bytes
    return true
  }
}

/**
 * Yields the chunks of a download. Throws `DownloadTooSlow` if the download is slower than the
 * given rate. The time in which the consumer handles a chunk does not count. A download that stops
 * altogether is ended by the timeout of its connection.
 */
export async function* atLeastRate(
  chunks: AsyncIterable<Buffer>,
  { graceMs, bytesPerSecond }: LeastRate = LEAST_RATE,
  clock: () => number = () => performance.now(),
): AsyncGenerator<Buffer> {
  let bytes = 0
  let waitedMs = 0
  let since = clock()
  for await (const chunk of chunks) {
    bytes += chunk.length
    waitedMs += clock() - since
    if (waitedMs > graceMs + (bytes / bytesPerSecond) * 1_000) {
      throw new DownloadTooSlow(`a download brought ${bytes} bytes in ${Math.round(waitedMs)} ms`)
    }
    yield chunk
    since = clock()
  }
}
