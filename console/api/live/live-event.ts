import type { Channel } from '#read-api/contract/channel.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { LogEntry } from '#read-api/contract/log.ts'

/** What each topic carries. */
export type LiveData = {
  logs: LogEntry
  channels: Channel | { id: number; deleted: true }
}

/**
 * What the live stream tells a screen. `resync`: what was read before may miss something; read
 * again, at least as of `position` when there is one.
 */
export type LiveEvent<T extends LiveTopic = LiveTopic> =
  | { kind: 'event'; topic: T; position: number; data: LiveData[T] }
  | { kind: 'resync'; topic: T; position: number | null }

/** Where the connection stands. `retryAt` is in unix milliseconds. */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; retryAt: number }
  | { kind: 'offline' }
  | { kind: 'resting' }

/** Null for anything that is no message of the live protocol. */
export function readLiveMessage(text: unknown): LiveMessage | null {
  if (typeof text !== 'string') return null
  try {
    const message = JSON.parse(text) as LiveMessage | null
    return typeof message === 'object' && message !== null && 'type' in message ? message : null
  } catch {
    return null
  }
}
