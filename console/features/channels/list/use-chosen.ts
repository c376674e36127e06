import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ChannelQuery,
  channelsKey,
  listChannels,
  wholeChannels,
} from '#console/api/channels.ts'
import type { ListPage } from '#console/api/request.ts'
import { showError } from '#console/ui/toast.ts'
import type { Channel, ChannelEntry } from '#read-api/contract/channels.ts'
import { channelsOf } from './channel-lines.ts'
import { chosenAfter, markedKeys } from './chosen-lines.ts'
import type { ChannelListView } from './use-channel-list.ts'

const NONE: ReadonlySet<string> = new Set()
const NO_ENTRIES: readonly ChannelEntry[] = []

type Chosen = {
  /** The filters it was chosen under: others choose anew. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** All that match were asked for: those of other pages can be chosen too. */
  readonly isBeyond: boolean
}

/** Which channels are chosen, over the rows and all that match as they are now. */
export function useChosen({ entries, filters, counts, modes }: ChannelListView) {
  const client = useQueryClient()
  const under = JSON.stringify(filters)
  const none = { under, keys: NONE, isBeyond: false }
  const [stored, setStored] = useState<Chosen>(none)
  const { keys, isBeyond } = stored.under === under ? stored : none
  const query = matchingChannelsQuery(filters)
  // Read by `chooseAll`, then again whenever the list is: what was changed or deleted shows.
  const all = useQuery({ ...query, enabled: isBeyond, staleTime: Number.POSITIVE_INFINITY })
  const matching = channelsOf(isBeyond ? (all.data?.items ?? NO_ENTRIES) : NO_ENTRIES)
  const onPage = channelsOf(entries)
  const shown = new Set(onPage.map(({ id }) => id))
  const elsewhere = matching.filter(({ id }) => !shown.has(id))
  const picked = [...onPage, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const { total } = counts
  // A tag stands for all of its channels, so that the list's total is not theirs.
  const canAll = !modes.isTagMode && total > onPage.length && total <= MATCHING_MAX
  return {
    picked,
    chooseNone: () => setStored(none),
    /** How many could be chosen beyond this page; 0: this page is all, or there are too many. */
    choosable: canAll && picked.length < total ? total : 0,
    chooseAll: async () => {
      try {
        const found = wholeChannels(await client.fetchQuery({ ...query, staleTime: 0 }))
        setStored({ under, keys: new Set(found.map(({ id }) => String(id))), isBeyond: true })
      } catch (error) {
        showError(error)
      }
    },
    selection: {
      keys: markedKeys(entries, keys),
      onChange: (next: ReadonlySet<string>) =>
        setStored({ under, keys: chosenAfter(entries, keys, next), isBeyond }),
    },
  }
}

/** As many as one act may name. */
const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

type Filters = Omit<ChannelQuery, 'page' | 'pageSize'>

/** Every channel that the filters let through; in the shape of the lists' pages, kept as they. */
const matchingChannelsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: [...channelsKey, 'matching', filters],
    queryFn: ({ signal }) => matchingChannels(filters, signal),
  })

/** By id; the first thousand of more. */
async function matchingChannels(
  filters: Filters,
  signal: AbortSignal,
): Promise<ListPage<ChannelEntry>> {
  const found = new Map<number, Channel>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', page, pageSize: PAGE_SIZE }
    const { items, total } = await listChannels(asked, signal)
    for (const item of items) if (!('children' in item)) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}
