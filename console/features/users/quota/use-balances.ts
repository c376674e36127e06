import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { userQuery } from '#console/api/users.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { useThrottledCallback } from '#console/ui/state/use-throttled-callback.ts'
import type { User } from '#read-api/contract/users.ts'

const EVERY_MS = 1_000
/**
 * The maximum number of users whose balances are read again. For more users, the balances in the
 * user list are used.
 */
const READ_MAX = 5

export function useBalances(users: readonly User[]): ReadonlyMap<number, bigint> {
  const client = useQueryClient()
  const read = users.length <= READ_MAX ? users : []
  const fresh = useQueries({ queries: read.map(({ id }) => userQuery(id)) })
  const readAgain = useThrottledCallback(() => {
    for (const { id } of read) void client.invalidateQueries({ queryKey: ['user', id] })
  }, EVERY_MS)
  useLiveTopic('logs', {
    onEvents: (rows) => {
      if (rows.some(({ user_id }) => read.some(({ id }) => id === user_id))) readAgain()
    },
    onResync: readAgain,
  })
  return new Map(
    users.map((user, at) => [user.id, quotaOf(fresh[at]?.data?.quota ?? user.quota)] as const),
  )
}
