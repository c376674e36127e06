import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { channelsOfPage, channelsOfTagQuery } from '#console/api/channels.ts'
import type { ListPage } from '#console/api/request.ts'
import { showError } from '#console/ui/messages/toast.ts'
import type { ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'
import { type ChannelRow, isTagGroup, rowsOf } from './channel-rows.ts'
import type { ChannelListView } from './use-channel-list.ts'

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
 * Combines the results of several queries. It is defined outside of the hook, because React Query
 * caches the combined result only if it always receives the same function.
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
