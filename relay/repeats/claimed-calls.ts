import type { Pool } from 'pg'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'

/** Hashes are SHA-256, hex; `bodyHash` is of where it went, too. `at` is unix milliseconds. */
export type CallClaim = {
  readonly tokenId: number
  readonly keyHash: string
  readonly bodyHash: string
  readonly call: string
  readonly at: number
}

/**
 * Which call an `Idempotency-Key` of a token stands for. It only names the call: whether that call
 * was ever admitted, runs or is over is decided by the account's stream.
 */
export type ClaimedCalls = {
  /** The call that the key stands for: the given one, or an earlier one with its own body. */
  claim(claim: CallClaim): Promise<Pick<CallClaim, 'call' | 'bodyHash'>>
  /** For a call that ended at no cost: the next with this key is a new one. */
  free(claim: Pick<CallClaim, 'tokenId' | 'keyHash' | 'call'>): Promise<void>
  /** The same for a call that somebody else made, whatever its key. */
  freeCall(of: Pick<CallClaim, 'tokenId' | 'call'>): Promise<void>
  /** Removes what is too old to count, as of `at`. */
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

// NOTE: an update that changes nothing, rather than `do nothing`, so that the row is answered in
// the same step: a read afterwards could find it gone.
const CLAIM = `
  insert into relay.claimed_calls as known (token_id, key_hash, body_hash, call, claimed_at)
  values ($1, $2, $3, $4, $5)
  on conflict (token_id, key_hash) do update set
    body_hash = case when known.claimed_at <= $6 then excluded.body_hash else known.body_hash end,
    call = case when known.claimed_at <= $6 then excluded.call else known.call end,
    claimed_at = case when known.claimed_at <= $6 then excluded.claimed_at
                 else known.claimed_at end
  returning call, body_hash as "bodyHash"`

/** Claims in the schema `relay`, which is made when missing; shared by all relays. */
export async function createClaimedCalls(pg: Pool): Promise<ClaimedCalls> {
  await ensureSchema(pg, 'relay', TABLE)
  return {
    claim: async ({ tokenId, keyHash, bodyHash, call, at }) => {
      const values = [tokenId, keyHash, bodyHash, call, at, at - CLAIM_MS]
      const { rows } = await pg.query({ name: 'claim-call', text: CLAIM, values })
      const [claimed] = rows
      if (claimed === undefined) throw new Error('a claim must answer its row')
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
