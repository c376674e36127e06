import { HOUR_CACHE } from '#domain/channels/restricted-request-members.ts'
import { BYTES_PER_TOKEN_MAX, EXCERPT_BYTES_MAX } from '#relay/token-counts/text-excerpt.ts'
import type { Views } from '#relay/views/start-views.ts'
import { requestsHourCache } from '../dialects/detect-and-shorten-one-hour-caching.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { type CallTerms, callTerms, type VariantBounds } from './compute-hold-and-output-limit.ts'
import { changedVariants } from './cost-bounds-of-request-variants.ts'
import { allowedMembersIn, type CallPlan } from './plan-call-for-one-model-and-group.ts'
import { boundsWithThinking } from './thinking-beyond-output-limit.ts'

/**
 * The variants of a request: the original request, followed by the requests of channels that may
 * change its bounds.
 */
type RequestVariants = readonly [ChatRequest, ...ChatRequest[]]

/**
 * The minimum length of a request whose tokens are counted. Counting a shorter request would lower
 * the hold only slightly, unless its schemas repeat references for Gemini.
 */
const COUNTED_FROM_BYTES = 4_096
/**
 * The maximum length of a request whose tokens are counted. Only an excerpt of a longer request
 * would be counted, so a caller could hide tokens in the omitted parts.
 */
const COUNTED_BYTES_MAX = EXCERPT_BYTES_MAX
const VARIANTS_COUNTED_MAX = 4

/** Reports whether counting the tokens of a request can lower its hold. */
export const isWorthCounting = (
  request: ChatRequest,
  { terms }: Pick<CallPlan, 'terms'>,
): boolean =>
  terms.reduction !== null && request.body.length >= COUNTED_FROM_BYTES && isCountable(request)

const isCountable = ({ body, inputBound }: ChatRequest): boolean =>
  body.length <= COUNTED_BYTES_MAX && inputBound.isText

/**
 * Returns the variants whose text can be counted to lower the hold. Returns null if a count can't
 * lower the hold, if a variant can't be counted, or if there are too many variants.
 */
export function countableVariants(
  { options }: Views['options'],
  request: ChatRequest,
  { terms, offer }: CallPlan,
): RequestVariants | null {
  if (!isWorthCounting(request, { terms })) return null
  const variants: [ChatRequest, ...ChatRequest[]] = [request]
  for (const variant of changedVariants(request, offer, options, true)) {
    if (variants.length === VARIANTS_COUNTED_MAX || !isCountable(variant)) return null
    variants.push(variant)
  }
  return variants
}

/** Returns the terms of the call for a given number of input tokens of each variant. */
export function termsForInput(
  view: Views['options'],
  plan: Pick<CallPlan, 'price' | 'offer'>,
  variants: RequestVariants,
  inputTokens: readonly number[],
): CallTerms {
  const isHourAllowed = allowedMembersIn(plan.offer).has(HOUR_CACHE)
  // The first variant is the caller's request. A channel that does not allow cache marks of one
  // hour shortens the marks in this request. An override may set such marks for any channel.
  const [own, ...overridden] = variants
  const sentForms = isHourAllowed ? variants : overridden
  const hasHourCache = sentForms.some(({ body }) => requestsHourCache(body))
  const { adapters, isPassThrough } = view.options
  const withThinking = boundsWithThinking(own, plan.offer, adapters, !isPassThrough)
  const tokens = new Map<VariantBounds, number>([
    ...variants.map(
      (variant, index) => [variant, inputTokens[index] ?? variant.body.length] as const,
    ),
    ...withThinking.map((variant) => [variant, inputTokens[0] ?? own.body.length] as const),
  ])
  const bounds = [...variants, ...withThinking] as const
  return callTerms(plan.price, bounds, view.options, { tokens, kinds: { hasHourCache } })
}

/**
 * Returns the terms for the lowest possible token count of a body of this length. If the account
 * can't pay even these terms, a count can't help.
 */
export function lowestTerms({ options }: Views['options'], { price, bounds }: CallPlan): CallTerms {
  const least = Math.ceil(bounds[0].body.length / BYTES_PER_TOKEN_MAX)
  const tokens = new Map(bounds.map((variant) => [variant, least]))
  return callTerms(price, bounds, options, { tokens, kinds: { hasHourCache: false } })
}

/**
 * The number of bytes of a body with stored content that count as one token in the check of whether
 * the caller can pay. It is twice the usual number, because the length counts the ids of stored
 * items, which the inserted content lacks. The check therefore never asks for more than the later
 * hold. Images can't lower this hold, because their bytes are counted.
 */
const CONTENT_BYTES_PER_TOKEN_MAX = 2 * BYTES_PER_TOKEN_MAX

/**
 * Returns the terms for the lowest possible token count of a request whose body has `bytes` bytes
 * after stored content was inserted.
 */
export function lowestTermsWithContent(
  { options }: Views['options'],
  { price, bounds: [own, ...others] }: CallPlan,
  bytes: number,
): CallTerms {
  const tokens = Math.ceil(bytes / CONTENT_BYTES_PER_TOKEN_MAX)
  const withContent = <V extends VariantBounds>(variant: V): V => ({
    ...variant,
    inputBound: { ...variant.inputBound, tokens },
  })
  const bounds = [withContent(own), ...others.map(withContent)] as const
  return callTerms(price, bounds, options, { tokens: new Map(), kinds: { hasHourCache: false } })
}
