import { holdFor } from '#domain/pricing/hold.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { priceOf } from '#domain/pricing/price-list.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/offer.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { KnownTask } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { hasValid, isGroupUsable } from '../pipeline/plan-call.ts'
import { type RelayChannel, workOf } from '../views/channel-view.ts'
import type { Views } from '../views/views.ts'
import type { TaskBody } from './task-body.ts'

/** What providers are told beside what the caller asked for. */
export type Sending = {
  /** The task that this one continues. */
  readonly origin: KnownTask | null
  /** Where to call back; null: nowhere. */
  readonly notifyUrl: string | null
  /** Restricted members that the channel allows. */
  readonly allowed: ReadonlySet<string>
}

/** A caller's request for a task, read. */
export type TaskRequest = {
  readonly kind: TaskKind
  readonly platform: 'midjourney' | 'suno'
  /** As on the wire: `IMAGINE`, `MUSIC`… */
  readonly action: string
  /** What is priced. */
  readonly model: string
  readonly prompt: string | null
  /** The caller's own mark of it; null: none. */
  readonly state: string | null
  /** The id of the task that it continues, as its caller has it; null: none. */
  readonly originId: string | null
  /** A window is to be filled in that belongs to a task under way. */
  readonly continuesOpen: boolean
  /** Below the provider's address. */
  readonly path: string
  readonly body: TaskBody
  readonly sentBody: (sending: Sending) => Buffer
  /** The restricted members that are not in it, where the channel allows these ones. */
  readonly droppedBy: (allowed: ReadonlySet<string>) => readonly string[]
}

export type TaskPlan = {
  readonly price: PriceSnapshot
  readonly hold: Quota
  readonly offer: Offer<RelayChannel>
  /** It has to go where another task is, by the same key. */
  readonly keyRef: string | null
}

/** Which tasks cost how much, and where this one may go; or why it may not be made. */
export function planTask(
  views: Views,
  caller: Caller,
  request: TaskRequest,
  origin: KnownTask | null,
  now: number,
): TaskPlan | RelayError {
  const { token, user, group } = caller
  const { model } = request
  if (token.models !== null && !token.models.has(model)) {
    return relayError('model_not_allowed', { param: 'model', subject: model })
  }
  const { options, prices } = views.options
  if (!isGroupUsable(caller, options)) return relayError('group_not_allowed', { subject: group })
  const customer = { userGroup: user.group, acceptsUnpriced: false }
  const price = priceOf(prices, model, group, customer)
  if ('code' in price) {
    return price.code === 'GroupUnknown'
      ? relayError('group_not_allowed', { subject: group })
      : relayError('model_unpriced', { param: 'model', subject: model })
  }
  // A task uses no tokens: at a price for those it would be free.
  if (price.mode !== 'call') return relayError('model_unpriced', { param: 'model', subject: model })
  const offer = offerFor(views, caller, request, origin)
  if (!hasValid(offer, now)) {
    return relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
  }
  const hold = holdFor(price, { inputTokens: 0, outputTokens: 0, choices: 1 })
  return { price, hold, offer, keyRef: origin?.place?.keyRef ?? null }
}

/**
 * Where another task is, that one's channel alone, and by its key. It has to offer the model to the
 * caller's group all the same: what is paid is the price of that group. Admins may name any.
 */
function offerFor(
  { channels }: Views,
  { group, pinnedChannelId }: Caller,
  { model, kind }: TaskRequest,
  origin: KnownTask | null,
): Offer<RelayChannel> {
  const place = origin?.place ?? null
  const channelId = place?.channelId ?? pinnedChannelId
  if (channelId === null) return channels.offering(group, model, kind)
  const channel = channels.find(channelId)
  const isFit = channel?.isEnabled && channel.target !== null && workOf(channel) === kind
  if (!isFit) return []
  const isOffered =
    pinnedChannelId !== null ||
    [...channelsIn(channels.offering(group, model, kind))].includes(channel)
  const hasKey = place === null || channel.keys.some(({ keyRef }) => keyRef === place.keyRef)
  return isOffered && hasKey ? offerOf([channel]) : []
}
