import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { claimIdempotencyKey, type KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import { isAbandoned } from './batch-store.ts'
import type { BatchDeps } from './settle-batch.ts'
import { idOfBatch } from './show-list-cancel-and-delete-batches.ts'

const BUSY = relayError('overloaded', { retryAfter: 1 })
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * The error for a repeated request while the first one is still reserving the quota of the batch.
 */
export const inProgress = (batch: string): RelayError =>
  relayError('idempotency_in_progress', { subject: batch, retryAfter: 5 })

/**
 * Claims the `Idempotency-Key` of a submission, and returns the batch to which the key belongs. For
 * a repeated request, this is the batch of the first request, if that batch can still be submitted.
 * Returns null for a submission without a key. Returns an error if the batch was submitted before,
 * if another request is reserving its quota, or if the batch ended without a submission. In the
 * last case, the key is freed for the next repeat.
 *
 * A request that fails before it has reserved the quota leaves the key claimed, because a repeat
 * may be reserving quota for the same batch at that moment. The next repeat submits the batch under
 * the same id. If the process of a request ended after it had stored the batch, a repeat takes the
 * batch over after `HOLDING_MS`.
 */
export async function claimKeyOfBatch(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  content: Parameters<typeof claimIdempotencyKey>[3],
): Promise<KeyedCall | RelayError | null> {
  const keyed = await claimIdempotencyKey(deps, exchange, caller, content)
  if (keyed === null || isRelayError(keyed)) return keyed
  const { userId } = caller.user
  const { call: subject } = keyed
  try {
    const state = await deps.ledger.stateOfClaimed(subject, userId)
    if (state === 'over') {
      // No request can reserve quota for this batch any more, and the batch cost nothing. Its key
      // is still claimed, because freeing it failed when the batch ended, or because the account no
      // longer remembers calls as old as this batch.
      await keyed.free()
      return BUSY
    }
    const stored = await deps.batchStore.find(userId, subject)
    if (state === 'submitted') {
      const id = stored === undefined ? subject : idOfBatch(stored)
      return relayError('idempotency_submitted', { subject: id })
    }
    const isFree = stored === undefined || isAbandoned(stored, deps.now())
    return isFree ? keyed : inProgress(subject)
  } catch (err) {
    deps.log.error({ err, call: subject }, 'the batch of a key could not be looked up')
    return NO_STORE
  }
}
