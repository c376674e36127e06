import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'

/** A row of the list: a tag, or a channel with or without a tag. */
export type ChannelLine =
  | {
      readonly kind: 'tag'
      readonly group: TagGroup
      readonly isOpen: boolean
      /** True while the channels of an open tag load. */
      readonly isLoading: boolean
    }
  | { readonly kind: 'channel'; readonly channel: Channel; readonly isChild: boolean }

/** The fields needed to select a channel, from its row or from its tag's row. */
export type ChoosableChannel = Pick<Channel, 'id' | 'name' | 'status' | 'tag'>

/** Returns the rows in order. The channels of an open tag follow the tag once they are loaded. */
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

/** Returns the channels of a page, including channels of tags that are closed. */
export const channelsOf = (entries: readonly ChannelEntry[]): ChoosableChannel[] =>
  entries.flatMap((entry) =>
    isTagGroup(entry) ? entry.members.map((one) => ({ ...one, tag: entry.tag })) : [entry],
  )

export const isTagGroup = (entry: ChannelEntry): entry is TagGroup => 'children' in entry

export const lineKey = (line: ChannelLine): string =>
  line.kind === 'tag' ? tagKey(line.group.tag) : String(line.channel.id)

const tagKey = (tag: string): string => `tag:${tag}`

/** True for disabled channels, and for tags without enabled channels. */
export const isMuted = (line: ChannelLine): boolean =>
  line.kind === 'channel'
    ? line.channel.status !== 1
    : line.group.members.every(({ status }) => status !== 1)

/** Returns the rows to mark: selected channels, and tags whose channels are all selected. */
export function markedKeys(
  entries: readonly ChannelEntry[],
  chosen: ReadonlySet<string>,
): Set<string> {
  const marked = new Set(chosen)
  for (const entry of entries) {
    if (isTagGroup(entry) && entry.members.every(({ id }) => chosen.has(String(id)))) {
      marked.add(tagKey(entry.tag))
    }
  }
  return marked
}

/** Returns the selected channels after the marks changed; marking a tag selects its channels. */
export function chosenAfter(
  entries: readonly ChannelEntry[],
  chosen: ReadonlySet<string>,
  next: ReadonlySet<string>,
): Set<string> {
  const before = markedKeys(entries, chosen)
  const after = new Set([...next].filter((key) => !key.startsWith('tag:')))
  for (const entry of entries) {
    if (!isTagGroup(entry)) continue
    const key = tagKey(entry.tag)
    if (before.has(key) === next.has(key)) continue
    for (const { id } of entry.members) {
      if (next.has(key)) after.add(String(id))
      else after.delete(String(id))
    }
  }
  return after
}
