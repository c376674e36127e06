import type { OutputReduction } from '#domain/accounts/affordable-terms.ts'
import { type CallBounds, holdFor, type InputKinds } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { ToolCounts } from '#domain/pricing/usage.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { INPUT_TOKENS_PER_USE, totalUses } from '../dialects/provider-tool-limits.ts'
import { type ChatRequest, isDirectFormat } from '../dialects/wire-format.ts'

/**
 * The kinds of input for a request that is never converted to another format. Such a request can't
 * write to a provider's cache.
 */
const NO_CACHE: InputKinds = { hasHourCache: false }

/**
 * The hold of a call, the bounds from which the hold was computed, and how the hold may be reduced.
 */
export type CallTerms = {
  readonly hold: Quota
  readonly bounds: CallBounds
  /**
   * True if the model has no configured cap and at least one variant of the request has no output
   * limit. `bounds` then contains the default cap. A stream can raise its hold beyond this cap. If
   * the balance is spent, a plain call (not a stream) is charged at most its hold.
   */
  readonly isOpenEnded: boolean
  readonly isStream: boolean
  /**
   * The terms with a smaller output limit, for an account that can't pay the hold. Null if the
   * limit can't be reduced.
   */
  readonly reduction: OutputReduction | null
}

/** The output limit is not reduced below this number of tokens. */
const LEAST_OUTPUT_TOKENS = 256
/**
 * The largest reduced output limit for a model without a known cap. Providers refuse a limit above
 * the model's own cap.
 */
const UNKNOWN_MODEL_OUTPUT_TOKENS = 8_192
/**
 * If the account can't pay the hold this many times, a plain call without an output limit gets a
 * limit. Without the limit, a token with a small budget would get long answers too cheaply, because
 * the charge never exceeds what can be paid.
 */
const OPEN_ENDED_TIMES_PAYABLE = 8n

/**
 * The properties of one variant of a request that determine what the call may cost. The variant for
 * a channel with overrides, for example, differs from the caller's request.
 */
export type VariantBounds = Pick<
  ChatRequest,
  'inputBound' | 'outputTokensMax' | 'choices' | 'toolLimits' | 'imageFactor'
> & {
  /**
   * The maximum number of thinking tokens per choice that the channel's provider generates in
   * addition to the output limit.
   */
  readonly thinkingTokens?: number
  /** True if the output limit that the relay sends has no effect at this channel. */
  readonly isUnlimited?: true
}

/**
 * The limits of the provider's tools: the maximum number of uses of each tool with a price per use,
 * and the maximum number of input tokens that the tools without a price per use may add.
 */
export type ToolBounds = { readonly uses: ToolCounts; readonly inputTokens: number }

/**
 * Input limits from a count of the request's tokens. They are usually lower than the limits that
 * follow from the request's length.
 */
type InputLimits = {
  /** The maximum input tokens of the original request and of its variant for each channel. */
  readonly tokens: ReadonlyMap<VariantBounds, number>
  readonly kinds: InputKinds
}

/**
 * Returns the terms of a call: its cost bounds and its hold, which is the worst-case cost over all
 * variants of the request. The input is bounded by the request's input bound, or by `input` if this
 * is lower. The output is bounded by the variant's limit and the model's cap, or by the default cap
 * if there is neither. `tools` bounds the provider's tools, whose results are input as well.
 */
export function callTerms(
  price: PriceSnapshot,
  requests: readonly [ChatRequest, ...VariantBounds[]],
  options: RelayOptions,
  input: InputLimits | null = null,
  tools?: ToolBounds,
): CallTerms {
  const [request] = requests
  const cap = options.outputCaps.get(request.model) ?? null
  let isOpenEnded = false
  const ofFormat = isDirectFormat(request.format.name) ? { inputKinds: NO_CACHE } : {}
  const kinds = input === null ? ofFormat : { inputKinds: input.kinds }
  const uses = totalUses(tools?.uses) === 0 ? {} : { tools: tools?.uses ?? {} }
  const bounds = { inputTokens: 0, outputTokens: 0, choices: 0, ...kinds, ...uses }
  for (const variant of requests) {
    if (variant.outputTokensMax === null && cap === null) isOpenEnded = true
    const { tokens } = variant.inputBound
    const inputTokens = Math.min(tokens, input?.tokens.get(variant) ?? tokens)
    bounds.inputTokens = Math.max(bounds.inputTokens, inputTokens)
    bounds.outputTokens = Math.max(bounds.outputTokens, outputLimitOf(variant, cap, options))
    bounds.choices = Math.max(bounds.choices, variant.choices)
  }
  const ofUses = totalUses(tools?.uses) * INPUT_TOKENS_PER_USE.likely
  bounds.inputTokens += ofUses + (tools?.inputTokens ?? 0)
  // A limit that can't be sent to the provider would not bound the cost.
  const { format, isStream } = request
  const isLimitable =
    !format.isCompaction && !isDirectFormat(format.name) && !requests.some(isUnlimited)
  return termsWithin(price, bounds, { isStream, isOpenEnded, isLimitable }, options)
}

/** `isLimitable` is true if the relay can send a lower output limit. */
type OutputKind = Pick<CallTerms, 'isStream' | 'isOpenEnded'> & {
  readonly isLimitable: boolean
}

/**
 * Returns the terms of a call that stays within the bounds: its hold (reserved quota), and how its
 * output limit may be reduced.
 */
export function termsWithin(
  price: PriceSnapshot,
  bounds: CallBounds,
  { isStream, isOpenEnded, isLimitable }: OutputKind,
  options: RelayOptions,
): CallTerms {
  const hold = withPreConsumed(holdFor(price, bounds), { price, bounds, isOpenEnded }, options)
  const terms = { hold, bounds, isOpenEnded, isStream }
  if (price.mode === 'call' || hold === 0n || !isLimitable) return { ...terms, reduction: null }
  const least = Math.min(LEAST_OUTPUT_TOKENS, bounds.outputTokens)
  const most = isOpenEnded ? UNKNOWN_MODEL_OUTPUT_TOKENS : bounds.outputTokens
  const reduction = { bounds, leastOutputTokens: least, mostOutputTokens: most }
  if (!isOpenEnded || isStream) return { ...terms, reduction }
  return { ...terms, reduction: { ...reduction, timesPayable: OPEN_ENDED_TIMES_PAYABLE } }
}

const isUnlimited = (variant: VariantBounds): boolean => variant.isUnlimited === true

/**
 * Returns the output limit in tokens per choice. The model's own cap applies even if the request
 * has a larger limit. The returned limit includes the thinking tokens that the provider may
 * generate beyond the request's limit, the cap or the default limit.
 */
function outputLimitOf(
  { outputTokensMax, thinkingTokens = 0 }: VariantBounds,
  cap: number | null,
  { defaultOutputCap }: RelayOptions,
): number {
  if (outputTokensMax === null) return (cap ?? defaultOutputCap) + thinkingTokens
  return Math.min(outputTokensMax, cap ?? outputTokensMax) + thinkingTokens
}

/**
 * Returns the number by which a price per call is multiplied. This is the number of answers that
 * the caller receives for the request, but at most the number of answers that the hold covers.
 */
export const billedCalls = (
  { choices, returnedChoices = choices }: Pick<ChatRequest, 'choices' | 'returnedChoices'>,
  bounds: Pick<CallBounds, 'choices'>,
): number => Math.min(returnedChoices, bounds.choices)

type Priced = Pick<CallTerms, 'bounds' | 'isOpenEnded'> & { readonly price: PriceSnapshot }

/**
 * Raises the hold of a call without an output limit to at least the price of its input plus the
 * operator's minimum for each choice. The hold of a free call or of a call with a price per call is
 * returned unchanged.
 */
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
