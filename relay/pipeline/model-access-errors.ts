import type { CodedError } from '#domain/shared/coded-error.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { OfferKind } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import { isGroupUsable } from './groups-that-may-serve-call.ts'

/**
 * Returns the error if the caller's token does not allow the model, or if the user may not use the
 * group of the call; otherwise null.
 */
export function accessError(
  caller: Caller,
  options: RelayOptions,
  { model, suffix }: Pick<ChatRequest, 'model' | 'suffix'>,
): RelayError | null {
  const { token } = caller
  const names = suffix === undefined ? [model] : [model, suffix.name]
  if (token.models !== null && !names.some((name) => token.models?.has(name))) {
    return relayError('model_not_allowed', { param: 'model', subject: suffix?.name ?? model })
  }
  return groupError(caller, options)
}

/** Returns the error if the user may not use the group of the caller; otherwise null. */
export const groupError = (
  caller: Pick<Caller, 'group' | 'user'>,
  options: RelayOptions,
): RelayError | null =>
  isGroupUsable(caller, options) ? null : relayError('group_not_allowed', { subject: caller.group })

/** Returns the error for the caller if the model has no price in the group. */
export const priceError = ({ code }: CodedError, group: string, model: string): RelayError =>
  code === 'GroupUnknown'
    ? relayError('group_not_allowed', { subject: group })
    : relayError('model_unpriced', { param: 'model', subject: model })

/**
 * The errors for a model that a group has only for another kind of request than the caller's, by
 * the kind for which the group has it.
 */
const ERRORS_BY_OFFER = {
  any: 'model_not_at_endpoint',
  video: 'model_not_at_endpoint',
  drawing: 'drawing_model_not_at_endpoint',
  music: 'music_model_not_at_endpoint',
} as const

/**
 * Returns the error for a model that the group has only for other requests than the caller's. The
 * error says for which. Returns null if the group does not have the model at all.
 */
export function errorOfModelElsewhere(
  { channels }: Pick<Views, 'channels'>,
  group: string,
  model: string,
): RelayError | null {
  const kinds = Object.keys(ERRORS_BY_OFFER) as (keyof typeof ERRORS_BY_OFFER)[]
  const kind = kinds.find((one) => channels.offering(group, model, one).length > 0)
  return kind === undefined
    ? null
    : relayError(ERRORS_BY_OFFER[kind], { param: 'model', subject: model })
}

/**
 * Returns the error for a model that no channel offers in the format of the caller. Returns null if
 * a channel may offer the model later, because the caller may then try again. Also returns null if
 * only other groups have the model, or if the caller names a channel. An unknown model is reported
 * as unknown, and not as a model without a price. A model that the group has only at other
 * endpoints is reported as such, because clients would repeat the call in vain after a status 503.
 */
export function errorOfUnofferedModel(
  { channels }: Pick<Views, 'channels'>,
  { group, pinnedChannelId }: Pick<Caller, 'group' | 'pinnedChannelId'>,
  model: string,
  kind: OfferKind,
): RelayError | null {
  if (pinnedChannelId !== null) return null
  const elsewhere = errorOfModelElsewhere({ channels }, group, model)
  if (elsewhere === null) {
    const isKnown = channels.isKnown(model)
    return isKnown ? null : relayError('model_not_found', { param: 'model', subject: model })
  }
  return channels.mayOfferLater(group, model, kind) ? null : elsewhere
}
