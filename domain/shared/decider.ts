import type { CodedError } from './coded-error.ts'

/**
 * The three functions that make an aggregate. Pure: time and ids enter with the command.
 *
 * `initialState` makes a fresh state. `decide` answers with the events to append (none when the
 * command changes nothing, such as a repeat) or with a error. `evolve` applies one event.
 *
 * NOTE: `evolve` owns the state it is given and may change it in place (an account with hundreds
 * of open holds is folded on every call); `decide` must never change it.
 */
export type Decider<State, Command, Event, R extends CodedError> = {
  readonly initialState: () => State
  readonly decide: (command: Command, state: State) => readonly Event[] | R
  readonly evolve: (state: State, event: Event) => State
  /**
   * Present where several processes write one stream at a pace: asked before `evolve`, how to take
   * that event back, as long as all after it are taken back first.
   */
  readonly undo?: (state: State, event: Event) => () => void
  /** Present where a stream grows without end: how its state is kept beside the stream. */
  readonly snapshot?: SnapshotCodec<State>
}

/** `version` changes whenever `encode`'s shape does; an older snapshot is then ignored. */
export type SnapshotCodec<State> = {
  readonly version: number
  readonly encode: (state: State) => unknown
  readonly decode: (stored: unknown) => State
}
