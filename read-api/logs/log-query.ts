import type { CommonQueryMethods } from 'slonik'
import Type, { type Static } from 'typebox'
import { PLAYGROUND_NAME, playgroundOf } from '#domain/shared/playground.ts'
import { type LogFilter, playgroundIds } from '#projections/call-log/query.ts'
import { tokenIdsByName } from '#projections/tokens/query.ts'
import { userIdByName } from '#projections/users/query.ts'
import { Query, type ReadDeps, textOf, wholeOf } from '../question.ts'

/** The filters of the log and its totals, all optional; an empty one lets everything through. */
export const LogFilters = {
  type: Type.Optional(Type.String({ pattern: '^[0-6]?$' })),
  token_name: Query.text,
  model_name: Query.text,
  group: Query.text,
  request_id: Query.text,
  start_timestamp: Query.whole,
  end_timestamp: Query.whole,
}

/** Admins look at everybody's rows, and may choose by user and channel. */
export const AdminFilters = { ...LogFilters, username: Query.text, channel: Query.whole }

const AnyFilters = Type.Object(AdminFilters)
export type LogQuery = Static<typeof AnyFilters>

/**
 * What the rows have to match, names resolved to ids; null when a name is nobody's, and nothing
 * can match. `ownerId` is set where the rows are one user's own.
 */
export async function logFilter(
  { core: { db } }: ReadDeps,
  query: LogQuery,
  ownerId: number | null,
): Promise<LogFilter | null> {
  const username = ownerId === null ? textOf(query.username) : undefined
  const userId = username === undefined ? ownerId : await userIdByName(db, username)
  if (username !== undefined && userId === null) return null
  const tokenName = textOf(query.token_name)
  const tokenIds = tokenName === undefined ? [] : await tokenIdsNamed(db, tokenName, userId)
  if (tokenName !== undefined && tokenIds.length === 0) return null
  const type = wholeOf(query.type)
  const channelId = ownerId === null ? wholeOf(query.channel) : undefined
  return {
    ...given('userId', userId ?? undefined),
    ...given('type', type === 0 ? undefined : type),
    ...given('model', textOf(query.model_name)),
    ...given('group', textOf(query.group)),
    ...given('channelId', channelId === 0 ? undefined : channelId),
    ...given('tokenIds', tokenName === undefined ? undefined : tokenIds),
    ...given('requestId', textOf(query.request_id)),
    ...given('from', wholeOf(query.start_timestamp)),
    ...given('to', wholeOf(query.end_timestamp)),
  }
}

const CALLERS_MAX = 50_000

/** By the tokens' names, and by the one that calls of the console go under. */
async function tokenIdsNamed(
  db: CommonQueryMethods,
  name: string,
  userId: number | null,
): Promise<readonly number[]> {
  const ids = await tokenIdsByName(db, name, userId)
  if (name !== PLAYGROUND_NAME) return ids
  const own = userId === null ? await playgroundIds(db, CALLERS_MAX) : [playgroundOf(userId)]
  return [...ids, ...own]
}

const given = <Key extends keyof LogFilter>(key: Key, value: LogFilter[Key]): LogFilter =>
  value === undefined ? {} : { [key]: value }
