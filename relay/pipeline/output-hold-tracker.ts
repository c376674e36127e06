import { holdFor, outputTokensWithin } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { UsageLimits } from '#domain/pricing/usage.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { DeliveredText } from '#relay/canonical/answer-text-for-token-count.ts'
import { type ChatRequest, OUTPUT_TOKENS_MAX } from '../dialects/wire-format.ts'
import { billedCalls, type CallTerms } from './compute-hold-and-output-limit.ts'

/**
 * An open-ended stream (without an output limit) raises its hold by half of the covered output, but
 * at least by this many tokens.
 */
const GROWTH_TOKENS = 4_096
/** A stream requests a larger hold when its hold covers only this many more tokens. */
const AHEAD_TOKENS = 2_048
/**
 * The tokens that an open-ended stream may deliver beyond its hold before the stream is ended.
 * These tokens are charged even if the balance is spent.
 */
const PROGRESS_STEP_TOKENS = 1_024
/**
 * An estimate of tokens may be this many times as high as their true number, for example for
 * Chinese text and long words.
 */
const ROUGH_FACTOR = 2
const BYTES_PER_TOKEN = 2

/**
 * The events of a stream are parsed only if fewer than this many tokens may be left before the next
 * decision. An upper bound of the tokens follows from the delivered bytes without parsing, which
 * takes time.
 */
const PARSE_BELOW_TOKENS = 64

/**
 * Returns the number of estimated output tokens above which the relay assumes that a provider
 * ignores the output limit `limit`.
 */
export const roughOutputMax = (limit: number): number => limit * ROUGH_FACTOR + PROGRESS_STEP_TOKENS

type Delivered = Pick<DeliveredText, 'bytes' | 'estimateTokens' | 'tokensUpperBound'>

/**
 * The decision about whether a stream may continue after the output that it has delivered so far.
 */
type OutputVerdict =
  | 'continue'
  | 'raise-hold'
  /** The hold is used up. The stream pauses until its hold is raised. */
  | 'wait'
  /** The provider ignores the output limit that the relay sent. */
  | 'over-limit'

/**
 * Tracks how much output the hold of a call covers. A stream with an output limit is ended when its
 * estimated output exceeds about twice the limit. The hold of an open-ended stream is raised as the
 * stream continues.
 */
export class OutputHoldTracker {
  private served: PriceSnapshot
  private readonly terms: CallTerms
  /** True for a stream without an output limit, whose hold grows with its output. */
  private readonly isGrowing: boolean
  private covered: number
  private roughTokens = 0
  private nextDecisionBytes: number

  /** `outputLimit` is the reduced limit per choice in tokens; null if it was not reduced. */
  constructor(price: PriceSnapshot, terms: CallTerms, outputLimit: number | null) {
    this.served = price
    this.terms = terms
    this.isGrowing = terms.isOpenEnded && terms.isStream && outputLimit === null
    this.covered = (outputLimit ?? terms.bounds.outputTokens) * terms.bounds.choices
    this.nextDecisionBytes = this.isBounded()
      ? this.computeNextDecisionBytes(0, 0)
      : Number.POSITIVE_INFINITY
  }

  /** The price of the model and the group that serve the call. */
  get price(): PriceSnapshot {
    return this.served
  }

  set price(price: PriceSnapshot) {
    if (price === this.served) return
    this.served = price
    this.nextDecisionBytes = this.isBounded() ? 0 : Number.POSITIVE_INFINITY
  }

  /**
   * Decides whether the stream may continue. To save time, tokens are estimated only if the
   * delivered bytes are enough to change the decision.
   */
  decide(delivered: Delivered): OutputVerdict {
    if (delivered.bytes < this.nextDecisionBytes) return 'continue'
    const most = delivered.tokensUpperBound()
    if (this.nextDecisionTokens() - most >= PARSE_BELOW_TOKENS) {
      this.nextDecisionBytes = this.computeNextDecisionBytes(delivered.bytes, most)
      return 'continue'
    }
    this.roughTokens = delivered.estimateTokens()
    this.nextDecisionBytes = this.computeNextDecisionBytes(delivered.bytes, this.roughTokens)
    if (!this.isGrowing) return this.roughTokens > this.roughTokensMax() ? 'over-limit' : 'continue'
    if (this.roughTokens >= this.covered) return 'wait'
    return this.roughTokens >= this.covered - AHEAD_TOKENS ? 'raise-hold' : 'continue'
  }

  /**
   * Returns the next hold of an open-ended stream: the preferred amount `hold` and the minimum
   * `least`.
   */
  nextHold(): { readonly hold: Quota; readonly least: Quota } {
    const reached = Math.max(this.covered, this.roughTokens)
    return {
      hold: this.holdOf(reached + Math.max(GROWTH_TOKENS, Math.ceil(reached / 2))),
      least: this.holdOf(this.roughTokens + 1),
    }
  }

  noteHold(hold: Quota): void {
    const { bounds } = this.terms
    const most = { ...bounds, outputTokens: OUTPUT_TOKENS_MAX }
    const perChoice = outputTokensWithin(this.price, most, hold) ?? 0
    this.covered = Math.max(this.covered, perChoice * bounds.choices)
    this.nextDecisionBytes = 0
  }

  /**
   * Returns the maximum usage that is charged even if the balance is spent. An open-ended stream
   * may exceed its hold by `PROGRESS_STEP_TOKENS`.
   */
  limits(): UsageLimits {
    const { inputTokens, inputKinds, tools } = this.terms.bounds
    const step = this.isGrowing ? PROGRESS_STEP_TOKENS : 0
    const ofCache = inputKinds?.hasHourCache === false ? { hourWrites: 0 } : {}
    const limits = { inputTokens, outputTokens: this.covered + step, ...ofCache }
    return tools === undefined ? limits : { ...limits, tools }
  }

  /** Returns the number by which a price per call is multiplied for this request to a provider. */
  callsOf(request: ChatRequest): number {
    return billedCalls(request, this.terms.bounds)
  }

  /**
   * Reports whether the hold limits the output. Free calls and calls with a fixed price need no
   * limit.
   */
  private isBounded(): boolean {
    return this.price.mode === 'tokens' && this.terms.hold > 0n
  }

  private roughTokensMax(): number {
    return roughOutputMax(this.covered)
  }

  /**
   * Returns the number of tokens at which `decide` first returns a verdict other than `continue`.
   */
  private nextDecisionTokens(): number {
    return this.isGrowing ? this.covered - AHEAD_TOKENS : this.roughTokensMax()
  }

  /**
   * Returns the number of delivered bytes at which `decide` must estimate the tokens again.
   * `tokens` is the number of tokens in the first `bytes` bytes, or an upper bound of it.
   */
  private computeNextDecisionBytes(bytes: number, tokens: number): number {
    const room = Math.max(0, this.nextDecisionTokens() - tokens)
    return bytes + room * BYTES_PER_TOKEN
  }

  private holdOf(outputTokens: number): Quota {
    const { bounds } = this.terms
    const perChoice = Math.min(OUTPUT_TOKENS_MAX, Math.ceil(outputTokens / bounds.choices))
    return holdFor(this.price, { ...bounds, outputTokens: perChoice })
  }
}
