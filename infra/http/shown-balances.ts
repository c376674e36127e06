import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import type { Principal } from './principal.ts'

/**
 * Which balance each session and each access token was shown last, for a day: an absolute balance
 * that comes back without `expected_quota` was worked out from that one.
 */
export type ShownBalances = {
  /** `balances`: user id → quota, as the answer has it. */
  readonly remember: (reader: Reader, balances: ReadonlyMap<number, number>) => Promise<void>
  /** null where this reader was shown no balance of the user within a day. */
  readonly lastOf: (reader: Reader, userId: number) => Promise<bigint | null>
}

/** An access token is one for each user, and so is named by its owner. */
type Reader = Pick<Principal, 'userId' | 'sessionHash'>

// NOTE: bounded by readers × users within a day; a balance that is shown again writes nothing.
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

/** Every process of the site shares them. `now` in unix milliseconds. */
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
      // Rows in one order, so that two reads at once never wait for each other in a circle.
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
