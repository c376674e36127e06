export type ChannelState = 'enabled' | 'disabled' | 'autoDisabled' | 'unknown'

const STATES: Readonly<Record<number, ChannelState>> = {
  1: 'enabled',
  2: 'disabled',
  3: 'autoDisabled',
}

export const channelState = (status: number): ChannelState => STATES[status] ?? 'unknown'

export type StatusCause = { reason: string; time: number }

/** Why and when (unix seconds, 0 unknown) a channel was switched off; null when it isn't told. */
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

/** The spec's steps: to 1 s green, to 3 s lime, to 5 s yellow, beyond red; 0 is untested. */
export function responseSpeed(milliseconds: number): Speed {
  if (milliseconds <= 0) return 'untested'
  if (milliseconds <= 1000) return 'fast'
  if (milliseconds <= 3000) return 'fair'
  return milliseconds <= 5000 ? 'slow' : 'verySlow'
}
