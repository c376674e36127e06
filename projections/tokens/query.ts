import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { z } from 'zod'
import type { Sealed } from '#domain/shared/event.ts'
import { wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint.ts'
import { containing, type Listed, type Slice } from '../like.ts'

const tokenRow = z.object({
  id: wireInteger,
  userId: wireInteger,
  name: z.string(),
  /** As set: expired and exhausted follow from the time and the budget. */
  isEnabled: z.boolean(),
  isDeleted: z.boolean(),
  /** Unix seconds; null never expires. */
  expiresAt: wireInteger.nullable(),
  /** Empty: the user's own group. */
  group: z.string(),
  /** null: every model of the group. */
  models: z.array(z.string()).nullable(),
  /** Sealed with its user's key; null allows every address. */
  allowIps: z
    .string()
    .nullable()
    .transform((text) => text as Sealed | null),
  rateLimit: z.object({
    isEnabled: z.boolean(),
    periodSeconds: z.number(),
    count: z.number(),
    success: z.number(),
  }),
  keyLookup: z.string(),
  keyRef: z.string(),
  keyHint: z.string(),
  /** Unix seconds. */
  createdAt: wireInteger,
})
export type TokenRow = z.infer<typeof tokenRow>

const columns = sql.fragment`
  t.id, t.user_id as "userId", t.name, t.status = 1 as "isEnabled", t.is_deleted as "isDeleted",
  t.expires_at as "expiresAt", t.token_group as "group", t.models, t.allow_ips as "allowIps",
  t.rate_limit as "rateLimit", t.key_lookup as "keyLookup", t.key_ref as "keyRef",
  t.key_hint as "keyHint", t.created_at as "createdAt"
`

/** null when it never was; a deleted one is answered with `isDeleted`. */
export const findToken = (db: CommonQueryMethods, tokenId: number): Promise<TokenRow | null> =>
  db.maybeOne(sql.type(tokenRow)`
    select ${columns} from read_tokens.tokens t where t.id = ${tokenId}
  `)

/** 0 when there are none. */
export const highestTokenId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(z.object({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_tokens.tokens
  `)

/** Every token that is not deleted, as of one position. */
export const relayTokens = (db: DatabasePool): Promise<AtPosition<TokenRow>> =>
  atCheckpoint(db, 'tokens', (snapshot) =>
    snapshot.any(sql.type(tokenRow)`
      select ${columns} from read_tokens.tokens t where not t.is_deleted order by t.id
    `),
  )

export type TokenSearch = Slice & {
  readonly userId: number
  /** Part of the name; empty for all. */
  readonly keyword: string
  /** A key's look-up and its last characters: either finds it; null for all. */
  readonly key: { readonly lookup: string; readonly hint: string } | null
}

/** A user's tokens that are not deleted, newest first. */
export async function listTokens(
  db: CommonQueryMethods,
  { userId, keyword, key, limit, offset }: TokenSearch,
): Promise<Listed<TokenRow>> {
  const matches = sql.fragment`
    t.user_id = ${userId} and not t.is_deleted
    and (${keyword} = '' or t.name ilike ${containing(keyword)})
    and (${key === null} or t.key_lookup = ${key?.lookup ?? ''} or t.key_hint = ${key?.hint ?? ''})
  `
  const rows = await db.any(sql.type(tokenRow)`
    select ${columns} from read_tokens.tokens t where ${matches}
    order by t.id desc limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(z.object({ total: wireInteger }))`
    select count(*) as total from read_tokens.tokens t where ${matches}
  `)
  return { rows, total }
}

/** Tokens of this name, deleted ones included; of one user, or of everybody. */
export const tokenIdsByName = (
  db: CommonQueryMethods,
  name: string,
  userId: number | null,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(z.object({ id: wireInteger }))`
    select id from read_tokens.tokens
    where name = ${name} and (${userId === null} or user_id = ${userId ?? 0})
    order by id desc limit 1000
  `)
