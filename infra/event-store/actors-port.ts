import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'

/**
 * The origin of a command: its actor, its cause (a request id) and its time (unix milliseconds).
 */
export type CommandContext = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * `position` is the position of the last event written, or of the stream's last known event when
 * the command changed nothing.
 */
export type Done<E extends Fact> = {
  readonly isDone: true
  readonly events: readonly Recorded<E>[]
  readonly position: number
}

export type Rejected<R extends CodedError> = { readonly isDone: false; readonly error: R }

export type Outcome<E extends Fact, R extends CodedError> = Done<E> | Rejected<R>

/** One command to one stream, as a part of a joint append to several streams. */
export type Step<S, C, E extends Fact, R extends CodedError> = {
  readonly decider: Decider<S, C, E, R>
  readonly stream: string
  readonly command: C
  /** This is the `mustBeNew` of `StreamAppend`. */
  readonly mustBeNew?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of steps mixes aggregates
export type AnyStep = Step<any, any, any, any>

/**
 * Serialises the commands of each stream in this process: waiting commands are decided in order on
 * the cached state and appended as one batch at the exact revision. After a conflict with another
 * process, the state is reloaded and the commands are decided again.
 */
export interface StreamActors {
  handle<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    context: CommandContext,
  ): Promise<Outcome<E, R>>
  /** Writes all steps in one append, or returns the first error and writes nothing. */
  handleTogether(
    steps: readonly AnyStep[],
    context: CommandContext,
  ): Promise<Outcome<Fact, CodedError>>
  /**
   * Returns the answer of `question` to the current state of the stream. It must neither keep nor
   * change the state.
   */
  ask<S, C, E extends Fact, R extends CodedError, Answer>(
    decider: Decider<S, C, E, R>,
    stream: string,
    question: (state: S) => Answer,
  ): Promise<Answer>
  /** Returns a copy of the stream's current state, read up to its end. */
  stateOf<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
  /**
   * Does the same as `stateOf` without caching a stream that is not in use. It is meant for reading
   * many streams, and for names that untrusted callers choose.
   */
  peek<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
}
