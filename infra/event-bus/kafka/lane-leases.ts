import type { Logger } from 'pino'
import type { Lease, Leases } from '../../leases/exclusive-leases.ts'
import { ALL_LANES } from '../lane-of-stream.ts'
import { within } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'

/**
 * If another process has the lease of an assigned lane, the lease is requested again after this
 * pause.
 */
const RETRY_MS = 150

/**
 * The maximum wait for new leases in one round, so that the next round can renew the existing
 * leases in time. NOTE: a process that is suspended inside a transaction keeps the rows of its
 * leases locked.
 */
const ACQUIRE_MS_MAX = 500

export type LaneLeases = {
  /**
   * Sets the lanes whose leases are acquired. Null keeps the current lanes and adds all lanes
   * without a lease.
   */
  readonly assign: (lanes: readonly number[] | null) => void
  /** Returns the lease of a lane, also while the lane is being released. */
  readonly leaseOf: (lane: number) => Lease | undefined
  readonly stop: () => Promise<void>
}

type Deps = {
  readonly leases: Leases
  readonly name: string
  readonly timings: Pick<KafkaTimings, 'laneTtlMs' | 'graceMs'>
  readonly log: Logger
  readonly onGained: (lanes: readonly number[]) => void
  /** Called with lost lanes. Resolves when the work in progress for these lanes has ended. */
  readonly onLost: (lanes: readonly number[]) => Promise<void>
}

/**
 * Acquires the leases of the lanes that Kafka assigns. The lease in Postgres decides which process
 * may write, because the writing transaction can check a lease, but not Kafka's assignment.
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
    const gained = missing.filter((lane) => found.has(nameOf(lane)))
    for (const lane of gained) {
      held.set(lane, { name: nameOf(lane), fence: found.get(nameOf(lane)) ?? 0 })
    }
    if (gained.length > 0) deps.onGained(gained)
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

/** Releases lanes as soon as their work in progress has ended. */
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
 * Repeats `round` after the pause that the last `round` returned, or as soon as `trigger` is
 * called.
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
