import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '#console/api/client.ts'
import { useLiveTopic, useMinPosition } from '#console/api/live/use-live-topic.ts'
import { selfKey } from '#console/api/own-user-group-and-model-queries.ts'
import { useUser } from '#console/api/session.ts'
import { listLogs } from '#console/api/usage-log-queries.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'

const REFETCH_INTERVAL_MIN_MS = 500
const CONSUMPTION = 2
const CREDITS_SHOWN = 8

export const creditsKey = ['gains'] as const

/** Returns the user's own balance and newest credits, and keeps them up to date. */
export function useBalanceAndCredits() {
  const client = useQueryClient()
  const ownId = useUser()?.id ?? 0
  const minPosition = useMinPosition()
  const self = useQuery({
    queryKey: selfKey,
    queryFn: ({ signal }) =>
      call('GET /api/user/self', { afterPosition: minPosition.current(), signal }),
    refetchOnMount: 'always',
  })
  const credits = useQuery({
    queryKey: creditsKey,
    queryFn: ({ signal }) =>
      readCredits({ count: CREDITS_SHOWN, afterPosition: minPosition.current(), signal }),
    refetchOnMount: 'always',
  })
  const refetchBalance = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: selfKey })
  }, REFETCH_INTERVAL_MIN_MS)
  const refetchCredits = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: creditsKey })
  }, REFETCH_INTERVAL_MIN_MS)
  useLiveTopic('logs', {
    onEvents: (rows, position) => {
      const ownRows = rows.filter((row) => row.user_id === ownId)
      if (ownRows.length === 0) return
      minPosition.raiseTo(position)
      refetchBalance()
      if (ownRows.some(({ type }) => type !== CONSUMPTION)) refetchCredits()
    },
    onResync: (position) => {
      minPosition.raiseTo(position)
      refetchBalance()
      refetchCredits()
    },
  })
  return { self, credits }
}

/**
 * The types of log rows that can credit quota: 1 (top-up), 3 (change by an admin), 4 (credit by the
 * system) and 5 (check-in).
 */
const CREDIT_LOG_TYPES = [1, 3, 4, 5]

/**
 * Reads the newest log rows that credited quota. `afterPosition` is an event log position, and the
 * response includes all events up to this position.
 */
async function readCredits(query: {
  count: number
  afterPosition: number
  signal: AbortSignal
}): Promise<LogEntry[]> {
  const { count: pageSize, afterPosition, signal } = query
  const pages = await Promise.all(
    CREDIT_LOG_TYPES.map((type) =>
      listLogs({ scope: 'self', params: { type }, page: 0, pageSize, afterPosition, signal }),
    ),
  )
  return pages
    .flatMap(({ items }) => items)
    .filter(({ quota }) => quota !== 0)
    .sort((one, other) => other.id - one.id)
    .slice(0, pageSize)
}
