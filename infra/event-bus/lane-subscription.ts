import type { Logger } from 'pino'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore, Subscription } from '../event-store/port.ts'
import { LANE_COUNT, laneOf } from './lane-of-stream.ts'
import type { LaneWorker } from './port.ts'

const BATCH_MAX = 1_000
const RETRY_MS = 250

type Deps = { readonly store: EventStore; readonly log: Logger }

/**
 * The only subscription of a process, for all of its lanes. It starts at the last position of the
 * store when the first lane is added. A worker with an earlier position reads the missing events
 * from the store.
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
   * Delivers events of the subscription `from`. NOTE: another subscription may replace `from` while
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
   * Delivers an empty batch at the start position, so that a worker with an older position reads
   * the missing events before the first event arrives.
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
