import { codedError } from '../shared/coded-error.ts'
import { autoDisable } from './change-status-and-delete.ts'
import type { ChannelError, SetKeyAside, TakeBackKeys } from './commands.ts'
import type { ChannelEvent, KeyMode } from './events.ts'
import type { ChannelRecord } from './state.ts'

/**
 * The maximum number of keys of a channel, because each change of a channel's terms writes all key
 * references into one event.
 */
export const KEYS_MAX = 1_000

export function keysError(keyRefs: readonly string[], mode: KeyMode): ChannelError | null {
  if (keyRefs.length === 0 || keyRefs.includes('')) return codedError('KeyRequired')
  if (keyRefs.length > 1 && mode === '') return codedError('OneKeyOnly')
  return keyRefs.length > KEYS_MAX ? codedError('TooManyKeys', { limit: KEYS_MAX }) : null
}

export function setKeyAside(
  command: SetKeyAside,
  channel: ChannelRecord,
  channels: ReadonlyMap<number, ChannelRecord>,
): readonly ChannelEvent[] {
  const { keyRef, reason } = command
  const { channelId, keyRefs, setAside, terms } = channel
  if (!keyRefs.includes(keyRef) || setAside.includes(keyRef) || !terms.isAutoBan) return []
  if (keyRefs.length - setAside.length < 2) return autoDisable(command, channel, channels)
  return [{ type: 'ChannelKeySetAside', v: 1, data: { channelId, keyRef, reason } }]
}

export function takeBackKeys(
  command: TakeBackKeys,
  { channelId, setAside }: ChannelRecord,
): readonly ChannelEvent[] {
  const keyRefs = setAside.filter((ref) => command.keyRefs.includes(ref))
  if (keyRefs.length === 0) return []
  return [{ type: 'ChannelKeysTakenBack', v: 1, data: { channelId, keyRefs } }]
}
