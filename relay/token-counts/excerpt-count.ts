import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { completeEnd, isSpace } from './text-cuts.ts'
import type { Span, TextExcerpt } from './text-excerpt.ts'

/** What is tokenized in one go, in bytes: some milliseconds at worst. */
const SLICE_BYTES = 2048
/** A slice ends up to this much earlier where a word ends, so that no token is cut. */
const BACK_BYTES_MAX = 256
/**
 * The tokenizer takes time quadratic in the length of a run of letters, of signs or of blanks. Real
 * runs are shorter than these, in characters; longer ones are cut, at about one token for each cut.
 */
const LONG_RUN = /[\p{L}\p{M}]{256}|[^\s\p{L}\p{N}]{256}|\s{512}/gu
/** Words the tokenizer remembers; by default 100 000 of any length, of everybody's texts. */
const REMEMBERED_WORDS = 8_192

const OPTIONS = { disallowedSpecial: new Set<string>() }

setMergeCacheSize(REMEMBERED_WORDS)

/** Counts an excerpt's tokens in steps, and scales them to the length of its text. */
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

  /** Counts one more slice; false when there was none left. */
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

  /** Whole; meaningful once `step` found nothing left. */
  get tokens(): number {
    if (this.countedBytes === 0) return 0
    return Math.ceil((this.countedTokens * this.length) / this.countedBytes)
  }
}

/** Time is linear in the text's length: no run in it is longer than the tokenizer can take. */
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

/** Behind the slice from `start`, where possible in front of white space. */
function sliceEnd(bytes: Uint8Array, start: number, limit: number): number {
  const end = start + SLICE_BYTES
  if (end >= limit) return limit
  for (let at = end; at > end - BACK_BYTES_MAX; at -= 1) {
    if (isSpace(bytes[at]) && !isSpace(bytes[at - 1])) return at
  }
  return completeEnd(bytes, start, end)
}
