import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLiveState, useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useUser } from '#console/api/session.ts'
import { inboxKey, unreadKey, unreadQuery } from '../api/message-queries.ts'
import { BellLink } from './inbox-bell-link.tsx'

const POLL_INTERVAL_MS = 30_000
/**
 * The polling interval (ms) for the number of unread messages while the live connection works. Live
 * events contain this number, but the connection may fail unnoticed.
 */
const LIVE_POLL_INTERVAL_MS = 60_000

export function InboxBell() {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const canUseConsole = useUser()?.must_change_password !== true
  const { data = 0, error } = useQuery({
    ...unreadQuery,
    enabled: canUseConsole,
    refetchInterval: isLive ? LIVE_POLL_INTERVAL_MS : POLL_INTERVAL_MS,
    refetchIntervalInBackground: false,
  })
  useEffect(() => {
    if (error !== null) console.warn('the number of unread messages could not be read', error)
  }, [error])
  useLiveTopic('inbox', {
    onEvents: (counts) => {
      // Cancels a pending request for the number of unread messages, because the response would be
      // older than this event.
      void client.cancelQueries({ queryKey: unreadKey })
      client.setQueryData(unreadKey, counts.at(-1)?.unread_count)
      void client.invalidateQueries({ queryKey: inboxKey })
    },
    onResync: () => {
      void client.invalidateQueries({ queryKey: unreadKey })
      void client.invalidateQueries({ queryKey: inboxKey })
    },
  })
  return <BellLink unread={data} />
}
