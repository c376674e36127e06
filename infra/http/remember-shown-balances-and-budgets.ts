import type { Core } from '../core-dependencies.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import type { Principal } from './principal.ts'

/**
 * Remembers for one day which balances or token budgets a client (a session or an access token)
 * last received. If the client later submits a new amount without the amount that it replaces
 * (`expected` of the command), the remembered amount is taken as the replaced one.
 */
export type ShownAmounts = {
  /**
   * Remembers the amounts of a response, by the id of the user or token. A failure is logged, and
   * the amounts that the reader has received up to the failure then count as unknown.
   */
  readonly remember: (reader: Reader, amounts: ReadonlyMap<number, number>) => Promise<void>
  /**
   * Returns the amount of this user or token that the reader last received. Returns null if the
   * reader received none within a day, and `unknown` if the last amount could not be stored.
   */
  readonly lastOf: (reader: Reader, id: number) => Promise<bigint | 'unknown' | null>
}

/** The session or access token that received an amount. A user has at most one access token. */
type Reader = Pick<Principal, 'userId' | 'sessionHash'>

type Table = { readonly name: string; readonly id: string; readonly amount: string }

type Deps = Pick<Core, 'pg' | 'now' | 'log'>

export const createShownBalances = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_balances', id: 'user_id', amount: 'balance' })

export const createShownBudgets = (deps: Deps): Promise<ShownAmounts> =>
  createShownAmounts(deps, { name: 'shown_budgets', id: 'token_id', amount: 'remain' })

/**
 * The readers whose last amounts could not be stored, with the time of the failure in Unix
 * milliseconds. Only a session or access token can add an entry, so the number of entries is
 * limited.
 */
type Failures = Map<string, { readonly at: number }>

/**
 * The failed writes of this process, by connection pool and table. The read API and the write API
 * of a process share this map. The write API therefore also knows of a failure that could not be
 * written to the table.
 */
const FAILURES = new WeakMap<Deps['pg'], Map<string, Failures>>()

function failuresOf(pg: Deps['pg'], table: string): Failures {
  const ofPool = FAILURES.get(pg) ?? new Map<string, Failures>()
  FAILURES.set(pg, ofPool)
  const failures: Failures = ofPool.get(table) ?? new Map()
  ofPool.set(table, failures)
  return failures
}

/**
 * A row with this id marks a reader whose amounts could not be stored. The ids of users and tokens
 * start at 1.
 */
const MISSING_ID = 0

// NOTE: the table has at most one row per reader and user or token. Rows older than a day are
// deleted. An unchanged amount is written again at most once an hour.
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

const RETENTION_MS = 86_400_000
const RENEW_EVERY_MS = 3_600_000
const SWEEP_EVERY_MS = 600_000
const RETRY_MS = 1_000

async function createShownAmounts(deps: Deps, table: Table): Promise<ShownAmounts> {
  const { pg, now, log } = deps
  await ensureSchema(pg, 'auth', ddlOf(table))
  const { name, id, amount } = table
  let sweptAt = now()
  const sweep = async (): Promise<void> => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query(`delete from auth.${name} where shown_at < $1`, [now() - RETENTION_MS])
  }
  const marks = failureMarks(deps, table)
  const remember: ShownAmounts['remember'] = async (reader, amounts) => {
    await sweep()
    await marks.store(nameOf(reader))
    // Every request writes its rows in ascending order of ids, so concurrent requests can't
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
        now() - RENEW_EVERY_MS,
      ],
    })
  }
  return {
    remember: async (reader, amounts) => {
      if (amounts.size === 0) return
      await remember(reader, amounts).catch((error: unknown) => {
        marks.add(nameOf(reader))
        const details = { table: name, reason: reasonOf(error) }
        warnThrottled(log, details, 'a shown amount was not stored')
      })
    },
    lastOf: async (reader, shownId) => {
      if (marks.has(nameOf(reader))) return 'unknown'
      const { rows } = await pg.query<{ id: string; amount: string }>(
        `select ${id} as id, ${amount} as amount from auth.${name}
          where reader = $1 and ${id} in ($2, ${MISSING_ID}) and shown_at >= $3
          order by ${id} desc`,
        [nameOf(reader), shownId, now() - RETENTION_MS],
      )
      const [shown] = rows
      if (shown === undefined) return null
      return Number(shown.id) === MISSING_ID ? 'unknown' : BigInt(shown.amount)
    },
  }
}

/**
 * Marks the readers whose last amounts could not be stored. A mark is kept in memory until it can
 * be stored in the database, where other processes see it. When a mark is stored, the rows of the
 * reader's amounts up to the time of the failure are deleted, because they may be outdated. Later
 * amounts stay valid.
 */
function failureMarks({ pg, now }: Deps, { name, id, amount }: Table) {
  const failures = failuresOf(pg, name)
  const text = `
    with outdated as (
      delete from auth.${name} where reader = $1 and ${id} <> ${MISSING_ID} and shown_at <= $2)
    insert into auth.${name} (reader, ${id}, ${amount}, shown_at) values ($1, ${MISSING_ID}, 0, $2)
    on conflict (reader, ${id}) do update set shown_at = excluded.shown_at`
  const store = async (reader: string): Promise<void> => {
    const failure = failures.get(reader)
    if (failure === undefined) return
    await pg.query(text, [reader, failure.at])
    // A newer failure of the reader may have been added during the query. The newer one must be
    // kept.
    if (failures.get(reader) === failure) failures.delete(reader)
  }
  const storeAll = async (): Promise<void> => {
    for (const [reader, { at }] of failures) {
      if (now() - at >= RETENTION_MS) failures.delete(reader)
      else await store(reader)
    }
  }
  let isRetrying = false
  const retry = (): void => {
    if (isRetrying || failures.size === 0 || pg.ending) return
    isRetrying = true
    setTimeout(async () => {
      await storeAll().catch(() => {})
      isRetrying = false
      retry()
    }, RETRY_MS).unref()
  }
  return {
    has: (reader: string): boolean => failures.has(reader),
    store,
    add: (reader: string): void => {
      failures.set(reader, { at: now() })
      retry()
    },
  }
}

const nameOf = ({ sessionHash, userId }: Reader): string =>
  sessionHash === null ? `token:${userId}` : `session:${sessionHash}`
