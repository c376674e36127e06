import type { TestPush } from './channel-action.ts'
import type { HealthPush } from './channel-health.ts'
import type { Channel } from './channels.ts'
import type { LogEntry, LogStat } from './logs.ts'
import type { UnreadCount } from './messages.ts'
import type { TaskPush } from './tasks.ts'
import type { TokenState } from './tokens.ts'

export const LIVE_TOPICS = [
  'logs',
  'channels',
  'tokens',
  'inbox',
  'tasks',
  'users',
  'stats',
] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

export type LiveRequest =
  | { type: 'subscribe'; topics: LiveTopic[]; after?: number }
  | { type: 'ping' }

/**
 * `channels`: the row as it now is, or that it is gone; what tests came to; and how channels do,
 * which has no place in the stream. `tokens`: one's own; an admin gets no others'. `inbox`: how
 * many messages one has not read, at each subscription and whenever one's inbox changes. `tasks`:
 * a drawing or music task as it now is, and how far those under way are. `users`, for admins: who
 * was made or changed, to be read again. `stats`, for admins: the site's totals as `/api/log/stat`
 * has them, at each subscription and whenever they are others.
 */
export type LiveMessage =
  | { type: 'ready'; position: number }
  | { type: 'event'; topic: 'logs'; position: number; data: LogEntry }
  | {
      type: 'event'
      topic: 'channels'
      position: number
      data: Channel | { id: number; deleted: true } | TestPush | HealthPush
    }
  | {
      type: 'event'
      topic: 'tokens'
      position: number
      data: TokenState | { id: number; deleted: true }
    }
  | { type: 'event'; topic: 'inbox'; position: number; data: UnreadCount }
  | { type: 'event'; topic: 'tasks'; position: number; data: TaskPush }
  | { type: 'event'; topic: 'users'; position: number; data: { id: number } }
  | { type: 'event'; topic: 'stats'; position: number; data: LogStat }
  | { type: 'resync'; topic: LiveTopic }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string }
