import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { REDEMPTION_FIELDS } from '#read-api/contract/redemption-fields.ts'
import type { RedemptionSort } from '#read-api/contract/redemptions.ts'
import {
  containing,
  followsRow,
  type Listed,
  type ListOrder,
  orderTerms,
  type Slice,
  SORTED_LAST,
} from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const redemptionRow = rowType({ keyRef: Type.String(), ...fieldColumns(REDEMPTION_FIELDS) })
export type RedemptionRow = RowOf<typeof redemptionRow>

/**
 * The status of a code `r` as an SQL expression, by the rules of `statusOf` in
 * `domain/redemptions`.
 */
const status = sql.fragment`
  case when not r.is_gift and r.used_count > 0 then 3 when r.is_disabled then 2 else 1 end
`

const SORT_COLUMNS = {
  id: sql.fragment`r.id`,
  name: sql.fragment`lower(r.name)`,
  status,
  quota: sql.fragment`r.quota`,
  used_count: sql.fragment`r.used_count`,
  created_time: sql.fragment`r.created_at`,
  redeemed_time: sql.fragment`r.redeemed_at`,
  valid_until: sql.fragment`coalesce(r.valid_until, ${SORTED_LAST})`,
  key: sql.fragment`r.key_hint`,
  used_username: sql.fragment`
      coalesce((select lower(u.username) from read_users.users u where u.id = r.used_user_id), '')
    `,
} satisfies Record<RedemptionSort, unknown>

export type RedemptionSearch = Slice &
  ListOrder<RedemptionSort> & {
    /** A part of a code's name, or its complete id. An empty text matches all. */
    readonly keyword: string
    /**
     * The keyed hash of the keyword. It finds a code if the keyword is the complete key of the
     * code.
     */
    readonly keyLookup: string
    /** The status from 1 to 3. null matches all. */
    readonly status: number | null
  }

/** Lists codes that are not deleted. Equal sort values are ordered newest first. */
export async function listRedemptions(
  db: CommonQueryMethods,
  search: RedemptionSearch,
): Promise<Listed<RedemptionRow>> {
  const { keyword, keyLookup, status: statusFilter, limit, offset, ...order } = search
  const id = /^[1-9]\d{0,14}$/.test(keyword) ? Number(keyword) : 0
  const found = sql.fragment`
    from read_redemptions.redemptions r
    where not r.is_deleted
      and (${keyword} = '' or r.name ilike ${containing(keyword)} or r.id = ${id}
        or r.key_lookup = ${keyLookup})
      and (${statusFilter === null} or ${status} = ${statusFilter ?? 0})
  `
  const visible = sql.fragment`from read_redemptions.redemptions r where true`
  const rows = await db.any(sql.type(redemptionRow)`
    with selected as materialized (
      select r.*, ${status} as status, row_number() over (
        order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`r.id`)}
      ) as place ${found} and ${followsRow(SORT_COLUMNS, order, 'id', visible)}
      order by place limit ${limit} offset ${offset}
    )
    select r.key_ref as "keyRef", ${selectedFields('r', REDEMPTION_FIELDS)}
    from (
      select c.*, coalesce(u.username, '') as used_username
      from selected c left join read_users.users u on u.id = c.used_user_id
    ) r
    order by r.place
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total ${found}
  `)
  return { rows, total }
}

const keyOf = rowType({ id: wireInteger, keyLookup: Type.String(), keyRef: Type.String() })
/**
 * A code with the hash that names its event stream (`keyLookup`) and the vault reference of its
 * key.
 */
export type RedemptionKey = RowOf<typeof keyOf>

const keysWhere = (db: CommonQueryMethods, condition: ReturnType<typeof sql.fragment>) =>
  db.any(sql.type(keyOf)`
    select r.id, r.key_lookup as "keyLookup", r.key_ref as "keyRef"
    from read_redemptions.redemptions r where not r.is_deleted and ${condition} order by r.id
  `)

/** Reads the keys of the given codes in ascending order of ids. Unknown codes are omitted. */
export const redemptionKeys = (
  db: CommonQueryMethods,
  ids: readonly number[],
): Promise<readonly RedemptionKey[]> =>
  keysWhere(db, sql.fragment`r.id = any(${sql.array(ids, 'int8')})`)

export const redemptionKeysByName = (
  db: CommonQueryMethods,
  name: string,
): Promise<readonly RedemptionKey[]> => keysWhere(db, sql.fragment`r.name = ${name}`)

export const disabledRedemptionKeys = (db: CommonQueryMethods): Promise<readonly RedemptionKey[]> =>
  keysWhere(db, sql.fragment`${status} = 2`)

export const countRedemptionsByName = (db: CommonQueryMethods, name: string): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_redemptions.redemptions r
    where not r.is_deleted and r.name = ${name}
  `)
