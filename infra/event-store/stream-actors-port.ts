import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Client, Fact, Recorded } from '#domain/shared/event.ts'

/**
 * The origin of a command: the actor, the cause (a request id), the time in Unix milliseconds and,
 * if the command came over HTTP, the client.
 */
export type CommandContext = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
  readonly client?: Client | null
}

/**
 * The result of a command that was carried out. `position` is the position of the command's last
 * event. If the command changed nothing, `position` is the position of the stream's last event.
 */
export type Done<E extends Fact> = {
  readonly isDone: true
  readonly events: readonly Recorded<E>[]
  readonly position: number
}

export type Rejected<R extends CodedError> = { readonly isDone: false; readonly error: R }

export type Outcome<E extends Fact, R extends CodedError> = Done<E> | Rejected<R>

/**
 * A command to one stream. The steps of one `handleTogether` are written in one append to several
 * streams.
 */
export type Step<S, C, E extends Fact, R extends CodedError> = {
  readonly decider: Decider<S, C, E, R>
  readonly stream: string
  readonly command: C
  /** See `StreamAppend.mustBeNew`. */
  readonly mustBeNew?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of steps mixes aggregates
export type AnyStep = Step<any, any, any, any>

/** The maximum age of a state that is recent, in milliseconds (see `StreamActors.askRecent`). */
export const RECENT_MS = 5_000

/**
 * Processes the commands of each stream in order. Waiting commands are decided on the cached state
 * and appended as one batch. After a conflict with another process, the state is brought up to date
 * and the commands are decided again.
 */
export interface StreamActors {
  handle<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    context: CommandContext,
  ): Promise<Outcome<E, R>>
  /**
   * Writes the events of all steps in one append, or returns the first error and writes nothing.
   */
  handleTogether(
    steps: readonly AnyStep[],
    context: CommandContext,
  ): Promise<Outcome<Fact, CodedError>>
  /**
   * Calls `question` with the stream's current state and returns the answer. `question` must
   * neither store nor change the state.
   */
  ask<S, C, E extends Fact, R extends CodedError, Answer>(
    decider: Decider<S, C, E, R>,
    stream: string,
    question: (state: S) => Answer,
  ): Promise<Answer>
  /**
   * Like `ask`, but answers immediately from the cached state and reads nothing. Returns null if
   * the stream is not cached or if its state was not compared with the event store within the last
   * `RECENT_MS`. The state may lack later events of other processes, and may include events that
   * are not stored yet. Use this method only for decisions that a later command checks again.
   */
  askRecent<S, C, E extends Fact, R extends CodedError, Answer>(
    decider: Decider<S, C, E, R>,
    stream: string,
    question: (state: S) => Answer,
  ): Answer | null
  stateOf<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
  /**
   * Like `stateOf`, but does not cache the stream. Use this method for many streams or untrusted
   * stream names.
   */
  peek<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
}
