import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { channelsQuery } from '#console/api/channels.ts'
import { usePageSize } from '#console/ui/pagination.tsx'
import { readFlag, useLocalPreference } from '#console/ui/use-local-preference.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import type { ChannelEntry } from '#read-api/contract/channels.ts'
import { ADDRESS, type ChannelFilters } from './channel-address.ts'

export type ChannelListView = ReturnType<typeof useChannelList>

const NO_ENTRIES: readonly ChannelEntry[] = []

/** What the address and this browser ask for, and its rows. */
export function useChannelList() {
  const [address, setAddress] = useUrlState(ADDRESS)
  const [pageSize, setPageSize] = usePageSize()
  const [isTagMode, setTagMode] = useTagMode()
  const [isIdSort, setIdSort] = useIdSort()
  const [isBatch, setBatch] = useState(false)
  const { order, page, sort, ...filters } = address
  const isDescending = order === 'desc'
  const list = useQuery({
    ...channelsQuery({ ...filters, sort, isDescending, isIdSort, isTagMode, page, pageSize }),
    // Every call changes what a channel has served.
    refetchOnMount: 'always',
  })
  const anew = (set: () => void) => {
    set()
    setAddress({ page: 0 })
  }
  return {
    filters,
    page,
    pageSize,
    list,
    entries: list.data?.items ?? NO_ENTRIES,
    order: { sort, isDescending, isIdSort },
    sort: sort === '' ? null : { column: sort, isDescending },
    counts: { total: list.data?.total ?? 0, firstIndex: page * pageSize },
    setAddress,
    setFilters: (patch: Partial<ChannelFilters>, options?: { isTyping: boolean }) =>
      setAddress({ ...patch, page: 0 }, options),
    setPageSize: (size: typeof pageSize) => anew(() => setPageSize(size)),
    modes: {
      isTagMode,
      setTagMode: (isOn: boolean) => anew(() => setTagMode(isOn)),
      isIdSort,
      setIdSort: (isOn: boolean) => anew(() => setIdSort(isOn)),
      isBatch,
      setBatch,
    },
  }
}

/** Channels gathered under their tags. */
const useTagMode = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference('enable-tag-mode', false, readFlag)

/** The newest channel first, instead of the highest priority. */
const useIdSort = (): [boolean, (isOn: boolean) => void] =>
  useLocalPreference('id-sort', false, readFlag)
