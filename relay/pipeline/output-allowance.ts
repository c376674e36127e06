import { holdFor, outputTokensWithin } from '#domain/pricing/hold.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import type { TokenLimits } from '#domain/pricing/usage.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { DeliveredText } from '#relay/canonical/delivered-text.ts'
import { OUTPUT_TOKENS_MAX } from '../dialects/openai-chat/chat-request.ts'
import type { CallTerms } from './output-terms.ts'

/** An open-ended stream's hold grows by so many tokens at a time, or by half of what it covers. */
const GROWTH_TOKENS = 4_096
/** So many tokens before its hold is used up, it asks for more. */
const AHEAD_TOKENS = 2_048
/**
 * One progress step: what a stream may deliver beyond its hold before it is ended, and what is
 * charged for it even where nothing is left.
 */
export const PROGRESS_STEP_TOKENS = 1_024
/** The rough count may be this many times the true one (Chinese text, long words). */
const ROUGH_FACTOR = 2
/** A token of the rough count stands for two bytes of the stream at least. */
const BYTES_PER_TOKEN = 2

/** The decision about a stream, given how much it has delivered. */
export type AllowanceVerdict =
  | 'go-on'
  /** Its hold is nearly used up. */
  | 'raise-hold'
  /** Its hold is used up: nothing more may be delivered until it is larger. */
  | 'wait'
  /** The provider ignores the limit that it was given. */
  | 'over-limit'

/**
 * How much output a call's hold covers. A stream with a limit is ended when it has delivered more
 * than twice that; an open-ended one holds more as it goes on.
 */
export class OutputAllowance {
  readonly price: PriceSnapshot
  private readonly terms: CallTerms
  /** A stream without any limit, which holds more as it goes on. */
  private readonly isGrowing: boolean
  private covered: number
  private roughTokens = 0
  private lookAtBytes: number

  /** `outputLimit`: sent in place of a larger one, tokens of each choice; null: none was. */
  constructor(price: PriceSnapshot, terms: CallTerms, outputLimit: number | null) {
    this.price = price
    this.terms = terms
    this.isGrowing = terms.isOpenEnded && terms.isStream && outputLimit === null
    this.covered = (outputLimit ?? terms.bounds.outputTokens) * terms.bounds.choices
    this.lookAtBytes = this.isBounded() ? this.nextLook(0) : Number.POSITIVE_INFINITY
  }

  /** Cheap until the bytes delivered could stand for as many tokens as the hold covers. */
  look(delivered: DeliveredText): AllowanceVerdict {
    if (delivered.bytes < this.lookAtBytes) return 'go-on'
    this.roughTokens = delivered.roughTokens()
    this.lookAtBytes = this.nextLook(delivered.bytes)
    if (!this.isGrowing) return this.roughTokens > this.mostRough() ? 'over-limit' : 'go-on'
    if (this.roughTokens >= this.covered) return 'wait'
    return this.roughTokens >= this.covered - AHEAD_TOKENS ? 'raise-hold' : 'go-on'
  }

  /** The hold that the next segment of an open-ended stream needs: in full, and at least. */
  nextHold(): { readonly hold: Quota; readonly least: Quota } {
    const reached = Math.max(this.covered, this.roughTokens)
    return {
      hold: this.holdOf(reached + Math.max(GROWTH_TOKENS, Math.ceil(reached / 2))),
      least: this.holdOf(this.roughTokens + 1),
    }
  }

  /** So much is held for the call now. */
  noteHold(hold: Quota): void {
    const { bounds } = this.terms
    const most = { ...bounds, outputTokens: OUTPUT_TOKENS_MAX }
    const perChoice = outputTokensWithin(this.price, most, hold) ?? 0
    this.covered = Math.max(this.covered, perChoice * bounds.choices)
    this.lookAtBytes = 0
  }

  /** Returns the limits of what the call can be charged when nothing is left beyond its hold. */
  limits(): TokenLimits {
    const { inputTokens } = this.terms.bounds
    const step = this.isGrowing ? PROGRESS_STEP_TOKENS : 0
    return { inputTokens, outputTokens: this.covered + step }
  }

  /** No call is free or has a price of its own, whatever its output: it needs no bound. */
  private isBounded(): boolean {
    return this.price.mode === 'tokens' && this.terms.hold > 0n
  }

  private mostRough(): number {
    return this.covered * ROUGH_FACTOR + PROGRESS_STEP_TOKENS
  }

  private nextLook(bytes: number): number {
    const target = this.isGrowing ? this.covered - AHEAD_TOKENS : this.mostRough()
    const room = Math.max(0, target - this.roughTokens)
    return bytes + room * BYTES_PER_TOKEN
  }

  private holdOf(outputTokens: number): Quota {
    const { bounds } = this.terms
    const perChoice = Math.min(OUTPUT_TOKENS_MAX, Math.ceil(outputTokens / bounds.choices))
    return holdFor(this.price, { ...bounds, outputTokens: perChoice })
  }
}
