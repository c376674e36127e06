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

const tagKey = (tag: string): string => `tag:${tag}`

/** Not enabled; a tag is muted when none of its channels is. */
export const isMuted = (line: ChannelLine): boolean =>
  line.kind === 'channel'
    ? line.channel.status !== 1
    : line.group.members.every(({ status }) => status !== 1)

/** Keys of lines to mark: the chosen channels, and the tags of which every channel is chosen. */
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

/** The chosen channels after the marks became `next`: a tag's mark is that of all its channels. */
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
