import type { Core } from '../core-dependencies.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import type { Principal } from './principal.ts'

/**
 * Stores for one day the amounts that each session or access token has last received. The amounts
 * are balances of users or budgets of tokens. When a client submits a new absolute amount without
 * the amount that it expects to replace, the stored amount is used as the expected amount.
 */
export type ShownAmounts = {
  /**
   * Stores the amounts that a response contains, by id. A failure is only logged, because a
   * response must not depend on it.
   */
  readonly remember: (reader: Reader, amounts: ReadonlyMap<number, number>) => Promise<void>
  /**
   * Returns the amount of the id that this reader last received. Returns null if the reader
   * received none within a day.
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

type Deps = Pick<Core, 'pg' | 'now' | 'log'>

/**
 * Creates the store of shown balances, which all processes of the site share. Amounts are stored by
 * user id.
 */
export const createShownBalances = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_balances', id: 'user_id', amount: 'balance' })

/** Creates the store of shown budgets of tokens. Amounts are stored by token id. */
export const createShownBudgets = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_budgets', id: 'token_id', amount: 'remain' })

// NOTE: the number of rows is at most the number of readers times the number of ids shown within a
// day. If an unchanged amount is sent again, nothing is written.
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

async function createShownAmounts(deps: Deps, table: Table): Promise<ShownAmounts> {
  const { pg, now, log } = deps
  await ensureSchema(pg, 'auth', ddlOf(table))
  const { name, id, amount } = table
  let sweptAt = now()
  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query(`delete from auth.${name} where shown_at < $1`, [now() - KEPT_MS])
  }
  const warn = (error: unknown): void =>
    warnThrottled(log, { table: name, reason: reasonOf(error) }, 'a shown amount was not stored')
  const remember: ShownAmounts['remember'] = async (reader, amounts) => {
    await sweep()
    // The rows are always written in ascending order of ids, so that two concurrent requests can't
    // deadlock.
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
  }
  return {
    remember: async (reader, amounts) => {
      if (amounts.size > 0) await remember(reader, amounts).catch(warn)
    },
    lastOf: async (reader, shownId) => {
      const { rows } = await pg.query<{ amount: string }>(
        `select ${amount} as amount from auth.${name}
          where reader = $1 and ${id} = $2 and shown_at >= $3`,
        [nameOf(reader), shownId, now() - KEPT_MS],
      )
      const [shown] = rows
      return shown === undefined ? null : BigInt(shown.amount)
    },
  }
}

const nameOf = ({ sessionHash, userId }: Reader): string =>
  sessionHash === null ? `token:${userId}` : `session:${sessionHash}`
