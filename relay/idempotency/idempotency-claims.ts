import type { Pool } from 'pg'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'

/**
 * The claim of an idempotency key by a call. Hashes are SHA-256 in hexadecimal form, and `bodyHash`
 * covers the request's method, path and body. `at` is the time of the claim in Unix milliseconds.
 */
export type CallClaim = {
  readonly tokenId: number
  readonly keyHash: string
  readonly bodyHash: string
  readonly call: string
  readonly at: number
}

/**
 * Stores which call belongs to each `Idempotency-Key` of a token. The state of the call itself is
 * in the account's stream.
 */
export type ClaimedCalls = {
  /** Assigns the key to the call, or returns the earlier call that claimed the key. */
  claim(claim: CallClaim): Promise<Pick<CallClaim, 'call' | 'bodyHash'>>
  /** Releases the key of a call that cost nothing, so that a new call can use the key. */
  free(claim: Pick<CallClaim, 'tokenId' | 'keyHash' | 'call'>): Promise<void>
  /**
   * Releases the key of a call by the call's id alone. It is used for a call that another process
   * handled.
   */
  freeCall(of: Pick<CallClaim, 'tokenId' | 'call'>): Promise<void>
  /** Deletes the claims that have expired at the time `at`. */
  sweep(at: number): Promise<void>
}

export const CLAIM_MS = 24 * 3_600_000

const TABLE = `
  create table if not exists relay.claimed_calls (
    token_id int8 not null,
    key_hash text not null,
    body_hash text not null,
    call text not null,
    claimed_at int8 not null,
    primary key (token_id, key_hash)
  );
  create index if not exists claimed_calls_at on relay.claimed_calls (claimed_at);
`

// On a conflict, an expired claim is replaced. A valid claim is updated without a change, because
// `do nothing` would not return its row. A separate select might come too late: another process may
// have deleted the row.
const CLAIM = `
  insert into relay.claimed_calls as known (token_id, key_hash, body_hash, call, claimed_at)
  values ($1, $2, $3, $4, $5)
  on conflict (token_id, key_hash) do update set
    body_hash = case when known.claimed_at <= $6 then excluded.body_hash else known.body_hash end,
    call = case when known.claimed_at <= $6 then excluded.call else known.call end,
    claimed_at = case when known.claimed_at <= $6 then excluded.claimed_at
                 else known.claimed_at end
  returning call, body_hash as "bodyHash"`

/** Creates the store of claims in the schema `relay`, which all relays share. */
export async function createClaimedCalls(pg: Pool): Promise<ClaimedCalls> {
  await ensureSchema(pg, 'relay', TABLE)
  return {
    claim: async ({ tokenId, keyHash, bodyHash, call, at }) => {
      const values = [tokenId, keyHash, bodyHash, call, at, at - CLAIM_MS]
      const { rows } = await pg.query({ name: 'claim-call', text: CLAIM, values })
      const [claimed] = rows
      if (claimed === undefined) throw new Error('a claim returned no row')
      return claimed
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
    sweep: async (at) => {
      await pg.query('delete from relay.claimed_calls where claimed_at <= $1', [at - CLAIM_MS])
    },
  }
}
