import type { CodedError } from '#domain/shared/coded-error.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { OfferKind } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'

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

/**
 * Returns the error of a model that no channel offers in the format of the caller. Returns null if
 * a channel may offer it later, so that the caller may try again. An unknown model is reported as
 * unknown, and not as a model without a price. A model that the group has only at other endpoints
 * is reported as such, because clients would repeat the call in vain after a status 503.
 */
export function errorOfUnofferedModel(
  { channels }: Pick<Views, 'channels'>,
  { group, pinnedChannelId }: Pick<Caller, 'group' | 'pinnedChannelId'>,
  model: string,
  kind: OfferKind,
): RelayError | null {
  if (pinnedChannelId !== null) return null
  const isVideo = channels.offering(group, model, 'video').length > 0
  if (!isVideo && !channels.isKnown(model))
    return relayError('model_not_found', { param: 'model', subject: model })
  const isOffered = isVideo || channels.offering(group, model, 'any').length > 0
  return isOffered && !channels.mayOfferLater(group, model, kind)
    ? relayError('model_not_at_endpoint', { param: 'model', subject: model })
    : null
}
