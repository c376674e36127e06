import type { Core } from '#infra/core.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { UnreadableSecret } from '#infra/vault/port.ts'
import { CHECKPOINT_SCHEMA, CHECKPOINT_TABLE } from '../checkpoint.ts'
import { type AdvanceSignal, advanceSignal } from '../freshness/advance-signal.ts'
import type { ProjectionName } from '../names.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { PROJECTIONS } from '../registry.ts'
import { definitionOf, lowestOf, readCheckpoints } from './checkpoints.ts'
import { type Fault, faultOf, type ProjectionHealth } from './cursor.ts'
import { LaneRunner } from './lane-runner.ts'
import { ensureReadModel } from './read-model.ts'
import { rebuildReadModel } from './rebuild.ts'
import { type Verdict, verifyReadModel } from './verify.ts'

export type ProjectionRunner = {
  /** Of the lanes that are this process's. */
  readonly positions: () => ReadonlyMap<ProjectionName, number>
  readonly health: () => readonly ProjectionHealth[]
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
  /** How long a transaction may take. */
  readonly withinMs?: number
}

/**
 * Makes the read models where they are missing or of an older definition, and moves them with the
 * event store from then on, lane by lane with the other processes that do so. Resolves once they
 * can be read; they may still be catching up.
 */
export async function startProjections(
  core: Core,
  { projections = PROJECTIONS, beforeCommit = () => {}, withinMs }: RunnerOptions = {},
): Promise<ProjectionRunner> {
  const context = foldContext(core)
  const stop = new AbortController()
  const faults = await openReadModels(core, projections, context)
  const signal = advanceSignal(core.store)
  signal.tell(await lowestPositions(core))
  const parts = {
    ...{ core, context, stopping: stop.signal, beforeCommit },
    ...(withinMs === undefined ? {} : { withinMs }),
    isStillMine: (...asked: Parameters<typeof work.isStillMine>) => work.isStillMine(...asked),
    onMoved: () => tellFrom(runner, signal),
  }
  const runner = new LaneRunner(parts, projections, faults)
  const work = core.bus.work('projections', runner)
  const chosen = (name?: ProjectionName): readonly Projection[] =>
    projections.filter((projection) => name === undefined || projection.name === name)
  return {
    positions: () => runner.positions(),
    health: () => runner.health(),
    isHealthy: () => runner.isHealthy(),
    rebuild: async (name) => {
      for (const projection of chosen(name)) await rebuildReadModel(core, projection, context)
      await runner.restart()
    },
    verify: async (name) => {
      const verdicts: Verdict[] = []
      for (const projection of chosen(name)) {
        verdicts.push(await verifyReadModel(core, projection, context))
      }
      return verdicts
    },
    stop: async () => {
      stop.abort()
      await runner.stop()
      signal.setFed(false)
      await work.stop()
    },
  }
}

/** With all lanes it knows where everything is; with some, the others have to be asked for. */
function tellFrom(runner: LaneRunner, signal: AdvanceSignal): void {
  signal.setFed(runner.hasAllLanes())
  if (runner.hasAllLanes()) signal.tell(runner.positions())
}

/** Answers those that could not be made. */
async function openReadModels(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
): Promise<Map<Projection, Fault>> {
  await ensureSchema(core.pg, CHECKPOINT_SCHEMA, CHECKPOINT_TABLE)
  const faults = new Map<Projection, Fault>()
  for (const projection of projections) {
    await ensureReadModel(core.pg, projection)
    const isOther = async (): Promise<boolean> =>
      (await readCheckpoints(core.pg)).get(projection.name)?.definition !== definitionOf(projection)
    if (!(await isOther())) continue
    try {
      await rebuildReadModel(core, projection, context, isOther)
    } catch (error) {
      faults.set(projection, faultOf(projection, error, core.log))
    }
  }
  return faults
}

const lowestPositions = async ({ pg }: Core): Promise<Map<ProjectionName, number>> =>
  new Map(
    [...(await readCheckpoints(pg))].map(([name, { positions }]) => [name, lowestOf(positions)]),
  )

/** What handlers may ask while they fold, as every process answers it. */
export const foldContext = ({ vault, log }: Pick<Core, 'vault' | 'log'>): FoldContext => ({
  open: async (userId, sealed) => (await vault.open(userId, sealed)) ?? '',
  messageText: async (messageId, ref) => {
    try {
      const texts = await vault.getSecrets('message', [{ owner: `message:${messageId}`, ref }])
      return texts.get(ref) ?? ''
    } catch (error) {
      // One damaged text would else hold up every message, and the live socket with them.
      if (!(error instanceof UnreadableSecret)) throw error
      log.error({ err: error, messageId }, 'the text of a message can not be read: it is empty')
      return ''
    }
  },
})
