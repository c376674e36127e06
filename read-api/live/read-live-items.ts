import type { Core } from '#infra/core-dependencies.ts'
import { type ActRow, actsAfter } from '#projections/audit-log/query.ts'
import { changedChannels } from '#projections/channels/query.ts'
import { type LogFilter, logRowsAfter } from '#projections/logs/query.ts'
import { movedInboxes, type PositionRange, unreadCounts } from '#projections/messages/query.ts'
import { changedUsers } from '#projections/users/query.ts'
import { actsOf } from '../audit/audit-log.ts'
import { channelResponse } from '../channels/channel-response.ts'
import type { LiveMessage } from '../contract/live-messages.ts'
import { decryptRows, logResponse, messagesOf } from '../logs/log-response.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { channelTestItems, taskItems, tokenItems } from './read-channel-test-task-token-items.ts'
import { cachedText, type LiveItem } from './shared-live-buffer.ts'

export type ItemQuery = {
  readonly after: number
  readonly upTo: number
  /**
   * The maximum number of rows per topic. If a topic has more rows, the result covers only the
   * first part of the range, and the returned `upTo` is lower.
   */
  readonly limit: number
  /** The user whose rows are read. Undefined means the rows of all users. */
  readonly userId?: number
  readonly hasChannels: boolean
  readonly hasUsers: boolean
  readonly hasActs: boolean
  /** The users whose unread messages are counted if their inboxes have changed. */
  readonly inboxesOf?: readonly number[]
}

/**
 * Reads the items with positions after `after` and up to `upTo`, in order. The returned `upTo` is
 * the position up to which the result contains all items.
 */
export async function readItems(
  deps: Pick<ReadDeps, 'core' | 'progress' | 'providerMessages'>,
  { after, upTo, limit, userId, hasChannels, hasUsers, hasActs, inboxesOf = [] }: ItemQuery,
): Promise<{ items: LiveItem[]; upTo: number }> {
  const { core } = deps
  const filter: LogFilter = userId === undefined ? {} : { userId }
  const [logs, channels, tasks, users, acts] = await Promise.all([
    logRowsAfter(core.db, filter, { after, upTo, limit }),
    hasChannels ? changedChannels(core.db, { after, upTo, limit }) : [],
    taskItems(deps, { after, upTo, limit, ...filter }),
    hasUsers ? changedUsers(core.db, { after, upTo, limit }) : [],
    hasActs ? actsAfter(core.db, { after, upTo, limit }) : [],
  ])
  const reached = Math.min(
    tasks.upTo,
    logs.length < limit ? upTo : (logs.at(-1)?.id ?? upTo),
    channels.length < limit ? upTo : (channels.at(-1)?.changedPosition ?? upTo),
    users.length < limit ? upTo : (users.at(-1)?.position ?? upTo),
    acts.length < limit ? upTo : (acts.at(-1)?.position ?? upTo),
  )
  const tests = hasChannels ? await channelTestItems(core, { after, upTo: reached }) : []
  const tokens = await tokenItems(core, { after, upTo: reached, ...filter })
  const inboxes = await inboxItems(core, { after, upTo: reached }, inboxesOf)
  const messages = await messagesOf(deps, logs)
  const items: LiveItem[] = [
    ...(await decryptRows(core.vault, logs)).map((row) => ({
      topic: 'logs' as const,
      position: row.id,
      ownerId: row.userId,
      textFor: cachedText((viewer) => ({
        type: 'event',
        topic: 'logs',
        position: row.id,
        data: logResponse(row, viewer, messages.get(row.requestId)),
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
        data: row.isDeleted ? { id: row.id, deleted: true } : channelResponse(row, core.now()),
      })),
    })),
    ...tasks.items,
    ...userItems(users),
    ...(await actItems(deps, acts)),
    ...tests,
    ...tokens,
    ...inboxes,
  ]
  const reachedItems = items.filter(({ position }) => position <= reached)
  return { items: reachedItems.sort((a, b) => a.position - b.position), upTo: reached }
}

/**
 * Returns at most one item. The item contains the number of unread messages of each user in
 * `userIds` whose inbox changed, because one message can change the inboxes of all users.
 */
async function inboxItems(
  core: Core,
  range: PositionRange,
  userIds: readonly number[],
): Promise<LiveItem[]> {
  if (userIds.length === 0) return []
  const moved = await movedInboxes(core.db, range, userIds)
  if (moved === null || moved.userIds.length === 0) return []
  const { position } = moved
  const counts = await unreadCounts(core.db, moved.userIds)
  const textFor: LiveItem['textFor'] = (_viewer, userId) => {
    const unread = counts.get(userId)
    if (unread === undefined) return null
    const data = { unread_count: unread }
    const message: LiveMessage = { type: 'event', topic: 'inbox', position, data }
    return JSON.stringify(message)
  }
  return [{ topic: 'inbox', position, ownerId: 'each', textFor }]
}

type ChangedUser = { readonly id: number; readonly position: number }

/**
 * Returns an item for each user who was created or changed. The item contains only the id of the
 * user. The consoles of admins then read the user with this id.
 */
const userItems = (changed: readonly ChangedUser[]): LiveItem[] =>
  changed.map(({ id, position }) => {
    const message: LiveMessage = { type: 'event', topic: 'users', position, data: { id } }
    const text = JSON.stringify(message)
    return { topic: 'users', position, ownerId: null, textFor: () => text }
  })

/**
 * Returns an item for each new entry of the audit log. An item has the same fields as an entry in
 * the list of `GET /api/audit/log`.
 */
async function actItems(
  deps: Pick<ReadDeps, 'core'>,
  rows: readonly ActRow[],
): Promise<LiveItem[]> {
  if (rows.length === 0) return []
  return (await actsOf(deps, rows)).map((data) => {
    const { position } = data
    const message: LiveMessage = { type: 'event', topic: 'audit-log', position, data }
    const text = JSON.stringify(message)
    return {
      ...{ topic: 'audit-log', position, ownerId: 'auditors', textFor: () => text },
      ...{ isErasure: data.act === 'user-erased', weight: 2 * text.length },
    }
  })
}
