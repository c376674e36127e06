import { setTimeout as delay } from 'node:timers/promises'
import { messageDecider } from '#domain/messages/decide.ts'
import { messageStream } from '#domain/messages/events.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { listSecretsStoredBefore } from '#infra/vault/list-secrets-stored-before.ts'
import { messagesWithText } from '#projections/messages/query.ts'
import type { Deps } from '../action.ts'
import { messageIdOf } from './send-message.ts'

const LOOK_EVERY_MS = 10 * 60_000
/**
 * The age in milliseconds from which a text without an event counts as unused. An append normally
 * ends within ten seconds. A process that was suspended for longer during an append stores its
 * deleted text again (`restoreDeletedText`).
 */
const UNUSED_AFTER_MS = 60 * 60_000

type RemovalDeps = Pick<Deps, 'core'>

/**
 * Deletes texts in the vault that no message uses, if they are older than `UNUSED_AFTER_MS`. A
 * process leaves such a text if it dies between storing the text and appending the event. The text
 * may contain personal data, and no erasure would find it. Stops when `lost` is aborted, because a
 * shutdown waits for this function.
 */
export async function removeUnusedTexts({ core }: RemovalDeps, lost: AbortSignal): Promise<void> {
  const { actors, db, pg, vault, now } = core
  for await (const owners of listSecretsStoredBefore(pg, 'message', now() - UNUSED_AFTER_MS)) {
    const ids = owners.map(({ owner }) => messageIdOf(owner))
    const existing = new Set(await messagesWithText(db, ids))
    for (const { owner, refs } of owners) {
      if (lost.aborted) return
      const messageId = messageIdOf(owner)
      // The read model only makes it unnecessary to read most streams. A text is deleted only after
      // a look at the message's stream, because the read model may be behind the events.
      if (refs.length === 1 && existing.has(messageId)) continue
      for (const ref of refs) {
        await vault.deleteUnusedSecret(ref, async () => {
          const { message } = await actors.peek(messageDecider, messageStream(messageId))
          return message?.text?.textRef !== ref
        })
      }
    }
  }
}

/**
 * Starts the background job that deletes texts without a message. A lease ensures that only one
 * process runs the job.
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
