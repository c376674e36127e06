import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { channelsQuery, matchingChannelsQuery } from '#console/api/channels.ts'
import type { Sort } from '#console/ui/data-grid/column-and-layout.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { useSelectedRows } from '#console/ui/lists/use-selected-rows.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { readFlag, useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import { channelsOf, selectedRowKeys, selectionAfter } from './channel-rows.ts'
import { CHANNEL_URL_PARAMS, nextSort } from './channel-url-params.ts'

export type ChannelListView = ReturnType<typeof useChannelList>

export function useChannelList() {
  const { t } = useTranslation()
  const [isTagMode, setTagMode] = useLocalPreference('enable-tag-mode', false, readFlag)
  // True to sort the list by id, newest first. False to sort it by priority.
  const [isIdSort, setIdSort] = useLocalPreference('id-sort', false, readFlag)
  const [isSelecting, setSelecting] = useState(false)
  const view = useListPage(CHANNEL_URL_PARAMS, ({ order, sort = '', ...query }) =>
    channelsQuery({ ...query, sort, isDescending: order !== 'asc', isIdSort, isTagMode }),
  )
  const { sort } = view
  const fromFirst = (set: (isOn: boolean) => void) => (isOn: boolean) => {
    set(isOn)
    view.setFilter({})
  }
  const refresh = async () => {
    if ((await view.list.refetch()).isError) showError(t('shared.refreshFailed'))
  }
  return {
    ...view,
    order: { sort: sort?.column ?? '', isDescending: sort?.isDescending ?? true, isIdSort },
    setSort: (requested: Sort) => view.setSort(nextSort(sort, requested)),
    refresh: () => void refresh(),
    modes: {
      isTagMode,
      setTagMode: fromFirst(setTagMode),
      isIdSort,
      setIdSort: fromFirst(setIdSort),
      isSelecting,
      setSelecting,
    },
  }
}

/** Returns the selected channels. They can be on other pages of the list. */
export function useSelectedChannels({ rows, filter, total, modes }: ChannelListView) {
  const selected = useSelectedRows({
    rows: channelsOf(rows),
    // In tag mode, `total` counts tags, so the number of channels is unknown (0).
    total: modes.isTagMode ? 0 : total,
    filters: filter,
    matching: matchingChannelsQuery(filter),
  })
  return {
    ...selected,
    selection: {
      keys: selectedRowKeys(rows, selected.keys),
      onChange: (next: ReadonlySet<string>) =>
        selected.select(selectionAfter(rows, selected.keys, next)),
    },
  }
}
