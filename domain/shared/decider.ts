import type { CodedError } from './coded-error.ts'

/**
 * The pure functions of an aggregate. Times and ids are part of the commands. `decide` returns an
 * error or the list of the events to append. The list is empty if nothing changes. `decide` never
 * changes the state. NOTE: `evolve` may change the state in place, because an account with hundreds
 * of open holds is updated on every call.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Prepares to revert an event. Must be called before `evolve` applies the event. Returns the
   * function that reverts the event. Several events must be reverted in reverse order. Defined for
   * streams to which several processes write at a high rate.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /**
   * The maximum number of events that are read at once when the stream is loaded. The default is 1
   * 000. Defined for streams of large events, because decoding a page blocks the event loop.
   */
  readonly eventsPerPage?: number
  /** Defined for streams that grow without bound. */
  readonly snapshot?: SnapshotCodec<State>
}

/**
 * Encodes a state for storage and decodes it. `version` must change with the shape of the state.
 * Snapshots of another version are ignored.
 */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
