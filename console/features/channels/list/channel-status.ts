export type ChannelState = 'enabled' | 'disabled' | 'autoDisabled' | 'unknown'

const STATES: Readonly<Record<number, ChannelState>> = {
  1: 'enabled',
  2: 'disabled',
  3: 'autoDisabled',
}

export const channelState = (status: number): ChannelState => STATES[status] ?? 'unknown'

export type StatusCause = { reason: string; time: number }

/** Parses the cause and the time (unix seconds, or 0) of disabling a channel; null if invalid. */
export function statusCause(otherInfo: string): StatusCause | null {
  try {
    const info: unknown = JSON.parse(otherInfo)
    if (typeof info !== 'object' || info === null) return null
    const { status_reason: reason, status_time: time } = info as Record<string, unknown>
    if (typeof reason !== 'string' || reason === '') return null
    return { reason, time: typeof time === 'number' ? time : 0 }
  } catch {
    return null
  }
}

export type Speed = 'untested' | 'fast' | 'fair' | 'slow' | 'verySlow'

/** Rates a response time: green to 1 s, lime to 3 s, yellow to 5 s, then red. 0 is untested. */
export function responseSpeed(milliseconds: number): Speed {
  if (milliseconds <= 0) return 'untested'
  if (milliseconds <= 1000) return 'fast'
  if (milliseconds <= 3000) return 'fair'
  return milliseconds <= 5000 ? 'slow' : 'verySlow'
}
