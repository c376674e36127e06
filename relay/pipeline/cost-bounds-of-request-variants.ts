import { decimalOf, decimalText, integer, largest } from '#domain/pricing/decimal.ts'
import type { DecimalText } from '#domain/pricing/price-snapshot.ts'
import {
  channelsIn,
  type Offer,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { isRelayError } from '../canonical/relay-error.ts'
import { type ChatRequest, OUTPUT_TOKENS_MAX } from '../dialects/wire-format.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { channelsWithDistinctRequests } from './channels-with-distinct-requests.ts'
import type { VariantBounds } from './compute-hold-and-output-limit.ts'
import { isConverted, tokensAddedByConversion } from './input-added-by-conversion.ts'
import { candidateOf } from './prepare-request-for-channel.ts'
import { boundsWithThinking } from './thinking-beyond-output-limit.ts'

/**
 * For requests of at least this length, overrides are applied only to an outline (a short request
 * with the same limits).
 */
const OUTLINED_FROM_BYTES = 4_096

/**
 * Reports whether the channel may change the cost bounds of the request. Overrides can increase the
 * cost. For an image request, a channel may send a size and a quality that cost more or less than
 * those of the caller.
 */
const mayChangeBounds = (
  { rules }: RelayChannel,
  { imageFactor }: ChatRequest,
  { isPassThrough }: RelayOptions,
): boolean => imageFactor !== undefined || (!isPassThrough && rules.overrides.size > 0)

const hasOverrides = oncePerOffer((offer: Offer<RelayChannel>): boolean =>
  channelsIn(offer).some(({ rules }) => rules.overrides.size > 0),
)

const hasUnlimitedOutput = oncePerOffer((offer: Offer<RelayChannel>): boolean =>
  channelsIn(offer).some(({ target }) => target?.profile.ignoresOutputLimit === true),
)

/**
 * Yields the requests of those channels whose changes may alter the cost bounds. Of several
 * channels that would send equal requests, only one is used. A channel for which the request can't
 * be prepared yields nothing. With `includesGrowth`, the requests that a conversion makes longer
 * are variants too.
 */
export function* changedVariants(
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  options: RelayOptions,
  includesGrowth = false,
): Generator<ChatRequest> {
  const { isPassThrough, adapters } = options
  const isGrowing = includesGrowth && tokensAddedByConversion(request, offer, adapters) > 0
  for (const channel of channelsWithDistinctRequests(offer)) {
    const grows = isGrowing && isConverted(channel, request, adapters)
    if (!grows && !mayChangeBounds(channel, request, options)) continue
    const candidate = candidateOf(channel, request, !isPassThrough, undefined, adapters)
    if (!isRelayError(candidate)) yield candidate.request
  }
}

/**
 * Returns the cost bounds of the variants of a request. A variant is the request that a channel
 * sends after its changes. Channels that ignore the output limit, or that think beyond it, have
 * bounds of their own. For a long request, the changes are applied to an outline, because copies
 * would block the event loop. The number of tokens that the overrides add to the outline's bound is
 * then added to the bound of the request. What a conversion may add is bounded without converting
 * the request, because the caller may be unable to pay.
 */
export function variantBoundsOf(
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  options: RelayOptions,
  priced: (variant: ChatRequest) => ChatRequest = (variant) => variant,
): readonly VariantBounds[] {
  const { adapters, isPassThrough } = options
  const withThinking = boundsWithThinking(request, offer, adapters, !isPassThrough)
  const grown = tokensAddedByConversion(request, offer, adapters)
  const unlimited = [...boundsWithoutLimit(request, offer), ...withThinking]
  const converted = boundsWithGrowth(request, grown)
  const isChanged = request.imageFactor !== undefined || (!isPassThrough && hasOverrides(offer))
  if (!isChanged) return [...unlimited, ...converted]
  const isShort = request.body.length < OUTLINED_FROM_BYTES
  const sample = isShort ? request : request.format.outlineOf(request)
  const changed = [...changedVariants(sample, offer, options)].map(priced).map((variant) => {
    const { choices, toolLimits, imageFactor } = variant
    const added = Math.max(0, variant.inputBound.tokens - priced(sample).inputBound.tokens)
    const tokens = priced(request).inputBound.tokens + added + grown
    const outputTokensMax = withEcho(variant.outputTokensMax, request, sample, added)
    const limits = { choices, outputTokensMax, inputBound: { ...request.inputBound, tokens } }
    const bounds = imageFactor === undefined ? limits : { ...limits, imageFactor }
    return toolLimits === undefined ? bounds : { ...bounds, toolLimits }
  })
  return [...unlimited, ...changed, ...converted]
}

/**
 * Returns the output limit of a variant, including the echo. With the option `echo`, a legacy
 * completion repeats its prompt, so the request's output limit also covers the length of the
 * prompt. The variant was made from `sample`, whose limit covers no echo if it is an outline. The
 * echo is therefore added to the variant's limit `limit`. It grows by `added`, the number of tokens
 * that the overrides add to the body.
 */
function withEcho(
  limit: number | null,
  request: ChatRequest,
  sample: ChatRequest,
  added: number,
): number | null {
  if (limit === null || request.outputTokensMax === null) return limit
  const echo = request.outputTokensMax - (sample.outputTokensMax ?? 0)
  return echo > 0 ? Math.min(OUTPUT_TOKENS_MAX, limit + echo + added) : limit
}

/**
 * Returns the bounds of the request for channels whose provider ignores output limits; an empty
 * list if the offer has no such channel. Without these bounds, a caller that sets a low limit would
 * get a long answer for the hold of a short one.
 */
function boundsWithoutLimit(
  { choices, inputBound }: ChatRequest,
  offer: Offer<RelayChannel>,
): readonly VariantBounds[] {
  if (!hasUnlimitedOutput(offer)) return []
  return [{ choices, inputBound, outputTokensMax: null, isUnlimited: true }]
}

/** Returns the bounds of a request to which a conversion adds at most `grown` input tokens. */
function boundsWithGrowth(
  { choices, inputBound, outputTokensMax }: ChatRequest,
  grown: number,
): readonly VariantBounds[] {
  if (grown === 0) return []
  const tokens = inputBound.tokens + grown
  return [{ choices, inputBound: { ...inputBound, tokens }, outputTokensMax }]
}

/**
 * Returns the largest factor by which a variant multiplies the price of an image; undefined if no
 * images are generated.
 */
export function largestImageFactor(bounds: readonly VariantBounds[]): DecimalText | undefined {
  const factors = bounds.flatMap(({ imageFactor }) => imageFactor ?? [])
  return factors.length === 0
    ? undefined
    : decimalText(largest(integer(0), ...factors.map(decimalOf)))
}

/**
 * Returns an image request with the bounds of its variants: the largest number of images, price
 * factor and output limit of all variants. The caller's own image size therefore has no effect on
 * the hold if no channel sends this size. A request for anything else, or without variants, is
 * returned unchanged.
 */
export function boundedBySentImages(
  request: ChatRequest,
  variants: readonly VariantBounds[],
): ChatRequest {
  const imageFactor = largestImageFactor(variants)
  if (request.imageFactor === undefined || imageFactor === undefined) return request
  const limits = variants.map(({ outputTokensMax }) => outputTokensMax)
  const outputTokensMax = limits.includes(null) ? null : Math.max(...limits.map(Number))
  const choices = Math.max(...variants.map((variant) => variant.choices))
  return { ...request, choices, imageFactor, outputTokensMax }
}
