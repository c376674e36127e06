import { randomInt } from 'node:crypto'
import { completeEnd, isContinuation, isSpace } from './utf8-boundaries.ts'

/**
 * The maximum length of a text that is kept completely. A longer text is shortened to an excerpt of
 * at least half this length.
 */
export const EXCERPT_BYTES_MAX = 128 * 1024
/**
 * The length of a block. An excerpt of a long text consists of blocks that are spread over the
 * text.
 */
const BLOCK_BYTES = 1024

/**
 * The largest number of bytes per token that is assumed for any text. A tokenizer may count a run
 * of one character as a single token, and tokenizers differ most in such runs.
 */
export const BYTES_PER_TOKEN_MAX = 4

const BLOCKS_MAX = EXCERPT_BYTES_MAX / BLOCK_BYTES
const FIRST_CAPACITY = 4096
/**
 * The maximum number of bytes that are removed at each end of a block, because a block may begin or
 * end inside a word.
 */
const TRIM_BYTES_MAX = 64

/**
 * The random seed for choosing blocks. Callers must not know the seed, because they could then
 * write a text whose excerpt has fewer tokens than the rest.
 */
const SALT = randomInt(2 ** 32)

/** A range of the kept bytes, as offsets. */
export type Span = { readonly start: number; readonly end: number }

/**
 * Keeps an excerpt of a UTF-8 text of any length, as blocks that are spread over the text. At
 * first, every block is kept. As the text grows, one of every two blocks is kept, then one of every
 * four, and so on. The excerpt does not depend on how the text was split when it arrived.
 */
export class TextExcerpt {
  /** The length in bytes of the text that was added so far. */
  length = 0
  private kept: Uint8Array = new Uint8Array(0)
  private keptBytes = 0
  private stride = 1
  /** The number of bytes that still fit into the current block. */
  private room = 0
  private isKept = false
  /** The index of the block that is kept in the current group of `stride` blocks. */
  private choice = 0
  private readonly salt: number

  constructor(salt: number = SALT) {
    this.salt = salt
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    while (at < end) {
      if (this.room === 0) this.beginBlock()
      const taken = Math.min(this.room, end - at)
      if (this.isKept) {
        this.reserve(taken)
        this.kept.set(bytes.subarray(at, at + taken), this.keptBytes)
        this.keptBytes += taken
      }
      this.room -= taken
      this.length += taken
      at += taken
    }
  }

  addByte(byte: number): void {
    if (this.room === 0) this.beginBlock()
    if (this.isKept) {
      this.reserve(1)
      this.kept[this.keptBytes] = byte
      this.keptBytes += 1
    }
    this.room -= 1
    this.length += 1
  }

  /**
   * Adds the text of another excerpt. If blocks of that text were dropped, the kept blocks are
   * added repeatedly, up to the length of the complete text.
   */
  addExcerpt({ kept, keptBytes, length }: TextExcerpt): void {
    for (let left = length; left > 0; left -= keptBytes) {
      this.add(kept, 0, Math.min(left, keptBytes))
    }
  }

  get bytes(): Uint8Array {
    return this.kept
  }

  /**
   * Returns the ranges of `bytes` to count. If no block was dropped, this is one range. If blocks
   * were dropped, each remaining block is one range, without the incomplete words at the block's
   * ends.
   */
  spans(): readonly Span[] {
    if (this.stride === 1) return [{ start: 0, end: this.keptBytes }]
    const spans: Span[] = []
    for (let start = 0; start < this.keptBytes; start += BLOCK_BYTES) {
      const span = this.trimmed(start, Math.min(start + BLOCK_BYTES, this.keptBytes))
      if (span.end > span.start) spans.push(span)
    }
    return spans
  }

  private beginBlock(): void {
    const block = this.length / BLOCK_BYTES
    if (block % this.stride === 0) {
      if (this.keptBytes === EXCERPT_BYTES_MAX) this.thin()
      this.choice = this.pick(block, this.stride)
    }
    this.isKept = block % this.stride === this.choice
    this.room = BLOCK_BYTES
  }

  /** Drops one of every two blocks, so that the excerpt stays within its bound. */
  private thin(): void {
    this.stride *= 2
    for (let group = 0; group < BLOCKS_MAX / 2; group += 1) {
      const from = (2 * group + this.pick(group, 2)) * BLOCK_BYTES
      this.kept.copyWithin(group * BLOCK_BYTES, from, from + BLOCK_BYTES)
    }
    this.keptBytes = EXCERPT_BYTES_MAX / 2
  }

  /**
   * Returns a pseudorandom number below `count`, which is a power of two. Callers can't predict the
   * number, because they don't know the salt.
   */
  private pick(place: number, count: number): number {
    let hash = Math.imul(place + 1, 0x9e3779b1) ^ Math.imul(this.salt ^ this.stride, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
    return ((hash ^ (hash >>> 13)) >>> 4) & (count - 1)
  }

  private reserve(more: number): void {
    const needed = this.keptBytes + more
    if (needed <= this.kept.length) return
    const capacity = Math.max(needed, FIRST_CAPACITY, this.kept.length * 4)
    const grown = new Uint8Array(Math.min(EXCERPT_BYTES_MAX, capacity))
    grown.set(this.kept.subarray(0, this.keptBytes))
    this.kept = grown
  }

  private trimmed(start: number, end: number): Span {
    const { kept } = this
    let first = start
    const firstMax = Math.min(start + TRIM_BYTES_MAX, end)
    while (first < firstMax && !isSpace(kept[first])) first += 1
    if (first === firstMax) {
      first = start
      while (first < firstMax && isContinuation(kept[first])) first += 1
    }
    let last = end
    const lastMin = Math.max(end - TRIM_BYTES_MAX, first)
    while (last > lastMin && !isSpace(kept[last])) last -= 1
    return { start: first, end: last > lastMin ? last : completeEnd(kept, first, end) }
  }
}
