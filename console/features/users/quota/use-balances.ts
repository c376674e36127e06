import { useQueries, useQueryClient } from '@tanstack/react-query'
import { userQuery } from '#console/api/user-queries.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { useLiveRefetch } from '#console/ui/state/use-live-refetch.ts'
import type { User } from '#read-api/contract/users.ts'

const REFETCH_INTERVAL_MIN_MS = 1_000
/**
 * The maximum number of users whose current balances are read from the server. For more users, the
 * balances in the list of users are used, which may be older.
 */
const READ_USERS_MAX = 5

export function useBalances(users: readonly User[]): ReadonlyMap<number, bigint> {
  const client = useQueryClient()
  const read = users.length <= READ_USERS_MAX ? users : []
  const fresh = useQueries({ queries: read.map(({ id }) => userQuery(id)) })
  const refetch = () => {
    for (const { id } of read) void client.invalidateQueries({ queryKey: ['user', id] })
  }
  useLiveRefetch('logs', REFETCH_INTERVAL_MIN_MS, refetch, (row) =>
    read.some(({ id }) => id === row.user_id),
  )
  return new Map(
    users.map((user, at) => [user.id, quotaOf(fresh[at]?.data?.quota ?? user.quota)] as const),
  )
}
