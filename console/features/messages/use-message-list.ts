import { useQuery } from '@tanstack/react-query'
import { messagesQuery } from '#console/api/messages.ts'
import { pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { integerParam, textParam, type UrlParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'

/** A day of this browser's calendar, as date inputs have it; empty: none. */
const DAY = /^\d{4}-\d{2}-\d{2}$/

const isDay = (text: string): boolean => DAY.test(text) && !Number.isNaN(Date.parse(text))

const readDay = (text: string): string | null => (isDay(text) ? text : null)

/** The first and the last moment of the days chosen, in ISO; none unless both are. */
function isoRange(from: string, until: string): { start: string; end: string } {
  if (!isDay(from) || !isDay(until)) return { start: '', end: '' }
  return {
    start: new Date(`${from}T00:00:00`).toISOString(),
    end: new Date(`${until}T23:59:59.999`).toISOString(),
  }
}

const dayParam: UrlParam<string> = { fallback: '', read: readDay, write: (day) => day }

const ADDRESS = {
  keyword: textParam(),
  from: dayParam,
  until: dayParam,
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

export type MessageFilter = { keyword: string; from: string; until: string }
export type MessageListView = ReturnType<typeof useMessageList>

/** The page of messages that the address asks for, and how to ask for another. */
export function useMessageList() {
  const [{ page, ...filter }, setAddress] = useUrlState(ADDRESS)
  const size = usePageSize('message-page-size')
  const [pageSize] = size
  const { keyword, from, until } = filter
  const list = useQuery({
    ...messagesQuery({ keyword, ...isoRange(from, until), page, pageSize }),
    // Somebody reads one any moment.
    refetchOnMount: 'always',
  })
  return {
    list,
    rows: list.data?.items ?? [],
    filter,
    isFiltered: keyword !== '' || from !== '' || until !== '',
    setFilter: (patch: Partial<MessageFilter>, options?: { isTyping: boolean }) =>
      setAddress({ ...patch, page: 0 }, options),
    clear: () => setAddress({ keyword: '', from: '', until: '', page: 0 }),
    paging: pagingOf({ page, total: list.data?.total }, size, (next, how) =>
      setAddress({ page: next }, how),
    ),
  }
}
