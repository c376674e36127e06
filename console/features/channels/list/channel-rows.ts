import type { QueryClient } from '@tanstack/react-query'
import { channelsKey } from '#console/api/channels.ts'
import { changeRows } from '#console/ui/lists/cached-rows.ts'
import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'

/**
 * A row of the channel list, which is a channel or a tag. `isChild` is true for a channel that is
 * listed below its tag.
 */
export type ChannelRow =
  | {
      readonly kind: 'tag'
      readonly group: TagGroup
      readonly isOpen: boolean
      readonly isLoading: boolean
    }
  | { readonly kind: 'channel'; readonly channel: Channel; readonly isChild: boolean }

/** The fields of a channel that bulk actions need. Selecting a tag selects all its channels. */
export type SelectableChannel = Pick<Channel, 'id' | 'name' | 'status' | 'tag'>

export function rowsOf(
  entries: readonly ChannelEntry[],
  openTags: ReadonlyMap<string, readonly Channel[] | null>,
): ChannelRow[] {
  return entries.flatMap((entry): ChannelRow[] => {
    if (!isTagGroup(entry)) return [{ kind: 'channel', channel: entry, isChild: false }]
    const children = openTags.get(entry.tag)
    const isOpen = children !== undefined
    return [
      { kind: 'tag', group: entry, isOpen, isLoading: children === null },
      ...(children ?? []).map((channel) => ({ kind: 'channel', channel, isChild: true }) as const),
    ]
  })
}

export const channelsOf = (entries: readonly ChannelEntry[]): SelectableChannel[] =>
  entries.flatMap((entry) =>
    isTagGroup(entry) ? entry.members.map((one) => ({ ...one, tag: entry.tag })) : [entry],
  )

export const changeChannels = (client: QueryClient, change: (channel: Channel) => Channel) =>
  changeRows<ChannelEntry>(client, channelsKey, (entry) =>
    isTagGroup(entry) ? entry : change(entry),
  )

export const isTagGroup = (entry: ChannelEntry): entry is TagGroup => 'children' in entry

export const rowKey = (line: ChannelRow): string =>
  line.kind === 'tag' ? tagKey(line.group.tag) : String(line.channel.id)

const tagKey = (tag: string): string => `tag:${tag}`

export const isMuted = (line: ChannelRow): boolean =>
  line.kind === 'channel'
    ? line.channel.status !== 1
    : line.group.members.every(({ status }) => status !== 1)

/**
 * Returns the keys of the rows to show as selected: the selected channels, and the tags whose
 * channels are all selected.
 */
export function selectedRowKeys(
  entries: readonly ChannelEntry[],
  selected: ReadonlySet<string>,
): Set<string> {
  const marked = new Set(selected)
  for (const entry of entries) {
    if (isTagGroup(entry) && entry.members.every(({ id }) => selected.has(String(id)))) {
      marked.add(tagKey(entry.tag))
    }
  }
  return marked
}

export function selectionAfter(
  entries: readonly ChannelEntry[],
  selected: ReadonlySet<string>,
  next: ReadonlySet<string>,
): Set<string> {
  const before = selectedRowKeys(entries, selected)
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
