import type { ChannelEntry } from '#read-api/contract/channels.ts'
import { isTagGroup, tagKey } from './channel-lines.ts'

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
