import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '#console/api/client.ts'
import { useLiveTopic, useMinPosition } from '#console/api/live/use-live-topic.ts'
import { selfKey } from '#console/api/own-user-group-and-model-queries.ts'
import { useUser } from '#console/api/session.ts'
import { listLogs, logStat, logsKey } from '#console/api/usage-log-queries.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { usageKey } from './use-usage-points.ts'

const BALANCE_REFETCH_INTERVAL_MIN_MS = 500
const CHART_REFETCH_INTERVAL_MIN_MS = 2_000
const RECENT_ROWS = 6
const CONSUMPTION = 2

/**
 * Query options that read the data again whenever the page opens. Live events update the data only
 * while the page is open.
 */
const REFETCH_ON_MOUNT = { refetchOnMount: 'always' } as const

export function useBalanceAndRecentCalls() {
  const client = useQueryClient()
  const ownId = useUser()?.id ?? 0
  const minPosition = useMinPosition()
  const self = useQuery({
    queryKey: selfKey,
    queryFn: ({ signal }) =>
      call('GET /api/user/self', { afterPosition: minPosition.current(), signal }),
    ...REFETCH_ON_MOUNT,
  })
  const today = useQuery({
    queryKey: [...logsKey, 'today'],
    queryFn: ({ signal }) =>
      logStat({
        scope: 'self',
        params: { start_timestamp: midnight(), type: CONSUMPTION },
        afterPosition: minPosition.current(),
        signal,
      }),
    ...REFETCH_ON_MOUNT,
  })
  const recent = useQuery({
    queryKey: [...logsKey, 'recent'],
    queryFn: ({ signal }) =>
      listLogs({
        scope: 'self',
        params: {},
        page: 0,
        pageSize: RECENT_ROWS,
        afterPosition: minPosition.current(),
        signal,
      }),
    ...REFETCH_ON_MOUNT,
  })
  const invalidate = (...keys: readonly QueryKey[]): void => {
    for (const queryKey of keys) void client.invalidateQueries({ queryKey })
  }
  const refreshBalanceAndCalls = useThrottledCallback(
    () => invalidate(selfKey, logsKey),
    BALANCE_REFETCH_INTERVAL_MIN_MS,
  )
  const refreshCharts = useThrottledCallback(
    () => invalidate(usageKey),
    CHART_REFETCH_INTERVAL_MIN_MS,
  )
  useLiveTopic('logs', {
    onEvents: (rows, position) => {
      if (!rows.some((row) => row.user_id === ownId)) return
      minPosition.raiseTo(position)
      refreshBalanceAndCalls()
      refreshCharts()
    },
    onResync: (position) => {
      minPosition.raiseTo(position)
      refreshBalanceAndCalls()
      refreshCharts()
    },
  })
  return { self, today, recent }
}

function midnight(): number {
  const day = new Date()
  day.setHours(0, 0, 0, 0)
  return Math.floor(day.getTime() / 1000)
}
