import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { call } from '#console/api/client.ts'

const ACCOUNTS_PER_REQUEST = 100
const FRESH_MS = 60_000

export type UserNames = ReadonlyMap<number, string>

const NO_NAMES: UserNames = new Map()

/**
 * Returns the names of users by their ids, for tables whose rows have ids only. A name that has not
 * been loaded is missing, and the name of an erased user is empty.
 */
export function useUserNames(userIds: readonly number[]): UserNames {
  const ids = [...new Set(userIds)].sort((a, b) => b - a)
  const query = useQuery({
    queryKey: ['user-names', ids],
    queryFn: ({ signal }) => readNames(ids, signal),
    enabled: ids.length > 0,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  })
  return query.data ?? NO_NAMES
}

/**
 * Reads the names of users from the list of accounts. The list is sorted by descending id, and so
 * are `ids`. A page of the list is read only for an id that is lower than the ids on the earlier
 * pages. Ids that are close together therefore share a request.
 */
async function readNames(ids: readonly number[], signal: AbortSignal): Promise<UserNames> {
  const names = new Map<number, string>()
  let lowest = Number.POSITIVE_INFINITY
  for (const id of ids) {
    if (id >= lowest) continue
    const query = { cursor: String(id + 1), limit: ACCOUNTS_PER_REQUEST }
    const { items } = await call('GET /api/audit/accounts', { query, signal })
    for (const { user_id: userId, username } of items) names.set(userId, username)
    lowest = items.at(-1)?.user_id ?? 0
  }
  return names
}

/**
 * Returns the name of a user together with the id, because an earlier user may have had the same
 * name. If `name` is empty, the text says that the user was erased.
 */
export const userText = (t: TFunction, id: number, name: string): string =>
  name === '' ? t('audit.erasedUser', { id }) : `${name} (#${id})`

/**
 * Returns the name of the user who performed an action. Without a name, returns the kind and the id
 * of the actor. For an automatic action, returns the name of the part of the site that performed
 * the action.
 */
export const actorText = (
  t: TFunction,
  { kind, id, name }: { readonly kind: string; readonly id: string; readonly name: string },
): string => (kind === 'system' ? `${t('audit.site')} (${id})` : name || `${kind}:${id}`)
