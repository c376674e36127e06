import { useQueryClient } from '@tanstack/react-query'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { type UserPage, usersKey } from '#console/api/users/list-users.ts'
import { useThrottled } from '#console/ui/use-throttled.ts'

const EVERY_MS = 2_000

/**
 * Calls and changes of balances of those on screen, and whatever was made of any user elsewhere:
 * the rows are read again, not too often.
 */
export function useLiveUsers(): void {
  const client = useQueryClient()
  const readAgain = useThrottled(
    () => void client.invalidateQueries({ queryKey: usersKey }),
    EVERY_MS,
  )
  useLiveTopic('logs', {
    onEvents: (rows) => {
      const pages = client.getQueriesData<UserPage>({ queryKey: usersKey })
      const shown = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      if (rows.some(({ user_id }) => shown.has(user_id))) readAgain()
    },
    onResync: readAgain,
  })
  // A new one moves the others, and one that was not found may be found now.
  useLiveTopic('users', { onEvents: readAgain, onResync: readAgain })
}
