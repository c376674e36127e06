import type { Core } from '#infra/core-dependencies.ts'
import { createSingleConnectionPool } from '#infra/postgres/pools.ts'
import { UnreadableSecret } from '#infra/vault/port.ts'
import type { FoldContext, Projection } from '../projection.ts'
import type { ProjectionName } from '../projection-names.ts'
import { PROJECTIONS } from '../projection-registry.ts'
import { listenForReaders } from '../read-model-freshness/notify-other-processes-of-readers.ts'
import {
  type AdvanceSignal,
  advanceSignal,
} from '../read-model-freshness/read-model-advance-signal.ts'
import { adoptEarlierHashes, definitionOf, lowestOf, readCheckpoints } from './checkpoints.ts'
import { ensureReadModel } from './create-read-model-tables.ts'
import type { FoldOptions } from './fold-into-new-tables.ts'
import {
  failureOf,
  type ProjectionFailure,
  type ProjectionHealth,
} from './lane-cursors-and-projection-health.ts'
import { ProjectionWorker } from './projection-worker.ts'
import {
  describeAhead,
  ensureCheckpointTables,
  furthestAhead,
  readAheadOfEvents,
  recordAheadOfEvents,
} from './read-models-ahead-of-events.ts'
import { type Rebuilt, rebuildReadModels } from './rebuild-read-model.ts'
import { type VerificationResult, verifyReadModels } from './verify-read-model.ts'

export type ProjectionRunner = {
  /** Returns each projection's lowest position over the lanes that this process owns. */
  readonly positions: () => ReadonlyMap<ProjectionName, number>
  readonly health: () => readonly ProjectionHealth[]
  /** Returns false while a projection is stopped in a lane that this process owns. */
  readonly isHealthy: () => boolean
  /**
   * Rebuilds read models. The events are read once for all of them. During the rebuild, the live
   * versions stay readable. Afterwards, read models that were stopped are kept current again.
   */
  readonly rebuild: (
    names: ProjectionName | readonly ProjectionName[],
    options?: FoldOptions,
  ) => Promise<Rebuilt>
  /**
   * Compares a read model with a new fold of the events. Without `name`, all read models are
   * compared.
   */
  readonly verify: (name?: ProjectionName, options?: FoldOptions) => Promise<VerificationResult[]>
  readonly stop: () => Promise<void>
}

/** Only tests use these options. */
export type RunnerOptions = {
  readonly projections?: readonly Projection[]
  /** Called in each transaction, after the rows are written and before the commit. */
  readonly beforeCommit?: (names: readonly ProjectionName[]) => void
  /** The time limit of a transaction in milliseconds. */
  readonly withinMs?: number
}

/**
 * Starts to maintain the read models. Read models that are missing or have another definition are
 * built first. Several processes share the work by lanes. Resolves when the read models can be
 * read, even if they are still catching up.
 */
export async function startProjections(
  core: Core,
  { projections = PROJECTIONS, beforeCommit = () => {}, withinMs }: RunnerOptions = {},
): Promise<ProjectionRunner> {
  const context = foldContext(core)
  const stop = new AbortController()
  const failures = await openReadModels(core, projections, context)
  const signal = advanceSignal(core.store)
  signal.publish(await lowestPositions(core))
  const pg = createSingleConnectionPool(core.pg)
  listenForReaders(pg, signal.noteOtherReader)
  const workerDeps = {
    core,
    pg,
    context,
    stopping: stop.signal,
    beforeCommit,
    types: new Map(),
    ...(withinMs === undefined ? {} : { withinMs }),
    isStillMine: (...args: Parameters<typeof work.isStillMine>) => work.isStillMine(...args),
    onMoved: () => publishPositions(runner, signal),
    readers: signal,
  }
  const runner = new ProjectionWorker(workerDeps, projections, failures)
  const work = core.bus.work('projections', runner)
  const selectedProjections = (
    names?: ProjectionName | readonly ProjectionName[],
  ): readonly Projection[] =>
    projections.filter(({ name }) => names === undefined || [names].flat().includes(name))
  return {
    positions: () => runner.positions(),
    health: () => runner.health(),
    isHealthy: () => runner.isHealthy(),
    rebuild: async (names, options) => {
      const rebuilt = await rebuildReadModels(core, selectedProjections(names), context, options)
      await runner.restart()
      return rebuilt
    },
    verify: async (name, options) =>
      await verifyReadModels(core, selectedProjections(name), context, options),
    stop: async () => {
      stop.abort()
      await runner.stop()
      signal.setOwnsAllLanes(false)
      await work.stop()
      if (!pg.ending) await pg.end()
    },
  }
}

/**
 * Publishes positions to readers. A runner that owns only some lanes does not know all positions,
 * so readers poll the database.
 */
function publishPositions(runner: ProjectionWorker, signal: AdvanceSignal): void {
  signal.setOwnsAllLanes(runner.ownsAllLanes())
  if (runner.ownsAllLanes()) signal.publish(runner.positions())
}

/**
 * Creates missing read models, and rebuilds those with another definition. Returns the failures of
 * the read models that could not be rebuilt.
 */
async function openReadModels(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
): Promise<Map<Projection, ProjectionFailure>> {
  await ensureCheckpointTables(core.pg)
  await adoptEarlierHashes(core.pg, projections)
  for (const projection of projections) await ensureReadModel(core.pg, projection)
  await reportAheadOfEvents(core)
  const failures = new Map<Projection, ProjectionFailure>()
  const selectOutdated = async (all: readonly Projection[]): Promise<readonly Projection[]> => {
    const checkpoints = await readCheckpoints(core.pg)
    return all.filter((one) => checkpoints.get(one.name)?.definition !== definitionOf(one))
  }
  const rebuild = async (outdated: readonly Projection[]): Promise<void> => {
    try {
      await rebuildReadModels(core, outdated, context, {}, selectOutdated)
    } catch (error) {
      const [first] = outdated
      // If one read model cannot be built, the other read models are still rebuilt.
      if (outdated.length > 1) for (const one of outdated) await rebuild([one])
      else if (first !== undefined) failures.set(first, failureOf(first, error, core.log))
    }
  }
  const outdated = await selectOutdated(projections)
  if (outdated.length > 0) await rebuild(outdated)
  return failures
}

/**
 * Logs an alarm for read models that contain events which the store does not have. This must be
 * done before the read models with a new definition are rebuilt, because a rebuild removes the only
 * trace of the missing events.
 */
async function reportAheadOfEvents(core: Core): Promise<void> {
  const ahead = await recordAheadOfEvents(core)
  const furthest = furthestAhead(ahead)
  if (furthest === null) return
  core.log.error(
    { alarm: 'read-models-ahead-of-events', ...furthest, projections: [...ahead.keys()] },
    `${describeAhead(furthest)}: they stay as they are until they are rebuilt`,
  )
}

/**
 * Returns the position up to which each read model is complete: the lowest position of its lanes. A
 * read model can be ahead of the events, for example after an older backup of the events was
 * restored. Such a read model will lack the events that are appended after this was noticed. Its
 * position is therefore limited to the last position that the store had when this was noticed.
 */
async function lowestPositions({ pg }: Core): Promise<Map<ProjectionName, number>> {
  const ahead = await readAheadOfEvents(pg)
  const checkpoints = await readCheckpoints(pg)
  return new Map(
    [...checkpoints].map(([name, { positions }]) => [
      name,
      Math.min(lowestOf(positions), ahead.get(name)?.head ?? Number.POSITIVE_INFINITY),
    ]),
  )
}

/**
 * Returns the functions that event handlers use. These functions give the same results in every
 * process.
 */
export const foldContext = ({ vault, log }: Pick<Core, 'vault' | 'log'>): FoldContext => ({
  open: async (userId, sealed) => (await vault.open(userId, sealed)) ?? '',
  messageText: async (messageId, ref) => {
    try {
      const texts = await vault.getSecrets('message', [{ owner: `message:${messageId}`, ref }])
      return texts.get(ref) ?? ''
    } catch (error) {
      // An unreadable text is replaced by an empty text, because an error would stop the projection
      // for all messages.
      if (!(error instanceof UnreadableSecret)) throw error
      log.error({ err: error, messageId }, 'the text of a message can not be read: it is empty')
      return ''
    }
  },
})
