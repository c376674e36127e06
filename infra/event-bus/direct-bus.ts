import type { Logger } from 'pino'
import type { EventStore } from '../event-store/port.ts'
import { isCurrent, type Lease, type Leases } from '../leases/leases.ts'
import { LaneFeed } from './lane-feed.ts'
import { shareLanes } from './lane-shares.ts'
import { createOpenWorks } from './lanes.ts'
import type { EventBus, LaneWork, LaneWorker } from './port.ts'
import { watchStore } from './watch-store.ts'

export type DirectBusDeps = {
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
  /** How long a process that stands still keeps its lanes. */
  readonly ttlMs?: number
}

/**
 * A process that was killed leaves its lanes to the others after this time; one that stops gives
 * them back at once.
 */
export const LANE_TTL_MS = 5_000

/**
 * The bus without a broker: every process reads the event store itself, once for all of its lanes.
 * Lanes are leases.
 */
export function createDirectBus({
  store,
  leases,
  log,
  ttlMs = LANE_TTL_MS,
}: DirectBusDeps): EventBus {
  const works = createOpenWorks()
  return {
    work: (name, worker) => works.keep(workLanes({ store, leases, log, ttlMs }, name, worker)),
    watch: (onNews) => works.keep(watchStore({ store, log }, onNews)),
    isDegraded: () => false,
    fault: () => null,
    close: works.stopAll,
  }
}

function workLanes(
  { store, leases, log, ttlMs }: Required<DirectBusDeps>,
  name: string,
  worker: LaneWorker,
): LaneWork {
  const held = new Map<number, Lease>()
  const feed = new LaneFeed({ store, log }, worker)
  const shares = shareLanes({ leases, log, ttlMs }, name, {
    held,
    onGained: async (lanes) => {
      await worker.onGained(lanes)
      await feed.add(lanes)
    },
    onLost: (lanes) => {
      feed.remove(lanes)
      worker.onLost(lanes)
    },
  })
  return {
    isStillMine: async (client, lanes) => {
      const mine = lanes.map((lane) => held.get(lane)).filter((lease) => lease !== undefined)
      return mine.length === lanes.length && (await isCurrent(client, mine))
    },
    stop: async () => {
      await feed.stop()
      await shares.stop()
    },
  }
}
