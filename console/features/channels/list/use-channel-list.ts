import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  channelsOfPage,
  channelsOfTagQuery,
  channelsQuery,
  matchingChannelsQuery,
} from '#console/api/channels.ts'
import type { ListPage } from '#console/api/request.ts'
import type { Sort } from '#console/ui/data-grid/column-and-layout.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { useSelectedRows } from '#console/ui/lists/use-selected-rows.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { readFlag, useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import type { ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'
import {
  type ChannelRow,
  channelsOf,
  isTagGroup,
  rowsOf,
  selectedRowKeys,
  selectionAfter,
} from './channel-rows.ts'
import { CHANNEL_URL_PARAMS, nextSort } from './channel-url-params.ts'

export type ChannelListView = ReturnType<typeof useChannelList>

export function useChannelList() {
  const { t } = useTranslation()
  const [isTagMode, setTagMode] = useLocalPreference('enable-tag-mode', false, readFlag)
  // If true, the list is sorted by id, newest first. If false, the list is sorted by priority.
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

/**
 * Returns the selected channels, including those on other pages of the list, and functions that
 * change the selection.
 */
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

export function useExpandedTags({ rows: entries, order }: ChannelListView) {
  const [openTags, setOpenTags] = useState<ReadonlySet<string>>(new Set())
  const open = entries.flatMap((entry) =>
    isTagGroup(entry) && openTags.has(entry.tag) ? [entry.tag] : [],
  )
  const loaded = useQueries({
    queries: open.map((tag) => channelsOfTagQuery(tag, order)),
    combine: pagesOf,
  })
  const toggle = ({ tag }: Pick<TagGroup, 'tag'>) => setOpenTags((now) => toggled(now, tag))
  const failed = loaded.findIndex(({ page, error }) => page === undefined && error !== null)
  const failure = loaded[failed]?.error
  const failedTag = open[failed]
  useEffect(() => {
    if (failedTag === undefined) return
    showError(failure)
    setOpenTags((now) => new Set([...now].filter((tag) => tag !== failedTag)))
  }, [failedTag, failure])
  const key = JSON.stringify(open)
  const lines = useMemo(() => {
    const tags: string[] = JSON.parse(key)
    const childrenOf = tags.map((tag, at) => [tag, channelsIn(loaded[at]?.page)] as const)
    return rowsOf(entries, new Map(childrenOf))
  }, [entries, key, loaded])
  return {
    lines,
    toggle,
    branch: (line: ChannelRow) =>
      line.kind === 'tag'
        ? { level: 1, isOpen: line.isOpen, onToggle: () => toggle(line.group) }
        : { level: line.isChild ? 2 : 1 },
  }
}

/**
 * Combines the results of several queries. This function is defined outside the hook, because React
 * Query caches the combined result only if the function is always the same.
 */
const pagesOf = (results: UseQueryResult<ListPage<ChannelEntry>>[]) =>
  results.map(({ data, error }) => ({ page: data, error }))

const channelsIn = (page: ListPage<ChannelEntry> | undefined) =>
  page === undefined ? null : channelsOfPage(page)

function toggled(tags: ReadonlySet<string>, tag: string): ReadonlySet<string> {
  const next = new Set(tags)
  if (!next.delete(tag)) next.add(tag)
  return next
}
