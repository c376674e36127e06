import type { Core } from '#infra/core-dependencies.ts'
import { removeExpiredClaims } from './idempotency/remove-expired-claims.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { removeUnreadableContents } from './stored-responses/delete-contents-of-deleted-owners.ts'

/**
 * The interval, in milliseconds, at which expired rows of the stores are deleted. Rows are valid
 * for at least a day, so a delay of minutes is harmless.
 */
const DELETE_EVERY_MS = 600_000

type Sweep = { readonly sweep: (at: number) => Promise<void> }

/** Deletes expired rows at intervals, until the returned timer is cleared. */
export function startDeletions(
  core: Core,
  deps: RelayDeps,
  everyMs = DELETE_EVERY_MS,
): NodeJS.Timeout {
  const { store } = core
  const sweeps: readonly (readonly [Sweep, failure: string])[] = [
    [
      singleSweep((at) => removeExpiredClaims(deps, at)),
      'expired idempotency keys could not be deleted',
    ],
    [deps.providerMessages, 'old messages of providers could not be deleted'],
    [deps.storedResponses, 'old stored responses could not be deleted'],
    [
      singleSweep(() => removeUnreadableContents({ ...deps, store })),
      'unreadable stored responses could not be deleted',
    ],
    [deps.clientSecrets, 'expired temporary keys could not be deleted'],
    [deps.batchStore, 'old batches could not be deleted'],
  ]
  return setInterval(() => deleteExpired(core, sweeps), everyMs).unref()
}

/**
 * Deletes expired rows of the stores. If a deletion fails, the next one also deletes the rows that
 * were left.
 */
function deleteExpired(
  { log, now }: Core,
  sweeps: readonly (readonly [Sweep, failure: string])[],
): void {
  for (const [{ sweep }, failure] of sweeps) {
    sweep(now()).catch((err: unknown) => log.warn({ err }, failure))
  }
}

/** Returns a sweep that does not start again while it still runs. */
function singleSweep(run: (at: number) => Promise<void>): Sweep {
  let running: Promise<void> | null = null
  const start = (at: number) =>
    run(at).finally(() => {
      running = null
    })
  return {
    sweep: (at) => {
      running ??= start(at)
      return running
    },
  }
}
