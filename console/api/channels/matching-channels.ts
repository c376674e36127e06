import type { Channel } from '#read-api/contract/channel.ts'
import { type ChannelQuery, listChannels } from './list-channels.ts'

/** As many as one act may name. */
export const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

/** Every channel that the filters let through, by id; the first thousand of more. */
export async function matchingChannels(
  filters: Omit<ChannelQuery, 'page' | 'pageSize'>,
): Promise<readonly Channel[]> {
  const found = new Map<number, Channel>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', page, pageSize: PAGE_SIZE }
    const { items, total } = await listChannels(asked)
    for (const item of items) if (!('children' in item)) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return [...found.values()]
}
