import { useState } from 'react'
import { MATCHING_MAX, matchingChannels } from '#console/api/channels/matching-channels.ts'
import { showError } from '#console/ui/toast.ts'
import { type ChoosableChannel, channelsOf } from './channel-lines.ts'
import { chosenAfter, markedKeys } from './chosen-lines.ts'
import type { ChannelListView } from './use-channel-list.ts'

const NONE: ReadonlySet<string> = new Set()
const NO_CHANNELS: readonly ChoosableChannel[] = []

type Chosen = {
  /** The filters it was chosen under: others choose anew. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** All that match, once they were asked for: those of other pages can be chosen too. */
  readonly matching: readonly ChoosableChannel[]
}

/** Which channels are chosen, over the rows as they are now. */
export function useChosen({ entries, filters, counts, modes }: ChannelListView) {
  const under = JSON.stringify(filters)
  const [stored, setStored] = useState<Chosen>({ under, keys: NONE, matching: NO_CHANNELS })
  const isCurrent = stored.under === under
  const keys = isCurrent ? stored.keys : NONE
  const matching = isCurrent ? stored.matching : NO_CHANNELS
  const onPage = channelsOf(entries)
  const shown = new Set(onPage.map(({ id }) => id))
  const elsewhere = matching.filter(({ id }) => !shown.has(id))
  const picked = [...onPage, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const { total } = counts
  // A tag stands for all of its channels, so that the list's total is not theirs.
  const canAll = !modes.isTagMode && total > onPage.length && total <= MATCHING_MAX
  return {
    picked,
    chooseNone: () => setStored({ under, keys: NONE, matching: NO_CHANNELS }),
    /** How many could be chosen beyond this page; 0: this page is all, or there are too many. */
    choosable: canAll && picked.length < total ? total : 0,
    chooseAll: async () => {
      try {
        const all = await matchingChannels(filters)
        setStored({ under, keys: new Set(all.map(({ id }) => String(id))), matching: all })
      } catch (error) {
        showError(error)
      }
    },
    selection: {
      keys: markedKeys(entries, keys),
      onChange: (next: ReadonlySet<string>) =>
        setStored({ under, keys: chosenAfter(entries, keys, next), matching }),
    },
  }
}
