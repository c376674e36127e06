import type { Fact } from '#domain/shared/event.ts'
import type { Refusal } from '#domain/shared/refusal.ts'
import type { Outcome } from '#infra/event-store/actors-port.ts'

/** Each time, somebody else took away or added a way in of the same user. */
const TRIES_MAX = 20

/**
 * Looks and decides again while other processes change the ways in at the same moment. The user's
 * count of them has to be read first and the passkeys after it: what goes in between is noticed.
 */
export async function whileWaysChange(
  decide: () => Promise<Outcome<Fact, Refusal>>,
): Promise<Outcome<Fact, Refusal>> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await decide()
    if (outcome.isDone || tries >= TRIES_MAX) return outcome
    const { refused } = outcome.refusal
    if (refused !== 'WaysInChanged' && refused !== 'PasskeysChanged') return outcome
  }
}
