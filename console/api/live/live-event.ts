import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { LIVE_TOPICS, type LiveMessage } from '#read-api/contract/live-messages.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { UnreadCount } from '#read-api/contract/messages.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { TokenState } from '#read-api/contract/tokens.ts'

export const FOLLOWED_TOPICS = LIVE_TOPICS.filter((topic) => topic !== 'stats')
export type FollowedTopic = (typeof FOLLOWED_TOPICS)[number]

/**
 * The data of live events, by the topic to which a screen subscribes. `health` and `tests` are
 * topics of the console only. The server sends both in its topic `channels`.
 */
export type LiveData = {
  logs: LogEntry
  channels: Channel | { id: number; deleted: true }
  tokens: TokenState | { id: number; deleted: true }
  inbox: UnreadCount
  tasks: TaskPush
  users: { id: number }
  tests: TestPush
  health: HealthPush
  'audit-log': AuditAct
}
export type ScreenTopic = keyof LiveData

/**
 * A live event for screens. `resync` tells a screen to read its data again. If `position` is not
 * null, the data that the screen then reads must include all events up to this position.
 */
export type LiveEvent<T extends ScreenTopic = ScreenTopic> =
  | { kind: 'event'; topic: T; position: number; data: LiveData[T] }
  | { kind: 'resync'; topic: T; position: number | null }

/**
 * The state of the live connection. `retryAt` is the time of the next attempt to connect, on the
 * clock of `performance.now()` (ms).
 */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; retryAt: number }
  | { kind: 'offline' }
  | { kind: 'background' }

export function readLiveMessage(text: unknown): LiveMessage | null {
  if (typeof text !== 'string') return null
  try {
    const message = JSON.parse(text) as LiveMessage | null
    return typeof message === 'object' && message !== null && 'type' in message ? message : null
  } catch {
    return null
  }
}
