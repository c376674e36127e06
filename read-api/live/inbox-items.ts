import type { Core } from '#infra/core.ts'
import { movedInboxes, type Stretch, unreadCounts } from '#projections/messages/query.ts'
import type { LiveMessage } from '../contract/live.ts'
import type { LiveItem } from './ring.ts'

/**
 * How many messages those have not read whose inbox was changed in between: one item for all of
 * them, since one message may be to everybody.
 */
export async function inboxItems(
  core: Core,
  stretch: Stretch,
  userIds: readonly number[],
): Promise<LiveItem[]> {
  if (userIds.length === 0) return []
  const moved = await movedInboxes(core.db, stretch, userIds)
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
