import type { AuditAct } from './audit-log.ts'
import type { TestPush } from './channel-actions.ts'
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
  'audit-log',
] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

export type LiveRequest =
  | { type: 'subscribe'; topics: LiveTopic[]; after?: number }
  | { type: 'ping' }

/**
 * A message of the live socket. Messages of the type `event` have one of these topics:
 * - `logs`: a new row of the log.
 * - `channels`: a channel that was changed or removed, test results, or health figures.
 * - `tokens`: changed tokens. Only the owner of a token receives these messages. An admin does not
 *   receive the tokens of other users.
 * - `inbox`: the number of unread messages. This number is sent on subscription and after each
 *   change of the inbox.
 * - `tasks`: a changed drawing, music or video task, or the progress of running tasks.
 * - `users` (for admins): the id of a user who was created or changed. The client then reads the
 *   user again.
 * - `stats` (for admins): the totals of the site, as in `/api/log/stat`. The totals are sent on
 *   subscription and after each change.
 * - `audit-log` (for auditors and admins): a new entry of the audit log.
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
  | { type: 'event'; topic: 'audit-log'; position: number; data: AuditAct }
  | { type: 'resync'; topic: LiveTopic }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string }
