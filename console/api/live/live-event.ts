import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { UnreadCount } from '#read-api/contract/messages.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { TokenState } from '#read-api/contract/tokens.ts'

/** The topics that screens subscribe to. */
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
 * The data of each topic as screens receive it. Health arrives with the channels, without a
 * position in the stream: it is not resumed but read again with each connection. Tests arrive with
 * the channels too.
 */
export type LiveData = {
  logs: LogEntry
  channels: Channel | { id: number; deleted: true }
  tokens: TokenState | { id: number; deleted: true }
  /** The present number of unread messages. */
  inbox: UnreadCount
  /** A task in its present state, or the progress of some tasks. */
  tasks: TaskPush
  /** The user who was created or changed. */
  users: { id: number }
  tests: TestPush
  health: HealthPush
}
export type ScreenTopic = keyof LiveData

/**
 * An event for a screen. `resync` means that data read before may miss something and must be read
 * again, at least as of `position` when there is one.
 */
export type LiveEvent<T extends ScreenTopic = ScreenTopic> =
  | { kind: 'event'; topic: T; position: number; data: LiveData[T] }
  | { kind: 'resync'; topic: T; position: number | null }

/** The state of the connection. `retryAt` is a value of `performance.now()`. */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; retryAt: number }
  | { kind: 'offline' }
  | { kind: 'resting' }

/** null for anything that is not a message of the live protocol. */
export function readLiveMessage(text: unknown): LiveMessage | null {
  if (typeof text !== 'string') return null
  try {
    const message = JSON.parse(text) as LiveMessage | null
    return typeof message === 'object' && message !== null && 'type' in message ? message : null
  } catch {
    return null
  }
}
