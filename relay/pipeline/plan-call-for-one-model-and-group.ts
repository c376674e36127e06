import type { Served } from '#domain/accounts/events.ts'
import { HOUR_CACHE, PROVIDER_TOOLS } from '#domain/channels/restricted-request-members.ts'
import { withConditions } from '#domain/pricing/price-conditions.ts'
import {
  moderationPriceOf,
  priceOf,
  withImageFactor,
  withoutImages,
  withTools,
} from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { PriceCondition, ToolCounts } from '#domain/pricing/usage.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import { BYTES_PER_TOKEN_MAX, EXCERPT_BYTES_MAX } from '#relay/token-counts/text-excerpt.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { requestsHourCache } from '../dialects/detect-one-hour-cache-writes.ts'
import { requestedConditions } from '../dialects/price-conditions-of-call.ts'
import { largestUses } from '../dialects/provider-tool-limits.ts'
import { type ChatRequest, isDirectFormat } from '../dialects/wire-format.ts'
import { notFound } from '../stored-responses/resolve-stored-input.ts'
import type { StorageAccount } from '../stored-responses/stored-response-owners.ts'
import { acceptsCalls, type OfferKind, type RelayChannel, serves } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import {
  type CallTerms,
  callTerms,
  type ToolBounds,
  type VariantBounds,
} from './compute-hold-and-output-limit.ts'
import {
  boundedBySentImages,
  changedVariants,
  largestImageFactor,
  variantBoundsOf,
} from './cost-bounds-of-request-variants.ts'
import { boundsWithThinking } from './thinking-beyond-output-limit.ts'

/**
 * The variants of a request: the original request, followed by one variant for each channel that
 * changes its bounds.
 */
type RequestVariants = readonly [ChatRequest, ...ChatRequest[]]

/** One model and group with which a call may be served. */
export type Alternative = {
  readonly request: ChatRequest
  readonly group: string
  readonly offer: Offer<RelayChannel>
  /** Null if the call's admission names the same model, group and price. */
  readonly served: Served | null
}

/** The price, the cost bounds, the hold and the channels of a call before its admission. */
export type CallPlan = {
  readonly price: PriceSnapshot
  /**
   * The bounds of the original request, followed by the bounds of its variant for each channel with
   * overrides.
   */
  readonly bounds: readonly [ChatRequest, ...VariantBounds[]]
  readonly terms: CallTerms
  /** True if the channels' overrides apply to the call. */
  readonly isOverridden: boolean
  /** The channels to which the call may be sent. Their order is chosen at random later. */
  readonly offer: Offer<RelayChannel>
  /**
   * The models and groups with which the call may be served, in order. Undefined if only the
   * requested model in the caller's group may serve the call. Its channels are in `offer`.
   */
  readonly alternatives?: readonly Alternative[]
}

/**
 * Lists the groups that may serve a call, in order. Returns undefined if only the caller's group
 * may serve it.
 */
export const groupsOfPlan = ({ alternatives }: CallPlan): readonly string[] | undefined =>
  alternatives === undefined ? undefined : [...new Set(alternatives.map(({ group }) => group))]

/**
 * Plans a call with the model of the request and the group of the caller, without alternatives.
 * Determines its worst-case cost and the channels to which it may be sent. Returns an error if it
 * can't be served.
 */
export function planAlternative(
  views: Views,
  caller: Caller,
  request: ChatRequest,
  now: number,
): CallPlan | RelayError {
  const { user, group } = caller
  const { model } = request
  const { options, prices } = views.options
  const offer = offerFor(views, caller, request)
  if (request.stored !== undefined && offer.length === 0) {
    return notFound(request.stored.references[0] ?? NO_REFERENCE)
  }
  const { name } = request.format
  const kind = isDirectFormat(name) ? name : 'call'
  const misplaced = offer.length === 0 ? errorOfUnofferedModel(views, caller, model, kind) : null
  if (misplaced !== null) return misplaced
  const acceptsUnpriced = user.settings.acceptUnsetModelRatioModel
  const priceFor = name === 'moderations' ? moderationPriceOf : priceOf
  const ofModel = priceFor(prices, model, group, { userGroup: user.group, acceptsUnpriced })
  if ('code' in ofModel) return priceError(ofModel, group, model)
  if (!hasUnexpiredChannel(offer, now)) {
    return relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
  }
  const priced = (one: ChatRequest) => request.format.withPrice?.(one, ofModel) ?? one
  const variants = variantBoundsOf(request, offer, options, priced)
  const bounds = [boundedBySentImages(priced(request), variants), ...variants] as const
  const tools = toolBoundsOf(bounds, offer)
  const ofAnswer = mayHaveImages(request, offer) ? ofModel : withoutImages(ofModel)
  const ofConditions = withConditions(ofAnswer, model, conditionsOf(request, offer))
  const ofCall = withTools(prices, ofConditions, model, tools?.uses)
  const price = withImageFactor(ofCall, largestImageFactor(bounds))
  const terms = callTerms(price, bounds, options, null, tools)
  return { price, bounds, terms, isOverridden: !options.isPassThrough, offer }
}

/**
 * Returns the error of a model that no channel offers in the format of the caller. Returns null if
 * a channel may offer it later, so that the caller may try again. An unknown model is reported as
 * unknown, and not as a model without a price. A model that the group has only at other endpoints
 * is reported as such. After a status 503, clients would repeat the call in vain.
 */
export function errorOfUnofferedModel(
  { channels }: Pick<Views, 'channels'>,
  { group, pinnedChannelId }: Pick<Caller, 'group' | 'pinnedChannelId'>,
  model: string,
  kind: OfferKind,
): RelayError | null {
  if (pinnedChannelId !== null) return null
  if (!channels.isKnown(model))
    return relayError('model_not_found', { param: 'model', subject: model })
  const isOffered = channels.offering(group, model, 'any').length > 0
  return isOffered && !channels.mayOfferLater(group, model, kind)
    ? relayError('model_not_at_endpoint', { param: 'model', subject: model })
    : null
}

/**
 * Returns the price conditions of a request, such as a service tier. Conditions that no channel of
 * the offer allows are left out.
 */
const conditionsOf = (
  request: ChatRequest,
  offer: Offer<RelayChannel>,
): readonly PriceCondition[] =>
  requestedConditions(request, (member) =>
    channelsIn(offer).some(({ rules }) => rules.allowedMembers.has(member)),
  )

/**
 * Reports whether the answer may contain images. It can't if the request excludes images and no
 * channel changes the request. An override or a conversion could change the modalities that the
 * request asks for.
 */
const mayHaveImages = (
  { hasNoImageAnswer, format, model }: ChatRequest,
  offer: Offer<RelayChannel>,
): boolean =>
  hasNoImageAnswer !== true ||
  channelsIn(offer).some(
    (channel) => channel.rules.overrides.size > 0 || !serves(channel, format.name, model),
  )

/**
 * Returns the bounds on the use of the provider's tools, or undefined if no channel would send such
 * tools. A channel sends the tools of the request if the channel allows them. It also sends the
 * tools in its overrides.
 */
function toolBoundsOf(
  [request, ...variants]: readonly [ChatRequest, ...VariantBounds[]],
  offer: Offer<RelayChannel>,
): ToolBounds | undefined {
  const own = request.toolLimits
  // Most requests have no tools of the provider, and are sent to each channel as they are.
  if (own === undefined && variants.length === 0) return undefined
  const isAllowed =
    own !== undefined &&
    channelsIn(offer).some(({ rules }) => rules.allowedMembers.has(own.allowedBy ?? PROVIDER_TOOLS))
  const all = [isAllowed ? own : undefined, ...variants.map(({ toolLimits }) => toolLimits)]
  const limits = all.filter((each) => each !== undefined)
  if (limits.length === 0) return undefined
  return {
    uses: largestUses(limits.map(({ uses }) => uses)) ?? NO_USES,
    inputTokens: Math.max(...limits.map(({ inputTokens = 0 }) => inputTokens)),
  }
}

const NO_USES: ToolCounts = {}

/**
 * The minimum length of a request whose tokens are counted. Counting a shorter request would lower
 * the hold only slightly.
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
 * lower the hold, or if there are too many variants.
 */
export function countableVariants(
  { options }: Views['options'],
  request: ChatRequest,
  { terms, offer }: CallPlan,
): RequestVariants | null {
  if (!isWorthCounting(request, { terms })) return null
  const variants: [ChatRequest, ...ChatRequest[]] = [request]
  for (const variant of changedVariants(request, offer, options)) {
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
  const isHourAllowed = channelsIn(plan.offer).some(({ rules }) =>
    rules.allowedMembers.has(HOUR_CACHE),
  )
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
 * The number of bytes of a body with stored content that count as one token in the check whether
 * the caller can pay. It is twice the usual number, because the length includes the ids of stored
 * items, which are not inserted. The check therefore never asks for more than the later hold.
 * Images can't lower this hold, because they count with their bytes.
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

/** A placeholder. A request with stored input has at least one reference. */
const NO_REFERENCE = { id: '', param: 'input' }

function offerFor(views: Views, caller: Caller, request: ChatRequest): Offer<RelayChannel> {
  const offer = unrestrictedOffer(views, caller, request)
  const origin = request.stored?.place ?? null
  return origin === null ? offer : offerOfOrigin(offer, origin)
}

/**
 * Reduces the offer to the channel and the key with which the stored input was created. Returns an
 * empty offer if the channel or the key is missing.
 */
function offerOfOrigin(
  offer: Offer<RelayChannel>,
  { channelId, keyRef }: StorageAccount,
): Offer<RelayChannel> {
  for (const channel of channelsIn(offer)) {
    if (channel.channelId !== channelId) continue
    const keys = channel.keys.filter((key) => key.keyRef === keyRef)
    return keys.length === 0 ? [] : offerOf([{ ...channel, keys }])
  }
  return []
}

function unrestrictedOffer(
  { channels }: Views,
  caller: Caller,
  { model, format: { name } }: ChatRequest,
): Offer<RelayChannel> {
  const { group, pinnedChannelId } = caller
  if (pinnedChannelId === null) return channels.offeringCalls(group, model, name)
  const pinned = channels.find(pinnedChannelId)
  const isFit = pinned?.isEnabled && pinned.target !== null && acceptsCalls(pinned)
  return isFit ? offerOf([pinned]) : []
}

/** Reports whether any channel of the offer has not expired at `now`, in Unix milliseconds. */
export function hasUnexpiredChannel(offer: Offer<RelayChannel>, now: number): boolean {
  for (const { channels } of offer) {
    for (const { terms } of channels) if (isUnexpired(terms, now)) return true
  }
  return false
}

/**
 * Reports whether a channel has not expired. An expiry time of 0 or less means that it never does.
 */
export const isUnexpired = ({ expiredTime }: RelayChannel['terms'], now: number): boolean =>
  expiredTime <= 0 || expiredTime * 1_000 > now

/**
 * Returns the error if the token or the group of the caller does not allow the model; otherwise
 * null.
 */
export function accessError(
  { token, user, group }: Caller,
  { usableGroups }: RelayOptions,
  { model, suffix }: Pick<ChatRequest, 'model' | 'suffix'>,
): RelayError | null {
  const names = suffix === undefined ? [model] : [model, suffix.name]
  if (token.models !== null && !names.some((name) => token.models?.has(name))) {
    return relayError('model_not_allowed', { param: 'model', subject: suffix?.name ?? model })
  }
  // A user's own group is always usable. Any other group must be open to users.
  const isGroupUsable = group === user.group || usableGroups.has(group)
  return isGroupUsable ? null : relayError('group_not_allowed', { subject: group })
}

/** Returns the error for the caller if the model has no price in the group. */
export const priceError = ({ code }: CodedError, group: string, model: string): RelayError =>
  code === 'GroupUnknown'
    ? relayError('group_not_allowed', { subject: group })
    : relayError('model_unpriced', { param: 'model', subject: model })
