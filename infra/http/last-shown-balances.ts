import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import type { Principal } from './principal.ts'

/**
 * Stores for a day the balances that each session or access token has last received. When a client
 * submits an absolute balance without `expected_quota`, the stored balance is used in place of
 * `expected_quota`.
 */
export type ShownBalances = {
  /** Stores the balances that a response contains. `balances` maps user ids to quota. */
  readonly remember: (reader: Reader, balances: ReadonlyMap<number, number>) => Promise<void>
  /**
   * Returns the balance of the user that this reader last received; null when the reader received
   * none within a day.
   */
  readonly lastOf: (reader: Reader, userId: number) => Promise<bigint | null>
}

/**
 * The session or access token that received a balance. Each user has at most one access token,
 * which the user's id identifies.
 */
type Reader = Pick<Principal, 'userId' | 'sessionHash'>

// NOTE: the number of rows is limited by readers × users within a day. Sending an unchanged balance
// again writes nothing.
const TABLES = `
  create table if not exists auth.shown_balances (
    reader text not null,
    user_id int8 not null,
    balance int8 not null,
    shown_at int8 not null,
    primary key (reader, user_id)
  );
  create index if not exists shown_balances_at on auth.shown_balances (shown_at);
`

const KEPT_MS = 86_400_000
const RENEWED_MS = 3_600_000
const SWEEP_EVERY_MS = 600_000

/**
 * Creates the store of shown balances, which all processes of the site share. `now` is in unix
 * milliseconds.
 */
export async function createShownBalances(pg: Pool, now: () => number): Promise<ShownBalances> {
  await ensureSchema(pg, 'auth', TABLES)
  let sweptAt = now()
  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query('delete from auth.shown_balances where shown_at < $1', [now() - KEPT_MS])
  }
  return {
    remember: async (reader, balances) => {
      if (balances.size === 0) return
      await sweep()
      // The rows are written in one order, so that two concurrent reads can't deadlock.
      const rows = [...balances].sort(([one], [other]) => one - other)
      await pg.query({
        name: 'remember-shown-balances',
        text: `insert into auth.shown_balances as known (reader, user_id, balance, shown_at)
               select $1, given.user_id, given.balance, $4
                 from unnest($2::int8[], $3::int8[]) as given (user_id, balance)
                order by given.user_id
               on conflict (reader, user_id)
                 do update set balance = excluded.balance, shown_at = excluded.shown_at
                 where known.balance <> excluded.balance or known.shown_at < $5`,
        values: [
          nameOf(reader),
          rows.map(([userId]) => userId),
          rows.map(([, balance]) => balance),
          now(),
          now() - RENEWED_MS,
        ],
      })
    },
    lastOf: async (reader, userId) => {
      const { rows } = await pg.query<{ balance: string }>(
        `select balance from auth.shown_balances
          where reader = $1 and user_id = $2 and shown_at >= $3`,
        [nameOf(reader), userId, now() - KEPT_MS],
      )
      const balance = rows[0]?.balance
      return balance === undefined ? null : BigInt(balance)
    },
  }
}

const nameOf = ({ sessionHash, userId }: Reader): string =>
  sessionHash === null ? `token:${userId}` : `session:${sessionHash}`
