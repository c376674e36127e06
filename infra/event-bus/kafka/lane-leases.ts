import type { Logger } from 'pino'
import type { Lease, Leases } from '../../leases/leases.ts'
import { ALL_LANES } from '../lanes.ts'
import { within } from './kafka-client.ts'
import type { KafkaTimings } from './timings.ts'

/** How soon a lane that another process still holds is asked for again. */
const ASK_AGAIN_MS = 150

/**
 * NOTE: a process that was stopped in the middle of a transaction locks its leases until Postgres
 * ends that transaction. Whoever asks for them meanwhile must go on keeping what is his.
 */
const ASK_MS_MAX = 500

export type LaneLeases = {
  /** The lanes that ought to be held; null: those that are, and whatever nobody else holds. */
  readonly want: (lanes: readonly number[] | null) => void
  /** A lane that is being left counts until what was under way has ended. */
  readonly leaseOf: (lane: number) => Lease | undefined
  readonly stop: () => Promise<void>
}

type Deps = {
  readonly leases: Leases
  /** Of the group; each lane is a name of its own below it. */
  readonly name: string
  readonly timings: Pick<KafkaTimings, 'laneTtlMs' | 'graceMs'>
  readonly log: Logger
  readonly onGained: (lanes: readonly number[]) => void
  /** Resolves when nothing is under way any more. */
  readonly onLost: (lanes: readonly number[]) => Promise<void>
}

/**
 * The leases behind the partitions. Kafka decides who ought to work a lane; the lease in Postgres
 * decides who may write, because only that can be asked inside of the writing transaction.
 */
export function createLaneLeases(deps: Deps): LaneLeases {
  const { leases, name, timings, log } = deps
  const nameOf = (lane: number): string => `bus:${name}:${lane}`
  const held = new Map<number, Lease>()
  const leaving = createLeaving(deps)
  let wanted: readonly number[] | null = []
  let asking: Promise<Lease[]> | null = null
  let isStopped = false

  const acquireAll = async (lanes: readonly number[]): Promise<Lease[]> =>
    lanes.length === 0 ? [] : await leases.acquireAll(lanes.map(nameOf), timings.laneTtlMs)
  const leave = (lanes: readonly number[]): void => {
    const left = new Map<number, Lease>()
    for (const lane of lanes) {
      const lease = held.get(lane)
      if (lease !== undefined) left.set(lane, lease)
      held.delete(lane)
    }
    if (left.size > 0) leaving.begin(left)
  }
  const turn = async (): Promise<void> => {
    const due = isStopped ? [] : (wanted ?? ALL_LANES)
    leave([...held.keys()].filter((lane) => !due.includes(lane)))
    const kept = fencesOf(await acquireAll([...held.keys()]))
    leave([...held].filter(([lane, { fence }]) => kept.get(nameOf(lane)) !== fence).map(laneFirst))
    const missing = due.filter((lane) => !held.has(lane) && !leaving.has(lane))
    asking ??= acquireAll(missing).finally(() => {
      asking = null
    })
    const found = fencesOf((await within(ASK_MS_MAX, asking)) ?? [])
    const mine = missing.filter((lane) => found.has(nameOf(lane)))
    for (const lane of mine) {
      held.set(lane, { name: nameOf(lane), fence: found.get(nameOf(lane)) ?? 0 })
    }
    if (mine.length > 0) deps.onGained(mine)
  }
  const turns = createKeyedMutex(async () => {
    await turn().catch((err: unknown) => {
      log.warn({ err, work: name }, 'the leases of the lanes can not be kept just now')
    })
    const isLacking = wanted?.some((lane) => !held.has(lane)) ?? false
    return isLacking ? ASK_AGAIN_MS : timings.laneTtlMs / 4
  })
  return {
    want: (lanes) => {
      wanted = lanes
      if (!isStopped) turns.soon()
    },
    leaseOf: (lane) => held.get(lane) ?? leaving.get(lane),
    stop: async () => {
      isStopped = true
      await turns.lastOne()
      await leaving.ended()
    },
  }
}

const fencesOf = (leases: readonly Lease[]): ReadonlyMap<string, number> =>
  new Map(leases.map(({ name, fence }) => [name, fence]))

const laneFirst = ([lane]: readonly [number, Lease]): number => lane

/** Lanes that are given up as soon as what was under way for them has ended. */
function createLeaving({ leases, timings, onLost }: Deps) {
  const leaving = new Map<number, Lease>()
  const endings = new Set<Promise<void>>()
  const release = async (left: ReadonlyMap<number, Lease>): Promise<void> => {
    await within(timings.graceMs, onLost([...left.keys()]))
    const back = [...left].map(async ([lane, lease]) => {
      await leases.release(lease).catch(() => {})
      leaving.delete(lane)
    })
    await Promise.all(back)
  }
  return {
    begin: (left: ReadonlyMap<number, Lease>): void => {
      for (const [lane, lease] of left) leaving.set(lane, lease)
      const ending = release(left).finally(() => endings.delete(ending))
      endings.add(ending)
    },
    has: (lane: number): boolean => leaving.has(lane),
    get: (lane: number): Lease | undefined => leaving.get(lane),
    ended: async (): Promise<void> => {
      await Promise.all(endings)
    },
  }
}

/** One turn after the other: at the latest after the pause that the one before asked for. */
function createKeyedMutex(turn: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  let isAsked = false
  let isStopped = false
  const run = async (): Promise<void> => {
    let pauseMs = 0
    while (isAsked) {
      isAsked = false
      pauseMs = await turn()
    }
    running = null
    if (!isStopped) timer = setTimeout(soon, pauseMs)
  }
  const soon = (): void => {
    clearTimeout(timer)
    isAsked = true
    running ??= run()
  }
  return {
    soon,
    lastOne: async (): Promise<void> => {
      isStopped = true
      soon()
      await running
    },
  }
}
