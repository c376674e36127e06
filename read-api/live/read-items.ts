import { type LogFilter, logRowsAfter } from '#projections/call-log/query.ts'
import { changedChannels } from '#projections/channels/query.ts'
import { changedUsers } from '#projections/users/query.ts'
import { channelAnswer } from '../channels/channel-answer.ts'
import { logAnswer, openRows } from '../logs/log-answer.ts'
import type { ReadParts } from '../question.ts'
import { inboxItems } from './inbox-items.ts'
import { cachedText, type LiveItem } from './ring.ts'
import { taskItems } from './task-items.ts'
import { testItems } from './test-items.ts'
import { tokenItems } from './token-items.ts'
import { userItems } from './user-items.ts'

export type Wanted = {
  readonly after: number
  readonly upTo: number
  /** Rows per topic; with more there, the answer ends before `upTo`. */
  readonly limit: number
  /** One user's rows; everybody's when absent. */
  readonly userId?: number
  readonly hasChannels: boolean
  readonly hasUsers: boolean
  /** Users who are told how much they have not read; nobody when absent. */
  readonly inboxesOf?: readonly number[]
}

/** What happened after a position, in order, and how far that goes. */
export async function readItems(
  parts: Pick<ReadParts, 'core' | 'progress'>,
  { after, upTo, limit, userId, hasChannels, hasUsers, inboxesOf = [] }: Wanted,
): Promise<{ items: LiveItem[]; upTo: number }> {
  const { core } = parts
  const filter: LogFilter = userId === undefined ? {} : { userId }
  const [logs, channels, tasks, users] = await Promise.all([
    logRowsAfter(core.db, filter, { after, upTo, limit }),
    hasChannels ? changedChannels(core.db, { after, upTo, limit }) : [],
    taskItems(parts, { after, upTo, limit, ...filter }),
    hasUsers ? changedUsers(core.db, { after, upTo, limit }) : [],
  ])
  const reached = Math.min(
    tasks.upTo,
    logs.length < limit ? upTo : (logs.at(-1)?.id ?? upTo),
    channels.length < limit ? upTo : (channels.at(-1)?.changedPosition ?? upTo),
    users.length < limit ? upTo : (users.at(-1)?.position ?? upTo),
  )
  const ofTests = hasChannels ? await testItems(core, { after, upTo: reached }) : []
  const ofTokens = await tokenItems(core, { after, upTo: reached, ...filter })
  const ofInboxes = await inboxItems(core, { after, upTo: reached }, inboxesOf)
  const items: LiveItem[] = [
    ...(await openRows(core.vault, logs)).map((row) => ({
      topic: 'logs' as const,
      position: row.id,
      ownerId: row.userId,
      textFor: cachedText((viewer) => ({
        type: 'event',
        topic: 'logs',
        position: row.id,
        data: logAnswer(row, viewer),
      })),
    })),
    ...channels.map((row) => ({
      topic: 'channels' as const,
      position: row.changedPosition,
      ownerId: null,
      textFor: cachedText(() => ({
        type: 'event',
        topic: 'channels',
        position: row.changedPosition,
        data: row.isDeleted ? { id: row.id, deleted: true } : channelAnswer(row, core.now()),
      })),
    })),
    ...tasks.items,
    ...userItems(users),
    ...ofTests,
    ...ofTokens,
    ...ofInboxes,
  ]
  const reachedItems = items.filter(({ position }) => position <= reached)
  return { items: reachedItems.sort((a, b) => a.position - b.position), upTo: reached }
}
