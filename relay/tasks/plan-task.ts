import { quotaAvailableToToken } from '#domain/accounts/affordable-terms.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import { priceOf } from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { videoPrice } from '#domain/pricing/video-prices.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { servingGroupsOf } from '../pipeline/groups-that-may-serve-call.ts'
import { accessError, errorOfModelElsewhere, priceError } from '../pipeline/model-access-errors.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { hasUnexpiredChannel } from '../views/channel-expiry.ts'
import { type RelayChannel, serves } from '../views/channel-view.ts'
import type { Views } from '../views/start-views.ts'
import type { TaskBody } from './read-task-request-body.ts'
import {
  type PlannedVideo,
  selectVideoChannels,
  type VideoTask,
  vendorOf,
} from './videos/select-channels-and-build-video-request.ts'

export type SendOptions = {
  /**
   * The earlier task that this request continues, for example by a variation of its picture, or
   * null.
   */
  readonly origin: TaskRecord | null
  /** The callback URL for the provider, or null if no callback is requested. */
  readonly notifyUrl: string | null
  /**
   * The names of restricted members of the request's body that callers may send to this channel.
   */
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
  /** A text that the caller attached to the task and that responses repeat, or null. */
  readonly state: string | null
  /** The id of the earlier task that this request continues, or null. */
  readonly originId: string | null
  /**
   * True if the request may continue a task that is not finished, as a request for one of
   * Midjourney's modal windows does.
   */
  readonly continuesOpen: boolean
  /**
   * The open task that a modal step completes, and whose call pays for the result. Omitted for
   * other requests, and if that task has ended.
   */
  readonly stepOf?: string
  /** The path of the request to the provider, relative to the provider's base URL. */
  readonly path: string
  readonly body: TaskBody
  readonly providerBody: (options: SendOptions) => Buffer
  /**
   * Returns the names of the restricted members that are removed if a channel allows only
   * `allowed`.
   */
  readonly droppedMembers: (allowed: ReadonlySet<string>) => readonly string[]
  /**
   * Set for a video. The request to the provider is then written by the code of the video vendor
   * and not by `providerBody`.
   */
  readonly video?: VideoTask
}

export type TaskPlan = {
  /** The group whose price is charged. */
  readonly group: string
  readonly price: PriceSnapshot
  readonly hold: Quota
  readonly offer: Offer<RelayChannel>
  /**
   * The reference of the key that submitted the continued task. The request must use the same key.
   * Null if any key may be used.
   */
  readonly keyRef: string | null
  /**
   * For a video: its length, resolution and other options, and the provider channels that can make
   * exactly this video. Null for other tasks.
   */
  readonly video: PlannedVideo | null
}

/**
 * Returns a plan for each of the caller's groups that can serve the task, in the order of the
 * groups. A plan contains the price of the task and the channels to which it may be sent. Returns
 * an error if no group can serve the task.
 */
function planTask(
  views: Views,
  caller: Caller,
  request: TaskRequest,
  origin: TaskRecord | null,
  now: number,
): readonly TaskPlan[] | RelayError {
  const { options } = views.options
  const error = accessError(caller, options, { model: request.model })
  if (error !== null) return error
  const gone = origin === null ? null : goneAccountError(views, origin)
  if (gone !== null) return gone
  const plans = servingGroupsOf(caller, views).map((group) =>
    planInGroup(views, { ...caller, group }, request, origin, now),
  )
  const fit = plans.flatMap((plan) => (isRelayError(plan) ? [] : [plan]))
  if (fit.length > 0) return fit
  return plans.find(isRelayError) ?? relayError('group_not_allowed', { subject: caller.group })
}

/**
 * Like `planTask`, without the groups whose hold the account can't pay now, so that an expensive
 * group of `auto` does not make a task fail that another group can serve. If the account can pay
 * none of the groups, all are returned. The later admission makes the final decision.
 */
export async function planPayableTask(
  { views, actors, now }: Pick<RelayDeps, 'views' | 'actors' | 'now'>,
  caller: Caller,
  request: TaskRequest,
  origin: TaskRecord | null,
): Promise<readonly TaskPlan[] | RelayError> {
  const plans = planTask(views, caller, request, origin, now())
  if (isRelayError(plans) || plans.length === 1) return plans
  const { user, token } = caller
  try {
    const quota = await actors.ask(accountDecider, accountStream(user.userId), (state) =>
      quotaAvailableToToken(state, token.tokenId),
    )
    const payable = plans.filter(({ hold }) => hold <= quota)
    return payable.length === 0 ? plans : payable
  } catch {
    return plans
  }
}

/**
 * Returns an error if no request can continue the task `origin`, because its channel was deleted or
 * its key was replaced. No other account knows the task, so a later attempt would fail as well.
 */
function goneAccountError(
  { channels }: Views,
  { place, submitted: { task: subject } }: TaskRecord,
): RelayError | null {
  if (place === null) return null
  const channel = channels.find(place.channelId)
  if (channel === undefined) return relayError('channel_deleted', { subject })
  const hasKey = channel.allKeys.some(({ keyRef }) => keyRef === place.keyRef)
  return hasKey ? null : relayError('key_replaced', { subject })
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
  const channels = offerFor(views, caller, request, origin)
  const misplaced = misplacedVideoError(views, caller, request, origin, channels)
  if (misplaced !== null) return misplaced
  const price = priceOf(prices, model, group, customer)
  if ('code' in price) return priceError(price, group, model)
  const video =
    request.video === undefined
      ? null
      : selectVideoChannels(channels, request.model, request.video, origin)
  // A video is sent only to channels whose vendor can make it in the caller's format.
  const offer = request.video === undefined ? channels : (video?.offer ?? [])
  if (!hasUnexpiredChannel(offer, now)) {
    return relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
  }
  const pricing = priced(price, model, video)
  // Most tasks use no tokens, so they would cost nothing at a price per token.
  if (pricing === null) return relayError('model_unpriced', { param: 'model', subject: model })
  return { group, ...pricing, offer, keyRef: origin?.place?.keyRef ?? null, video }
}

/**
 * Returns an error for a video request if the model is unknown or is offered only elsewhere: for
 * calls, drawings or music, or for videos in the format of another vendor. Such a request never
 * succeeds, so the caller must not be told to try it again. Returns null for any other request.
 * Also returns null if the caller has named a channel, and for a request that continues a task,
 * because it has the model of that task.
 */
function misplacedVideoError(
  { channels }: Views,
  { group, pinnedChannelId }: Caller,
  { model, video }: TaskRequest,
  origin: TaskRecord | null,
  offer: Offer<RelayChannel>,
): RelayError | null {
  if (video === undefined || origin !== null || pinnedChannelId !== null) return null
  const { platform } = video
  const makesIt = (channel: RelayChannel) =>
    platform === null || vendorOf(channel)?.platform === platform
  if (channelsIn(offer).some(makesIt)) return null
  if (offer.length === 0 && !channels.hasModel(model)) {
    return relayError('model_not_found', { param: 'model', subject: model })
  }
  if (channels.mayOfferLater(group, model, 'video')) return null
  return errorOfModelElsewhere({ channels }, group, model)
}

/**
 * Returns the price of a task and the quota to reserve for it. Returns null if the price is not per
 * call and the task has no token limit.
 */
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
 * Returns the channels to which a task may be sent, in the order of their priorities. A request
 * that continues a task is sent only to the channel of that earlier task. This channel must still
 * have the task's key. It must also offer the model to the caller's group, because the group's
 * price is charged. An admin may name any channel (`pinnedChannelId`).
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
