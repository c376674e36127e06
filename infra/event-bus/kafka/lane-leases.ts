import type { Logger } from 'pino'
import type { Lease, Leases } from '../../leases/leases.ts'
import { ALL_LANES } from '../lane-of-stream.ts'
import { within } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'

/**
 * The pause in milliseconds after which a process again requests a lane (partition) that another
 * process still has.
 */
const RETRY_MS = 150

/**
 * The maximum time in milliseconds for which one round waits for new leases. The wait is limited,
 * because a process must also renew its existing leases. NOTE: a process that is suspended inside a
 * transaction locks its leases until Postgres ends that transaction.
 */
const ACQUIRE_MS_MAX = 500

export type LaneLeases = {
  /**
   * Sets the lanes (partitions) to acquire; other lanes are released. Null keeps the current lanes
   * and adds all lanes that no other process has.
   */
  readonly assign: (lanes: readonly number[] | null) => void
  /**
   * Returns the lease of a lane (partition). While a lane is being released, its lease is returned
   * until the lane's work in progress has ended.
   */
  readonly leaseOf: (lane: number) => Lease | undefined
  readonly stop: () => Promise<void>
}

type Deps = {
  readonly leases: Leases
  /** The name of the consumer group, from which the lease names are derived. */
  readonly name: string
  readonly timings: Pick<KafkaTimings, 'laneTtlMs' | 'graceMs'>
  readonly log: Logger
  readonly onGained: (lanes: readonly number[]) => void
  /**
   * Called with the lanes (partitions) that were lost. Resolves when the work in progress for these
   * lanes has ended.
   */
  readonly onLost: (lanes: readonly number[]) => Promise<void>
}

/**
 * Acquires the leases of the assigned partitions. Kafka decides which process should work on a
 * lane. The lease in Postgres decides which process may write, because only a lease can be checked
 * inside the writing transaction.
 */
export function createLaneLeases(deps: Deps): LaneLeases {
  const { leases, name, timings, log } = deps
  const nameOf = (lane: number): string => `bus:${name}:${lane}`
  const held = new Map<number, Lease>()
  const releasing = createReleasing(deps)
  let assigned: readonly number[] | null = []
  let acquiring: Promise<Lease[]> | null = null
  let isStopped = false

  const acquireAll = async (lanes: readonly number[]): Promise<Lease[]> =>
    lanes.length === 0 ? [] : await leases.acquireAll(lanes.map(nameOf), timings.laneTtlMs)
  const startReleasing = (lanes: readonly number[]): void => {
    const released = new Map<number, Lease>()
    for (const lane of lanes) {
      const lease = held.get(lane)
      if (lease !== undefined) released.set(lane, lease)
      held.delete(lane)
    }
    if (released.size > 0) releasing.begin(released)
  }
  const round = async (): Promise<void> => {
    const target = isStopped ? [] : (assigned ?? ALL_LANES)
    startReleasing([...held.keys()].filter((lane) => !target.includes(lane)))
    const renewed = fencesOf(await acquireAll([...held.keys()]))
    startReleasing(
      [...held].filter(([lane, { fence }]) => renewed.get(nameOf(lane)) !== fence).map(laneFirst),
    )
    const missing = target.filter((lane) => !held.has(lane) && !releasing.has(lane))
    acquiring ??= acquireAll(missing).finally(() => {
      acquiring = null
    })
    const found = fencesOf((await within(ACQUIRE_MS_MAX, acquiring)) ?? [])
    const mine = missing.filter((lane) => found.has(nameOf(lane)))
    for (const lane of mine) {
      held.set(lane, { name: nameOf(lane), fence: found.get(nameOf(lane)) ?? 0 })
    }
    if (mine.length > 0) deps.onGained(mine)
  }
  const loop = createLoop(async () => {
    await round().catch((err: unknown) => {
      log.warn({ err, work: name }, 'renewing the lane leases failed and will be retried')
    })
    const isLacking = assigned?.some((lane) => !held.has(lane)) ?? false
    return isLacking ? RETRY_MS : timings.laneTtlMs / 4
  })
  return {
    assign: (lanes) => {
      assigned = lanes
      if (!isStopped) loop.trigger()
    },
    leaseOf: (lane) => held.get(lane) ?? releasing.get(lane),
    stop: async () => {
      isStopped = true
      await loop.finish()
      await releasing.ended()
    },
  }
}

const fencesOf = (leases: readonly Lease[]): ReadonlyMap<string, number> =>
  new Map(leases.map(({ name, fence }) => [name, fence]))

const laneFirst = ([lane]: readonly [number, Lease]): number => lane

/** Releases lanes (partitions) as soon as the work in progress for them has ended. */
function createReleasing({ leases, timings, onLost }: Deps) {
  const releasing = new Map<number, Lease>()
  const endings = new Set<Promise<void>>()
  const release = async (released: ReadonlyMap<number, Lease>): Promise<void> => {
    await within(timings.graceMs, onLost([...released.keys()]))
    const back = [...released].map(async ([lane, lease]) => {
      await leases.release(lease).catch(() => {})
      releasing.delete(lane)
    })
    await Promise.all(back)
  }
  return {
    begin: (released: ReadonlyMap<number, Lease>): void => {
      for (const [lane, lease] of released) releasing.set(lane, lease)
      const ending = release(released).finally(() => endings.delete(ending))
      endings.add(ending)
    },
    has: (lane: number): boolean => releasing.has(lane),
    get: (lane: number): Lease | undefined => releasing.get(lane),
    ended: async (): Promise<void> => {
      await Promise.all(endings)
    },
  }
}

/**
 * Runs `round` repeatedly. The next round starts after the pause that the previous round returned,
 * or when `trigger` is called. Two rounds never overlap.
 */
function createLoop(round: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  let isTriggered = false
  let isStopped = false
  const run = async (): Promise<void> => {
    let pauseMs = 0
    while (isTriggered) {
      isTriggered = false
      pauseMs = await round()
    }
    running = null
    if (!isStopped) timer = setTimeout(trigger, pauseMs)
  }
  const trigger = (): void => {
    clearTimeout(timer)
    isTriggered = true
    running ??= run()
  }
  return {
    trigger,
    finish: async (): Promise<void> => {
      isStopped = true
      trigger()
      await running
    },
  }
}
