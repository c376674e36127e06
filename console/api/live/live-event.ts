import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { UnreadCount } from '#read-api/contract/messages.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { TokenState } from '#read-api/contract/tokens.ts'

/** What the screens follow of all there is. */
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
 * What each topic carries, as screens listen to it. Health comes with the channels, without a place
 * in the stream: it is not resumed but read again with each connection. Tests come with them too.
 */
export type LiveData = {
  logs: LogEntry
  channels: Channel | { id: number; deleted: true }
  tokens: TokenState | { id: number; deleted: true }
  /** How many messages are unread, as it is now. */
  inbox: UnreadCount
  /** A task as it now is, or how far some are. */
  tasks: TaskPush
  /** Who was made or changed. */
  users: { id: number }
  tests: TestPush
  health: HealthPush
}
export type ScreenTopic = keyof LiveData

/**
 * What the live stream tells a screen. `resync`: what was read before may miss something; read
 * again, at least as of `position` when there is one.
 */
export type LiveEvent<T extends ScreenTopic = ScreenTopic> =
  | { kind: 'event'; topic: T; position: number; data: LiveData[T] }
  | { kind: 'resync'; topic: T; position: number | null }

/** Where the connection stands. `retryAt` is a moment of `performance.now()`. */
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
