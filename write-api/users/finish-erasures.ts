import { setTimeout as delay } from 'node:timers/promises'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { userStream } from '#domain/users/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { Sessions } from '#infra/http/sessions.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { hasErasedRows, removeErasedRows } from '#infra/vault/remove-erased-rows.ts'
import { dropUnfinishedReadModels } from '#projections/unfinished-read-models/query.ts'
import { erasedUserIds } from '#projections/users/query.ts'
import { accepted, type Deps } from '../action.ts'
import { revokeCredentials } from '../credentials/read-and-change-credentials.ts'
import { deleteInboxOf } from '../messages/edit-delete-and-read-messages.ts'
import { deleteTokenKeys } from '../tokens/delete-tokens.ts'

const LOOK_EVERY_MS = 2_000
/**
 * Interrupted erasures are searched for at the start and then in every 15th round, because the
 * search reads all users.
 */
const SEARCH_EVERY = 15

/** The read models from which an erasure removes texts. */
export const ERASED_MODELS = [
  ...(['users', 'tokens', 'credentials', 'messages', 'notifications'] as const),
]

/** The tables with readable texts of users, whose old rows are removed after an erasure. */
const TEXT_TABLES = [
  ...['read_users.users', 'read_tokens.tokens', 'read_notifications.notifications'],
  ...['read_messages.messages', 'read_credentials.passkeys', 'auth.sessions'],
]
const FRESH_WITHIN_MS = 5_000

/**
 * Does what follows the event of an erasure: ends the user's sessions, and deletes the secrets, the
 * messages, the data key and all tables that may still contain texts. The data key is destroyed
 * last of the user's data, so that a user with a key is recognised as one whose erasure was
 * interrupted. Every step can be repeated. Returns the position of the last event.
 */
export async function finishErasure(
  deps: Deps,
  sessions: Sessions,
  userId: number,
  context: CommandContext,
): Promise<number> {
  const { actors, pg, vault } = deps.core
  const revoked = await revokeCredentials(deps, sessions, userId, context)
  await deleteTokenKeys(deps.core, userId)
  const deleted = await deleteInboxOf(deps, userId, context)
  await vault.destroyUser(userId)
  // NOTE: copies of earlier read models end after the key is gone. A copy that was requested
  // between the event and the destruction of the key contains readable names.
  const endedAt = deps.core.now()
  const command = { type: 'EndScratchCopies', ids: null, reason: 'erasure', endedAt } as const
  accepted(await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context))
  // The tables of a running rebuild stay, because it applies the erasure itself.
  await dropUnfinishedReadModels(pg)
  return Math.max(revoked, deleted)
}

/**
 * Finishes the erasures that were interrupted, for example because the process died after the
 * event. Erasures that another request is finishing at this time are only repeated.
 */
export async function finishInterruptedErasures(deps: Deps, sessions: Sessions): Promise<void> {
  const { db, vault, now, log } = deps.core
  for (const userId of await vault.withDataKey(await erasedUserIds(db))) {
    const context = { actor: 'system:erasure', cause: null, at: now() }
    await deps
      .runExclusive(userStream(userId), () => finishErasure(deps, sessions, userId, context))
      .catch((error: unknown) => {
        const fields = { reason: reasonOf(error), userId }
        warnThrottled(log, fields, 'an erasure will be finished later')
      })
  }
}

/**
 * Removes the old rows of erased users from the files of the tables, after the read models have
 * applied all events. Does nothing if there is no such row, or if it must be tried again later.
 */
async function removeRowsOfErased({ core, freshness }: Deps): Promise<void> {
  if (!(await hasErasedRows(core.pg))) return
  const head = await core.store.headPosition()
  if (!(await freshness.waitFor(ERASED_MODELS, head, FRESH_WITHIN_MS))) return
  await removeErasedRows(core.pg, TEXT_TABLES)
}

/**
 * Starts the background job that finishes interrupted erasures, and that removes the old rows of
 * erased users from the files of the database. A lease ensures that only one process does this.
 */
export const startErasures = (deps: Deps, sessions: Sessions): HeldLease =>
  deps.core.leases.hold('erasures', async (_lease, lost) => {
    const { log } = deps.core
    for (let round = 0; !lost.aborted; round += 1) {
      if (round % SEARCH_EVERY === 0) {
        await finishInterruptedErasures(deps, sessions).catch((error: unknown) => {
          const fields = { reason: reasonOf(error) }
          warnThrottled(log, fields, 'interrupted erasures will be finished later')
        })
      }
      await removeRowsOfErased(deps).catch((error: unknown) => {
        const fields = { reason: reasonOf(error) }
        warnThrottled(log, fields, 'old rows of erased users will be removed later')
      })
      await delay(LOOK_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
