import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channel.ts'

/** A line of the table: a tag over its channels, or a channel, of a tag or by itself. */
export type ChannelLine =
  | { readonly kind: 'tag'; readonly group: TagGroup; readonly isOpen: boolean }
  | { readonly kind: 'channel'; readonly channel: Channel; readonly isChild: boolean }

/** The entries one under another, with the channels of those tags that are open. */
export function linesOf(
  entries: readonly ChannelEntry[],
  openTags: ReadonlySet<string>,
): ChannelLine[] {
  return entries.flatMap((entry): ChannelLine[] => {
    if (!isTagGroup(entry)) return [{ kind: 'channel', channel: entry, isChild: false }]
    const isOpen = openTags.has(entry.tag)
    const tag: ChannelLine = { kind: 'tag', group: entry, isOpen }
    if (!isOpen) return [tag]
    return [
      tag,
      ...entry.children.map((channel) => ({ kind: 'channel', channel, isChild: true }) as const),
    ]
  })
}

/** Every channel of a page, once each, whether its tag is open or not. */
export const channelsOf = (entries: readonly ChannelEntry[]): Channel[] =>
  entries.flatMap((entry) => (isTagGroup(entry) ? entry.children : [entry]))

export const isTagGroup = (entry: ChannelEntry): entry is TagGroup => 'children' in entry

export const lineKey = (line: ChannelLine): string =>
  line.kind === 'tag' ? tagKey(line.group.tag) : String(line.channel.id)

export const tagKey = (tag: string): string => `tag:${tag}`

/** Not enabled; a tag is muted when none of its channels is. */
export const isMuted = (line: ChannelLine): boolean =>
  line.kind === 'channel'
    ? line.channel.status !== 1
    : line.group.children.every(({ status }) => status !== 1)
