import { type CodedError, isCodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { CachedStream } from './cached-stream.ts'
import { EVENTS_PER_APPEND_MAX } from './encoded-append.ts'
import { addNewEvents, recordedEvents } from './events-from-facts.ts'
import type { Appended, NewEvent } from './port.ts'
import type { CommandContext, Outcome } from './stream-actors-port.ts'

export type PendingCommand = {
  readonly command: unknown
  readonly context: CommandContext
  readonly resolve: (outcome: Outcome<Fact, CodedError>) => void
  readonly reject: (error: unknown) => void
  /**
   * True if the decider threw an exception for this command. Such a command is not decided again.
   */
  isOver: boolean
}

/**
 * A command that was decided, and the range of its events in the batch. `first` is the index of its
 * first event. For a command without events, `first` is the number of the events before it.
 */
type DecidedCommand = {
  readonly pending: PendingCommand
  readonly first: number
  readonly count: number
  readonly error: CodedError | null
}

export type DecidedBatch = {
  readonly decided: readonly DecidedCommand[]
  readonly events: readonly NewEvent[]
  /**
   * The commands that are left for the next append, because this append is full or `evolve` threw.
   */
  readonly rest: readonly PendingCommand[]
  readonly isBroken: boolean
}

/** Decides the commands in order. Each decision uses the state after the previous commands. */
export function decideBatch(
  cached: CachedStream,
  commands: readonly PendingCommand[],
): DecidedBatch {
  const decided: DecidedCommand[] = []
  const events: NewEvent[] = []
  for (const [index, pending] of commands.entries()) {
    const outcome = decideOne(cached, pending)
    if (outcome === null) continue
    const first = events.length
    if (isCodedError(outcome)) {
      decided.push({ pending, first, count: 0, error: outcome })
      continue
    }
    if (first > 0 && first + outcome.length > EVENTS_PER_APPEND_MAX) {
      return { decided, events, rest: commands.slice(index), isBroken: false }
    }
    try {
      for (const fact of outcome) cached.evolve(fact)
    } catch (error) {
      failCommand(pending, error)
      return { decided, events, rest: commands.slice(index + 1), isBroken: true }
    }
    addNewEvents(events, outcome, pending.context)
    decided.push({ pending, first, count: outcome.length, error: null })
  }
  return { decided, events, rest: [], isBroken: false }
}

/** Decides one command. If the decider throws (which is a bug), only this command is rejected. */
function decideOne(
  cached: CachedStream,
  pending: PendingCommand,
): readonly Fact[] | CodedError | null {
  try {
    return cached.decider.decide(pending.command, cached.state())
  } catch (error) {
    failCommand(pending, error)
    return null
  }
}

function failCommand(pending: PendingCommand, error: unknown): void {
  pending.isOver = true
  pending.reject(error)
}

/**
 * Resolves the commands of a batch. The batch's events, if there are any, must have been written.
 */
export function answerBatch(
  batch: DecidedBatch,
  cached: CachedStream,
  appended: Appended | null,
): void {
  const positions = appended?.streams[0]?.positions ?? []
  const firstRevision = cached.revision() - positions.length + 1
  const recorded = recordedEvents(batch.events, cached.stream, firstRevision, positions)
  const before = positions[0] === undefined ? cached.position() : null
  for (const { pending, first, count, error } of batch.decided) {
    if (error !== null) {
      pending.resolve({ isDone: false, error })
      continue
    }
    const end = first + count
    const position = recorded[end - 1]?.position ?? before ?? cached.position()
    pending.resolve({ isDone: true, events: recorded.slice(first, end), position })
  }
}
