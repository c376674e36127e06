import { useQueryClient } from '@tanstack/react-query'
import { type ChannelPage, channelsKey } from '#console/api/channels/list-channels.ts'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'

/** Keeps the rows on screen as the server has them; reads again when something was missed. */
export function useLiveChannels(): void {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: channelsKey })
  useLiveTopic('channels', {
    onEvents: (rows) => {
      const pages = client.getQueriesData<ChannelPage>({ queryKey: channelsKey })
      const shown = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      client.setQueriesData<ChannelPage>({ queryKey: channelsKey }, (page) =>
        page === undefined ? undefined : { ...page, items: patched(page.items, rows) },
      )
      // A row that is new or gone moves the others between pages: only the server knows how.
      if (rows.some((row) => 'deleted' in row || !shown.has(row.id))) readAgain()
    },
    onResync: readAgain,
  })
}

function patched(
  items: ChannelPage['items'],
  rows: readonly LiveData['channels'][],
): ChannelPage['items'] {
  const newest = new Map(rows.map((row) => [row.id, row]))
  return items.map((item) => {
    const row = newest.get(item.id)
    return row === undefined || 'deleted' in row ? item : row
  })
}
