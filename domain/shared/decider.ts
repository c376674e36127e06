import type { CodedError } from './coded-error.ts'

/**
 * The three functions that make up an aggregate. They are pure: times and ids are part of the
 * command.
 *
 * `initialState` creates the state without any events. `decide` returns the events to append, or an
 * error. It returns no events if the command changes nothing, such as a repeated command. `evolve`
 * applies one event to the state.
 *
 * NOTE: `evolve` may change the given state in place, because an account with hundreds of open
 * holds is folded on every call. `decide` must never change the state.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Defined for streams to which several processes write at a high rate. `undo` is called before
   * `evolve` and returns a function that reverts the event. Later events must be reverted first.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /** Defined for streams that grow without bound. Snapshots of the state are stored with them. */
  readonly snapshot?: SnapshotCodec<State>
}

/**
 * Converts a state to a stored snapshot and back. `version` changes whenever the shape of the
 * stored value changes. Snapshots with an older version are ignored.
 */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
