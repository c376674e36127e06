import type { Logger } from 'pino'
import type { EventStore, Subscription } from '../event-store/port.ts'
import { isCurrent, type Lease, type Leases } from '../leases/exclusive-leases.ts'
import { balanceLanes } from './distribute-lanes.ts'
import { createOpenResources } from './lane-of-stream.ts'
import { LaneSubscription } from './lane-subscription.ts'
import type { EventBus, LaneWork, LaneWorker } from './port.ts'

export type DirectBusDeps = {
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
  /**
   * The lease time of a lane (a partition of the streams) in milliseconds. A process that stalls
   * keeps its lanes for this time.
   */
  readonly ttlMs?: number
}

/**
 * The default lease time of a lane in milliseconds. If a process does not renew its lease, another
 * process can acquire the lane after this time.
 */
export const LANE_TTL_MS = 5_000
/**
 * A stream prefix that matches no stream. With this prefix, a subscription reports positions
 * without decoding events.
 */
const NO_STREAM = ['\u0001']
const RETRY_MS = 250

/**
 * Creates an event bus without a broker. Each process has one subscription to the event store.
 * Leases assign the lanes to processes.
 */
export function createDirectBus({
  store,
  leases,
  log,
  ttlMs = LANE_TTL_MS,
}: DirectBusDeps): EventBus {
  const open = createOpenResources()
  return {
    work: (name, worker) => open.track(workLanes({ store, leases, log, ttlMs }, name, worker)),
    watch: (onCommitted) => open.track(watchStore({ store, log }, onCommitted)),
    isDegraded: () => false,
    operatorError: () => null,
    close: open.stopAll,
  }
}

function workLanes(
  { store, leases, log, ttlMs }: Required<DirectBusDeps>,
  name: string,
  worker: LaneWorker,
): LaneWork {
  const held = new Map<number, Lease>()
  const feed = new LaneSubscription({ store, log }, worker)
  const balancer = balanceLanes({ leases, log, ttlMs }, name, {
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
      const leases = lanes.map((lane) => held.get(lane)).filter((lease) => lease !== undefined)
      return leases.length === lanes.length && (await isCurrent(client, leases))
    },
    stop: async () => {
      await feed.stop()
      await balancer.stop()
    },
  }
}

/**
 * Calls `onCommitted` with the store's last position, at the start and after every commit of
 * events.
 */
function watchStore(
  { store, log }: { readonly store: EventStore; readonly log: Logger },
  onCommitted: (position: number) => void,
): { readonly stop: () => Promise<void> } {
  let isStopped = false
  let position: number | null = null
  let subscription: Subscription | null = null
  let retry: NodeJS.Timeout | undefined
  const tryAgain = (err: unknown): void => {
    if (isStopped) return
    log.warn({ err }, 'the watch for new events failed and restarts')
    retry = setTimeout(start, RETRY_MS)
  }
  const subscribe = async (): Promise<void> => {
    if (position === null) {
      position = await store.headPosition()
      if (!isStopped) onCommitted(position)
    }
    if (isStopped) return
    subscription = store.subscribeAll(
      position,
      (_events, reached) => {
        position = reached
        onCommitted(reached)
      },
      tryAgain,
      { streamPrefixes: NO_STREAM },
    )
  }
  let starting = Promise.resolve()
  const start = (): void => {
    starting = subscribe().catch(tryAgain)
  }
  start()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(retry)
      await starting
      await subscription?.stop()
    },
  }
}
