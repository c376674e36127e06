import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { selfKey } from '#console/api/account.ts'
import { call } from '#console/api/client.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { listLogs } from '#console/api/logs.ts'
import { useUser } from '#console/api/session.ts'
import { useThrottledCallback } from '#console/ui/state/use-throttled-callback.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'

const EVERY_MS = 500
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
  }, EVERY_MS)
  const readGainsAgain = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: additionsKey })
  }, EVERY_MS)
  useLiveTopic('logs', {
    onEvents: (rows, position) => {
      const own = rows.filter((row) => row.user_id === ownId)
      if (own.length === 0) return
      floor.current = Math.max(floor.current, position)
      readBalance()
      if (own.some(({ type }) => type !== CONSUMPTION)) readGainsAgain()
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
 * The log types that add quota: top-ups, changes by admins, credits of the system, and check-ins.
 */
const TYPES = [1, 3, 4, 5]

/**
 * Reads the log rows that added quota. The response includes all events up to the event log
 * position `afterPosition`.
 */
async function readGains(ask: {
  count: number
  afterPosition: number
  signal: AbortSignal
}): Promise<LogEntry[]> {
  const { count: pageSize, afterPosition, signal } = ask
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
