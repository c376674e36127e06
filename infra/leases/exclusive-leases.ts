import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { answerIn } from '../postgres/query-timeouts.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'

/** The exclusive right of one process to do certain work, among all processes on one Postgres. */
export type Lease = {
  readonly name: string
  /**
   * The fencing token, which increases with each new owner. A write with a lower token comes from a
   * former owner.
   */
  readonly fence: number
}

export type HeldLease = { readonly stop: () => Promise<void> }

/**
 * Gives exclusive leases on names to processes. Only one process at a time has a lease, which
 * expires by the database's clock. A process that stalls for longer than `ttlMs` loses its leases.
 * If such a process writes afterwards, `isCurrent` detects the loss inside the writing transaction.
 */
export type Leases = {
  /**
   * Acquires the lease and runs `work`. When `work` ends or fails, the lease is released and, after
   * a pause, acquired again. This repeats until `stop` is called. The signal `lost` aborts when the
   * lease is lost or `stop` is called.
   */
  readonly hold: (
    name: string,
    work: (lease: Lease, lost: AbortSignal) => Promise<void>,
    options?: { readonly ttlMs?: number },
  ) => HeldLease
  /** Acquires or renews the lease. Returns null while another process has it. */
  readonly acquire: (name: string, ttlMs: number) => Promise<Lease | null>
  readonly release: (lease: Lease) => Promise<void>
  /**
   * Acquires or renews leases in one statement, and returns the leases that this process now has.
   */
  readonly acquireAll: (names: readonly string[], ttlMs: number) => Promise<Lease[]>
  /** Returns the owners of the leases whose names start with `prefix`, by lease name. */
  readonly holders: (prefix: string) => Promise<Map<string, string>>
  readonly owner: string
}

const LEASE_TTL_MS = 10_000
/**
 * The lease time in milliseconds if no other process can exist, because this process has its own
 * Postgres. All leases end at the next start of this process, so leases are renewed only rarely.
 */
export const ONLY_PROCESS_TTL_MS = 600_000
/**
 * The maximum pause in milliseconds before the next attempt to acquire a lease, after the lease was
 * not free or the work under the lease has ended.
 */
const ACQUIRE_MS_MAX = LEASE_TTL_MS / 3
/**
 * The minimum time limit of a renewal in milliseconds. After a stall, a lease can have expired by
 * the time of this process. A renewal can nevertheless succeed, if no other process has acquired
 * the lease.
 */
const RENEW_MS_MIN = 1_000

const DDL = `
  create table if not exists leases.leases (
    name text primary key,
    owner text,
    fence int8 not null,
    expires_at timestamptz not null
  )`

/**
 * SQL that acquires or renews leases. NOTE: `skip locked` skips rows that `isCurrent` has locked in
 * another process. A wait for these rows could be long, because that process may be suspended
 * inside its transaction.
 */
const TAKE = `
  with free as (
    select name from leases.leases
    where name = any($1::text[]) and owner is distinct from $2
    for update skip locked
  )
  insert into leases.leases as held (name, owner, fence, expires_at)
  select name, $2, 1, clock_timestamp() + $3 * interval '1 millisecond'
    from unnest($1::text[]) as requested (name)
    where name in (table free) or not exists (
      select from leases.leases l where l.name = requested.name and l.owner is distinct from $2
    )
    order by name
  on conflict (name) do update set
    owner = excluded.owner,
    fence = case when held.owner = excluded.owner then held.fence else held.fence + 1 end,
    expires_at = excluded.expires_at
  where held.owner = excluded.owner or held.owner is null
    or held.expires_at < clock_timestamp()
  returning name, fence`

/** Creates the leases. `ownTtlMs` is the default lease time of `hold` in milliseconds. */
export async function createLeases(
  pg: Pool,
  log: Logger,
  ownTtlMs = LEASE_TTL_MS,
): Promise<Leases> {
  const owner = randomUUID()
  await ensureSchema(pg, 'leases', DDL)
  const acquireAll: Leases['acquireAll'] = async (names, ttlMs) => {
    const { rows } = await pg.query<{ name: string; fence: string }>({
      name: 'lease-acquire',
      text: TAKE,
      values: [names, owner, ttlMs],
    })
    return rows.map(({ name, fence }) => ({ name, fence: Number(fence) }))
  }
  const acquire: Leases['acquire'] = async (name, ttlMs) =>
    (await acquireAll([name], ttlMs))[0] ?? null
  const release: Leases['release'] = async ({ name, fence }) => {
    await pg.query(
      'update leases.leases set owner = null where name = $1 and owner = $2 and fence = $3',
      [name, owner, fence],
    )
  }
  const holders: Leases['holders'] = async (prefix) => {
    const { rows } = await pg.query<{ name: string; owner: string }>({
      name: 'lease-holders',
      text: `select name, owner from leases.leases
             where starts_with(name, $1) and owner is not null
               and expires_at >= clock_timestamp()`,
      values: [prefix],
    })
    return new Map(rows.map((row) => [row.name, row.owner]))
  }
  return {
    owner,
    acquire,
    release,
    acquireAll,
    holders,
    hold: (name, work, { ttlMs = ownTtlMs } = {}) =>
      holdLease({ acquire, release, log }, name, work, ttlMs),
  }
}

/**
 * Ends all leases of all processes. Call this function only when no other process can be running.
 */
export async function endAllLeases(pg: Pool): Promise<void> {
  await ensureSchema(pg, 'leases', DDL)
  await pg.query('update leases.leases set owner = null')
}

/**
 * Reports whether this process still has the leases. Inside a transaction, no other process can
 * acquire these leases until the transaction ends.
 */
export async function isCurrent(client: PoolClient, leases: readonly Lease[]): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'lease-is-current',
    text: `select from leases.leases l
           join unnest($1::text[], $2::int8[]) as mine (name, fence) using (name, fence)
           order by l.name for share of l`,
    values: [leases.map(({ name }) => name), leases.map(({ fence }) => fence)],
  })
  return rowCount === leases.length
}

type Acquiring = Pick<Leases, 'acquire' | 'release'> & { readonly log: Logger }

function holdLease(
  { acquire, release, log }: Acquiring,
  name: string,
  work: (lease: Lease, lost: AbortSignal) => Promise<void>,
  ttlMs: number,
): HeldLease {
  const stopping = new AbortController()
  const renewMs = ttlMs / 3
  const pause = (ms: number, signal = stopping.signal): Promise<void> =>
    delay(ms * (0.8 + 0.4 * Math.random()), undefined, { signal, ref: false }).catch(() => {})

  /** Renews the lease repeatedly. Resolves when the lease is lost or its work has ended. */
  const renewUntilLost = async (
    lease: Lease,
    over: AbortController,
    until: number,
  ): Promise<void> => {
    let validUntil = until
    const ended = AbortSignal.any([stopping.signal, over.signal])
    while (!ended.aborted) {
      await pause(renewMs, ended)
      if (ended.aborted) break
      const requestedAt = performance.now()
      const leftMs = Math.max(validUntil - requestedAt, RENEW_MS_MIN)
      const renewed = await answerIn(acquire(name, ttlMs), leftMs).catch(() => undefined)
      if (renewed?.fence === lease.fence) validUntil = requestedAt + ttlMs
      else if (renewed !== undefined || performance.now() >= validUntil) break
    }
    over.abort()
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const until = performance.now() + ttlMs
      const lease = await acquire(name, ttlMs).catch(() => null)
      // If the reply is late, the lease may have expired and another process may have acquired it.
      if (lease !== null && performance.now() < until) {
        const over = new AbortController()
        const renewing = renewUntilLost(lease, over, until)
        await work(lease, AbortSignal.any([over.signal, stopping.signal])).catch((err: unknown) => {
          const facts = { reason: reasonOf(err), lease: name }
          warnThrottled(log, facts, `the work under the lease ${name} failed and will be retried`)
        })
        over.abort()
        // A renewal that ends after the release would acquire the lease again.
        await renewing
        await release(lease).catch(() => {})
      }
      if (!stopping.signal.aborted) await pause(Math.min(renewMs, ACQUIRE_MS_MAX))
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
