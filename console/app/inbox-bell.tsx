import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect } from 'react'
import { useLiveState, useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useUser } from '#console/api/session.ts'
import { inboxKey, unreadKey, unreadQuery } from '../api/messages.ts'
import { BellLink } from './bell-link.tsx'

const POLL_MS = 30_000
/** A stream that says nothing may be one that can't: the count is no older than this. */
const POLL_LIVE_MS = 60_000

/** The bell, which is told what is unread, and asks where it can't be told. */
export function InboxBell(): ReactElement {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const isLetIn = useUser()?.must_change_password !== true
  // NOTE: a hidden tab does not ask: the interval rests there.
  const { data = 0, error } = useQuery({
    ...unreadQuery,
    enabled: isLetIn,
    refetchInterval: isLive ? POLL_LIVE_MS : POLL_MS,
    refetchIntervalInBackground: false,
  })
  useEffect(() => {
    if (error !== null) console.warn('the number of unread messages could not be read', error)
  }, [error])
  useLiveTopic('inbox', {
    onEvents: (counts) => {
      // An answer that is under way is older than what was pushed.
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
