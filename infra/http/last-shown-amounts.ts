import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import type { Principal } from './principal.ts'

/**
 * Stores for a day the amounts that each session or access token has last received: balances of
 * users or budgets of tokens. When a client submits an absolute amount without the expected amount,
 * the stored amount is used in place of the expected amount.
 */
export type ShownAmounts = {
  /** Stores the amounts that a response contains. `amounts` maps ids to quota. */
  readonly remember: (reader: Reader, amounts: ReadonlyMap<number, number>) => Promise<void>
  /**
   * Returns the amount of the id that this reader last received; null when the reader received none
   * within a day.
   */
  readonly lastOf: (reader: Reader, id: number) => Promise<bigint | null>
}

/**
 * The session or access token that received an amount. Each user has at most one access token,
 * which the user's id identifies.
 */
type Reader = Pick<Principal, 'userId' | 'sessionHash'>

/** A table of the schema `auth` and its columns. */
type Table = { readonly name: string; readonly id: string; readonly amount: string }

/**
 * Creates the store of shown balances, which all processes of the site share. Its ids are user ids.
 * `now` is in unix milliseconds.
 */
export const createShownBalances = (pg: Pool, now: () => number): Promise<ShownAmounts> =>
  createShownAmounts(pg, now, { name: 'shown_balances', id: 'user_id', amount: 'balance' })

/** Creates the store of the tokens' remaining quota like `createShownBalances`, by token id. */
export const createShownBudgets = (pg: Pool, now: () => number): Promise<ShownAmounts> =>
  createShownAmounts(pg, now, { name: 'shown_budgets', id: 'token_id', amount: 'remain' })

// NOTE: the number of rows is limited by readers × ids within a day. Sending an unchanged amount
// again writes nothing.
const ddlOf = ({ name, id, amount }: Table) => `
  create table if not exists auth.${name} (
    reader text not null,
    ${id} int8 not null,
    ${amount} int8 not null,
    shown_at int8 not null,
    primary key (reader, ${id})
  );
  create index if not exists ${name}_at on auth.${name} (shown_at);
`

const KEPT_MS = 86_400_000
const RENEWED_MS = 3_600_000
const SWEEP_EVERY_MS = 600_000

async function createShownAmounts(
  pg: Pool,
  now: () => number,
  table: Table,
): Promise<ShownAmounts> {
  await ensureSchema(pg, 'auth', ddlOf(table))
  const { name, id, amount } = table
  let sweptAt = now()
  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query(`delete from auth.${name} where shown_at < $1`, [now() - KEPT_MS])
  }
  return {
    remember: async (reader, amounts) => {
      if (amounts.size === 0) return
      await sweep()
      // The rows are written in one order, so that two concurrent reads can't deadlock.
      const rows = [...amounts].sort(([one], [other]) => one - other)
      await pg.query({
        name: `remember-${name}`,
        text: `insert into auth.${name} as known (reader, ${id}, ${amount}, shown_at)
               select $1, given.id, given.amount, $4
                 from unnest($2::int8[], $3::int8[]) as given (id, amount)
                order by given.id
               on conflict (reader, ${id})
                 do update set ${amount} = excluded.${amount}, shown_at = excluded.shown_at
                 where known.${amount} <> excluded.${amount} or known.shown_at < $5`,
        values: [
          nameOf(reader),
          rows.map(([shownId]) => shownId),
          rows.map(([, shown]) => shown),
          now(),
          now() - RENEWED_MS,
        ],
      })
    },
    lastOf: async (reader, shownId) => {
      const { rows } = await pg.query<{ amount: string }>(
        `select ${amount} as amount from auth.${name}
          where reader = $1 and ${id} = $2 and shown_at >= $3`,
        [nameOf(reader), shownId, now() - KEPT_MS],
      )
      const shown = rows[0]?.amount
      return shown === undefined ? null : BigInt(shown)
    },
  }
}

const nameOf = ({ sessionHash, userId }: Reader): string =>
  sessionHash === null ? `token:${userId}` : `session:${sessionHash}`
