import type { Logger } from 'pino'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore, Subscription } from '../event-store/port.ts'
import { isCurrent, type Lease, type Leases } from '../leases/exclusive-leases.ts'
import { balanceLanes } from './distribute-lanes.ts'
import { LANE_COUNT, laneOf } from './lane-of-stream.ts'
import type { EventBus, LaneWork, LaneWorker } from './port.ts'
import { createStartedWorkersAndWatches } from './stop-started-workers-and-watches.ts'

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
 * Creates an event bus without a broker. In each process, a worker has one subscription to the
 * event store. Leases assign the lanes to processes.
 */
export function createDirectBus({
  store,
  leases,
  log,
  ttlMs = LANE_TTL_MS,
}: DirectBusDeps): EventBus {
  const open = createStartedWorkersAndWatches()
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

const BATCH_MAX = 1_000

type Deps = { readonly store: EventStore; readonly log: Logger }

/**
 * The subscription of one worker in a process, for all lanes of the process. When the first lane is
 * added, the subscription starts at the last position of the store. A worker with an earlier
 * position reads the missing events from the store.
 */
export class LaneSubscription {
  private readonly deps: Deps
  private readonly worker: Pick<LaneWorker, 'onBatch'>
  private readonly lanes = new Set<number>()
  private subscription: Subscription | null = null
  private position = 0
  private isStopped = false
  private retry: NodeJS.Timeout | undefined
  private announced: Promise<unknown> = Promise.resolve()

  constructor(deps: Deps, worker: Pick<LaneWorker, 'onBatch'>) {
    this.deps = deps
    this.worker = worker
  }

  async add(gained: readonly number[]): Promise<void> {
    const head = this.subscription === null ? await this.deps.store.headPosition() : 0
    if (this.isStopped) return
    for (const lane of gained) this.lanes.add(lane)
    if (this.subscription === null) {
      this.position = head
      this.subscribe()
    }
    this.announce(gained)
  }

  remove(lost: readonly number[]): void {
    for (const lane of lost) this.lanes.delete(lane)
    if (this.lanes.size > 0) return
    void this.subscription?.stop()
    this.subscription = null
  }

  /** Stops the subscription. Resolves when the current batch has been processed. */
  async stop(): Promise<void> {
    this.isStopped = true
    clearTimeout(this.retry)
    this.lanes.clear()
    await this.subscription?.stop()
  }

  private subscribe(): void {
    const subscription = this.deps.store.subscribeAll(
      this.position,
      (events, position) =>
        this.subscription === subscription
          ? this.deliver(subscription, events, position)
          : undefined,
      (err) => {
        if (this.subscription !== subscription) return
        this.deps.log.error({ err }, 'the lane feed failed and restarts')
        this.retry = setTimeout(() => {
          if (this.subscription === subscription && !this.isStopped) this.subscribe()
        }, RETRY_MS)
      },
      { maxBatch: BATCH_MAX },
    )
    this.subscription = subscription
  }

  /**
   * Delivers events of the subscription `from`. NOTE: another subscription can replace `from` while
   * this method waits.
   */
  private async deliver(
    from: Subscription,
    events: readonly Recorded[],
    position: number,
  ): Promise<void> {
    await this.announced
    if (this.subscription !== from) return
    const after = this.position
    const lanes = [...this.lanes]
    if (lanes.length === 0) return
    const isAll = lanes.length === LANE_COUNT
    const ownEvents = isAll ? events : events.filter(({ stream }) => this.lanes.has(laneOf(stream)))
    this.position = position
    try {
      await this.worker.onBatch({ lanes, events: ownEvents, after, position })
    } catch (error) {
      if (this.subscription === from) this.position = after
      throw error
    }
  }

  /**
   * Delivers an empty batch for the gained lanes at the current position of the subscription, so
   * that a worker with an older position reads the missing events before the next event arrives.
   */
  private announce(gained: readonly number[]): void {
    const lanes = gained.filter((lane) => this.lanes.has(lane))
    if (lanes.length === 0) return
    const after = this.position
    const first = this.worker.onBatch({ lanes, events: [], after, position: after })
    const done = first.catch((err: unknown) => {
      this.deps.log.error({ err }, 'the first batch of some lanes failed and will be retried')
      setTimeout(() => this.announce(lanes), RETRY_MS).unref()
    })
    this.announced = Promise.all([this.announced, done])
  }
}
