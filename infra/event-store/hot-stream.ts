import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { EventStore } from './port.ts'
import type { Snapshots } from './snapshots.ts'

export type AnyDecider = Decider<unknown, unknown, Fact, CodedError>

const PAGE = 1_000

type Known = { state: unknown; revision: number; position: number }

/**
 * The state of a stream that this process caches. `evolve` changes it in place, so after a failure
 * the caller must `forget` it, and it is loaded again.
 */
export type HotStream = {
  readonly stream: string
  readonly decider: AnyDecider
  readonly isLoaded: () => boolean
  readonly state: () => unknown
  readonly revision: () => number
  readonly position: () => number
  /** Reads the events beyond the known revision. Returns whether there were any. */
  readonly catchUp: () => Promise<boolean>
  readonly evolve: (event: Fact) => void
  /**
   * Reverts to the stored state after a conflict. Events that were evolved and not written are
   * undone if the decider can undo them, and only the new events are read. Otherwise the whole
   * state is forgotten. Without evolved events the state is kept.
   */
  readonly revertToStored: () => void
  /** Returns true when the state is known to be outdated. */
  readonly isOld: () => boolean
  /** Confirms that the evolved events are written. */
  readonly moveTo: (revision: number, position: number) => void
  readonly forget: () => void
  /** Saves a snapshot when the stream has grown enough since the last one. */
  readonly maybeSnapshot: (every: number, onFailure: (error: unknown) => void) => void
}

export function createHotStream(
  stream: string,
  decider: AnyDecider,
  store: EventStore,
  snapshots: Snapshots,
): HotStream {
  const codec = decider.snapshot
  let known: Known | null = null
  let snapshotRevision = -1
  let isOld = false
  const speculation = createSpeculation(decider)

  const forget = (): void => {
    known = null
    speculation.confirm()
  }
  const now = () => {
    if (known === null) throw new Error(`stream ${stream} is not loaded`)
    return known
  }

  return {
    stream,
    decider,
    isLoaded: () => known !== null,
    state: () => now().state,
    isOld: () => isOld,
    revision: () => now().revision,
    position: () => now().position,
    catchUp: async () => {
      const current = known ?? (await startingPoint(stream, decider, store, snapshots))
      if (known === null) snapshotRevision = current.revision
      const before = current.revision
      // A partly evolved state must not survive a failing read.
      known = null
      await foldTail(current, stream, decider, store)
      known = current
      isOld = false
      return current.revision > before
    },
    evolve: (event) => {
      now().state = speculation.evolve(now().state, event)
    },
    revertToStored: () => {
      isOld = speculation.revertToStored()
      if (!isOld) forget()
    },
    moveTo: (revision, position) => {
      Object.assign(now(), { revision, position })
      speculation.confirm()
    },
    forget,
    maybeSnapshot: (every, onFailure) => {
      if (codec === undefined || known === null) return
      if (known.revision - snapshotRevision < every) return
      snapshotRevision = known.revision
      keep(known, stream, codec, snapshots).catch(onFailure)
    },
  }
}

/**
 * Tracks the events that were evolved before they are written, and undoes them if the decider can.
 */
function createSpeculation(decider: AnyDecider) {
  let undos: (() => void)[] = []
  let hasEvolved = false
  /** True while an event is only partly evolved. */
  let isTorn = false
  return {
    evolve: (state: unknown, event: Fact): unknown => {
      hasEvolved = true
      if (decider.undo !== undefined) undos.push(decider.undo(state, event))
      isTorn = true
      const evolved = decider.evolve(state, event)
      isTorn = false
      return evolved
    },
    /** Returns false when the state is invalid. */
    revertToStored: (): boolean => {
      if (!hasEvolved) return true
      if (decider.undo === undefined || isTorn) return false
      for (const undo of undos.splice(0).reverse()) undo()
      hasEvolved = false
      return true
    },
    /** Forgets the undo steps, because the events are written or the state is forgotten. */
    confirm: (): void => {
      undos = []
      hasEvolved = false
      isTorn = false
    },
  }
}

async function keep(
  { revision, position, state }: Known,
  stream: string,
  { version, encode }: SnapshotCodec<unknown>,
  snapshots: Snapshots,
): Promise<void> {
  await snapshots.save(stream, { version, revision, position, state: encode(state) })
}

/** Applies the events up to the stream's end. */
async function foldTail(
  known: Known,
  stream: string,
  decider: AnyDecider,
  store: EventStore,
): Promise<void> {
  for (;;) {
    const events = await store.readStream(stream, known.revision + 1, PAGE)
    for (const event of events) {
      known.state = decider.evolve(known.state, event)
      known.revision = event.revision
      known.position = event.position
    }
    if (events.length < PAGE) return
  }
}

/** Returns the stream's snapshot if it is usable, or the initial state. */
async function startingPoint(
  stream: string,
  { initialState, snapshot: codec }: AnyDecider,
  store: EventStore,
  snapshots: Snapshots,
): Promise<Known> {
  const beginning = { state: initialState(), revision: -1, position: 0 }
  const kept = codec === undefined ? null : await snapshots.load(stream)
  if (codec === undefined || kept === null || kept.version !== codec.version) return beginning
  // A snapshot of another history (after a store was restored or replaced) must not be used.
  const [anchor] = await store.readStream(stream, kept.revision, 1)
  if (anchor?.position !== kept.position) return beginning
  return { state: codec.decode(kept.state), revision: kept.revision, position: kept.position }
}
