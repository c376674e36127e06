import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { isDigit } from '../dialects/scan-json-tokens.ts'
import { BYTES_PER_TOKEN_MAX, type Span, type TextExcerpt } from './text-excerpt.ts'
import { completeEnd, isSpace, TEXT_SEPARATOR } from './utf8-boundaries.ts'

/**
 * The number of bytes that are tokenized in one call. Such a call takes a few milliseconds at most.
 */
const SLICE_BYTES = 2048
/**
 * The maximum number of bytes by which a slice is shortened to end between two words, so that no
 * token is split.
 */
const BACK_BYTES_MAX = 256
/**
 * Matches a run of letters, signs or spaces that is longer than in real text. The tokenizer's time
 * grows with the square of the length of a run, so long runs are cut. Each cut adds about one
 * token.
 */
const LONG_RUN = /[\p{L}\p{M}]{256}|[^\s\p{L}\p{N}]{256}|\s{512}/gu
/**
 * The maximum number of words in the tokenizer's cache. The library's default is 100 000 words of
 * any length, which would keep texts of many users in memory.
 */
const REMEMBERED_WORDS = 8_192

const OPTIONS = { disallowedSpecial: new Set<string>() }

setMergeCacheSize(REMEMBERED_WORDS)

/** Counts the tokens of an excerpt in steps, and scales the count up to the complete text. */
export class ExcerptCount {
  private readonly bytes: Buffer
  private readonly spans: readonly Span[]
  private readonly length: number
  private span = 0
  private at: number
  private countedBytes = 0
  private countedTokens = 0
  private countedMost = 0
  private readonly isBounded: boolean

  /** `isBounded` is true if `most` is computed in addition to `tokens`. */
  constructor(excerpt: TextExcerpt, isBounded = false) {
    const { buffer, byteOffset, byteLength } = excerpt.bytes
    this.bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.spans = excerpt.spans()
    this.length = excerpt.length
    this.isBounded = isBounded
    this.at = this.spans[0]?.start ?? 0
  }

  /** Counts one more slice. Returns false when no slice is left. */
  step(): boolean {
    const span = this.spans[this.span]
    if (span === undefined) return false
    if (this.at >= span.end) {
      this.span += 1
      this.at = this.spans[this.span]?.start ?? 0
      return true
    }
    const end = sliceEnd(this.bytes, this.at, span.end)
    this.countTexts(this.at, end)
    this.countedBytes += end - this.at
    this.at = end
    return true
  }

  /** Counts each of the texts between `start` and `end` by itself. */
  private countTexts(start: number, end: number): void {
    for (let from = start; from < end; ) {
      const separator = this.bytes.indexOf(TEXT_SEPARATOR, from)
      const to = separator < 0 ? end : Math.min(separator, end)
      const tokens = tokensOf(this.bytes.toString('utf8', from, to))
      this.countedTokens += tokens
      if (this.isBounded) this.countedMost += mostTokensOf(this.bytes, from, to, tokens)
      from = to + 1
    }
  }

  /**
   * The estimated number of tokens of the complete text. The number is final when `step` has
   * returned false.
   */
  get tokens(): number {
    return this.scaled(this.countedTokens)
  }

  /**
   * The highest number of tokens that another vendor's tokenizer is likely to count for the
   * complete text. 0 if `isBounded` is false.
   */
  get most(): number {
    return this.scaled(this.countedMost)
  }

  private scaled(tokens: number): number {
    return this.countedBytes === 0 ? 0 : Math.ceil((tokens * this.length) / this.countedBytes)
  }
}

/**
 * The highest ratio of another vendor's token count to the gateway's count for the same ASCII text.
 */
export const VENDOR_FACTOR = 2
/**
 * The maximum number of digits that the gateway's tokenizer counts as one token. Some tokenizers
 * count each digit as a token.
 */
const DIGITS_PER_TOKEN = 3

/**
 * Returns the highest number of tokens that another vendor's tokenizer is likely to count for the
 * bytes from `from` to `end`. `tokens` is the count of the gateway's tokenizer. Each byte that is
 * not ASCII adds one token, because vocabularies differ most in such text. The result is at most
 * the number of bytes.
 */
export function mostTokensOf(bytes: Uint8Array, from: number, end: number, tokens: number): number {
  let others = 0
  let digits = 0
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= 0x80) others += 1
    else if (isDigit(byte)) digits += 1
  }
  const length = end - from
  const most = Math.max(tokens * VENDOR_FACTOR, length / BYTES_PER_TOKEN_MAX)
  return Math.min(length, Math.ceil(most + others + digits / DIGITS_PER_TOKEN))
}

/**
 * Counts the tokens of a text. Long runs of letters, signs or spaces are cut, because the
 * tokenizer's time would be quadratic in their length.
 */
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

/**
 * Returns the end of the slice that begins at `start`. If possible, the slice ends before white
 * space.
 */
function sliceEnd(bytes: Uint8Array, start: number, limit: number): number {
  const end = start + SLICE_BYTES
  if (end >= limit) return limit
  for (let at = end; at > end - BACK_BYTES_MAX; at -= 1) {
    if (isSpace(bytes[at]) && !isSpace(bytes[at - 1])) return at
  }
  return completeEnd(bytes, start, end)
}
