import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { UnreadCount } from '#read-api/contract/messages.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { TokenState } from '#read-api/contract/tokens.ts'

export const FOLLOWED_TOPICS = [
  'logs',
  'channels',
  'tokens',
  'inbox',
  'tasks',
  'users',
] as const satisfies readonly LiveTopic[]
export type FollowedTopic = (typeof FOLLOWED_TOPICS)[number]

/**
 * The data of an event in each topic. Events about health and channel tests use the channels topic.
 * Health events have no stream position, so screens read the health again after a reconnection.
 */
export type LiveData = {
  logs: LogEntry
  channels: Channel | { id: number; deleted: true }
  tokens: TokenState | { id: number; deleted: true }
  inbox: UnreadCount
  /** The state of one task, or the progress of several tasks. */
  tasks: TaskPush
  /** The user that was created or changed. */
  users: { id: number }
  tests: TestPush
  health: HealthPush
}
export type ScreenTopic = keyof LiveData

/**
 * An event or a `resync`. After a resync, screens read their data again. If `position` is set, the
 * data must include this stream position.
 */
export type LiveEvent<T extends ScreenTopic = ScreenTopic> =
  | { kind: 'event'; topic: T; position: number; data: LiveData[T] }
  | { kind: 'resync'; topic: T; position: number | null }

/**
 * The state of the live connection. `retryAt` is the time of the next connection attempt, by
 * `performance.now()`.
 */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; retryAt: number }
  | { kind: 'offline' }
  | { kind: 'resting' }

/** Parses a message of the live protocol. Returns null for any other text. */
export function readLiveMessage(text: unknown): LiveMessage | null {
  if (typeof text !== 'string') return null
  try {
    const message = JSON.parse(text) as LiveMessage | null
    return typeof message === 'object' && message !== null && 'type' in message ? message : null
  } catch {
    return null
  }
}
