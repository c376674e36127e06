import { codedError } from '../shared/coded-error.ts'
import { isSame } from '../shared/deep-equal.ts'
import type { ChangeTerms, ChannelError } from './commands.ts'
import type { ChannelEvent, ChannelKeys, ChannelTerms } from './events.ts'
import type { ChannelRecord } from './state.ts'
import { normalizeTerms, proxyOf, termsError } from './validate-channel-fields.ts'
import { keysError } from './validate-keys-and-set-aside-failed-keys.ts'

/**
 * Changes the settings and the keys of a channel. A new address, type or proxy requires new keys,
 * because a key is only sent to the target for which it was entered.
 */
export function changeTermsAndKeys(
  command: ChangeTerms,
  channel: ChannelRecord,
): readonly ChannelEvent[] | ChannelError {
  const { channelId } = channel
  const { basedOn = channel.keyRefs } = command.keys ?? {}
  if (!isSame(basedOn, channel.keyRefs)) return codedError('KeysChanged')
  const terms = normalizeTerms({ ...channel.terms, ...command.change })
  const keys = keysAfter(command, channel)
  // Unchanged terms are not validated again. A channel can therefore be disabled even if its terms
  // violate newer rules.
  const isKept = isSame(terms, channel.terms)
  const error = (isKept ? null : termsError(terms)) ?? keysError(keys.keyRefs, keys.keyMode)
  if (error !== null) return error
  const isAnyKept = channel.keyRefs.some((ref) => keys.keyRefs.includes(ref))
  if (isAnyKept && !hasSameTarget(terms, channel.terms)) return codedError('KeyRequired')
  const before = { terms: channel.terms, keyRefs: channel.keyRefs, keyMode: channel.keyMode }
  if (isSame({ terms, ...keys }, before)) return []
  const droppedKeyRefs = channel.keyRefs.filter((ref) => !keys.keyRefs.includes(ref))
  const { proxyRef } = channel.terms
  const isDropped = proxyRef !== undefined && proxyRef !== terms.proxyRef
  const dropped = { droppedKeyRefs, ...(isDropped ? { droppedProxyRef: proxyRef } : {}) }
  return [{ type: 'ChannelTermsChanged', v: 1, data: { channelId, terms, ...keys, ...dropped } }]
}

/**
 * Returns the keys after the change, and the rule that chooses among them. If a key is added to a
 * channel with a single key, the channel becomes a channel with several keys.
 */
function keysAfter({ keys, keyMode }: ChangeTerms, channel: ChannelRecord): ChannelKeys {
  const keptRefs = keys === null || keys.isAppended ? channel.keyRefs : []
  const keyRefs = [...new Set([...keptRefs, ...(keys?.refs ?? [])])]
  const isGrown = channel.keyMode === '' && keys?.isAppended === true && keyRefs.length > 1
  const nextMode = keyMode === null || (keyMode === '' && isGrown) ? channel.keyMode : keyMode
  return { keyRefs, keyMode: nextMode === '' && isGrown ? 'random' : nextMode }
}

/** Reports whether keys would still be sent to the same address, provider type and proxy. */
export const hasSameTarget = (terms: ChannelTerms, before: ChannelTerms): boolean =>
  terms.type === before.type &&
  terms.baseUrl === before.baseUrl &&
  proxyOf(terms) === proxyOf(before) &&
  (terms.proxyRef ?? '') === (before.proxyRef ?? '')
