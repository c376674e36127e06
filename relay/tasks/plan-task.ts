import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { priceOf } from '#domain/pricing/price-list.ts'
import { videoPrice } from '#domain/pricing/video-prices.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { accessError, hasValid, priceError } from '../pipeline/plan-call.ts'
import { servingGroupsOf } from '../pipeline/plan-call-with-fallbacks.ts'
import { type RelayChannel, serves } from '../views/channel-view.ts'
import type { Views } from '../views/start-views.ts'
import type { TaskBody } from './read-task-request-body.ts'
import { type PlannedVideo, planVideo, type VideoTask } from './videos/plan-video.ts'

export type SendOptions = {
  /** The task that this request continues, or null. */
  readonly origin: TaskRecord | null
  /** The callback URL for the provider, or null if no callback is requested. */
  readonly notifyUrl: string | null
  /** The restricted members of a request's body that this channel allows callers to send. */
  readonly allowed: ReadonlySet<string>
}

export type TaskRequest = {
  readonly kind: TaskKind
  readonly platform: string
  /** The action name in the API, such as `IMAGINE` or `MUSIC`. */
  readonly action: string
  /** The model name under which the action is priced. */
  readonly model: string
  readonly prompt: string | null
  /** The caller's own reference for the task, or null. */
  readonly state: string | null
  /** The id of the task that this request continues, or null. */
  readonly originId: string | null
  /** True if the continued task may still be unfinished, as in Midjourney's modal window. */
  readonly continuesOpen: boolean
  /** The path of the provider request, below the provider's base URL. */
  readonly path: string
  readonly body: TaskBody
  readonly providerBody: (options: SendOptions) => Buffer
  /** Returns the restricted members that are removed for a channel that allows only `allowed`. */
  readonly droppedMembers: (allowed: ReadonlySet<string>) => readonly string[]
  /** Set for a video. The vendor then writes the request, in place of `providerBody`. */
  readonly video?: VideoTask
}

export type TaskPlan = {
  /** The group whose price is charged. */
  readonly group: string
  readonly price: PriceSnapshot
  readonly hold: Quota
  readonly offer: Offer<RelayChannel>
  /** The key of the continued task, which the request must use. Null if any key may be used. */
  readonly keyRef: string | null
  /** The video as the vendor will make it. Null for other tasks. */
  readonly video: PlannedVideo | null
}

/**
 * Determines the price of a task and the channels to which it may be sent, for each group of the
 * caller that can serve it, in order. Returns an error if there is none.
 */
export function planTask(
  views: Views,
  caller: Caller,
  request: TaskRequest,
  origin: TaskRecord | null,
  now: number,
): readonly TaskPlan[] | RelayError {
  const { options } = views.options
  const error = accessError(caller, options, { model: request.model })
  if (error !== null) return error
  const plans = servingGroupsOf(caller, views).map((group) =>
    planInGroup(views, { ...caller, group }, request, origin, now),
  )
  const fit = plans.flatMap((plan) => (isRelayError(plan) ? [] : [plan]))
  if (fit.length > 0) return fit
  return plans.find(isRelayError) ?? relayError('group_not_allowed', { subject: caller.group })
}

function planInGroup(
  views: Views,
  caller: Caller,
  request: TaskRequest,
  origin: TaskRecord | null,
  now: number,
): TaskPlan | RelayError {
  const { user, group } = caller
  const { model } = request
  const { prices } = views.options
  const customer = { userGroup: user.group, acceptsUnpriced: false }
  const price = priceOf(prices, model, group, customer)
  if ('code' in price) return priceError(price, group, model)
  const channels = offerFor(views, caller, request, origin)
  const video =
    request.video === undefined ? null : planVideo(channels, request.model, request.video, origin)
  const offer = video?.offer ?? channels
  if (!hasValid(offer, now)) {
    return relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
  }
  const made = priced(price, model, video)
  // Most tasks use no tokens, so they would be free with a price per token.
  if (made === null) return relayError('model_unpriced', { param: 'model', subject: model })
  return { group, ...made, offer, keyRef: origin?.place?.keyRef ?? null, video }
}

/** Returns the price and the hold of a task. Null if a price per token can't be applied. */
function priced(
  price: PriceSnapshot,
  model: string,
  video: PlannedVideo | null,
): Pick<TaskPlan, 'price' | 'hold'> | null {
  const { tokensMax = 0, seconds = 0 } = video?.media ?? {}
  if (price.mode !== 'call' && tokensMax === 0) return null
  const conditioned =
    video === null
      ? price
      : videoPrice(price, [model, video.upstreamModel], video.platform, video.media)
  const bounds = { inputTokens: 0, outputTokens: tokensMax, choices: 1, seconds }
  return { price: conditioned, hold: holdFor(conditioned, bounds) }
}

/**
 * Returns the channels for a task. A request that continues a task is sent only to the channel of
 * that task. The group's price is charged, so this channel must also offer the model to the
 * caller's group. Admins may name any channel.
 */
function offerFor(
  { channels }: Views,
  { group, pinnedChannelId }: Caller,
  { model, kind }: TaskRequest,
  origin: TaskRecord | null,
): Offer<RelayChannel> {
  const place = origin?.place ?? null
  const channelId = place?.channelId ?? pinnedChannelId
  if (channelId === null) return channels.offering(group, model, kind)
  const channel = channels.find(channelId)
  const isFit = channel?.isEnabled && channel.target !== null && serves(channel, kind, model)
  if (!isFit) return []
  const isOffered =
    pinnedChannelId !== null ||
    [...channelsIn(channels.offering(group, model, kind))].includes(channel)
  const hasKey = place === null || channel.keys.some(({ keyRef }) => keyRef === place.keyRef)
  return isOffered && hasKey ? offerOf([channel]) : []
}
