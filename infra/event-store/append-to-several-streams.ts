import { type CodedError, isCodedError } from '#domain/shared/coded-error.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'
import type { CachedStream } from './cached-stream.ts'
import { newEvents, recordedEvents } from './events-from-facts.ts'
import { type Appended, type EventStore, type NewEvent, RevisionConflict } from './port.ts'
import { expectedOf, pauseAfterConflict, TRIES_MAX, type Turn } from './stream-actor.ts'
import type { AnyStep, CommandContext, Outcome } from './stream-actors-port.ts'

/**
 * Creates a turn (a period of exclusive access to a stream) that the actors of several streams
 * share. `act` runs as soon as every actor has reached the turn in its queue. Deadlocks can't
 * occur, because the caller adds the turn to all queues synchronously. `act` must not reject.
 */
export function createJointTurn(actors: number, act: () => Promise<void>): Turn {
  const over = Promise.withResolvers<void>()
  let missing = actors
  return {
    take: () => {
      missing -= 1
      if (missing === 0) void act().finally(over.resolve)
      return over.promise
    },
  }
}

export type JointStep = { readonly cached: CachedStream; readonly step: AnyStep }

type PlannedAppend = {
  readonly cached: CachedStream
  readonly facts: readonly Fact[]
  readonly mustBeNew: boolean
  isEvolved: boolean
}

/**
 * Decides all steps and writes their events in one append, or returns the first error. The caller
 * must have exclusive access to the streams of all steps.
 */
export async function appendJointly(
  steps: readonly JointStep[],
  context: CommandContext,
  store: EventStore,
): Promise<Outcome<Fact, CodedError>> {
  const cachedStreams = [...new Set(steps.map(({ cached }) => cached))]
  for (let attempt = 1; ; attempt += 1) {
    try {
      const outcome = await tryAppend(steps, cachedStreams, context, store)
      if (outcome !== null) return outcome
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt >= TRIES_MAX) {
        for (const cached of cachedStreams) cached.forget()
        throw error
      }
      // The states are reverted, which is faster than loading them again. A busy account would get
      // its next event before its state could be loaded.
      for (const cached of cachedStreams) if (cached.isLoaded()) cached.revertToStored()
      await pauseAfterConflict(attempt)
    }
  }
}

/**
 * Tries the joint append (one append to several streams) once. Returns null if a cached state was
 * outdated. The state is then updated, and the caller tries again.
 */
async function tryAppend(
  steps: readonly JointStep[],
  cachedStreams: readonly CachedStream[],
  context: CommandContext,
  store: EventStore,
): Promise<Outcome<Fact, CodedError> | null> {
  const loaded = cachedStreams.filter((cached) => cached.isLoaded() && !cached.isOld())
  const revisions = loaded.map((cached) => [cached, cached.revision()] as const)
  for (const cached of cachedStreams) if (!loaded.includes(cached)) await cached.catchUp()
  const plan = planOf(steps)
  if (!isCodedError(plan) && plan.some(({ facts }) => facts.length > 0)) {
    return await writePlan(plan, context, store)
  }
  // Only an append checks the revisions. Without an append, the streams are read again, because
  // other processes may have added events.
  let isOld = false
  for (const [cached, revision] of revisions) {
    await cached.catchUp()
    if (cached.revision() > revision) isOld = true
  }
  if (isOld) return null
  if (isCodedError(plan)) return { isDone: false, error: plan }
  return {
    isDone: true,
    events: [],
    position: Math.max(...cachedStreams.map((cached) => cached.position())),
  }
}

/**
 * Decides the commands of all steps. Events are applied to a cached state only if a later step uses
 * the same stream. Most errors therefore leave the cached states unchanged.
 */
function planOf(steps: readonly JointStep[]): PlannedAppend[] | CodedError {
  const plan: PlannedAppend[] = []
  for (const [index, { cached, step }] of steps.entries()) {
    const facts = cached.decider.decide(step.command, cached.state())
    if (isCodedError(facts)) {
      undo(plan)
      return facts
    }
    const isEvolved = steps.slice(index + 1).some((later) => later.cached === cached)
    if (isEvolved) for (const fact of facts) cached.evolve(fact)
    plan.push({ cached, facts, mustBeNew: step.mustBeNew === true, isEvolved })
  }
  return plan
}

function undo(plan: readonly PlannedAppend[]): void {
  for (const { cached, facts, isEvolved } of plan)
    if (isEvolved && facts.length > 0) cached.forget()
}

/**
 * Writes the events of all steps. The append also requires the revisions of streams whose steps
 * have no events. Such a step can be a check on which the other steps depend.
 */
async function writePlan(
  plan: readonly PlannedAppend[],
  context: CommandContext,
  store: EventStore,
): Promise<Outcome<Fact, CodedError>> {
  const events = new Map<CachedStream, NewEvent[]>()
  for (const { cached, facts } of plan) {
    events.set(cached, [...(events.get(cached) ?? []), ...newEvents(facts, context)])
  }
  const sentAt = performance.now()
  const appended = await store.append(
    [...events].map(([cached, streamEvents]) => ({
      stream: cached.stream,
      expected: expectedOf(cached),
      events: streamEvents,
      mustBeNew: plan.some((planned) => planned.cached === cached && planned.mustBeNew),
    })),
  )
  for (const { cached, facts, isEvolved } of plan) {
    if (!isEvolved) for (const fact of facts) cached.evolve(fact)
  }
  const recorded = recordedParts([...events], appended, sentAt)
  return { isDone: true, events: recorded, position: appended.position }
}

/**
 * Returns the written events with their positions, and moves each cached stream to its new
 * revision. A cached stream is forgotten instead if other events were written to the stream before
 * these events.
 */
function recordedParts(
  parts: readonly (readonly [CachedStream, NewEvent[]])[],
  appended: Appended,
  sentAt: number,
): Recorded[] {
  return parts.flatMap(([cached, events], index) => {
    const part = appended.streams[index]
    if (part === undefined) throw new Error(`no answer for stream ${cached.stream}`)
    const first = part.revision - events.length + 1
    if (events.length === 0) return []
    if (first === cached.revision() + 1) {
      cached.moveTo(part.revision, part.positions.at(-1) ?? cached.position(), sentAt)
    } else cached.forget()
    return recordedEvents(events, cached.stream, first, part.positions)
  })
}
