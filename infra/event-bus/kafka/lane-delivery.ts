import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { laneOf } from '../lanes.ts'
import type { LaneBatch, LaneWorker } from '../port.ts'

const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1_000

export type LaneDelivery = {
  readonly gain: (lanes: readonly number[], begin: () => Promise<number>) => void
  /** Resolves when what was under way for the lanes has ended. */
  readonly lose: (lanes: readonly number[]) => Promise<void>
  /** Up to where the lane was handed on; null: it is not ready, or not ours. */
  readonly handed: (lane: number) => number | null
  /** Alone with those of the lanes that are still ours; skipped when none is. */
  readonly alone: (
    lanes: readonly number[],
    work: (lanes: readonly number[]) => Promise<void>,
  ) => Promise<void>
  /** Hands a batch on until it is taken or none of its lanes is ours. */
  readonly deliver: (batch: LaneBatch) => Promise<void>
}

/**
 * Hands batches on to a worker: one at a time per lane, again and again until it takes them, and
 * not before it has been told of the lane. One object per lane and per holding of it: a lane
 * that was lost and came back begins anew.
 */
export function createLaneDelivery(
  worker: LaneWorker,
  { log, name }: { readonly log: Logger; readonly name: string },
): LaneDelivery {
  type Holding = { handed: number | null }
  const holdings = new Map<number, Holding>()

  const insist = <T>(isWanted: () => boolean, work: () => Promise<T>): Promise<T | null> =>
    untilTaken(isWanted, work, (err) => {
      log.warn({ err, work: name }, 'a batch was not taken and comes again')
    })
  const chain = createChains((err) => {
    log.error({ err, work: name }, 'what was under way for a lane failed')
  })
  const mineOf = (lanes: readonly number[]) => lanes.filter((lane) => holdings.has(lane))
  const deliver = async (batch: LaneBatch): Promise<void> => {
    const owned = new Map(batch.lanes.map((lane) => [lane, holdings.get(lane)]))
    const still = (): readonly number[] =>
      batch.lanes.filter((lane) => owned.get(lane) && holdings.get(lane) === owned.get(lane))
    const hasMine = (): boolean => still().length > 0
    const taken = await insist(hasMine, async () => {
      const mine = parted(batch, still())
      await worker.onBatch(mine)
      return mine.lanes
    })
    for (const lane of taken ?? []) {
      const holding = owned.get(lane)
      if (holding) holding.handed = Math.max(holding.handed ?? 0, batch.position)
    }
  }
  return {
    deliver,
    handed: (lane) => holdings.get(lane)?.handed ?? null,
    alone: (lanes, work) =>
      chain(lanes, async () => {
        const mine = mineOf(lanes)
        if (mine.length > 0) await work(mine)
      }),
    gain: (lanes, begin) => {
      const gained = new Map(lanes.map((lane) => [lane, { handed: null } as Holding]))
      for (const [lane, holding] of gained) holdings.set(lane, holding)
      const still = (): readonly number[] =>
        lanes.filter((lane) => holdings.get(lane) === gained.get(lane))
      void chain(lanes, async () => {
        const isWanted = (): boolean => still().length > 0
        await insist(isWanted, () => worker.onGained(still()))
        const position = await insist(isWanted, begin)
        if (position === null) return
        // Nobody has to wait for an event to learn that he is behind.
        await deliver({ lanes: still(), events: [], after: position, position })
      })
    },
    lose: async (lanes) => {
      const lost = mineOf(lanes)
      for (const lane of lost) holdings.delete(lane)
      if (lost.length > 0) worker.onLost(lost)
      await chain(lanes, async () => {})
    },
  }
}

function parted(batch: LaneBatch, lanes: readonly number[]): LaneBatch {
  if (lanes.length === batch.lanes.length) return batch
  const events = batch.events.filter(({ stream }) => lanes.includes(laneOf(stream)))
  return { ...batch, lanes, events }
}

type Chain = (lanes: readonly number[], work: () => Promise<void>) => Promise<void>

/** Work for several lanes waits for what each of them has under way. Never rejects. */
function createChains(onError: (error: unknown) => void): Chain {
  const tails = new Map<number, Promise<void>>()
  return (lanes, work) => {
    const mine = Promise.all(lanes.map((lane) => tails.get(lane)))
      .then(work)
      .catch(onError)
    for (const lane of lanes) tails.set(lane, mine)
    return mine
  }
}

/** null: it was no longer wanted. */
async function untilTaken<T>(
  isWanted: () => boolean,
  work: () => Promise<T>,
  onFailure: (error: unknown) => void,
): Promise<T | null> {
  for (let waitMs = RETRY_MS_MIN; isWanted(); waitMs = Math.min(RETRY_MS_MAX, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      // What failed because another has the lane by now is no fault.
      if (isWanted()) onFailure(error)
    }
    await delay(waitMs)
  }
  return null
}
