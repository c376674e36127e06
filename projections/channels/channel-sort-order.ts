import { type FragmentSqlToken, sql } from 'slonik'
import { shownStatus } from './channel-row.ts'

export type ChannelSort =
  | 'id'
  | 'name'
  | 'type'
  | 'status'
  | 'group'
  | 'tag'
  | 'models'
  | 'priority'
  | 'weight'
  | 'used_quota'
  | 'response_time'
  | 'balance'
  | 'test_time'
  | 'created_time'
  | 'expired_time'

export type ChannelOrder = {
  /** Used only if `sort` is null. true sorts by id, and false by priority. */
  readonly isIdSort: boolean
  readonly sort: ChannelSort | null
  readonly isDescending: boolean
  /** The current time in Unix seconds. */
  readonly now: number
}

/**
 * Returns the SQL expression by which channels are sorted. When sorted by ascending expiry,
 * channels that never expire come last.
 */
const columnOf = (sort: ChannelSort, now: number): FragmentSqlToken =>
  ({
    id: sql.fragment`c.id`,
    name: sql.fragment`lower(c.name)`,
    type: sql.fragment`(c.terms->>'type')::int8`,
    status: shownStatus(now),
    group: sql.fragment`array_to_string(array(select jsonb_array_elements_text(c.groups)), ',')`,
    tag: sql.fragment`lower(c.tag)`,
    models: sql.fragment`jsonb_array_length(c.models)`,
    priority: sql.fragment`c.priority`,
    weight: sql.fragment`c.weight`,
    used_quota: sql.fragment`coalesce(s.used_quota, 0)`,
    response_time: sql.fragment`coalesce(t.response_time, 0)`,
    balance: sql.fragment`coalesce(t.balance, 0)`,
    test_time: sql.fragment`coalesce(t.test_time, 0)`,
    created_time: sql.fragment`c.created_at`,
    expired_time: sql.fragment`case when c.expired_at <= 0 then 1e15 else c.expired_at end`,
  })[sort]

export function orderOfChannels(order: ChannelOrder): FragmentSqlToken {
  const { sort, isDescending, now } = normalizedOrder(order)
  const direction = isDescending ? sql.fragment`desc` : sql.fragment`asc`
  return sql.fragment`${columnOf(sort, now)} ${direction}, c.id desc`
}

/**
 * Returns the sort order of tags. A tag is sorted by the channel that comes first in the sort
 * direction. By used quota, a tag is sorted by the sum over its channels.
 */
export function orderOfTags(order: ChannelOrder): FragmentSqlToken {
  const { sort, isDescending, now } = normalizedOrder(order)
  const column = columnOf(sort, now)
  if (sort === 'used_quota') {
    const direction = isDescending ? sql.fragment`desc` : sql.fragment`asc`
    return sql.fragment`sum(${column}) ${direction}, max(c.id) desc`
  }
  return isDescending
    ? sql.fragment`max(${column}) desc, max(c.id) desc`
    : sql.fragment`min(${column}) asc, max(c.id) desc`
}

function normalizedOrder({ sort, isDescending, isIdSort, now }: ChannelOrder) {
  if (sort !== null) return { sort, isDescending, now }
  return { sort: isIdSort ? ('id' as const) : ('priority' as const), isDescending: true, now }
}
