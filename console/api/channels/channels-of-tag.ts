import { queryOptions } from '@tanstack/react-query'
import type { Channel } from '#read-api/contract/channel.ts'
import { type ChannelPage, type ChannelQuery, channelsKey, listChannels } from './list-channels.ts'

export type ChannelOrder = Pick<ChannelQuery, 'sort' | 'isDescending' | 'isIdSort'>

const PAGE_SIZE = 100

/** Every channel of one tag, found by a search or not; in the shape of the lists' pages. */
export const channelsOfTagQuery = (tag: string, order: ChannelOrder = {}) =>
  queryOptions({
    queryKey: [...channelsKey, 'of-tag', tag, order],
    queryFn: ({ signal }) => channelsOfTag(tag, order, signal),
  })

async function channelsOfTag(
  tag: string,
  order: ChannelOrder,
  signal: AbortSignal,
): Promise<ChannelPage> {
  const found = new Map<number, Channel>()
  const asked = { ...order, tag, keyword: '', model: '', group: '', pageSize: PAGE_SIZE }
  for (let page = 0; ; page += 1) {
    const { items, total } = await listChannels({ ...asked, page }, signal)
    for (const item of items) if (!('children' in item)) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}

/** Of such a page. */
export const wholeChannels = ({ items }: ChannelPage): Channel[] =>
  items.flatMap((item) => ('children' in item ? [] : [item]))
