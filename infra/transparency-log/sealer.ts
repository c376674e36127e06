import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '../core-dependencies.ts'
import type { HeldLease } from '../leases/exclusive-leases.ts'
import {
  createOutbound,
  MANAGEMENT_LIMITS,
  type OutboundLimits,
} from '../outbound/outbound-connections.ts'
import { operatorPolicy } from '../outbound/outbound-policy.ts'
import { Publisher } from './keep-publishing.ts'
import { leafReader } from './leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog, WrongLogKey } from './open-log.ts'
import { publishCheckpoints } from './publish-checkpoints.ts'
import { EVENTS_PER_CHECKPOINT_MAX, LogMismatch, sealEvents } from './seal-events.ts'

type SealerCore = Pick<
  Core,
  'actors' | 'config' | 'leases' | 'log' | 'now' | 'pg' | 'store' | 'vault'
>

/** The pause between two checkpoints. There is no pause while a full checkpoint can be signed. */
export const SEAL_EVERY_MS = 10_000

type SealerOptions = {
  readonly everyMs?: number
  /** The limits of requests to the webhook and to witnesses. */
  readonly limits?: OutboundLimits
}

/** The interval at which the unsealed events are counted during the pause. */
const COUNT_EVERY_MS = 1_000

/**
 * Seals new events every ten seconds, and as soon as there are enough for a whole checkpoint, in
 * the one process that holds the lease. If the history has changed, or the key is another one, it
 * signs nothing and raises an alarm at each attempt. The same process publishes the checkpoints,
 * beside sealing: a slow destination does not delay a checkpoint, and what was signed is published
 * also while nothing more is.
 */
export async function startSealer(
  core: SealerCore,
  { everyMs = SEAL_EVERY_MS, limits = MANAGEMENT_LIMITS }: SealerOptions = {},
): Promise<HeldLease> {
  await ensureLogSchema(core)
  const outbound = createOutbound(operatorPolicy(core.config), limits)
  const held = core.leases.hold('transparency-log', async (_lease, lost) => {
    const publisher = new Publisher(everyMs, core.log)
    const publish = () => publishCheckpoints({ ...core, outbound, signal: lost })
    await Promise.all([
      sealRepeatedly(core, everyMs, () => publisher.request(), lost),
      publisher.run(publish, lost),
    ])
  })
  return {
    stop: async () => {
      await held.stop()
      await outbound.close()
    },
  }
}

async function sealRepeatedly(
  core: SealerCore,
  everyMs: number,
  onSealed: () => void,
  lost: AbortSignal,
): Promise<void> {
  const readLeaves = leafReader(core)
  const arePositionsDense = core.config.eventStore.url === null
  while (!lost.aborted) {
    let hasFailed = false
    try {
      const log = await openTransparencyLog(core)
      const deps = { pg: core.pg, log, readLeaves, arePositionsDense, now: core.now }
      let sealed: number
      do {
        sealed = await sealEvents(deps)
        if (sealed > 0) onSealed()
      } while (sealed === EVENTS_PER_CHECKPOINT_MAX && !lost.aborted)
    } catch (error) {
      hasFailed = true
      if (!lost.aborted) report(core, error)
    }
    // After a failure, the events that wait must not make the attempts more frequent.
    await pause(everyMs, hasFailed ? async () => false : () => isCheckpointFull(core), lost)
  }
}

/** Waits until the time has passed, or `isEnough` is true, which is asked now and then. */
async function pause(
  ms: number,
  isEnough: () => Promise<boolean>,
  lost: AbortSignal,
): Promise<void> {
  const until = performance.now() + ms
  while (!lost.aborted) {
    const left = until - performance.now()
    if (left <= 0) return
    const wait = Math.min(left, COUNT_EVERY_MS)
    await delay(wait, undefined, { signal: lost, ref: false }).catch(() => {})
    if (left > wait && (await isEnough().catch(() => false))) return
  }
}

/**
 * Returns whether enough events are waiting for a full checkpoint. Only the events in Postgres are
 * counted. The positions of another event store have gaps, so its events wait for the end of the
 * pause.
 */
async function isCheckpointFull({ config, pg }: SealerCore): Promise<boolean> {
  if (config.eventStore.url !== null) return false
  const { rows } = await pg.query<{ count: string }>(
    `select head.position - log.last_position as count
      from event_store.head head, transparency_log.log log`,
  )
  return Number(rows[0]?.count ?? 0) >= EVENTS_PER_CHECKPOINT_MAX
}

function report({ log }: SealerCore, err: unknown): void {
  if (err instanceof LogMismatch || err instanceof WrongLogKey) {
    log.error({ alarm: 'transparency-log-stopped', err }, `transparency log: ${err.message}`)
  } else {
    log.warn({ err }, 'transparency log: sealing failed; the next attempt follows')
  }
}
