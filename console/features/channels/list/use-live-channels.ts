import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type ChannelPage, channelsKey } from '#console/api/channels/list-channels.ts'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import { withChannels } from './cached-channels.ts'
import { channelsOf, isTagGroup } from './channel-lines.ts'

/** Keeps the rows on screen as the server has them; reads again when something was missed. */
export function useLiveChannels(): void {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: channelsKey })
  const readSoon = useSoon(readAgain)
  useLiveTopic('channels', {
    onEvents: (rows) => {
      const pages = client.getQueriesData<ChannelPage>({ queryKey: channelsKey })
      const entries = pages.flatMap(([, page]) => page?.items ?? [])
      const shown = new Map(channelsOf(entries).map((channel) => [channel.id, channel]))
      const newest = new Map(rows.map((row) => [row.id, row]))
      client.setQueriesData<ChannelPage>({ queryKey: channelsKey }, (page) =>
        withChannels(page, (channel) => newestOf(channel, newest)),
      )
      // A row that is new, gone or tagged otherwise moves the others: only the server knows how.
      const isMoved = rows.some((row) => 'deleted' in row || shown.get(row.id)?.tag !== row.tag)
      if (rows.some((row) => 'deleted' in row && shown.has(row.id))) readAgain()
      else if (isMoved || entries.some(isTagGroup)) readSoon()
    },
    onResync: readAgain,
  })
}

const SOON_MS = 1_000

/** Once for all that happens within a second: every call changes what a tag's channels served. */
function useSoon(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      act()
    }, SOON_MS)
  }
}

function newestOf(channel: Channel, newest: ReadonlyMap<number, LiveData['channels']>): Channel {
  const row = newest.get(channel.id)
  return row === undefined || 'deleted' in row ? channel : row
}
