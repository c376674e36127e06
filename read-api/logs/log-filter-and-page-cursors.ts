import type { CommonQueryMethods } from 'slonik'
import { PLAYGROUND_NAME, playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import { type LogFilter, playgroundIds } from '#projections/logs/query.ts'
import { tokenIdsByName } from '#projections/tokens/query.ts'
import { userIdByName } from '#projections/users/query.ts'
import { findFullRequestId } from '../contract/find-full-request-id.ts'
import type { LogQuery } from '../contract/logs.ts'
import { integerOf, type ReadDeps, textOf } from '../read-dependencies-and-query-parameters.ts'

/**
 * Converts the query of a request to a filter, which has ids instead of the names of users and
 * tokens. Returns null if a name is unknown, because no row can match an unknown name. With an
 * `ownerId`, only the rows of this user match.
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
    ...optional('requestId', requestIdOf(query.request_id)),
    ...optional('from', integerOf(query.start_timestamp)),
    ...optional('to', integerOf(query.end_timestamp)),
  }
}

/** Returns the beginning of a request id, or the request id of a batch that a caller knows. */
function requestIdOf(text: string | undefined): string | undefined {
  const given = textOf(text)
  return given === undefined ? undefined : (findFullRequestId(given) ?? given)
}

const CALLERS_MAX = 50_000

/**
 * Returns the ids of all tokens with a name. Calls from the playground have no token. Their log
 * rows have a special token id for each user. The name of the playground matches these special ids.
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
 * Remembers the id of the last row of each page of a list. The next page starts after this row. New
 * rows therefore do not shift the pages, and late pages are read as fast as early ones. If there
 * are more than 2000 lists, the least recently used list is forgotten. The pages of a forgotten
 * list are found by counting rows.
 */
export class PageCursors {
  /** Maps each list and page number to an id. The page starts with the first row below this id. */
  readonly #lists = new Map<string, Map<number, number>>()

  /**
   * Returns the start of a page: the id `before` at which the nearest known page starts, and the
   * number `offset` of rows to skip from there. The nearest known page is the page itself or an
   * earlier one. `before` is missing if no page is known.
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
   * For a sorted list, returns the id below which the rows of the list are read. The id is set when
   * the first page is read, or if no id is known for the list. New rows therefore do not shift
   * later pages.
   */
  async end(list: string, page: number, newest: () => Promise<number>): Promise<number> {
    const cursor = this.start(list, 1, 1).before
    if (page > 0 && cursor !== undefined) return cursor
    const end = (await newest()) + 1
    this.learn(list, 0, end)
    return end
  }

  /**
   * Remembers the id of the last row of a page. The next page starts with the first row below this
   * id.
   */
  learn(list: string, page: number, lastId: number): void {
    if (page === 0) this.#lists.delete(list)
    const pages = this.#lists.get(list) ?? new Map<number, number>()
    if (pages.size < PAGES_MAX || pages.has(page + 1)) pages.set(page + 1, lastId)
    this.#lists.set(list, pages)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > LISTS_MAX && oldest !== undefined) this.#lists.delete(oldest)
  }
}
