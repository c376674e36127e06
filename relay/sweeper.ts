import { setTimeout as delay } from 'node:timers/promises'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { fromWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core.ts'
import { expiredCalls } from '#projections/open-calls/query.ts'
import { type FindExpired, LeaseWatch, SWEEP_EVERY_MS } from './lease-watch.ts'
import type { ClaimedCalls } from './repeats/claimed-calls.ts'

export type Sweeper = { readonly stop: () => Promise<void> }

const BATCH = 1_000
const LEASE = 'sweeper'

type Claims = Pick<ClaimedCalls, 'freeCall'>
type SweeperCore = Pick<Core, 'actors' | 'db' | 'leases' | 'log' | 'now'>

/**
 * Runs a pass every five seconds in one process among all relays, the one that holds the lease. A
 * process that was suspended and continues without the lease does no harm, because each account
 * decides for itself.
 */
export function startSweeper(
  core: SweeperCore,
  claims: Claims,
  leaseMs: number,
  findExpired?: FindExpired,
): Sweeper {
  const find: FindExpired = findExpired ?? ((at, limit) => expiredCalls(core.db, at, limit))
  return core.leases.hold(LEASE, async (_lease, lost) => {
    const watch = new LeaseWatch(find, leaseMs)
    while (!lost.aborted) {
      await sweep(core, claims, watch.at(performance.now())).catch((err: unknown) => {
        if (lost.aborted) return
        core.log.warn({ err }, 'sweeper: this pass failed; the next one will retry')
      })
      await delay(SWEEP_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
}

/**
 * Ends the calls whose owner died: each once, charged by its last progress. The account decides
 * whether a lease has expired. The read model only shows where to look and may lag, so a lease that
 * was renewed since is left alone. A caller who was charged nothing may repeat the call with the
 * same `Idempotency-Key`.
 */
export async function sweep(
  { actors, now }: Pick<Core, 'actors' | 'now'>,
  claims: Claims,
  findExpired: FindExpired,
): Promise<void> {
  const expired = await findExpired(now(), BATCH)
  await Promise.all(
    expired.map(async ({ call, userId, tokenId, leaseUntil }) => {
      const context = { actor: 'system:sweeper', cause: call, at: now() }
      const command = { type: 'InterruptCall', call, at: now(), leaseUntil } as const
      const outcome = await actors.handle(accountDecider, accountStream(userId), command, context)
      const [event] = outcome.isDone ? outcome.events : []
      if (event?.type !== 'CallInterrupted' || fromWire(event.data.charge) > 0n) return
      await claims.freeCall({ tokenId, call })
    }),
  )
}
