import {
  keepPreviousData,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import {
  type FocusEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useLiveTopic, useMinPosition } from '#console/api/live/use-live-topic.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import {
  currentServerAvailability,
  isServerUnavailable,
  onServerAvailabilityChange,
} from '#console/api/server-availability.ts'
import { callBarsKey, listLogs, logStat, logsKey } from '#console/api/usage-log-queries.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { LogPage } from '#read-api/contract/logs.ts'
import {
  type LiveRows,
  NO_LIVE_ROWS,
  type PageBelow,
  receiveRows,
  releaseRows,
  setHeld,
  withPage,
} from './live-rows.ts'
import { LOG_SORTS, logParams, matchesFilters } from './log-url-params.ts'
import type { LogView } from './use-log-view.ts'

const STAT_REFETCH_INTERVAL_MIN_MS = 2_000
/**
 * The polling interval (ms) for the totals. The totals contain rates per minute, which decrease
 * even while no new rows arrive.
 */
const RATES_POLL_INTERVAL_MS = 15_000
/** The polling interval (ms) while the server does not respond and there are no rows to show. */
const OFFLINE_POLL_INTERVAL_MS = 3_000

export function useLogRows(view: LogView, isHeld: boolean) {
  const client = useQueryClient()
  const minPosition = useMinPosition()
  const scope = view.isAdmin ? ('all' as const) : ('self' as const)
  const listStart = useListStart(view)
  const requestOf = (signal: AbortSignal, listOpenedAt = currentSeconds()) => ({
    scope,
    params: logParams(view.filters, currentSeconds(), listOpenedAt),
    afterPosition: minPosition.current(),
    signal,
  })
  const page = useQuery({
    queryKey: [...logsKey, 'page', view.key],
    queryFn: ({ signal }) =>
      listLogs({ ...requestOf(signal, listStart.at()), ...pagingParams(view) }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  })
  const isAway = useRefetchWhenAvailable(page)
  const statKey = [...logsKey, 'stat', view.isAdmin, JSON.stringify(view.filters)]
  const stat = useQuery({
    queryKey: statKey,
    queryFn: ({ signal }) => logStat(requestOf(signal)),
    placeholderData: keepPreviousData,
    refetchInterval: isAway ? OFFLINE_POLL_INTERVAL_MS : RATES_POLL_INTERVAL_MS,
  })
  const refreshStat = useThrottledCallback(() => {
    for (const queryKey of [statKey, callBarsKey]) void client.invalidateQueries({ queryKey })
  }, STAT_REFETCH_INTERVAL_MIN_MS)
  const [live, update] = useLiveRows(view.key, isHeld)
  const below = pageBelow(page.data)
  const refetch = (position: number | null) => {
    minPosition.raiseTo(position)
    listStart.restart()
    update((last) => ({ ...releaseRows(last), isIncomplete: false, dropped: 0 }))
    void client.invalidateQueries({ queryKey: logsKey })
  }
  useLiveTopic('logs', {
    onEvents: (arrived, position) => {
      minPosition.raiseTo(position)
      const now = currentSeconds()
      const matching = arrived.filter((row) => matchesFilters(row, view.filters, now, view.ownId))
      if (matching.length === 0) return
      refreshStat()
      if (view.page === 0 && view.sort === null)
        update((last) => receiveRows(last, matching, below))
    },
    onResync: (position) => {
      if (isHeld && live.visible.length + live.pending.length > 0)
        update((last) => ({ ...last, isIncomplete: true }))
      else refetch(position)
    },
  })
  return { page, stat, live, rows: withPage(live, below), refetch, update }
}

const pagingParams = ({ page, pageSize, sort }: LogView) => ({
  page,
  pageSize,
  ...(sort === null
    ? {}
    : {
        sort: LOG_SORTS[sort.column as keyof typeof LOG_SORTS],
        order: sort.isDescending ? ('desc' as const) : ('asc' as const),
      }),
})

/**
 * Keeps the time (Unix seconds) at which the first page of the list was read. Later pages use the
 * same time, so that all pages belong to the same time range.
 */
function useListStart({ filters, isAdmin, page }: LogView): {
  at: () => number
  restart: () => void
} {
  const list = JSON.stringify([filters, isAdmin])
  const started = useRef({ list: '', at: 0 })
  return {
    at: () => {
      if (page === 0 || started.current.list !== list)
        started.current = { list, at: currentSeconds() }
      return started.current.at
    },
    restart: () => {
      started.current = { list: '', at: 0 }
    },
  }
}

/**
 * If a page could not be read because the server was unavailable, reads the page again when the
 * server is available. Returns true until then.
 */
function useRefetchWhenAvailable({ data, error, isPlaceholderData, refetch }: Page): boolean {
  const hasNone = data === undefined || isPlaceholderData
  const isAway = hasNone && error !== null && isServerUnavailable(error)
  useEffect(() => {
    if (!isAway) return
    const check = () => {
      if (currentServerAvailability().kind === 'fine') void refetch()
    }
    check()
    return onServerAvailabilityChange(check)
  }, [isAway, refetch])
  return isAway
}

type Page = Pick<UseQueryResult, 'data' | 'error' | 'isPlaceholderData' | 'refetch'>

const NONE: PageBelow = { rows: [], isComplete: false }
const pageBelow = (data: LogPage | undefined): PageBelow =>
  data === undefined ? NONE : { rows: data.items, isComplete: data.items.length >= data.total }

type ViewRows = { readonly view: string; readonly live: LiveRows }

/**
 * Keeps the live rows of the list with the key `view`. When the key changes, the live rows are
 * dropped. While `isHeld` is true, new rows wait. The waiting rows are shown when `isHeld` becomes
 * false.
 */
function useLiveRows(
  view: string,
  isHeld: boolean,
): [LiveRows, (change: (live: LiveRows) => LiveRows) => void] {
  const [viewRows, setViewRows] = useState<ViewRows>({ view, live: NO_LIVE_ROWS })
  const live = useMemo(
    () => setHeld(viewRows.view === view ? viewRows.live : NO_LIVE_ROWS, isHeld),
    [viewRows, view, isHeld],
  )
  const update = useCallback(
    (change: (live: LiveRows) => LiveRows) =>
      setViewRows((last) => {
        const base = last.view === view ? last.live : NO_LIVE_ROWS
        return { view, live: change(setHeld(base, isHeld)) }
      }),
    [view, isHeld],
  )
  // Stores each change of `isHeld` in the state. Otherwise, rows that became visible would be
  // hidden when `isHeld` becomes true again.
  useEffect(() => update((last) => last), [update])
  return [live, update]
}

export type ReadingState = ReturnType<typeof useIsReading>

/**
 * Reports whether the user is reading the list: the list is scrolled, is under the mouse pointer,
 * or has the focus. New rows must then not move the list.
 */
export function useIsReading() {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // Only the pointer of a mouse counts, because browsers send no leave event for a touch that
      // scrolls.
      onPointerEnter: (event: PointerEvent) => setHovered(event.pointerType === 'mouse'),
      onPointerLeave: () => setHovered(false),
      onFocus: () => setFocused(true),
      onBlur: (event: FocusEvent) => {
        const next = event.relatedTarget
        if (!(next instanceof Node && event.currentTarget.contains(next))) setFocused(false)
      },
    },
  }
}
