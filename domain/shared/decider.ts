import type { CodedError } from './coded-error.ts'

/**
 * The three pure functions of an aggregate. Times and ids are part of the commands. `decide`
 * returns the events to append, no events if nothing changes (as for a repeated command), or an
 * error. NOTE: `evolve` may change the state in place, because an account with hundreds of open
 * holds is updated on every call. `decide` must never change the state.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Returns a function that reverts the event. Call `undo` before `evolve`, and revert later events
   * first. Defined for streams to which several processes write at a high rate.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /** Defined for streams that grow without bound. */
  readonly snapshot?: SnapshotCodec<State>
}

/**
 * Encodes a state for storage, and decodes it. `version` changes with the shape; snapshots of
 * another version are ignored.
 */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
