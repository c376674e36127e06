import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { completeEnd, isSpace } from './text-cuts.ts'
import type { Span, TextExcerpt } from './text-excerpt.ts'

/** The number of bytes that are tokenized in one call, which takes some milliseconds at worst. */
const SLICE_BYTES = 2048
/** A slice ends up to this many bytes earlier at the end of a word, so that no token is cut. */
const BACK_BYTES_MAX = 256
/**
 * The tokenizer's time is quadratic in the length of a run of letters, signs or blanks. Real runs
 * are shorter than these lengths; longer runs are cut, which adds about one token per cut.
 */
const LONG_RUN = /[\p{L}\p{M}]{256}|[^\s\p{L}\p{N}]{256}|\s{512}/gu
/**
 * Limits the words that the tokenizer caches. By default it keeps 100 000 words of any length from
 * all users' texts.
 */
const REMEMBERED_WORDS = 8_192

const OPTIONS = { disallowedSpecial: new Set<string>() }

setMergeCacheSize(REMEMBERED_WORDS)

/** Counts the tokens of an excerpt in steps and scales them to the length of its text. */
export class ExcerptCount {
  private readonly bytes: Buffer
  private readonly spans: readonly Span[]
  private readonly length: number
  private span = 0
  private at: number
  private countedBytes = 0
  private countedTokens = 0

  constructor(excerpt: TextExcerpt) {
    const { buffer, byteOffset, byteLength } = excerpt.bytes
    this.bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.spans = excerpt.spans()
    this.length = excerpt.length
    this.at = this.spans[0]?.start ?? 0
  }

  /** Counts one more slice. Returns false when none was left. */
  step(): boolean {
    const span = this.spans[this.span]
    if (span === undefined) return false
    if (this.at >= span.end) {
      this.span += 1
      this.at = this.spans[this.span]?.start ?? 0
      return true
    }
    const end = sliceEnd(this.bytes, this.at, span.end)
    this.countedTokens += tokensOf(this.bytes.toString('utf8', this.at, end))
    this.countedBytes += end - this.at
    this.at = end
    return true
  }

  /** The tokens of the whole text. The value is complete once `step` has returned false. */
  get tokens(): number {
    if (this.countedBytes === 0) return 0
    return Math.ceil((this.countedTokens * this.length) / this.countedBytes)
  }
}

/** Counts the tokens of a text in linear time, because no run in it exceeds the limit. */
export function tokensOf(text: string): number {
  let tokens = 0
  let from = 0
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    const end = index + run.length
    tokens += countTokens(text.slice(from, end), OPTIONS)
    from = end
  }
  return tokens + countTokens(from === 0 ? text : text.slice(from), OPTIONS)
}

/** Returns the end of the slice from `start`, before white space if possible. */
function sliceEnd(bytes: Uint8Array, start: number, limit: number): number {
  const end = start + SLICE_BYTES
  if (end >= limit) return limit
  for (let at = end; at > end - BACK_BYTES_MAX; at -= 1) {
    if (isSpace(bytes[at]) && !isSpace(bytes[at - 1])) return at
  }
  return completeEnd(bytes, start, end)
}
