import type { CommonQueryMethods } from 'slonik'
import { PLAYGROUND_NAME, playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import { type LogFilter, playgroundIds } from '#projections/logs/query.ts'
import { tokenIdsByName } from '#projections/tokens/query.ts'
import { userIdByName } from '#projections/users/query.ts'
import type { LogQuery } from '../contract/logs.ts'
import { integerOf, type ReadDeps, textOf } from '../read-route-helpers.ts'

/**
 * Replaces names in the query by ids. Returns null if a name is unknown, because no row can match.
 * With `ownerId`, the filter only matches rows of this user.
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
  const type = integerOf(query.type)
  const channelId = ownerId === null ? integerOf(query.channel) : undefined
  const failedChannelId = ownerId === null ? integerOf(query.failed_channel) : undefined
  return {
    ...optional('userId', userId ?? undefined),
    ...optional('type', type === 0 ? undefined : type),
    ...optional('model', textOf(query.model_name)),
    ...optional('group', textOf(query.group)),
    ...optional('channelId', channelId === 0 ? undefined : channelId),
    ...optional('failedChannelId', failedChannelId === 0 ? undefined : failedChannelId),
    ...optional('tokenIds', tokenName === undefined ? undefined : tokenIds),
    ...optional('requestId', textOf(query.request_id)),
    ...optional('from', integerOf(query.start_timestamp)),
    ...optional('to', integerOf(query.end_timestamp)),
  }
}

const CALLERS_MAX = 50_000

/**
 * Returns the ids of the tokens with this name. The name of the playground represents all token ids
 * of calls from the playground.
 */
async function tokenIdsNamed(
  db: CommonQueryMethods,
  name: string,
  userId: number | null,
): Promise<readonly number[]> {
  const ids = await tokenIdsByName(db, name, userId)
  if (name !== PLAYGROUND_NAME) return ids
  const playground =
    userId === null ? await playgroundIds(db, CALLERS_MAX) : [playgroundTokenId(userId)]
  return [...ids, ...playground]
}

const optional = <Key extends keyof LogFilter>(key: Key, value: LogFilter[Key]): LogFilter =>
  value === undefined ? {} : { [key]: value }

const LISTS_MAX = 2_000
const PAGES_MAX = 5_000

/**
 * Stores the last row of each page, below which the next page starts. New rows therefore do not
 * shift pages, and the cost of a page does not grow with its number. The number of lists is
 * limited. The least recently used list is removed first, and its pages are found by counting rows.
 */
export class PageCursors {
  /** The row id below which a page starts, by list and page number. */
  readonly #lists = new Map<string, Map<number, number>>()

  /**
   * Returns the nearest known page start at or before the page, and the number of rows from there
   * to the page.
   */
  start(list: string, page: number, pageSize: number): { before?: number; offset: number } {
    const pages = this.#lists.get(list)
    if (page === 0 || pages === undefined) return { offset: page * pageSize }
    this.#lists.delete(list)
    this.#lists.set(list, pages)
    let nearest = 0
    if (pages.has(page)) nearest = page
    else for (const start of pages.keys()) if (start <= page && start > nearest) nearest = start
    const before = pages.get(nearest)
    const offset = (page - nearest) * pageSize
    return before === undefined ? { offset } : { before, offset }
  }

  /**
   * Returns the id below which a sorted list is read. The first page sets it, so that new rows do
   * not shift later pages.
   */
  async end(list: string, page: number, newest: () => Promise<number>): Promise<number> {
    const cursor = this.start(list, 1, 1).before
    if (page > 0 && cursor !== undefined) return cursor
    const end = (await newest()) + 1
    this.learn(list, 0, end)
    return end
  }

  /** Stores the id `lastId` of the page's last row, below which the next page starts. */
  learn(list: string, page: number, lastId: number): void {
    if (page === 0) this.#lists.delete(list)
    const pages = this.#lists.get(list) ?? new Map<number, number>()
    if (pages.size < PAGES_MAX || pages.has(page + 1)) pages.set(page + 1, lastId)
    this.#lists.set(list, pages)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > LISTS_MAX && oldest !== undefined) this.#lists.delete(oldest)
  }
}
