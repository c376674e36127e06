import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'

/** A line of the table: a tag over its channels, or a channel, of a tag or by itself. */
export type ChannelLine =
  | {
      readonly kind: 'tag'
      readonly group: TagGroup
      readonly isOpen: boolean
      /** Open, and its channels are on their way. */
      readonly isLoading: boolean
    }
  | { readonly kind: 'channel'; readonly channel: Channel; readonly isChild: boolean }

/** What is known of a channel that can be chosen, in its own row or in its tag's. */
export type ChoosableChannel = Pick<Channel, 'id' | 'name' | 'status' | 'tag'>

/** The entries one under another, open tags with their channels; null: not there yet. */
export function linesOf(
  entries: readonly ChannelEntry[],
  openTags: ReadonlyMap<string, readonly Channel[] | null>,
): ChannelLine[] {
  return entries.flatMap((entry): ChannelLine[] => {
    if (!isTagGroup(entry)) return [{ kind: 'channel', channel: entry, isChild: false }]
    const children = openTags.get(entry.tag)
    const isOpen = children !== undefined
    return [
      { kind: 'tag', group: entry, isOpen, isLoading: children === null },
      ...(children ?? []).map((channel) => ({ kind: 'channel', channel, isChild: true }) as const),
    ]
  })
}

/** Every channel of a page, once each, whether its tag is open or not. */
export const channelsOf = (entries: readonly ChannelEntry[]): ChoosableChannel[] =>
  entries.flatMap((entry) =>
    isTagGroup(entry) ? entry.members.map((one) => ({ ...one, tag: entry.tag })) : [entry],
  )

export const isTagGroup = (entry: ChannelEntry): entry is TagGroup => 'children' in entry

export const lineKey = (line: ChannelLine): string =>
  line.kind === 'tag' ? tagKey(line.group.tag) : String(line.channel.id)

export const tagKey = (tag: string): string => `tag:${tag}`

/** Not enabled; a tag is muted when none of its channels is. */
export const isMuted = (line: ChannelLine): boolean =>
  line.kind === 'channel'
    ? line.channel.status !== 1
    : line.group.members.every(({ status }) => status !== 1)
