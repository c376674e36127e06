import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { EventStore } from './port.ts'
import type { Snapshots } from './snapshots.ts'

export type AnyDecider = Decider<unknown, unknown, Fact, CodedError>

const PAGE = 1_000
const NEVER = Number.NEGATIVE_INFINITY

type StreamState = { state: unknown; revision: number; position: number; confirmedAt: number }

/**
 * A stream with cached state, which `evolve` changes in place. After a failure, the caller must
 * call `forget`, so that the state is loaded again. After a conflict, `revertToStored` is
 * sufficient.
 */
export type CachedStream = {
  readonly stream: string
  readonly decider: AnyDecider
  readonly isLoaded: () => boolean
  readonly state: () => unknown
  readonly revision: () => number
  readonly position: () => number
  /**
   * A time of `performance.now()` at which the state included all stored events. Later events of
   * other processes may be missing.
   * `-Infinity` if no state is loaded, or if stored events are known to be missing.
   */
  readonly confirmedAt: () => number
  /** Reads the events that were stored since the last read. Returns true if there were any. */
  readonly catchUp: () => Promise<boolean>
  readonly evolve: (event: Fact) => void
  /**
   * Reverts the state to the stored events after a conflict. If the decider has no `undo`, a state
   * with unwritten events is dropped.
   */
  readonly revertToStored: () => void
  /**
   * Reports whether the stream is known to have stored events that the cached state does not
   * include.
   */
  readonly isOld: () => boolean
  /**
   * Records that the applied events were written, and sets the new revision and position. `sentAt`
   * is the time of `performance.now()` at which the append was sent.
   */
  readonly moveTo: (revision: number, position: number, sentAt: number) => void
  readonly forget: () => void
  /** Saves a snapshot if at least `every` events have been written since the last snapshot. */
  readonly maybeSnapshot: (every: number, onFailure: (error: unknown) => void) => void
}

export function createCachedStream(
  stream: string,
  decider: AnyDecider,
  store: EventStore,
  snapshots: Snapshots,
): CachedStream {
  let cached: StreamState | null = null
  let isOld = false
  const speculation = createSpeculation(decider)
  const snapshotSaver = createSnapshotSaver(stream, decider, snapshots)

  const forget = (): void => {
    cached = null
    speculation.confirm()
  }
  const now = () => {
    if (cached === null) throw new Error(`stream ${stream} is not loaded`)
    return cached
  }

  return {
    stream,
    decider,
    isLoaded: () => cached !== null,
    state: () => now().state,
    isOld: () => isOld,
    revision: () => now().revision,
    position: () => now().position,
    confirmedAt: () => (isOld ? NEVER : (cached?.confirmedAt ?? NEVER)),
    catchUp: async () => {
      const current = cached ?? (await startingPoint(stream, decider, store, snapshots))
      if (cached === null) snapshotSaver.onLoaded(current.revision)
      const before = current.revision
      // A failed read could leave the state partly evolved, so no state is kept during the read.
      cached = null
      await foldTail(current, stream, decider, store)
      cached = current
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
    moveTo: (revision, position, sentAt) => {
      Object.assign(now(), { revision, position, confirmedAt: sentAt })
      speculation.confirm()
    },
    forget,
    maybeSnapshot: (every, onFailure) => {
      if (cached !== null) snapshotSaver.maybeSave(cached, every, onFailure)
    },
  }
}

/**
 * Tracks events that were applied to the state but not written yet. Undoes them if the decider
 * supports `undo`.
 */
function createSpeculation(decider: AnyDecider) {
  let undos: (() => void)[] = []
  let hasEvolved = false
  /**
   * True while `evolve` runs, and after `evolve` has thrown. In both cases, the state can contain a
   * part of the changes of an event.
   */
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
    /**
     * Undoes the unwritten events. Returns false if they can't be undone. The state is then
     * invalid.
     */
    revertToStored: (): boolean => {
      if (!hasEvolved) return true
      if (decider.undo === undefined || isTorn) return false
      for (const undo of undos.splice(0).reverse()) undo()
      hasEvolved = false
      return true
    },
    confirm: (): void => {
      undos = []
      hasEvolved = false
      isTorn = false
    },
  }
}

/** Saves snapshots of a stream if its decider supports them. */
function createSnapshotSaver(
  stream: string,
  { snapshot: codec }: AnyDecider,
  snapshots: Snapshots,
) {
  /** The revision of the last snapshot, or at which the state was loaded. */
  let savedRevision = -1
  const save = async (
    { revision, position, state }: StreamState,
    { version, encode }: SnapshotCodec<unknown>,
  ): Promise<void> => {
    await snapshots.save(stream, { version, revision, position, state: encode(state) })
  }
  return {
    onLoaded: (revision: number): void => {
      savedRevision = revision
    },
    maybeSave: (cached: StreamState, every: number, onFailure: (error: unknown) => void): void => {
      if (codec === undefined || cached.revision - savedRevision < every) return
      savedRevision = cached.revision
      save(cached, codec).catch(onFailure)
    },
  }
}

async function foldTail(
  current: StreamState,
  stream: string,
  decider: AnyDecider,
  store: EventStore,
): Promise<void> {
  const size = decider.eventsPerPage ?? PAGE
  current.confirmedAt = performance.now()
  for (;;) {
    const events = await store.readStream(stream, current.revision + 1, size)
    for (const event of events) {
      current.state = decider.evolve(current.state, event)
      current.revision = event.revision
      current.position = event.position
    }
    if (events.length < size) return
  }
}

/**
 * Returns the state of the stream's snapshot, or the initial state if there is no usable snapshot.
 */
async function startingPoint(
  stream: string,
  { initialState, snapshot: codec }: AnyDecider,
  store: EventStore,
  snapshots: Snapshots,
): Promise<StreamState> {
  const beginning = { state: initialState(), revision: -1, position: 0, confirmedAt: NEVER }
  const snapshot = codec === undefined ? null : await snapshots.load(stream)
  if (codec === undefined || snapshot === null || snapshot.version !== codec.version)
    return beginning
  // The event at the snapshot's revision must have the snapshot's position. If it has another
  // position, the store was restored or replaced, and the snapshot is not used.
  const [anchor] = await store.readStream(stream, snapshot.revision, 1)
  if (anchor?.position !== snapshot.position) return beginning
  return {
    state: codec.decode(snapshot.state),
    revision: snapshot.revision,
    position: snapshot.position,
    confirmedAt: NEVER,
  }
}
