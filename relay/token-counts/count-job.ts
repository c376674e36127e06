import { RequestTextCollector } from './collect-request-text.ts'
import { ExcerptCount } from './count-excerpt-tokens.ts'
import { TOKENS_PER_IMAGE } from './estimate-input-tokens.ts'
import { TextExcerpt } from './text-excerpt.ts'

/** The number of tokens that OpenAI's formula adds for each message of a request. */
const TOKENS_PER_MESSAGE = 3
/** The number of tokens for each text after the first, such as the role of the next message. */
const TOKENS_PER_FURTHER_TEXT = 1
/** The number of tokens that OpenAI's formula adds for the start of an answer. */
const TOKENS_PER_ANSWER = 3

/** The token counts of a request and its answer. */
export type CountAnswer = {
  readonly input: number
  readonly output: number
  /**
   * The highest number of input tokens that any vendor's tokenizer is likely to count. This number
   * is valid only for requests without pictures or other media.
   */
  readonly inputMost: number
}

/** The origin of a text: the JSON of the request, or the answer. */
export type Source = 'request' | 'answer'

/**
 * Counts the tokens of one request and its answer. First, all text is passed to the job in pieces
 * with `feed`. Then `count` is called until it returns a result.
 */
export class CountJob {
  private readonly isInputOnly: boolean
  private request: RequestTextCollector | null = null
  private readonly answer = new TextExcerpt()
  private counts: { readonly input: ExcerptCount; readonly output: ExcerptCount } | null = null

  /** `isInputOnly` is true if the model writes no answer to the request (see `CountRequest`). */
  constructor(isInputOnly: boolean) {
    this.isInputOnly = isInputOnly
  }

  feed(source: Source, bytes: Uint8Array, length: number): void {
    if (source === 'answer') return this.answer.add(bytes, 0, length)
    this.request ??= new RequestTextCollector()
    this.request.feed(bytes, length)
  }

  /**
   * Counts until `isTimeUp` returns true. Returns null if text remains to be counted. All text must
   * have been passed to `feed` before the first call.
   */
  count(isTimeUp: () => boolean): CountAnswer | null {
    this.counts ??= {
      input: new ExcerptCount(this.request?.text ?? new TextExcerpt(), true),
      output: new ExcerptCount(this.answer),
    }
    const { input, output } = this.counts
    while (input.step() || output.step()) if (isTimeUp()) return null
    const inputMost = this.uncountedBytes() + input.most
    return { input: this.overhead() + input.tokens, output: output.tokens, inputMost }
  }

  /** Returns the number of bytes of the request's JSON that are not in the counted texts. */
  private uncountedBytes(): number {
    if (this.request === null) return 0
    const { bytesRead, text } = this.request
    return bytesRead - (text.length - this.separators())
  }

  private separators(): number {
    return Math.max(0, (this.request?.texts ?? 0) - 1)
  }

  private overhead(): number {
    if (this.request === null) return 0
    const { messages, images, tokens } = this.request
    const ofInputs = tokens + images * TOKENS_PER_IMAGE
    if (this.isInputOnly) return ofInputs
    const ofTexts = TOKENS_PER_MESSAGE * messages + TOKENS_PER_FURTHER_TEXT * this.separators()
    return ofTexts + TOKENS_PER_ANSWER + ofInputs
  }
}
