import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '../core-dependencies.ts'
import type { HeldLease } from '../leases/exclusive-leases.ts'
import { createOutbound } from '../outbound/outbound-connections.ts'
import { operatorPolicy } from '../outbound/outbound-policy.ts'
import { publishLatestCheckpoint } from './ask-witnesses.ts'
import { leafReader } from './leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog, WrongLogKey } from './open-log.ts'
import { EVENTS_PER_CHECKPOINT_MAX, LogMismatch, sealEvents } from './seal-events.ts'

type SealerCore = Pick<
  Core,
  'actors' | 'config' | 'leases' | 'log' | 'now' | 'pg' | 'store' | 'vault'
>

/** The pause between checkpoints. With more events than one checkpoint may have, there is none. */
export const SEAL_EVERY_MS = 10_000

/**
 * Seals new events every ten seconds, in the one process that holds the lease. If the history has
 * changed, or the key is another one, it signs nothing and raises an alarm at each attempt.
 */
export async function startSealer(
  core: SealerCore,
  { everyMs = SEAL_EVERY_MS }: { readonly everyMs?: number } = {},
): Promise<HeldLease> {
  await ensureLogSchema(core)
  const readLeaves = leafReader(core)
  const arePositionsDense = core.config.eventStore.url === null
  const outbound = createOutbound(operatorPolicy(core.config))
  const held = core.leases.hold('transparency-log', async (_lease, lost) => {
    while (!lost.aborted) {
      try {
        const log = await openTransparencyLog(core)
        const deps = { pg: core.pg, log, readLeaves, arePositionsDense, now: core.now }
        let sealed = await sealEvents(deps)
        const hasSealed = sealed > 0
        while (sealed === EVENTS_PER_CHECKPOINT_MAX && !lost.aborted) {
          sealed = await sealEvents(deps)
        }
        if (hasSealed) await publishLatestCheckpoint({ ...core, outbound })
      } catch (error) {
        if (!lost.aborted) report(core, error)
      }
      await delay(everyMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
  return {
    stop: async () => {
      await held.stop()
      await outbound.close()
    },
  }
}

function report({ log }: SealerCore, err: unknown): void {
  if (err instanceof LogMismatch || err instanceof WrongLogKey) {
    log.error({ alarm: 'transparency-log-stopped', err }, `transparency log: ${err.message}`)
  } else {
    log.warn({ err }, 'transparency log: sealing failed; the next attempt follows')
  }
}
