import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '../core-dependencies.ts'
import { pauseUntilCommit } from '../event-store/pause-idle-work-until-next-event.ts'
import type { HeldLease } from '../leases/exclusive-leases.ts'
import {
  createOutbound,
  MANAGEMENT_LIMITS,
  type OutboundLimits,
} from '../outbound/outbound-connections.ts'
import { operatorPolicy } from '../outbound/outbound-policy.ts'
import { leafReader } from './leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog, WrongLogKey } from './open-log.ts'
import { Publisher, publishCheckpoints } from './publish-checkpoints.ts'
import { EVENTS_PER_CHECKPOINT_MAX, LogMismatch, sealEvents } from './seal-events.ts'

type SealerCore = Pick<
  Core,
  'actors' | 'config' | 'leases' | 'log' | 'now' | 'pg' | 'store' | 'vault'
>

/**
 * The pause between two checkpoints in milliseconds. There is no pause if enough events wait for a
 * full checkpoint.
 */
export const SEAL_EVERY_MS = 10_000

type SealerOptions = {
  readonly everyMs?: number
  /** The time and size limits of requests to the webhook and to witnesses. */
  readonly limits?: OutboundLimits
}

/**
 * The maximum pause in milliseconds before the next search for unsealed events while no commit is
 * noticed.
 */
const IDLE_MS_MAX = 60_000
/** The interval in milliseconds at which the unsealed events are counted during the pause. */
const COUNT_EVERY_MS = 1_000

/**
 * Starts sealing: signs a checkpoint of the new events every ten seconds, and earlier if there are
 * enough for a full checkpoint. Only the process that holds the lease does this. If the history was
 * changed, or if the log has another key, the process signs nothing and raises an alarm at each
 * attempt. The same process publishes the checkpoints independently of sealing. A slow destination
 * therefore does not delay a checkpoint, and signed checkpoints are published even when nothing
 * more can be signed.
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
  const { store } = core
  while (!lost.aborted) {
    let hasFailed = false
    // All events up to here are sealed unless sealing fails.
    const seen = store.commits?.position() ?? null
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
    // After a failure, the full pause is kept. The waiting events would otherwise make the attempts
    // more frequent.
    if (hasFailed) await delay(everyMs, undefined, { signal: lost, ref: false }).catch(() => {})
    else {
      await pauseOrFill(core, seen, everyMs, lost)
      await pauseUntilCommit(store, { seen, everyMs: 0, idleMs: IDLE_MS_MAX, signal: lost })
    }
  }
}

/**
 * Waits `ms` milliseconds. Returns earlier if enough events for a full checkpoint follow `sealed`,
 * the position up to which all events are sealed. While no event follows this position, nothing is
 * counted.
 */
async function pauseOrFill(
  core: SealerCore,
  sealed: number | null,
  ms: number,
  lost: AbortSignal,
): Promise<void> {
  const { commits } = core.store
  const until = performance.now() + ms
  while (!lost.aborted) {
    if (commits !== undefined && sealed !== null)
      await commits.waitBeyond(sealed, until - performance.now(), lost)
    const left = until - performance.now()
    if (left <= 0) return
    const wait = Math.min(left, COUNT_EVERY_MS)
    await delay(wait, undefined, { signal: lost, ref: false }).catch(() => {})
    if (left > wait && (await isCheckpointFull(core, sealed).catch(() => false))) return
  }
}

/**
 * Reports whether enough events wait for a full checkpoint. Always false if the event store is not
 * in Postgres, because the positions of such a store have gaps and do not tell the number of
 * events.
 */
async function isCheckpointFull(
  { config, pg, store: { commits } }: SealerCore,
  sealed: number | null,
): Promise<boolean> {
  if (config.eventStore.url !== null) return false
  if (commits !== undefined && sealed !== null)
    return commits.position() - sealed >= EVENTS_PER_CHECKPOINT_MAX
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
