import type { Core } from '#infra/core.ts'
import { type LogFilter, logRowsAfter } from '#projections/call-log/query.ts'
import { changedChannels } from '#projections/channels/query.ts'
import { channelAnswer } from '../channels/channel-answer.ts'
import type { LiveMessage } from '../contract/live.ts'
import { logAnswer, openRows, type Viewer } from '../logs/log-answer.ts'
import { inboxItems } from './inbox-items.ts'
import type { LiveItem } from './ring.ts'
import { testItems } from './test-items.ts'
import { tokenItems } from './token-items.ts'

export type Wanted = {
  readonly after: number
  readonly upTo: number
  /** Rows per topic; with more there, the answer ends before `upTo`. */
  readonly limit: number
  /** One user's rows; everybody's when absent. */
  readonly userId?: number
  readonly hasChannels: boolean
  /** Users who are told how much they have not read; nobody when absent. */
  readonly inboxesOf?: readonly number[]
}

/** What happened after a position, in order, and how far that goes. */
export async function readItems(
  core: Core,
  { after, upTo, limit, userId, hasChannels, inboxesOf = [] }: Wanted,
): Promise<{ items: LiveItem[]; upTo: number }> {
  const filter: LogFilter = userId === undefined ? {} : { userId }
  const [logs, channels] = await Promise.all([
    logRowsAfter(core.db, filter, { after, upTo, limit }),
    hasChannels ? changedChannels(core.db, { after, upTo, limit }) : [],
  ])
  const reached = Math.min(
    logs.length < limit ? upTo : (logs.at(-1)?.id ?? upTo),
    channels.length < limit ? upTo : (channels.at(-1)?.changedPosition ?? upTo),
  )
  const ofTests = hasChannels ? await testItems(core, { after, upTo: reached }) : []
  const ofTokens = await tokenItems(core, { after, upTo: reached, ...filter })
  const ofInboxes = await inboxItems(core, { after, upTo: reached }, inboxesOf)
  const items: LiveItem[] = [
    ...(await openRows(core.vault, logs)).map((row) => ({
      topic: 'logs' as const,
      position: row.id,
      ownerId: row.userId,
      textFor: cached((viewer) => ({
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
      textFor: cached(() => ({
        type: 'event',
        topic: 'channels',
        position: row.changedPosition,
        data: row.isDeleted ? { id: row.id, deleted: true } : channelAnswer(row, core.now()),
      })),
    })),
    ...ofTests,
    ...ofTokens,
    ...ofInboxes,
  ]
  const reachedItems = items.filter(({ position }) => position <= reached)
  return { items: reachedItems.sort((a, b) => a.position - b.position), upTo: reached }
}

function cached(message: (viewer: Viewer) => LiveMessage): (viewer: Viewer) => string {
  const texts = new Map<string, string>()
  return (viewer) => {
    const key = `${viewer.isAdmin}${viewer.language}`
    const known = texts.get(key)
    if (known !== undefined) return known
    const text = JSON.stringify(message(viewer))
    texts.set(key, text)
    return text
  }
}
