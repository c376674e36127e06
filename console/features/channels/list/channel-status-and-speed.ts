import { parseObject } from '#console/api/parse-json-object.ts'

export type ChannelState = 'enabled' | 'disabled' | 'autoDisabled' | 'unknown'

const STATES: Readonly<Record<number, ChannelState>> = {
  1: 'enabled',
  2: 'disabled',
  3: 'autoDisabled',
}

export const channelState = (status: number): ChannelState => STATES[status] ?? 'unknown'

type StatusCause = { reason: string; time: number }

/**
 * Returns the reason and the time of the last change of the channel's status, or null if no reason
 * is stored. `otherInfo` is the channel's field `other_info`, a JSON text. `time` is in Unix
 * seconds, or 0 if the time is unknown.
 */
export function statusCause(otherInfo: string): StatusCause | null {
  const { status_reason: reason, status_time: time } = parseObject(otherInfo) ?? {}
  if (typeof reason !== 'string' || reason === '') return null
  return { reason, time: typeof time === 'number' ? time : 0 }
}

export type Speed = 'untested' | 'fast' | 'fair' | 'slow' | 'verySlow'

export function responseSpeed(milliseconds: number): Speed {
  if (milliseconds <= 0) return 'untested'
  if (milliseconds <= 1000) return 'fast'
  if (milliseconds <= 3000) return 'fair'
  return milliseconds <= 5000 ? 'slow' : 'verySlow'
}
