import { setTimeout as delay } from 'node:timers/promises'
import type { Recorded } from '#domain/shared/event.ts'
import type { Subscription } from '#infra/event-store/port.ts'
import { type AdvanceParts, advance } from './advance.ts'
import { isOutage } from './fold.ts'
import { type Lane, stopLane } from './lane.ts'

const BATCH_MAX = 1_000
/**
 * After a batch, rest four times as long as it took: at ease a write is folded at once, under load
 * batches grow and statements per event shrink. The bound keeps rows fresh.
 */
const REST_FACTOR = 4
const REST_MAX_MS = 60
const RETRY_MS = 250

export type Feed = { readonly stop: () => Promise<void>; readonly join: (lane: Lane) => void }

/**
 * Reads the store once for all lanes, from the foremost one's position on. A lane that is behind
 * catches up by itself and then joins.
 */
export function startFeed(parts: AdvanceParts, lanes: readonly Lane[]): Feed {
  const { core, stopping } = parts
  /** Every batch up to here was given to those who had joined. */
  let position = Math.max(0, ...lanes.map((lane) => lane.position))
  let subscription: Subscription | null = null
  const running = new Set<Promise<void>>()

  const onBatch = async (events: readonly Recorded[]): Promise<void> => {
    const last = events.at(-1)
    if (last === undefined || stopping.aborted) return
    position = last.position
    const startedAt = performance.now()
    const joined = lanes.filter(({ isJoined }) => isJoined)
    await advance(parts, joined, events)
    for (const lane of joined) if (!lane.isJoined && lane.fault === null) join(lane)
    await rest(performance.now() - startedAt, stopping)
  }
  const subscribe = (): void => {
    subscription = core.store.subscribeAll(
      position,
      onBatch,
      (error) => {
        core.log.error({ err: error }, 'the feed of the read models broke and starts again')
        setTimeout(() => stopping.aborted || subscribe(), RETRY_MS).unref()
      },
      { maxBatch: BATCH_MAX },
    )
  }
  const join = (lane: Lane): void => {
    const task = catchUp(parts, lane, () => position).finally(() => running.delete(task))
    running.add(task)
  }

  for (const lane of lanes) {
    if (lane.position >= position) lane.isJoined = true
    else join(lane)
  }
  subscribe()
  return {
    join,
    stop: async () => {
      await subscription?.stop()
      await Promise.all(running)
    },
  }
}

/** Reads the store for one lane until it is where the feed is, and then joins it there. */
async function catchUp(parts: AdvanceParts, lane: Lane, feedPosition: () => number): Promise<void> {
  const { core, stopping } = parts
  while (!stopping.aborted && lane.fault === null) {
    if (lane.position >= feedPosition()) {
      lane.isJoined = true
      return
    }
    try {
      const events = await core.store.readAll(lane.position, BATCH_MAX)
      await advance(parts, [lane], events)
      if (events.length === 0) await rest(RETRY_MS, stopping)
    } catch (error) {
      if (!isOutage(error)) stopLane(lane, error, core.log)
      else await rest(RETRY_MS, stopping)
    }
  }
}

async function rest(tookMs: number, stopping: AbortSignal): Promise<void> {
  const restMs = Math.min(REST_MAX_MS, tookMs * REST_FACTOR)
  if (restMs >= 1) await delay(restMs, undefined, { signal: stopping }).catch(() => {})
}
