import type { ListPage } from '#console/api/request.ts'
import type { Channel, ChannelEntry } from '#read-api/contract/channels.ts'
import { isTagGroup } from './channel-lines.ts'

/** Applies `change` to the channels of a cached list page. Tag rows stay unchanged. */
export function withChannels(
  page: ListPage<ChannelEntry> | undefined,
  change: (channel: Channel) => Channel,
): ListPage<ChannelEntry> | undefined {
  if (page === undefined) return undefined
  const items = page.items.map((entry) => (isTagGroup(entry) ? entry : change(entry)))
  return { ...page, items }
}
