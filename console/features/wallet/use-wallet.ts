import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { readSelf, selfKey } from '#console/api/dashboard/self.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useUser } from '#console/api/use-user.ts'
import { readGains } from '#console/api/wallet/gains.ts'
import { useThrottled } from '#console/ui/use-throttled.ts'

const EVERY_MS = 500
const CONSUMPTION = 2
const GAINS = 8

export const gainsKey = ['gains'] as const

/** Balance and what it gained, read again as soon as something of one's own moved it. */
export function useWallet() {
  const client = useQueryClient()
  const ownId = useUser()?.id ?? 0
  const floor = useRef(0)
  const self = useQuery({
    queryKey: selfKey,
    queryFn: ({ signal }) => readSelf({ afterPosition: floor.current, signal }),
    refetchOnMount: 'always',
  })
  const gains = useQuery({
    queryKey: gainsKey,
    queryFn: ({ signal }) => readGains({ count: GAINS, afterPosition: floor.current, signal }),
    refetchOnMount: 'always',
  })
  const readBalance = useThrottled(() => {
    void client.invalidateQueries({ queryKey: selfKey })
  }, EVERY_MS)
  const readGainsAgain = useThrottled(() => {
    void client.invalidateQueries({ queryKey: gainsKey })
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
