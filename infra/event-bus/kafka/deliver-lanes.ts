import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { laneOf } from '../lane-of-stream.ts'
import type { LaneBatch, LaneWorker } from '../port.ts'

const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1_000

export type LaneDelivery = {
  readonly gain: (lanes: readonly number[], begin: () => Promise<number>) => void
  /**
   * Tells the worker that these lanes are lost. Resolves when the work in progress for these lanes
   * has ended.
   */
  readonly lose: (lanes: readonly number[]) => Promise<void>
  /**
   * Returns the position up to which the lane was delivered, or null while the lane is not ready.
   */
  readonly deliveredUpTo: (lane: number) => number | null
  /**
   * Runs `work` with the `lanes` that this process still has, if there are any. No other work for
   * these lanes runs at the same time.
   */
  readonly runExclusive: (
    lanes: readonly number[],
    work: (lanes: readonly number[]) => Promise<void>,
  ) => Promise<void>
  /**
   * Delivers a batch, and retries until the delivery succeeds or this process has lost all lanes of
   * the batch.
   */
  readonly deliver: (batch: LaneBatch) => Promise<void>
}

/**
 * Delivers batches to a worker, one at a time per lane, and retries a failed batch. Calls
 * `onGained` again for a lane that was lost and acquired again.
 */
export function createLaneDelivery(
  worker: LaneWorker,
  { log, name }: { readonly log: Logger; readonly name: string },
): LaneDelivery {
  type Holding = { delivered: number | null }
  const holdings = new Map<number, Holding>()

  const retry = <T>(isHeld: () => boolean, work: () => Promise<T>): Promise<T | null> =>
    retryWhile(isHeld, work, (err) => {
      log.warn({ err, work: name }, 'a batch failed and will be retried')
    })
  const chain = createChains((err) => {
    log.error({ err, work: name }, 'the work in progress for a lane failed')
  })
  const heldOf = (lanes: readonly number[]) => lanes.filter((lane) => holdings.has(lane))
  const deliver = async (batch: LaneBatch): Promise<void> => {
    const owned = new Map(batch.lanes.map((lane) => [lane, holdings.get(lane)]))
    const stillHeld = (): readonly number[] =>
      batch.lanes.filter((lane) => owned.get(lane) && holdings.get(lane) === owned.get(lane))
    const isHeld = (): boolean => stillHeld().length > 0
    const lanes = await retry(isHeld, async () => {
      const held = restrictTo(batch, stillHeld())
      await worker.onBatch(held)
      return held.lanes
    })
    for (const lane of lanes ?? []) {
      const holding = owned.get(lane)
      if (holding) holding.delivered = Math.max(holding.delivered ?? 0, batch.position)
    }
  }
  return {
    deliver,
    deliveredUpTo: (lane) => holdings.get(lane)?.delivered ?? null,
    runExclusive: (lanes, work) =>
      chain(lanes, async () => {
        const held = heldOf(lanes)
        if (held.length > 0) await work(held)
      }),
    gain: (lanes, begin) => {
      const gained = new Map(lanes.map((lane) => [lane, { delivered: null } as Holding]))
      for (const [lane, holding] of gained) holdings.set(lane, holding)
      const stillHeld = (): readonly number[] =>
        lanes.filter((lane) => holdings.get(lane) === gained.get(lane))
      void chain(lanes, async () => {
        const isHeld = (): boolean => stillHeld().length > 0
        await retry(isHeld, () => worker.onGained(stillHeld()))
        const position = await retry(isHeld, begin)
        if (position === null) return
        // The empty batch passes the start position to the worker before the first event arrives.
        await deliver({ lanes: stillHeld(), events: [], after: position, position })
      })
    },
    lose: async (lanes) => {
      const lost = heldOf(lanes)
      for (const lane of lost) holdings.delete(lane)
      if (lost.length > 0) worker.onLost(lost)
      await chain(lanes, async () => {})
    },
  }
}

function restrictTo(batch: LaneBatch, lanes: readonly number[]): LaneBatch {
  if (lanes.length === batch.lanes.length) return batch
  const events = batch.events.filter(({ stream }) => lanes.includes(laneOf(stream)))
  return { ...batch, lanes, events }
}

type Chain = (lanes: readonly number[], work: () => Promise<void>) => Promise<void>

/**
 * Creates a function that runs `work` for some lanes as soon as all earlier work for these lanes
 * has ended. The returned promise never rejects.
 */
function createChains(onError: (error: unknown) => void): Chain {
  const tails = new Map<number, Promise<void>>()
  return (lanes, work) => {
    const done = Promise.all(lanes.map((lane) => tails.get(lane)))
      .then(work)
      .catch(onError)
    for (const lane of lanes) tails.set(lane, done)
    return done
  }
}

/**
 * Runs `work` until it succeeds, with growing pauses between the attempts. Returns the result of
 * `work`, or null once `isHeld` returns false.
 */
async function retryWhile<T>(
  isHeld: () => boolean,
  work: () => Promise<T>,
  onFailure: (error: unknown) => void,
): Promise<T | null> {
  for (let waitMs = RETRY_MS_MIN; isHeld(); waitMs = Math.min(RETRY_MS_MAX, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      // Failures after the loss of the lane are not reported. They are expected, because another
      // process has the lane now.
      if (isHeld()) onFailure(error)
    }
    await delay(waitMs)
  }
  return null
}
