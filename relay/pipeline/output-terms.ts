import type { OutputReduction } from '#domain/account/commands.ts'
import { type CallBounds, holdFor } from '#domain/pricing/hold.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { ChatRequest } from '../dialects/openai-chat/chat-request.ts'

/** The output limit of a call, and what is held for it. */
export type CallTerms = {
  readonly hold: Quota
  readonly bounds: CallBounds
  /**
   * Neither the caller nor the model's known cap bounds the output: `bounds` has the option's
   * default. A stream that goes on beyond it has to hold more; a plain call can't, so that it is
   * charged for no more than its hold covers where nothing is left.
   */
  readonly isOpenEnded: boolean
  readonly isStream: boolean
  /** How it may be admitted with a smaller output limit; null: not at all. */
  readonly reduction: OutputReduction | null
}

/** A smaller limit is worth sending from here on; a caller's own limit may be smaller still. */
const LEAST_OUTPUT_TOKENS = 256
/** Sent to a model whose cap nobody knows; providers refuse a limit above the model's own. */
const UNKNOWN_MODEL_OUTPUT_TOKENS = 8_192

/**
 * The worst case over all forms in which the request may be sent (channels may override members):
 * the input by its bytes, and as many output tokens as the caller or the model allows.
 */
export function callTerms(
  price: PriceSnapshot,
  requests: readonly [ChatRequest, ...ChatRequest[]],
  options: RelayOptions,
): CallTerms {
  const [asked] = requests
  const cap = options.outputCaps.get(asked.model) ?? null
  const limits = requests.map((request) => outputLimitOf(request, cap, options))
  const isOpenEnded = limits.some(({ isKnown }) => !isKnown)
  const bounds = {
    inputTokens: Math.max(...requests.map(({ inputBound }) => inputBound.tokens)),
    outputTokens: Math.max(...limits.map(({ tokens }) => tokens)),
    choices: Math.max(...requests.map(({ choices }) => choices)),
  }
  const hold = withPreConsumed(holdFor(price, bounds), { price, bounds, isOpenEnded }, options)
  const { isStream } = asked
  const terms = { hold, bounds, isOpenEnded, isStream }
  if (price.mode === 'call' || hold === 0n) return { ...terms, reduction: null }
  const least = Math.min(LEAST_OUTPUT_TOKENS, bounds.outputTokens)
  const most = isOpenEnded ? UNKNOWN_MODEL_OUTPUT_TOKENS : bounds.outputTokens
  const reduction = { bounds, leastOutputTokens: least, mostOutputTokens: most }
  return { ...terms, reduction }
}

/** Tokens of each choice. A model stops at its own cap, whatever larger limit it is sent. */
function outputLimitOf(
  { outputTokensMax }: ChatRequest,
  cap: number | null,
  { defaultOutputCap }: RelayOptions,
): { readonly tokens: number; readonly isKnown: boolean } {
  if (outputTokensMax !== null) {
    return { tokens: Math.min(outputTokensMax, cap ?? outputTokensMax), isKnown: true }
  }
  return { tokens: cap ?? defaultOutputCap, isKnown: cap !== null }
}

type Priced = Pick<CallTerms, 'bounds' | 'isOpenEnded'> & { readonly price: PriceSnapshot }

/** An open-ended call holds the operator's least for its output; a free one holds nothing. */
function withPreConsumed(
  hold: Quota,
  { price, bounds, isOpenEnded }: Priced,
  { preConsumedQuota }: RelayOptions,
): Quota {
  if (!isOpenEnded || price.mode === 'call' || hold === 0n) return hold
  const input = holdFor(price, { ...bounds, outputTokens: 0 })
  const least = input + preConsumedQuota * BigInt(bounds.choices)
  return hold > least ? hold : least
}
