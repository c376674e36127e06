import { queryOptions } from '@tanstack/react-query'
import type { Channel } from '#read-api/contract/channel.ts'
import { type ChannelPage, type ChannelQuery, channelsKey, listChannels } from './list-channels.ts'

/** As many as one act may name. */
export const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

type Filters = Omit<ChannelQuery, 'page' | 'pageSize'>

/** Every channel that the filters let through; in the shape of the lists' pages, kept as they. */
export const matchingChannelsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: [...channelsKey, 'matching', filters],
    queryFn: ({ signal }) => matchingChannels(filters, signal),
  })

/** By id; the first thousand of more. */
async function matchingChannels(filters: Filters, signal: AbortSignal): Promise<ChannelPage> {
  const found = new Map<number, Channel>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', page, pageSize: PAGE_SIZE }
    const { items, total } = await listChannels(asked, signal)
    for (const item of items) if (!('children' in item)) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}
