import { useQuery } from '@tanstack/react-query'
import { callBarsKey, callsByHour } from '#console/api/logs.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { useMedia } from '#console/ui/state/use-media-query.ts'
import { type CallBar, callBars, canCountCalls, planBars } from './call-bars.ts'
import type { LogView } from './use-log-view.ts'

const POLL_INTERVAL_MS = 15_000

/** Reports whether the window has space for 24 bars, one for each hour of a day. */
export const useIsWide = (): boolean => useMedia('(min-width: 1100px)')

/**
 * Returns the bars of the chart of calls, or `pending` until they have loaded. Returns null if the
 * server can't count the calls that match the filters, or if the window has no space for the chart.
 */
export function useCallBars(view: LogView): readonly CallBar[] | 'pending' | null {
  const isWide = useIsWide()
  const isTight = useIsCompact()
  const { filters } = view
  const now = currentSeconds()
  const plan = planBars(filters.range, now, isWide ? 31 : 16)
  const isOn = !isTight && plan !== null && canCountCalls(filters)
  const scope = view.isAdmin ? ('all' as const) : ('self' as const)
  const { data, isPending } = useQuery({
    queryKey: [...callBarsKey, scope, filters.username, plan],
    queryFn: ({ signal }) =>
      callsByHour({
        scope,
        from: plan?.from ?? 0,
        to: plan?.to ?? 0,
        username: filters.username,
        signal,
      }),
    enabled: isOn,
    refetchInterval: POLL_INTERVAL_MS,
    retry: false,
  })
  if (!isOn || (data === undefined && !isPending)) return null
  return data === undefined ? 'pending' : callBars(data, plan, filters.model)
}

export const useIsCompact = (): boolean => useMedia('(max-width: 899.98px)')
