import type { Channel } from './channel.ts'
import type { LogEntry } from './log.ts'

export const LIVE_TOPICS = ['logs', 'channels'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

export type LiveRequest =
  | { type: 'subscribe'; topics: LiveTopic[]; after?: number }
  | { type: 'ping' }

/** `channels`: the row as it now is, `null` once deleted. */
export type LiveMessage =
  | { type: 'ready'; position: number }
  | { type: 'event'; topic: 'logs'; position: number; data: LogEntry }
  | {
      type: 'event'
      topic: 'channels'
      position: number
      data: Channel | { id: number; deleted: true }
    }
  | { type: 'resync'; topic: LiveTopic }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string }
