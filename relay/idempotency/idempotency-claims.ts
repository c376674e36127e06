import type { Pool } from 'pg'
import { addColumn, createIndex, ensureSchema } from '#infra/postgres/ensure-schema.ts'

/**
 * The claim of an idempotency key by a call. Hashes are SHA-256 in hexadecimal form, and `bodyHash`
 * covers the request's method, path and body. `at` is the time of the claim in Unix milliseconds.
 */
export type CallClaim = {
  readonly userId: number
  readonly tokenId: number
  readonly keyHash: string
  readonly bodyHash: string
  readonly call: string
  readonly at: number
}

/** The call that has claimed a key. `isExpired` is true if the claim is older than `CLAIM_MS`. */
export type ClaimedCall = Pick<CallClaim, 'call' | 'bodyHash'> & { readonly isExpired: boolean }

type FoundClaim = Pick<CallClaim, 'call' | 'bodyHash'>

/** A claim that is older than `CLAIM_MS`. */
export type ExpiredClaim = Pick<CallClaim, 'userId' | 'tokenId' | 'keyHash' | 'call' | 'at'>

/**
 * Stores which call belongs to each `Idempotency-Key` of a token. The state of the call itself is
 * in the account's stream. An expired claim counts until it is replaced or removed, because its
 * call may still be running.
 */
export type ClaimedCalls = {
  /** Returns the call that has claimed a key, or null. Changes nothing. */
  find(key: Pick<CallClaim, 'tokenId' | 'keyHash'>): Promise<FoundClaim | null>
  /** Assigns the key to the call, or returns the earlier call that claimed the key. */
  claim(claim: CallClaim): Promise<ClaimedCall>
  /**
   * Assigns the key to another call if the call `earlier` still has an expired claim of the key.
   * Does nothing otherwise. It is called only after the earlier call has ended.
   */
  replace(claim: CallClaim, earlier: string): Promise<void>
  /** Releases the key of a call that cost nothing, so that a new call can use the key. */
  free(claim: Pick<CallClaim, 'tokenId' | 'keyHash' | 'call'>): Promise<void>
  /**
   * Releases the key of a call by the call's id alone. It is used for a call that another process
   * handled.
   */
  freeCall(of: Pick<CallClaim, 'tokenId' | 'call'>): Promise<void>
  /**
   * Returns at most `limit` claims that have expired at the time `at`, ordered by time and call,
   * beginning after the claim `after`. A claim without a user is not returned while its call could
   * still be open.
   */
  expired(
    at: number,
    after: Pick<CallClaim, 'at' | 'call'> | null,
    limit: number,
  ): Promise<readonly ExpiredClaim[]>
  /** Deletes these claims, unless other calls have claimed the keys in the meantime. */
  remove(claims: readonly ExpiredClaim[]): Promise<void>
}

/**
 * The time after which a claim expires. The key can then be used for a new call, once the call that
 * claimed the key has ended.
 */
export const CLAIM_MS = 24 * 3_600_000

/**
 * The time after which a claim without a user's id is removed. Earlier releases stored such claims.
 * The account of the claim's call is unknown, so the claim is kept for as long as the call can be
 * open. The calls of batches, which are the longest, have a lease of 45 days.
 */
const CLAIM_WITHOUT_USER_MS = 46 * 24 * 3_600_000

const TABLE = `
  create table if not exists relay.claimed_calls (
    token_id int8 not null,
    key_hash text not null,
    body_hash text not null,
    call text not null,
    claimed_at int8 not null,
    primary key (token_id, key_hash)
  );
  ${createIndex('claimed_calls_at', 'relay.claimed_calls', '(claimed_at)')}
  ${addColumn('relay.claimed_calls', 'user_id', 'int8 not null default 0')}
`

// On a conflict, only the user's id is stored, which earlier releases did not store. `do nothing`
// would not return the row, and a separate select might come too late, because another process may
// have deleted the row by then.
const CLAIM = `
  insert into relay.claimed_calls as known
    (token_id, key_hash, body_hash, call, claimed_at, user_id)
  values ($1, $2, $3, $4, $5, $7)
  on conflict (token_id, key_hash) do update set user_id = excluded.user_id
  returning call, body_hash as "bodyHash", claimed_at <= $6 as "isExpired"`

const REPLACE = `
  update relay.claimed_calls
  set body_hash = $3, call = $4, claimed_at = $5, user_id = $7
  where token_id = $1 and key_hash = $2 and call = $8 and claimed_at <= $6`

const EXPIRED = `
  select user_id::int4 as "userId", token_id::float8 as "tokenId", key_hash as "keyHash", call,
    claimed_at::float8 as at
  from relay.claimed_calls
  where claimed_at <= $1 and (user_id <> 0 or claimed_at <= $5) and (claimed_at, call) > ($2, $3)
  order by claimed_at, call limit $4`

const FIND = `
  select call, body_hash as "bodyHash" from relay.claimed_calls
  where token_id = $1 and key_hash = $2`

const REMOVE = `
  delete from relay.claimed_calls as known
  using unnest($1::int8[], $2::text[], $3::text[]) as removed (token_id, key_hash, call)
  where known.token_id = removed.token_id and known.key_hash = removed.key_hash
    and known.call = removed.call`

/** Creates the store of claims in the schema `relay`, which all relays share. */
export async function createClaimedCalls(pg: Pool): Promise<ClaimedCalls> {
  await ensureSchema(pg, 'relay', TABLE)
  return {
    claim: async (claim) => {
      const values = valuesOf(claim)
      const { rows } = await pg.query({ name: 'claim-call', text: CLAIM, values })
      const [claimed] = rows
      if (claimed === undefined) throw new Error('a claim returned no row')
      return claimed
    },
    find: async ({ tokenId, keyHash }) =>
      (await pg.query<FoundClaim>(FIND, [tokenId, keyHash])).rows[0] ?? null,
    replace: async (claim, earlier) => {
      await pg.query(REPLACE, [...valuesOf(claim), earlier])
    },
    free: async ({ tokenId, keyHash, call }) => {
      await pg.query(
        'delete from relay.claimed_calls where token_id = $1 and key_hash = $2 and call = $3',
        [tokenId, keyHash, call],
      )
    },
    freeCall: async ({ tokenId, call }) => {
      await pg.query('delete from relay.claimed_calls where token_id = $1 and call = $2', [
        tokenId,
        call,
      ])
    },
    expired: async (at, after, limit) => {
      const from = [after?.at ?? 0, after?.call ?? '', limit]
      const values = [at - CLAIM_MS, ...from, at - CLAIM_WITHOUT_USER_MS]
      return (await pg.query<ExpiredClaim>(EXPIRED, values)).rows
    },
    remove: async (claims) => {
      await pg.query(REMOVE, [
        claims.map(({ tokenId }) => tokenId),
        claims.map(({ keyHash }) => keyHash),
        claims.map(({ call }) => call),
      ])
    },
  }
}

const valuesOf = ({ userId, tokenId, keyHash, bodyHash, call, at }: CallClaim) => [
  ...[tokenId, keyHash, bodyHash, call, at, at - CLAIM_MS, userId],
]
