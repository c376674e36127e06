import type { CodedError } from './coded-error.ts'

/**
 * The three pure functions of an aggregate. Times and ids are part of the commands.
 *
 * `initialState` returns the state before the first event. `decide` returns the events to append,
 * or an error. If the command changes nothing, for example because it is repeated, `decide` returns
 * no events. `evolve` applies one event to the state.
 *
 * NOTE: `evolve` may change the given state in place, because the state of an account with hundreds
 * of open holds is updated on every call. `decide` must never change the state.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Returns a function that reverts the event. `undo` must be called before `evolve`, and later
   * events must be reverted first. It is defined for streams to which several processes write at a
   * high rate.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /** Encodes states as snapshots. It is defined for streams that grow without bound. */
  readonly snapshot?: SnapshotCodec<State>
}

/**
 * Converts a state to a snapshot that can be stored, and back. `version` changes whenever the shape
 * of the stored value changes. Snapshots with another version are ignored.
 */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
