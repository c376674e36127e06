import type { Logger } from 'pino'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import type { ClaimedCalls, ExpiredClaim } from './idempotency-claims.ts'

const PAGE = 1_000

type Deps = {
  readonly actors: Pick<StreamActors, 'peek'>
  readonly claimedCalls: Pick<ClaimedCalls, 'expired' | 'remove'>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Removes the claims of idempotency keys that have expired at the time `at`. The claim of a call, a
 * task or a batch that is still running is kept, because a repeat would otherwise start and charge
 * the same work again.
 */
export async function removeExpiredClaims(
  { actors, claimedCalls, log }: Deps,
  at: number,
): Promise<void> {
  let after: ExpiredClaim | null = null
  for (;;) {
    const page: readonly ExpiredClaim[] = await claimedCalls.expired(at, after, PAGE)
    const byUser = Map.groupBy(page, ({ userId }) => userId)
    const removable: ExpiredClaim[] = []
    for (const [userId, claims] of byUser) {
      // `peek` does not cache the accounts, because many of them are idle.
      try {
        const { open } = await actors.peek(accountDecider, accountStream(userId))
        removable.push(...claims.filter(({ call }) => !open.has(call)))
      } catch (err) {
        // An account that can't be read must not prevent the removal of the claims of all other
        // accounts.
        log.warn({ err, userId }, 'the calls of expired claims could not be read')
      }
    }
    if (removable.length > 0) await claimedCalls.remove(removable)
    after = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}
