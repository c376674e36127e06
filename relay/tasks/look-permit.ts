import { type Claim, isFull, type Limits, type Permit } from '#infra/limits/port.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'

/** A hundred tasks may be asked about every second. */
const TASKS_MAX = 6_000
const SEEDS_MAX = 30
const AT_ONCE_MAX = 32
const MINUTE_MS = 60_000

/**
 * Looking at tasks is no call, and free: so it has limits of its own, by user, over all relays.
 * `tasks`: how many are looked at; `isAsked`: their provider is asked, on the operator's account.
 */
export async function takeLook(
  { limits }: { readonly limits: Limits },
  { user: { userId } }: Pick<Caller, 'user'>,
  { tasks, isAsked }: { readonly tasks: number; readonly isAsked: boolean },
): Promise<Permit | Denial> {
  const key = `task-looks:${userId}`
  const claims: readonly Claim[] = [
    { kind: 'seats', key, max: AT_ONCE_MAX },
    isAsked
      ? { kind: 'rate', key, max: SEEDS_MAX, periodMs: MINUTE_MS, isRefundable: false }
      : { kind: 'tokens', key, max: TASKS_MAX, estimate: tasks },
  ]
  const outcome = await limits.enter(`user:${userId}`, claims)
  if (!isFull(outcome)) return outcome
  const retryAfterSeconds = Math.max(1, Math.ceil(outcome.waitMs / 1_000))
  if (outcome.full === 0) {
    return deny('too_many_concurrent', { subject: `${AT_ONCE_MAX} (this user)`, retryAfterSeconds })
  }
  const subject = isAsked ? `${SEEDS_MAX} seeds / 60 s` : `${TASKS_MAX} tasks / 60 s`
  return deny('rate_limited', { subject: `${subject} (this user)`, retryAfterSeconds })
}
