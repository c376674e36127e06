import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'

/**
 * The origin of a command: the actor who sends it, its cause (a request id) and its time in unix
 * milliseconds.
 */
export type CommandContext = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * The result of a command that succeeded. `position` is the position of the command's last event.
 * If the command changed nothing, `position` is the position of the stream's last known event.
 */
export type Done<E extends Fact> = {
  readonly isDone: true
  readonly events: readonly Recorded<E>[]
  readonly position: number
}

export type Rejected<R extends CodedError> = { readonly isDone: false; readonly error: R }

export type Outcome<E extends Fact, R extends CodedError> = Done<E> | Rejected<R>

/** A command to one stream, as part of a joint append to several streams. */
export type Step<S, C, E extends Fact, R extends CodedError> = {
  readonly decider: Decider<S, C, E, R>
  readonly stream: string
  readonly command: C
  /**
   * Requires that the stream is still new when this part is written: see `StreamAppend.mustBeNew`.
   */
  readonly mustBeNew?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of steps mixes aggregates
export type AnyStep = Step<any, any, any, any>

/**
 * Processes the commands of each stream one after another in this process. Waiting commands are
 * decided in order on the cached state. Their events are appended as one batch at the exact
 * revision. After a conflict with another process, the state is reloaded and the commands are
 * decided again.
 */
export interface StreamActors {
  handle<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    context: CommandContext,
  ): Promise<Outcome<E, R>>
  /**
   * Carries out all steps and writes their events in one append. If a step returns an error, that
   * error is returned and nothing is written.
   */
  handleTogether(
    steps: readonly AnyStep[],
    context: CommandContext,
  ): Promise<Outcome<Fact, CodedError>>
  /**
   * Calls `question` with the current state of the stream and returns the result. `question` must
   * neither store nor change the state.
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
   * Returns the state like `stateOf`, but does not add the stream to the cache. It is meant for
   * reading many streams, and for stream names that untrusted callers choose.
   */
  peek<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
}
