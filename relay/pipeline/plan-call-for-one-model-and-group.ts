import type { Served } from '#domain/accounts/events.ts'
import { PROVIDER_TOOLS } from '#domain/channels/restricted-request-members.ts'
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
import {
  channelsIn,
  type Offer,
  offerOf,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { requestedConditions } from '../dialects/price-conditions-of-call.ts'
import { largestUses } from '../dialects/provider-tool-limits.ts'
import { type ChatRequest, isDirectFormat } from '../dialects/wire-format.ts'
import { notFound } from '../stored-responses/find-channel-and-key-of-stored-input.ts'
import type { StorageAccount } from '../stored-responses/stored-response-owners.ts'
import { hasUnexpiredChannel } from '../views/channel-expiry.ts'
import { acceptsCalls, type RelayChannel, serves } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import {
  type CallTerms,
  callTerms,
  type ToolBounds,
  type VariantBounds,
} from './compute-hold-and-output-limit.ts'
import {
  boundedBySentImages,
  largestImageFactor,
  variantBoundsOf,
} from './cost-bounds-of-request-variants.ts'
import { errorOfUnofferedModel, priceError } from './model-access-errors.ts'

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
   * The bounds of the original request, followed by the bounds of its variants (see
   * `variantBoundsOf`).
   */
  readonly bounds: readonly [ChatRequest, ...VariantBounds[]]
  readonly terms: CallTerms
  /** True if the channels' overrides apply to the call. */
  readonly isOverridden: boolean
  /**
   * The channels to which the call may be sent, by priority. The order within a priority is chosen
   * at random later.
   */
  readonly offer: Offer<RelayChannel>
  /**
   * The models and groups with which the call may be served, in order. Undefined if only the
   * requested model in the caller's group may serve the call. The channels of this model are in
   * `offer`.
   */
  readonly alternatives?: readonly PlannedAlternative[]
}

/** An alternative with the terms that it would have as the only one. */
export type PlannedAlternative = Alternative & Omit<CallPlan, 'alternatives'>

/**
 * Lists the groups that may serve a call, in order. Returns undefined if only the caller's group
 * may serve it.
 */
export const groupsOfPlan = ({ alternatives }: CallPlan): readonly string[] | undefined =>
  alternatives === undefined ? undefined : [...new Set(alternatives.map(({ group }) => group))]

/**
 * Returns the request by which the tokens of a planned call are estimated for the limits. If the
 * call has a price per image, whatever model serves it, its images have only the tokens that the
 * provider reports afterwards, which are usually none.
 */
export function sizedRequestOf(
  { price, alternatives = NO_ALTERNATIVES }: CallPlan,
  request: ChatRequest,
): ChatRequest {
  if (request.imageFactor === undefined || price.mode !== 'call') return request
  const isPerImage = alternatives.every(({ served }) => (served?.price ?? price).mode === 'call')
  return isPerImage ? { ...request, outputTokensMax: 0 } : request
}

const NO_ALTERNATIVES: readonly PlannedAlternative[] = []

/**
 * Plans a call with the model of the request and the group of the caller, without alternatives.
 * Determines its worst-case cost and the channels to which it may be sent. Returns an error if the
 * call can't be served.
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
  const offer = offerFor(views, caller, request, now)
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

/** Returns the restricted members of requests that at least one channel of the offer allows. */
export const allowedMembersIn = oncePerOffer(
  (offer: Offer<RelayChannel>): ReadonlySet<string> =>
    new Set(channelsIn(offer).flatMap(({ rules }) => [...rules.allowedMembers])),
)

/**
 * Returns the price conditions of a request, such as a service tier. Conditions that no channel of
 * the offer allows are left out.
 */
const conditionsOf = (
  request: ChatRequest,
  offer: Offer<RelayChannel>,
): readonly PriceCondition[] =>
  requestedConditions(request, (member) => allowedMembersIn(offer).has(member))

/**
 * Reports whether the answer may contain images. It contains no images if the request excludes
 * images and no channel changes the request. An override or a conversion could change the
 * modalities that the request asks for.
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
    own !== undefined && allowedMembersIn(offer).has(own.allowedBy ?? PROVIDER_TOOLS)
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
 * A placeholder that is never used, because a request with stored input has at least one reference.
 */
const NO_REFERENCE = { id: '', param: 'input' }

function offerFor(
  views: Views,
  caller: Caller,
  request: ChatRequest,
  now: number,
): Offer<RelayChannel> {
  const offer = unrestrictedOffer(views, caller, request, now)
  const origin = request.stored?.place ?? null
  return origin === null ? offer : offerOfOrigin(offer, origin)
}

/**
 * Returns the offer with only the channel and the key with which the stored input was created.
 * Returns an empty offer if the channel or the key is missing.
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
  now: number,
): Offer<RelayChannel> {
  const { group, pinnedChannelId } = caller
  if (pinnedChannelId === null) return channels.offeringCalls(group, model, name, now)
  const pinned = channels.find(pinnedChannelId)
  const isFit = pinned?.isEnabled && pinned.target !== null && acceptsCalls(pinned)
  return isFit ? offerOf([pinned]) : []
}
