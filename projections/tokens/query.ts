import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import type { SharedTerms } from '#domain/tokens/events.ts'
import { nullable, quota, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { valuesIn } from '#read-api/contract/resource-field-definition.ts'
import { RATE_LIMIT_FIELDS, TOKEN_FIELDS, TOKEN_TERMS } from '#read-api/contract/token-fields.ts'
import type { TokenSort } from '#read-api/contract/tokens.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint-table.ts'
import {
  containing,
  followsRow,
  type Listed,
  type ListOrder,
  orderTerms,
  type Slice,
  SORTED_LAST,
} from '../list-paging-and-sorting.ts'
import { columnsOf, fieldColumns, selectedFields } from '../resource-field-columns.ts'

/** The columns whose names differ from the names of their fields. */
export const TOKEN_COLUMNS = { group: 'token_group' }

const TOKEN = {
  ...fieldColumns(TOKEN_FIELDS),
  /**
   * False if the owner has disabled the token. An enabled token can still be expired or exhausted.
   */
  isEnabled: Type.Boolean(),
  isDeleted: Type.Boolean(),
  /** The time at which the token expires, in Unix seconds. Null if it never expires. */
  expiresAt: nullable(wireInteger),
  models: nullable(Type.Array(Type.String())),
  rateLimit: Type.Object(fieldColumns(RATE_LIMIT_FIELDS)),
  keyLookup: Type.String(),
  keyRef: Type.String(),
  keyHint: Type.String(),
}
const tokenRow = rowType(TOKEN)
export type TokenRow = RowOf<typeof tokenRow>

/** Returns the settings in a row that the token's owner can change, named as in the events. */
const termsOfToken = (row: Pick<TokenRow, keyof typeof TERMS | 'expiresAt'>): SharedTerms => ({
  expiresAt: row.expiresAt,
  models: row.models,
  rateLimit: row.rateLimit,
  ...valuesIn(TOKEN_TERMS, row),
})

const columns = sql.fragment`
  ${selectedFields('t', TOKEN_FIELDS, TOKEN_COLUMNS)}, t.status = 1 as "isEnabled",
  t.is_deleted as "isDeleted", t.expires_at as "expiresAt", t.models, t.rate_limit as "rateLimit",
  t.key_lookup as "keyLookup", t.key_ref as "keyRef", t.key_hint as "keyHint"
`

/** Reads a token, even a deleted one (`isDeleted`). Returns null for an unknown id. */
export const findToken = (db: CommonQueryMethods, tokenId: number): Promise<TokenRow | null> =>
  db.maybeOne(sql.type(tokenRow)`
    select ${columns} from read_tokens.tokens t where t.id = ${tokenId}
  `)

/** The parts of a token that the relay needs. Tokens with equal terms share one object. */
export type RelayTokenRow = {
  readonly tokenId: number
  readonly userId: number
  readonly isEnabled: boolean
  readonly keyLookup: string
  readonly terms: SharedTerms
}

/** The terms of a token except its expiry. */
const TERMS = { ...fieldColumns(TOKEN_TERMS), models: TOKEN.models, rateLimit: TOKEN.rateLimit }
/**
 * `tokens` has a line for each token: the token's id, the user's id, the status, the expiry or `-`,
 * and the keyed hash of the token's key.
 */
const tokensWithTerms = rowType({ ...TERMS, tokens: Type.String() })

const TERM_COLUMNS = [
  ...columnsOf(TOKEN_TERMS, TOKEN_COLUMNS),
  ...[['models', 'models'] as const, ['rateLimit', 'rate_limit'] as const],
]

/** The maximum number of tokens in a row. This number bounds the length of the row. */
const TOKENS_PER_ROW_MAX = 10_000

/**
 * Reads all tokens that are not deleted, with the event position up to which they are current. Each
 * row contains tokens whose terms, except the expiry, are equal. A site may have a hundred thousand
 * tokens, and validating and converting a row for each token would delay the start by seconds.
 */
export const relayTokens = (db: DatabasePool): Promise<AtPosition<RelayTokenRow>> =>
  atCheckpoint(db, 'tokens', async (snapshot) => {
    const columns = TERM_COLUMNS.map(([, column]) => sql.identifier(['t', column]))
    const named = TERM_COLUMNS.map(
      ([name, column]) =>
        sql.fragment`${sql.identifier(['t', column])} as ${sql.identifier([name])}`,
    )
    const rows = await snapshot.any(sql.type(tokensWithTerms)`
      select ${sql.join(named, sql.fragment`, `)}, string_agg(concat_ws(' ', t.id, t.user_id,
        t.status, coalesce(t.expires_at::text, '-'), t.key_lookup), chr(10)) as tokens
      from read_tokens.tokens t where not t.is_deleted
      group by ${sql.join(columns, sql.fragment`, `)}, t.id / ${TOKENS_PER_ROW_MAX}
    `)
    return rows.flatMap(tokensIn)
  })

function tokensIn({ tokens, ...row }: RowOf<typeof tokensWithTerms>): RelayTokenRow[] {
  const byExpiry = new Map<string, SharedTerms>()
  const termsUntil = (expiry: string): SharedTerms => {
    const existing = byExpiry.get(expiry)
    if (existing !== undefined) return existing
    const terms = termsOfToken({ ...row, expiresAt: expiry === '-' ? null : Number(expiry) })
    byExpiry.set(expiry, terms)
    return terms
  }
  return tokens.split('\n').map((line) => {
    const [tokenId, userId, status, expiry = '-', keyLookup = ''] = line.split(' ')
    return {
      tokenId: Number(tokenId),
      userId: Number(userId),
      isEnabled: status === '1',
      // A part of the row's text would keep the complete text in memory, so the part is copied.
      keyLookup: Buffer.from(keyLookup).toString(),
      terms: termsUntil(expiry),
    }
  })
}

/**
 * Returns the ids of all tokens with this name, including deleted tokens, of one user or all users.
 */
export const tokenIdsByName = (
  db: CommonQueryMethods,
  name: string,
  userId: number | null,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_tokens.tokens
    where name = ${name} and (${userId === null} or user_id = ${userId ?? 0})
    order by id desc
  `)

const tokenUsage = rowType({
  name: Type.String(),
  /** The quota that the token can spend, without the quota held for open calls. */
  remain: quota,
  held: quota,
  used: quota,
  isUnlimited: Type.Boolean(),
  userBalance: quota,
  userHeld: quota,
  userUsed: quota,
})
export type TokenUsage = RowOf<typeof tokenUsage>

/** Reads the quota of a token and of its user. Returns null for an unknown token. */
export const usageOfToken = (
  db: CommonQueryMethods,
  userId: number,
  tokenId: number,
): Promise<TokenUsage | null> =>
  db.maybeOne(sql.type(tokenUsage)`
    select t.name, coalesce(b.remain, 0) as remain, coalesce(b.held, 0) as held,
      coalesce(b.used_quota, 0) as used, coalesce(b.is_unlimited, false) as "isUnlimited",
      coalesce(a.balance, 0) as "userBalance", coalesce(a.held, 0) as "userHeld",
      coalesce(a.used_quota, 0) as "userUsed"
    from read_tokens.tokens t
    left join read_balances.token_budgets b on b.token_id = t.id and b.user_id = t.user_id
    left join read_balances.accounts a on a.user_id = t.user_id
    where t.id = ${tokenId} and t.user_id = ${userId} and not t.is_deleted
  `)

export type TokenSearch = Slice &
  ListOrder<TokenSort> & {
    readonly userId: number
    /** A part of the token's name. An empty text matches all. */
    readonly keyword: string
    /** The tokens whose keys match a search. null matches all. */
    readonly ids: readonly number[] | null
    /**
     * The status at the time `now`: 1 is enabled, 2 disabled, 3 expired, 4 exhausted. null matches
     * all.
     */
    readonly status: number | null
    /** The current time in Unix seconds. */
    readonly now: number
  }

/**
 * The status of a token `t` with the budget `b` as an SQL expression, by the rules of `statusOf` in
 * `read-api/tokens`.
 */
const statusAt = (now: number) => sql.fragment`
  case
    when t.status <> 1 then 2
    when t.expires_at <= ${now} then 3
    when b.is_unlimited or b.remain > 0 or b.remain + b.held > 0 then 1
    else 4
  end
`

const sortColumns = (now: number) =>
  ({
    id: sql.fragment`t.id`,
    name: sql.fragment`lower(t.name)`,
    status: statusAt(now),
    remain_quota: sql.fragment`
      case when b.is_unlimited then ${SORTED_LAST} else coalesce(b.remain, 0) end
    `,
    used_quota: sql.fragment`coalesce(b.used_quota, 0)`,
    expired_time: sql.fragment`coalesce(t.expires_at, ${SORTED_LAST})`,
    created_time: sql.fragment`t.created_at`,
    accessed_time: sql.fragment`coalesce(b.accessed_at, 0)`,
    group: sql.fragment`t.token_group`,
    key: sql.fragment`t.key_hint`,
    model_limits: sql.fragment`coalesce(cardinality(t.models), ${SORTED_LAST})`,
  }) satisfies Record<TokenSort, unknown>

/** Lists a user's tokens that are not deleted. Equal sort values are ordered newest first. */
export async function listTokens(
  db: CommonQueryMethods,
  { userId, keyword, ids, status, now, limit, offset, ...order }: TokenSearch,
): Promise<Listed<TokenRow>> {
  const visible = sql.fragment`
    from read_tokens.tokens t
    left join read_balances.token_budgets b on b.token_id = t.id and b.user_id = ${userId}
    where t.user_id = ${userId}
  `
  const found = sql.fragment`
    ${visible} and not t.is_deleted
      and (${keyword} = '' or t.name ilike ${containing(keyword)})
      and (${ids === null} or t.id = any(${sql.array(ids ?? [], 'int8')}))
      and (${status === null} or ${statusAt(now)} = ${status ?? 0})
  `
  const sortedColumns = sortColumns(now)
  const rows = await db.any(sql.type(tokenRow)`
    select ${columns} ${found} and ${followsRow(sortedColumns, order, 'id', visible)}
    order by ${orderTerms(sortedColumns, order, sql.fragment`t.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total ${found}
  `)
  return { rows, total }
}

const keyOf = rowType({ id: wireInteger, keyRef: Type.String(), keyLookup: Type.String() })

/** Reads the keys of a user's tokens as vault references and keyed hashes. */
export const tokenKeysOf = (
  db: CommonQueryMethods,
  userId: number,
): Promise<readonly RowOf<typeof keyOf>[]> =>
  db.any(sql.type(keyOf)`
    select id, key_ref as "keyRef", key_lookup as "keyLookup" from read_tokens.tokens
    where user_id = ${userId} and not is_deleted
  `)

const touched = rowType({ ...TOKEN, position: wireInteger })
export type TouchedToken = RowOf<typeof touched>

/**
 * Reads the tokens that were changed, refilled or used at event positions above `after` and up to
 * `upTo`, including deleted tokens. `position` is the position of the last change, refill or use.
 */
export const touchedTokens = (
  db: CommonQueryMethods,
  { after, upTo, userId }: { after: number; upTo: number; userId?: number },
): Promise<readonly TouchedToken[]> => {
  const isTheirs = userId === undefined ? sql.fragment`true` : sql.fragment`user_id = ${userId}`
  return db.any(sql.type(touched)`
    with touches as (
      select id as token_id, changed_position as position from read_tokens.tokens
      where changed_position > ${after} and changed_position <= ${upTo} and ${isTheirs}
      union all
      select token_id, set_position from read_balances.token_budgets
      where set_position > ${after} and set_position <= ${upTo} and ${isTheirs}
      union all
      select token_id, id from read_call_log.log
      where id > ${after} and id <= ${upTo} and token_id > 0 and ${isTheirs}
    ), last as (
      select token_id, max(position) as position from touches group by token_id
    )
    select ${columns}, last.position
    from last join read_tokens.tokens t on t.id = last.token_id
    order by last.position, t.id
  `)
}
