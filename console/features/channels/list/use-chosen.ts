import { matchingChannelsQuery } from '#console/api/channels.ts'
import { useChosenRows } from '#console/ui/lists/use-chosen-rows.ts'
import { channelsOf, chosenAfter, markedKeys } from './channel-lines.ts'
import type { ChannelListView } from './use-channel-list.ts'

/** Manages the selection, which may include channels on other pages of the list. */
export function useChosen({ rows, filter, total, modes }: ChannelListView) {
  const chosen = useChosenRows({
    rows: channelsOf(rows),
    // In tag mode, the list counts tags, so the number of channels is unknown (0).
    total: modes.isTagMode ? 0 : total,
    filters: filter,
    matching: matchingChannelsQuery(filter),
  })
  return {
    ...chosen,
    selection: {
      keys: markedKeys(rows, chosen.keys),
      onChange: (next: ReadonlySet<string>) => chosen.choose(chosenAfter(rows, chosen.keys, next)),
    },
  }
}
