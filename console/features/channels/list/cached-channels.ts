import type { ChannelPage } from '#console/api/channels/list-channels.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import { isTagGroup } from './channel-lines.ts'

/** The page with every channel of it, tagged or not, as `change` has it. */
export function withChannels(
  page: ChannelPage | undefined,
  change: (channel: Channel) => Channel,
): ChannelPage | undefined {
  if (page === undefined) return undefined
  const items = page.items.map((entry) =>
    isTagGroup(entry) ? { ...entry, children: entry.children.map(change) } : change(entry),
  )
  return { ...page, items }
}
