import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'

/** Who asks, because of what (a request id), and when (unix milliseconds). */
export type CommandContext = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * `position` is that of the last event written, or of the stream's last known event when the
 * command changed nothing.
 */
export type Done<E extends Fact> = {
  readonly isDone: true
  readonly events: readonly Recorded<E>[]
  readonly position: number
}

export type Rejected<R extends CodedError> = { readonly isDone: false; readonly error: R }

export type Outcome<E extends Fact, R extends CodedError> = Done<E> | Rejected<R>

/** One command to one stream, as a part of an act that touches several. */
export type Step<S, C, E extends Fact, R extends CodedError> = {
  readonly decider: Decider<S, C, E, R>
  readonly stream: string
  readonly command: C
  /** See `StreamAppend`. */
  readonly mustBeNew?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of steps mixes aggregates
export type AnyStep = Step<any, any, any, any>

/**
 * Serialises the commands of each stream in this process: those that wait are decided in order
 * against the cached state and appended as one batch at the exact revision. A conflict with
 * another process reloads and decides again.
 */
export interface StreamActors {
  handle<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
    command: C,
    context: CommandContext,
  ): Promise<Outcome<E, R>>
  /** All steps are accepted and written in one append, or the first error is returned. */
  handleTogether(
    steps: readonly AnyStep[],
    context: CommandContext,
  ): Promise<Outcome<Fact, CodedError>>
  /** What `question` makes of the stream's state as of now: it keeps and changes nothing of it. */
  ask<S, C, E extends Fact, R extends CodedError, Answer>(
    decider: Decider<S, C, E, R>,
    stream: string,
    question: (state: S) => Answer,
  ): Promise<Answer>
  /** A copy of the stream's state as of now, read up to its end. */
  stateOf<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
  /**
   * As `stateOf`, but a stream that is not in use is not kept at hand: for looking at many, and for
   * names that strangers give.
   */
  glance<S, C, E extends Fact, R extends CodedError>(
    decider: Decider<S, C, E, R>,
    stream: string,
  ): Promise<S>
}
