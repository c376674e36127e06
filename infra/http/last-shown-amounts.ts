import type { Core } from '../core-dependencies.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import type { Principal } from './principal.ts'

/**
 * Stores for one day the balances or token budgets that each session or access token last received.
 * If a client submits a new amount without the amount to replace, the stored amount is used.
 */
export type ShownAmounts = {
  /** Stores the amounts of a response, by id. A failure is only logged. */
  readonly remember: (reader: Reader, amounts: ReadonlyMap<number, number>) => Promise<void>
  /** Returns the amount that this reader last received; null for none within a day. */
  readonly lastOf: (reader: Reader, id: number) => Promise<bigint | null>
}

/** The session or access token that received an amount. A user has at most one access token. */
type Reader = Pick<Principal, 'userId' | 'sessionHash'>

type Table = { readonly name: string; readonly id: string; readonly amount: string }

type Deps = Pick<Core, 'pg' | 'now' | 'log'>

export const createShownBalances = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_balances', id: 'user_id', amount: 'balance' })

export const createShownBudgets = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_budgets', id: 'token_id', amount: 'remain' })

// NOTE: there is at most one row per reader and id shown within a day. Sending an unchanged amount
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
    // Two concurrent requests can't deadlock, because both write in ascending order of ids.
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
