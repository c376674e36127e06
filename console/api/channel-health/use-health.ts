import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { HealthSnapshot } from '#read-api/contract/channel-health.ts'
import { useLiveState, useLiveTopic } from '../live/use-live-topic.ts'
import { healthKey, healthQuery } from './get-health.ts'
import { withPush } from './with-push.ts'

/** The board as it is read, and as it changes; read again whenever the connection comes back. */
export function useHealth() {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const readAgain = (): void => void client.invalidateQueries({ queryKey: healthKey })
  useLiveTopic('health', {
    onEvents: (pushes) =>
      client.setQueryData<HealthSnapshot>(healthKey, (snapshot) =>
        snapshot === undefined ? undefined : pushes.reduce(withPush, snapshot),
      ),
    onResync: readAgain,
  })
  useEffect(() => {
    if (isLive) void client.invalidateQueries({ queryKey: healthKey })
  }, [isLive, client])
  return useQuery({ ...healthQuery, refetchOnMount: 'always' })
}
