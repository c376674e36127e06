import type { ChannelPage } from '#console/api/channels.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import { isTagGroup } from './channel-lines.ts'

/** The page with every channel of it as `change` has it; tags are read again. */
export function withChannels(
  page: ChannelPage | undefined,
  change: (channel: Channel) => Channel,
): ChannelPage | undefined {
  if (page === undefined) return undefined
  const items = page.items.map((entry) => (isTagGroup(entry) ? entry : change(entry)))
  return { ...page, items }
}
