import type { BatchStore, StoredBatch } from './batch-store.ts'

/**
 * The time after which a batch ends without its results, because its provider still denies access
 * to them or does not know the batch. Until then, the operator can pay the provider, renew a key or
 * correct the base URL of the channel.
 */
const DENIED_MS = 3 * 86_400_000
/**
 * The time after which earlier denials no longer count, because the provider has failed only for
 * other reasons. A shorter failure, such as a single status 429, does not show that access was
 * restored.
 */
const OTHER_FAILURES_MS = 6 * 3_600_000
/** The HTTP statuses of refusals that may end by themselves within a short time. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])

type Deps = {
  readonly batchStore: Pick<BatchStore, 'deny' | 'noteFailure' | 'clearDenied'>
  readonly now: () => number
}

/** Reports whether an answer with this status denies access to the results of a batch. */
export const deniesAccess = (status: number): boolean =>
  status >= 400 && status <= 499 && !PASSING.has(status)

/**
 * Records that the provider has denied access to a batch or has not found it. Returns true if the
 * first denial that still counts is older than `DENIED_MS`.
 */
export async function recordDenied(
  { batchStore, now }: Deps,
  { batch, deniedAt, failingSince }: StoredBatch,
): Promise<boolean> {
  const at = now()
  if (deniedAt === 0 || failingSince !== 0) await batchStore.deny(batch, at)
  return deniedAt !== 0 && at - deniedAt > DENIED_MS
}

/**
 * Records an attempt to settle a batch that failed for another reason than denied access. Earlier
 * denials no longer count once all attempts have failed in this way for `OTHER_FAILURES_MS`.
 */
export async function recordOtherFailure(
  { batchStore, now }: Deps,
  { batch, deniedAt, failingSince }: StoredBatch,
): Promise<void> {
  if (deniedAt === 0) return
  const at = now()
  if (failingSince === 0) await batchStore.noteFailure(batch, at)
  else if (at - failingSince > OTHER_FAILURES_MS) await batchStore.clearDenied(batch)
}
