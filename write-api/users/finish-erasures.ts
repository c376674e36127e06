import { setTimeout as delay } from 'node:timers/promises'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Sessions } from '#infra/http/sessions.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import {
  beginErasure,
  endErasure,
  forgetErasure,
  unfinishedErasures,
} from '#infra/vault/unfinished-erasures.ts'
import { hasErasedRows, removeErasedRows } from '#infra/vault/vacuum-erased-rows.ts'
import { dropCopiesOfReadModels } from '#projections/rebuild-and-verification-schemas/query.ts'
import { erasedUserIds } from '#projections/users/query.ts'
import { accepted, type Deps } from '../action.ts'
import { revokeCredentials } from '../credentials/read-and-change-credentials.ts'
import { deleteInboxOf } from '../messages/edit-delete-and-read-messages.ts'
import { deleteTokenKeys } from '../tokens/delete-tokens.ts'

/**
 * The time in milliseconds after which the job tries unfinished work again. This time doubles with
 * each attempt, up to `LOOK_EVERY_MS`, because an attempt locks tables for a moment.
 */
const RETRY_AFTER_MS = 2_000
/**
 * The interval in milliseconds at which an idle job looks for unfinished erasures of other
 * processes. Erasures of this process wake the job.
 */
const LOOK_EVERY_MS = 30_000
/** The age in milliseconds from which an erasure may have been interrupted. */
const INTERRUPTED_AFTER_MS = 5_000
/**
 * The age in milliseconds from which an erasure without the event `UserErased` counts as refused or
 * failed. An append ends after ten seconds, so the event can no longer be appended.
 */
const REFUSED_AFTER_MS = 600_000
/** The maximum wait in milliseconds for the read models to apply an erasure. */
const APPLIED_WITHIN_MS = 10_000
const RETRY_SECONDS = 5

/** The read models from which an erasure removes texts. */
const ERASED_MODELS = [
  ...(['users', 'tokens', 'credentials', 'messages', 'notifications'] as const),
]

/** The tables with readable texts of users, whose old rows are removed after an erasure. */
const TEXT_TABLES = [
  ...['read_users.users', 'read_tokens.tokens', 'read_notifications.notifications'],
  ...['read_messages.messages', 'read_credentials.passkeys', 'auth.sessions'],
]

/**
 * Completes an erasure after the event `UserErased` was recorded. Ends the user's sessions. Deletes
 * the secrets, the data key, the messages that were sent only to the user, and all copies of read
 * models that may still contain texts. Waits until the read models have applied all events. Every
 * step can be repeated, because the background job calls this function again if the function fails
 * or the process dies. Returns the position of the last event.
 */
export async function finishErasure(
  deps: Deps,
  sessions: Sessions,
  userId: number,
  context: CommandContext,
): Promise<number> {
  const { actors, pg, store, vault, now } = deps.core
  await revokeCredentials(deps, sessions, userId, context)
  await deleteTokenKeys(deps.core, userId)
  await vault.destroyUser(userId)
  // A login that began before the event `UserErased` may have started a session after
  // `revokeCredentials` ended all sessions.
  await sessions.endAllOf(userId)
  // NOTE: scratch copies are ended only after the key is destroyed. A copy that was requested
  // between the event and the destruction of the key contains readable names.
  const command = {
    type: 'EndScratchCopies',
    ids: null,
    reason: 'erasure',
    endedAt: now(),
  } as const
  accepted(await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context))
  // Messages that were sent before the event are found only after the read model has applied them.
  await waitUntilApplied(deps, await store.headPosition())
  const deleted = await deleteInboxOf(deps, userId, context)
  await waitUntilApplied(deps, deleted)
  if (!(await dropCopiesOfReadModels(pg))) throw httpError('Unavailable', {}, RETRY_SECONDS)
  await endErasure(pg, userId)
  return await store.headPosition()
}

/** Throws `Unavailable` if the read models do not reach the position in time. */
async function waitUntilApplied({ freshness }: Deps, position: number): Promise<void> {
  if (await freshness.waitFor(ERASED_MODELS, position, APPLIED_WITHIN_MS)) return
  throw httpError('Unavailable', {}, RETRY_SECONDS)
}

/**
 * Finishes the erasures that were interrupted, for example because the process died after the event
 * was recorded. Returns true if unfinished erasures are left. If a request is finishing the same
 * erasure at the same time, the steps of the erasure are repeated, which does no harm.
 */
export async function finishInterruptedErasures(deps: Deps, sessions: Sessions): Promise<boolean> {
  const { actors, pg, now, log } = deps.core
  const found = await unfinishedErasures(pg)
  let left = found.length
  for (const { userId, ageMs } of found) {
    if (ageMs < INTERRUPTED_AFTER_MS) continue
    const context = { actor: 'system:erasure', cause: null, at: now() }
    const stream = userStream(userId)
    try {
      const { user } = await actors.peek(userDecider, stream)
      if (user?.isErased === true) {
        await deps.runExclusive(stream, () => finishErasure(deps, sessions, userId, context))
      } else if (ageMs > REFUSED_AFTER_MS) await forgetErasure(pg, userId)
      else continue
      left -= 1
    } catch (error) {
      const fields = { reason: reasonOf(error), userId }
      warnThrottled(log, fields, 'an erasure will be finished later')
    }
  }
  return left > 0
}

/**
 * Marks the erasures of all erased users whose data key still exists as unfinished. Such an erasure
 * was interrupted in an earlier release, or the vault was restored from a backup. Called only when
 * the job starts, because the search reads all users.
 */
export async function findErasedUsersWithKey({ core }: Deps): Promise<void> {
  for (const userId of await core.vault.withDataKey(await erasedUserIds(core.db))) {
    await beginErasure(core.pg, userId)
  }
}

/**
 * Removes the old rows of erased users from the files of the tables, after the read models have
 * applied all events. Returns true if rows are left that must be removed later.
 */
async function removeRowsOfErased(deps: Deps): Promise<boolean> {
  const { pg, store } = deps.core
  if (!(await hasErasedRows(pg))) return false
  await waitUntilApplied(deps, await store.headPosition())
  return !(await removeErasedRows(pg, TEXT_TABLES))
}

/**
 * Starts the background job that finishes interrupted erasures, and that removes the old rows of
 * erased users from the files of the database. A lease ensures that only one process runs this job.
 */
export function startErasures(deps: Deps, sessions: Sessions): HeldLease {
  const { leases, log } = deps.core
  /**
   * Returns false if `work` fails, or if `work` resolves to true because something is left to do.
   */
  const isDone = (work: Promise<unknown>, text: string): Promise<boolean> =>
    work.then(
      (isLeft) => isLeft !== true,
      (error: unknown) => {
        warnThrottled(log, { reason: reasonOf(error) }, text)
        return false
      },
    )
  return leases.hold('erasures', async (_lease, lost) => {
    let isSearched = false
    let attempts = 0
    while (!lost.aborted) {
      const woken = deps.erasureSignal.next()
      const later = 'interrupted erasures will be finished later'
      isSearched ||= await isDone(findErasedUsersWithKey(deps), later)
      const areFinished = await isDone(finishInterruptedErasures(deps, sessions), later)
      const rowsLater = 'old rows of erased users will be removed later'
      const areRemoved = await isDone(removeRowsOfErased(deps), rowsLater)
      const isIdle = isSearched && areFinished && areRemoved
      const signal = AbortSignal.any([lost, woken])
      const retryMs = Math.min(RETRY_AFTER_MS * 2 ** attempts, LOOK_EVERY_MS)
      attempts = isIdle || woken.aborted ? 0 : attempts + 1
      const pauseMs = isIdle ? LOOK_EVERY_MS : retryMs
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {})
    }
  })
}
