import type { CodedError } from './coded-error.ts'

/**
 * The three functions that make an aggregate. They are pure: time and ids enter with the command.
 *
 * `initialState` makes a fresh state. `decide` returns the events to append (none when the command
 * changes nothing, such as a repeat) or an error. `evolve` applies one event.
 *
 * NOTE: `evolve` owns the state it is given and may change it in place (an account with hundreds of
 * open holds is folded on every call); `decide` must never change it.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Defined where several processes write to one stream at a high rate. It is called before
   * `evolve` and returns a function that reverts the event; later events must be reverted first.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /** Defined where a stream grows without a bound: how its state is stored beside the stream. */
  readonly snapshot?: SnapshotCodec<State>
}

/**
 * `version` changes whenever the shape that `encode` returns changes; older snapshots are then
 * ignored.
 */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
