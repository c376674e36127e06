import { setTimeout as delay } from 'node:timers/promises'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { fromWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { expiredCalls } from '#projections/open-calls/query.ts'
import { ExpiredCallDetector, type FindExpired, SWEEP_EVERY_MS } from './expired-call-detector.ts'
import type { ClaimedCalls } from './idempotency/idempotency-claims.ts'

type Sweeper = { readonly stop: () => Promise<void> }

const BATCH = 1_000
const LEASE = 'sweeper'

type Claims = Pick<ClaimedCalls, 'freeCall'>
type SweeperCore = Pick<Core, 'actors' | 'db' | 'leases' | 'log' | 'now'>

/**
 * Runs a sweep every five seconds in the relay process that holds the sweeper's lease. A suspended
 * process may continue a sweep after it has lost the lease. This does no harm, because the
 * account's stream decides whether a call is ended.
 */
export function startSweeper(
  core: SweeperCore,
  claims: Claims,
  leaseMs: number,
  findExpired?: FindExpired,
): Sweeper {
  const find: FindExpired = findExpired ?? ((at, limit) => expiredCalls(core.db, at, limit))
  return core.leases.hold(LEASE, async (_lease, lost) => {
    const detector = new ExpiredCallDetector(find, leaseMs)
    while (!lost.aborted) {
      await sweep(core, claims, detector.finderAt(performance.now())).catch((err: unknown) => {
        if (lost.aborted) return
        core.log.warn({ err }, 'sweeper: this pass failed; the next one will retry')
      })
      await delay(SWEEP_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
}

/**
 * Ends the calls whose process died, and charges each call for its last recorded progress. The
 * account decides whether a lease has expired, because the read model may lag. If a call costs
 * nothing, its `Idempotency-Key` is released for a retry.
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
