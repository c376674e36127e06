import { holdFor } from '#domain/pricing/hold.ts'
import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { priceOf } from '#domain/pricing/price-list.ts'
import { channelsIn, type Offer, offerOf } from '#domain/routing/offer.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { TaskRecord } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { hasValid, isGroupUsable } from '../pipeline/plan-call.ts'
import { type RelayChannel, workOf } from '../views/channel-view.ts'
import type { Views } from '../views/views.ts'
import type { TaskBody } from './task-body.ts'

/** What the gateway adds to a request for a provider. */
export type SendOptions = {
  /** The task that this request continues. */
  readonly origin: TaskRecord | null
  /** The address of the callback; null if there is none. */
  readonly notifyUrl: string | null
  /** The restricted members that the channel allows. */
  readonly allowed: ReadonlySet<string>
}

/** A caller's request for a task, after reading. */
export type TaskRequest = {
  readonly kind: TaskKind
  readonly platform: 'midjourney' | 'suno'
  /** The action as on the wire: `IMAGINE`, `MUSIC`, and so on. */
  readonly action: string
  /** The name under which the action is priced. */
  readonly model: string
  readonly prompt: string | null
  /** The caller's own reference; null if there is none. */
  readonly state: string | null
  /** The caller's id of the task that this request continues; null if there is none. */
  readonly originId: string | null
  /** True when the request fills in the modal window of an open task. */
  readonly continuesOpen: boolean
  /** The path below the provider's address. */
  readonly path: string
  readonly body: TaskBody
  readonly providerBody: (options: SendOptions) => Buffer
  /** Lists the restricted members that are dropped, where the channel allows the given ones. */
  readonly droppedMembers: (allowed: ReadonlySet<string>) => readonly string[]
}

export type TaskPlan = {
  readonly price: PriceSnapshot
  readonly hold: Quota
  readonly offer: Offer<RelayChannel>
  /** The key that must be used because another task is there; null if any key may be used. */
  readonly keyRef: string | null
}

/** Prices a task and lists the channels it may be sent to, or returns why it is refused. */
export function planTask(
  views: Views,
  caller: Caller,
  request: TaskRequest,
  origin: TaskRecord | null,
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
  // A task uses no tokens, so it would be free at a price per token.
  if (price.mode !== 'call') return relayError('model_unpriced', { param: 'model', subject: model })
  const offer = offerFor(views, caller, request, origin)
  if (!hasValid(offer, now)) {
    return relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
  }
  const hold = holdFor(price, { inputTokens: 0, outputTokens: 0, choices: 1 })
  return { price, hold, offer, keyRef: origin?.place?.keyRef ?? null }
}

/**
 * Returns only the channel of the task that is continued, if there is one. That channel must also
 * offer the model to the caller's group, because that group's price is charged. Admins may name any
 * channel.
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
  const isFit = channel?.isEnabled && channel.target !== null && workOf(channel) === kind
  if (!isFit) return []
  const isOffered =
    pinnedChannelId !== null ||
    [...channelsIn(channels.offering(group, model, kind))].includes(channel)
  const hasKey = place === null || channel.keys.some(({ keyRef }) => keyRef === place.keyRef)
  return isOffered && hasKey ? offerOf([channel]) : []
}
