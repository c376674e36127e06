import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { answerIn } from '../postgres/bounded.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'

/** What one process at a time may do, among all on one Postgres. */
export type Lease = {
  readonly name: string
  /** Counts up whenever another process takes over: whoever comes with a lower one is too late. */
  readonly fence: number
}

export type Held = { readonly stop: () => Promise<void> }

/**
 * Names that one process holds at a time. The clock is the database's. A process that stands still
 * for longer than `ttlMs` loses what it held, and is told when it wakes; what it writes meanwhile
 * is refused by `isCurrent`, asked inside of the writing transaction.
 */
export type Leases = {
  /**
   * Waits for the name, then works until the signal aborts (the lease was lost, or `stop`). Work
   * that returns or fails gives the name back and queues for it again.
   */
  readonly hold: (
    name: string,
    work: (lease: Lease, lost: AbortSignal) => Promise<void>,
    options?: { readonly ttlMs?: number },
  ) => Held
  /** Takes the name, or prolongs it; null while another process has it. */
  readonly take: (name: string, ttlMs: number) => Promise<Lease | null>
  readonly giveBack: (lease: Lease) => Promise<void>
  /** `take` for many at once; answers those that are this process’s now. */
  readonly takeAll: (names: readonly string[], ttlMs: number) => Promise<Lease[]>
  /** Who holds the names that begin so, by name. */
  readonly holders: (prefix: string) => Promise<Map<string, string>>
  /** Of this process, as it stands in the table. */
  readonly owner: string
}

export const LEASE_TTL_MS = 10_000
/** After it stood still, a process may find that its lease is its own still. */
const ASK_MS_MIN = 1_000

const DDL = `
  create table if not exists leases.leases (
    name text primary key,
    owner text,
    fence int8 not null,
    expires_at timestamptz not null
  )`

/**
 * NOTE: a process that stands still in the middle of a transaction keeps the rows that `isCurrent`
 * locked. They are passed over, so that nobody who asks stands still with it.
 */
const TAKE = `
  with free as (
    select name from leases.leases
    where name = any($1::text[]) and owner is distinct from $2
    for update skip locked
  )
  insert into leases.leases as held (name, owner, fence, expires_at)
  select name, $2, 1, clock_timestamp() + $3 * interval '1 millisecond'
    from unnest($1::text[]) as wanted (name)
    where name in (table free) or not exists (
      select from leases.leases l where l.name = wanted.name and l.owner is distinct from $2
    )
    order by name
  on conflict (name) do update set
    owner = excluded.owner,
    fence = case when held.owner = excluded.owner then held.fence else held.fence + 1 end,
    expires_at = excluded.expires_at
  where held.owner = excluded.owner or held.owner is null
    or held.expires_at < clock_timestamp()
  returning name, fence`

export async function createLeases(pg: Pool, log: Logger, owner = randomUUID()): Promise<Leases> {
  await ensureSchema(pg, 'leases', DDL)
  const takeAll: Leases['takeAll'] = async (names, ttlMs) => {
    const { rows } = await pg.query<{ name: string; fence: string }>({
      name: 'lease-take',
      text: TAKE,
      values: [names, owner, ttlMs],
    })
    return rows.map(({ name, fence }) => ({ name, fence: Number(fence) }))
  }
  const take: Leases['take'] = async (name, ttlMs) => (await takeAll([name], ttlMs))[0] ?? null
  const giveBack: Leases['giveBack'] = async ({ name, fence }) => {
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
    take,
    giveBack,
    takeAll,
    holders,
    hold: (name, work, { ttlMs = LEASE_TTL_MS } = {}) =>
      holdOn({ take, giveBack, log }, name, work, ttlMs),
  }
}

/** Ends every lease: only where no other process can be alive, as after a start of Postgres. */
export async function endAllLeases(pg: Pool): Promise<void> {
  await ensureSchema(pg, 'leases', DDL)
  await pg.query('update leases.leases set owner = null')
}

/**
 * Whether the lease is still its holder's, inside of a transaction: until that commits, nobody else
 * can take it.
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

type Taking = Pick<Leases, 'take' | 'giveBack'> & { readonly log: Logger }

function holdOn(
  { take, giveBack, log }: Taking,
  name: string,
  work: (lease: Lease, lost: AbortSignal) => Promise<void>,
  ttlMs: number,
): Held {
  const stopping = new AbortController()
  const everyMs = ttlMs / 3
  const pause = (signal = stopping.signal): Promise<void> =>
    delay(everyMs * (0.8 + 0.4 * Math.random()), undefined, { signal, ref: false }).catch(() => {})

  /** Resolves when the lease is lost or no longer wanted. */
  const keep = async (lease: Lease, over: AbortController, until: number): Promise<void> => {
    let knownUntil = until
    const ended = AbortSignal.any([stopping.signal, over.signal])
    while (!ended.aborted) {
      await pause(ended)
      if (ended.aborted) break
      const askedAt = performance.now()
      const leftMs = Math.max(knownUntil - askedAt, ASK_MS_MIN)
      const kept = await answerIn(take(name, ttlMs), leftMs).catch(() => undefined)
      if (kept?.fence === lease.fence) knownUntil = askedAt + ttlMs
      // Another one's now, or unknown for so long that it may be.
      else if (kept !== undefined || performance.now() >= knownUntil) break
    }
    over.abort()
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const until = performance.now() + ttlMs
      const lease = await take(name, ttlMs).catch(() => null)
      // An answer that came late, or was read late, may be of a lease that is another's by now.
      if (lease !== null && performance.now() < until) {
        const over = new AbortController()
        const keeping = keep(lease, over, until)
        await work(lease, AbortSignal.any([over.signal, stopping.signal])).catch((err: unknown) => {
          const facts = { reason: reasonOf(err), lease: name }
          warnThrottled(log, facts, `what needs the lease ${name} failed, and will be tried again`)
        })
        over.abort()
        // A prolonging under way would take back what is given back.
        await keeping
        await giveBack(lease).catch(() => {})
      }
      if (!stopping.signal.aborted) await pause()
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
