import type { Core } from '#infra/core.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { CHECKPOINT_SCHEMA, CHECKPOINT_TABLE } from '../checkpoint.ts'
import { advanceSignal } from '../freshness/advance-signal.ts'
import type { ProjectionName } from '../names.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { PROJECTIONS } from '../registry.ts'
import type { AdvanceParts } from './advance.ts'
import { definitionOf, readCheckpoints } from './checkpoints.ts'
import { startFeed } from './feed.ts'
import { healthOf, type Lane, type LaneHealth, stopLane } from './lane.ts'
import { ensureReadModel } from './read-model.ts'
import { rebuildReadModel } from './rebuild.ts'
import { type Verdict, verifyReadModel } from './verify.ts'

export type ProjectionRunner = {
  readonly positions: () => ReadonlyMap<ProjectionName, number>
  readonly health: () => readonly LaneHealth[]
  /** False while a projection is stopped by an event it can't fold. */
  readonly isHealthy: () => boolean
  /** Makes a read model anew beside the live one; also what starts a stopped one again. */
  readonly rebuild: (name: ProjectionName) => Promise<void>
  /** Compares read models (all, or one) with a fresh fold of the events. */
  readonly verify: (name?: ProjectionName) => Promise<Verdict[]>
  readonly stop: () => Promise<void>
}

/** The seams that tests use. */
export type RunnerOptions = {
  readonly projections?: readonly Projection[]
  /** Runs inside every transaction, after the rows and before the commit. */
  readonly beforeCommit?: (names: readonly ProjectionName[]) => void
}

/**
 * Makes the read models where they are missing or of an older definition, and moves them with the
 * event store from then on. Resolves once they can be read; they may still be catching up.
 */
export async function startProjections(
  core: Core,
  { projections = PROJECTIONS, beforeCommit = () => {} }: RunnerOptions = {},
): Promise<ProjectionRunner> {
  const context = foldContext(core)
  const stop = new AbortController()
  const lanes = await openLanes(core, projections, context)
  const signal = advanceSignal(core.store)
  const tell = signal.tell
  const parts: AdvanceParts = { core, context, stopping: stop.signal, tell, beforeCommit }
  const feed = startFeed(parts, lanes)
  const positions = () => new Map(lanes.map((lane) => [lane.projection.name, lane.position]))
  signal.setFed(true)
  tell(positions())
  const chosen = (name?: ProjectionName): readonly Lane[] =>
    lanes.filter(({ projection }) => name === undefined || projection.name === name)
  return {
    positions,
    health: () => lanes.map(healthOf),
    isHealthy: () => lanes.every(({ fault }) => fault === null),
    rebuild: async (name) => {
      for (const lane of chosen(name)) {
        const position = await rebuildReadModel(core, lane.projection, context)
        if (lane.fault === null) continue
        lane.fault = null
        lane.position = position
        feed.join(lane)
        tell(new Map([[name, position]]))
      }
    },
    verify: async (name) => {
      const verdicts: Verdict[] = []
      for (const { projection } of chosen(name)) {
        verdicts.push(await verifyReadModel(core, projection, context))
      }
      return verdicts
    },
    stop: async () => {
      stop.abort()
      signal.setFed(false)
      await feed.stop()
    },
  }
}

async function openLanes(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
): Promise<Lane[]> {
  await ensureSchema(core.pg, CHECKPOINT_SCHEMA, CHECKPOINT_TABLE)
  for (const projection of projections) await ensureReadModel(core.pg, projection)
  const found = await readCheckpoints(core.pg)
  const lanes: Lane[] = []
  for (const projection of projections) {
    const checkpoint = found.get(projection.name)
    const lane: Lane = {
      projection,
      position: checkpoint?.position ?? 0,
      isJoined: false,
      fault: null,
    }
    lanes.push(lane)
    if (checkpoint?.definition === definitionOf(projection)) continue
    try {
      lane.position = await rebuildReadModel(core, projection, context)
    } catch (error) {
      stopLane(lane, error, core.log)
    }
  }
  return lanes
}

const foldContext = ({ vault }: Core): FoldContext => ({
  open: async (userId, sealed) => (await vault.open(userId, sealed)) ?? '',
})
