import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '../core-dependencies.ts'
import type { HeldLease } from '../leases/exclusive-leases.ts'
import { createOutbound } from '../outbound/outbound-connections.ts'
import { operatorPolicy } from '../outbound/outbound-policy.ts'
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

/** The interval at which the unsealed events are counted during the pause. */
const COUNT_EVERY_MS = 1_000

/**
 * The maximum pause before the next attempt to publish checkpoints, or to get the missing
 * signatures of witnesses.
 */
const PUBLISH_AGAIN_MS_MAX = 60_000

/**
 * Seals new events every ten seconds, or as soon as there are enough for a full checkpoint. A lease
 * lets only one process do this. If the history or the log's key has changed, the sealer signs
 * nothing and raises an alarm at each attempt. Checkpoints are published after a start and after
 * each sealing. They are published again, with growing pauses, until the required witnesses have
 * signed the latest checkpoint, because an idle site signs no new one.
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
    const publication = new Publication(everyMs)
    while (!lost.aborted) {
      let hasFailed = false
      try {
        const log = await openTransparencyLog(core)
        const deps = { pg: core.pg, log, readLeaves, arePositionsDense, now: core.now }
        let sealed = await sealEvents(deps)
        if (sealed > 0) publication.request()
        while (sealed === EVENTS_PER_CHECKPOINT_MAX && !lost.aborted) {
          sealed = await sealEvents(deps)
        }
        await publication.run(() => publishCheckpoints({ ...core, outbound }))
      } catch (error) {
        hasFailed = true
        if (!lost.aborted) report(core, error)
      }
      // After a failure, the events that wait must not make the attempts more frequent.
      await pause(everyMs, hasFailed ? async () => false : () => isCheckpointFull(core), lost)
    }
  })
  return {
    stop: async () => {
      await held.stop()
      await outbound.close()
    },
  }
}

/** Waits until the time has passed or `isEnough`, which is called regularly, returns true. */
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

/** Schedules publications: whether one is needed, and when the next attempt is made. */
class Publication {
  private isComplete = false
  private pauseMs: number
  private nextAt = 0
  private readonly everyMs: number

  constructor(everyMs: number) {
    this.everyMs = everyMs
    this.pauseMs = everyMs
  }

  /** Makes the next `run` publish, because there is a new checkpoint. */
  request(): void {
    this.isComplete = false
    this.pauseMs = this.everyMs
    this.nextAt = 0
  }

  async run(publish: () => Promise<boolean>): Promise<void> {
    if (this.isComplete || performance.now() < this.nextAt) return
    // Times of the loop vary a little, so a pause that ends with the next turn is made shorter.
    this.nextAt = performance.now() + this.pauseMs - this.everyMs / 2
    this.pauseMs = Math.min(this.pauseMs * 2, PUBLISH_AGAIN_MS_MAX)
    this.isComplete = await publish()
  }
}

function report({ log }: SealerCore, err: unknown): void {
  if (err instanceof LogMismatch || err instanceof WrongLogKey) {
    log.error({ alarm: 'transparency-log-stopped', err }, `transparency log: ${err.message}`)
  } else {
    log.warn({ err }, 'transparency log: sealing failed; the next attempt follows')
  }
}
