import { holdFor } from '#domain/pricing/hold.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { priceOf } from '#domain/pricing/price-list.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/offer.ts'
import type { Quota } from '#domain/shared/quota.ts'
import { type Denial, deny, isDenial } from '#relay/canonical/denial.ts'
import {
  type ChatRequest,
  readChatRequest,
  upstreamBody,
} from '#relay/dialects/openai-chat/chat-request.ts'
import { upstreamModelOf } from '#relay/views/channel-rules.ts'
import { type RelayChannel, workOf } from '#relay/views/channel-view.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/views.ts'
import type { Caller } from './authenticate.ts'

/** One channel the call may be sent to, and what would be sent. */
export type Candidate = {
  readonly channel: RelayChannel
  /** The caller's request with the channel's overrides applied. */
  readonly request: ChatRequest
  readonly body: Buffer
  /** null when it is the name the caller used. */
  readonly upstreamModel: string | null
}

export type CallPlan = {
  readonly price: PriceSnapshot
  readonly hold: Quota
  /** Whether channels' overrides apply. */
  readonly isOverridden: boolean
  /** Where it may go; which of them, and in which order, is drawn when it goes. */
  readonly offer: Offer<RelayChannel>
}

/** What the call may cost at worst and where it may go; or why it may not be made. */
export function planCall(
  views: Views,
  caller: Caller,
  request: ChatRequest,
  now: number,
): CallPlan | Denial {
  const { token, user, group } = caller
  const { model } = request
  if (token.models !== null && !token.models.has(model)) {
    return deny('model_not_allowed', { param: 'model', subject: model })
  }
  const { options, prices } = views.options
  if (!isGroupUsable(caller, options)) return deny('group_not_allowed', { subject: group })
  const offer = offerFor(views, caller, model)
  // Before its price: nobody is to set one for a model that is misspelt.
  if (offer.length === 0 && caller.pinnedChannelId === null && !views.channels.isKnown(model)) {
    return deny('model_not_found', { param: 'model', subject: model })
  }
  const acceptsUnpriced = user.settings.acceptUnsetModelRatioModel
  const price = priceOf(prices, model, group, { userGroup: user.group, acceptsUnpriced })
  if ('refused' in price) {
    return price.refused === 'GroupUnknown'
      ? deny('group_not_allowed', { subject: group })
      : deny('model_unpriced', { param: 'model', subject: model })
  }
  if (!hasValid(offer, now)) {
    return deny('no_channel', { param: 'model', subject: model, retryAfterSeconds: 10 })
  }
  const hold = worstHold(price, request, offer, options)
  return { price, hold, isOverridden: !options.isPassThrough, offer }
}

const NO_OVERRIDES: ReadonlyMap<string, string> = new Map()

/** The request as this channel gets it; a denial when its overrides make no sense. */
export function candidateOf(
  channel: RelayChannel,
  request: ChatRequest,
  isOverridden = true,
): Candidate | Denial {
  const { rules, terms } = channel
  const overrides = isOverridden ? rules.overrides : NO_OVERRIDES
  const model = upstreamModelOf(terms, rules, request.model)
  const forcesUsage = rules.takesIncludeUsage
  const body = upstreamBody(request, { model, forcesUsage, overrides })
  const upstreamModel = model === request.model ? null : model
  if (overrides.size === 0) return { channel, request, body, upstreamModel }
  const overridden = readChatRequest(body)
  if (isDenial(overridden)) return overridden
  const named = overridden.model === request.model ? null : overridden.model
  // What the caller gets to see is decided by what the caller asked for.
  const { wantsUsage, model: asked } = request
  return {
    channel,
    request: { ...overridden, wantsUsage, model: asked },
    body,
    upstreamModel: named,
  }
}

function offerFor({ channels }: Views, caller: Caller, model: string): Offer<RelayChannel> {
  const { group, pinnedChannelId } = caller
  if (pinnedChannelId === null) return channels.offering(group, model)
  const pinned = channels.find(pinnedChannelId)
  const isFit = pinned?.isEnabled && pinned.target !== null && workOf(pinned) === 'chat'
  return isFit ? offerOf([pinned]) : []
}

export function hasValid(offer: Offer<RelayChannel>, now: number): boolean {
  for (const { channels } of offer) {
    for (const { terms } of channels) if (isValid(terms, now)) return true
  }
  return false
}

export const isValid = ({ expiredTime }: RelayChannel['terms'], now: number): boolean =>
  expiredTime <= 0 || expiredTime * 1_000 > now

/** A user's own group is always usable; another one must be open to users. */
export const isGroupUsable = ({ user, group }: Caller, options: RelayOptions): boolean =>
  group === user.group || options.usableGroups.has(group)

/** The worst case, also over the channels that have overrides: those can ask for more. */
function worstHold(
  price: PriceSnapshot,
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  options: RelayOptions,
): Quota {
  let worst = holdOf(price, request, options)
  if (options.isPassThrough) return worst
  for (const channel of channelsIn(offer)) {
    if (channel.rules.overrides.size === 0) continue
    const candidate = candidateOf(channel, request)
    if (isDenial(candidate)) continue
    const hold = holdOf(price, candidate.request, options)
    if (hold > worst) worst = hold
  }
  return worst
}

function holdOf(price: PriceSnapshot, request: ChatRequest, options: RelayOptions): Quota {
  const { inputTokensMax: inputTokens, outputTokensMax, choices } = request
  if (outputTokensMax !== null || price.mode === 'call') {
    return holdFor(price, { inputTokens, outputTokens: outputTokensMax ?? 0, choices })
  }
  const input = holdFor(price, { inputTokens, outputTokens: 0, choices })
  const isFree = holdFor(price, { inputTokens: 1, outputTokens: 1, choices }) === 0n
  return isFree ? 0n : input + options.preConsumedQuota * BigInt(choices)
}
