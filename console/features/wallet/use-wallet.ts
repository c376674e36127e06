import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { selfKey } from '#console/api/account-queries.ts'
import { call } from '#console/api/client.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { listLogs } from '#console/api/logs.ts'
import { useUser } from '#console/api/session.ts'
import { useThrottledCallback } from '#console/ui/state/use-throttled-callback.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'

const REFETCH_INTERVAL_MIN_MS = 500
const CONSUMPTION = 2
const GAINS = 8

export const additionsKey = ['gains'] as const

export function useWallet() {
  const client = useQueryClient()
  const ownId = useUser()?.id ?? 0
  const floor = useRef(0)
  const self = useQuery({
    queryKey: selfKey,
    queryFn: ({ signal }) => call('GET /api/user/self', { afterPosition: floor.current, signal }),
    refetchOnMount: 'always',
  })
  const gains = useQuery({
    queryKey: additionsKey,
    queryFn: ({ signal }) => readGains({ count: GAINS, afterPosition: floor.current, signal }),
    refetchOnMount: 'always',
  })
  const readBalance = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: selfKey })
  }, REFETCH_INTERVAL_MIN_MS)
  const readGainsAgain = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: additionsKey })
  }, REFETCH_INTERVAL_MIN_MS)
  useLiveTopic('logs', {
    onEvents: (rows, position) => {
      const ownRows = rows.filter((row) => row.user_id === ownId)
      if (ownRows.length === 0) return
      floor.current = Math.max(floor.current, position)
      readBalance()
      if (ownRows.some(({ type }) => type !== CONSUMPTION)) readGainsAgain()
    },
    onResync: (position) => {
      floor.current = Math.max(floor.current, position ?? 0)
      readBalance()
      readGainsAgain()
    },
  })
  return { self, gains }
}

/**
 * The types of log rows that can add quota: 1 is a top-up, 3 a change by an admin, 4 a credit by
 * the system, and 5 a check-in.
 */
const TYPES = [1, 3, 4, 5]

/**
 * Reads the newest log rows that added quota. The rows include all events up to the position
 * `afterPosition` of the event log.
 */
async function readGains(query: {
  count: number
  afterPosition: number
  signal: AbortSignal
}): Promise<LogEntry[]> {
  const { count: pageSize, afterPosition, signal } = query
  const pages = await Promise.all(
    TYPES.map((type) =>
      listLogs({ scope: 'self', params: { type }, page: 0, pageSize, afterPosition, signal }),
    ),
  )
  return pages
    .flatMap(({ items }) => items)
    .filter(({ quota }) => quota !== 0)
    .sort((one, other) => other.id - one.id)
    .slice(0, pageSize)
}
