import { setTimeout as delay } from 'node:timers/promises'
import { messageDecider, messageStream } from '#domain/messages/events.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { type OwnerSecrets, secretsOfOwners } from '#infra/vault/secrets-of-owners.ts'
import { messagesWithText } from '#projections/messages/query.ts'
import type { Deps } from '../action.ts'
import { messageIdOf } from './send-message.ts'

const LOOK_EVERY_MS = 10 * 60_000
/**
 * The age in milliseconds from which a text without an event is unused. An append ends after ten
 * seconds, but the process may have been suspended between the text and its append.
 */
const UNUSED_AFTER_MS = 60 * 60_000

type RemovalDeps = Pick<Deps, 'core'>

/**
 * Deletes the texts in the vault that belong to no message. A process that dies between a text and
 * its event leaves such a text, which may be about a person, and which no erasure would find. Stops
 * when `lost` is aborted, because a shutdown waits for this.
 */
export async function removeUnusedTexts({ core }: RemovalDeps, lost: AbortSignal): Promise<void> {
  const { actors, db, pg, vault, now } = core
  for await (const owners of secretsOfOwners(pg, 'message', now() - UNUSED_AFTER_MS)) {
    const ids = owners.map(({ owner }) => messageIdOf(owner))
    const existing = new Set(await messagesWithText(db, ids))
    for (const { owner, refs } of owners) {
      if (lost.aborted) return
      const messageId = messageIdOf(owner)
      // The read model only spares the look at most streams. It may be behind the events.
      if (refs.length === 1 && existing.has(messageId)) continue
      const { message } = await actors.peek(messageDecider, messageStream(messageId))
      await deleteExcept({ owner, refs }, message?.text?.textRef, vault)
    }
  }
}

async function deleteExcept(
  { refs }: OwnerSecrets,
  usedRef: string | undefined,
  vault: RemovalDeps['core']['vault'],
): Promise<void> {
  for (const ref of refs) if (ref !== usedRef) await vault.deleteSecret(ref)
}

/**
 * Starts the background job that deletes texts of messages that do not exist. A lease ensures that
 * only one process does this.
 */
export const startTextRemovals = (deps: RemovalDeps): HeldLease =>
  deps.core.leases.hold('message-text-removals', async (_lease, lost) => {
    const { log } = deps.core
    while (!lost.aborted) {
      await removeUnusedTexts(deps, lost).catch((error: unknown) => {
        warnThrottled(log, { reason: reasonOf(error) }, 'unused texts will be removed later')
      })
      await delay(LOOK_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
