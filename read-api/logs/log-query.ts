import type { CommonQueryMethods } from 'slonik'
import type { Static } from 'typebox'
import Type from 'typebox'
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

const LISTS_MAX = 2_000
const PAGES_MAX = 5_000

/**
 * Where each page of a list starts, as learnt from the page before: so that `p` reads on behind
 * the last row shown (new rows shift nothing) and costs the same however deep it is.
 *
 * Bounded: the list used longest ago is forgotten, and its pages are then found by counting.
 */
export class PageCursors {
  /** By list: page → the id that its rows lie below. */
  readonly #lists = new Map<string, Map<number, number>>()

  /** The nearest known start at or before the page, and how many rows to skip from there. */
  start(list: string, page: number, pageSize: number): { before?: number; offset: number } {
    const pages = this.#lists.get(list)
    if (page === 0 || pages === undefined) return { offset: page * pageSize }
    this.#lists.delete(list)
    this.#lists.set(list, pages)
    let nearest = 0
    if (pages.has(page)) nearest = page
    else for (const known of pages.keys()) if (known <= page && known > nearest) nearest = known
    const before = pages.get(nearest)
    const offset = (page - nearest) * pageSize
    return before === undefined ? { offset } : { before, offset }
  }

  /** The page was shown down to `lastId`: the next one lies below it. */
  learn(list: string, page: number, lastId: number): void {
    if (page === 0) this.#lists.delete(list)
    const pages = this.#lists.get(list) ?? new Map<number, number>()
    if (pages.size < PAGES_MAX || pages.has(page + 1)) pages.set(page + 1, lastId)
    this.#lists.set(list, pages)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > LISTS_MAX && oldest !== undefined) this.#lists.delete(oldest)
  }
}
