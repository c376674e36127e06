import { type CodedError, isCodedError } from '#domain/shared/coded-error.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'
import type { CachedStream } from './cached-stream.ts'
import { newEvents, recordedEvents } from './events-from-facts.ts'
import { type Appended, type EventStore, type NewEvent, RevisionConflict } from './port.ts'
import { expectedOf, pauseAfterConflict, TRIES_MAX, type Turn } from './stream-actor.ts'
import type { AnyStep, CommandContext, Outcome } from './stream-actors-port.ts'

/**
 * Creates a turn (a period of exclusive access) that several actors share. `act` runs as soon as
 * every actor has reached the turn in its queue. Deadlocks can't occur, because the caller adds the
 * turn to all queues synchronously. `act` must not reject.
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

export type JointStep = { readonly hot: CachedStream; readonly step: AnyStep }

type PlannedAppend = {
  readonly hot: CachedStream
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
  const hots = [...new Set(steps.map(({ hot }) => hot))]
  for (let attempt = 1; ; attempt += 1) {
    try {
      const outcome = await tryAppend(steps, hots, context, store)
      if (outcome !== null) return outcome
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt >= TRIES_MAX) {
        for (const hot of hots) hot.forget()
        throw error
      }
      // The states are reverted, which is faster than loading them again. A busy account would get
      // its next event before it could be loaded.
      for (const hot of hots) if (hot.isLoaded()) hot.revertToStored()
      await pauseAfterConflict(attempt)
    }
  }
}

/**
 * Tries the joint append (one append to several streams) once. Returns null for a retry if a cached
 * state was outdated, which is then updated.
 */
async function tryAppend(
  steps: readonly JointStep[],
  hots: readonly CachedStream[],
  context: CommandContext,
  store: EventStore,
): Promise<Outcome<Fact, CodedError> | null> {
  const loaded = hots.filter((hot) => hot.isLoaded() && !hot.isOld())
  const revisions = loaded.map((hot) => [hot, hot.revision()] as const)
  for (const hot of hots) if (!loaded.includes(hot)) await hot.catchUp()
  const plan = planOf(steps)
  if (!isCodedError(plan) && plan.some(({ facts }) => facts.length > 0)) {
    return await writePlan(plan, context, store)
  }
  // Only an append checks the revisions. Without one, the streams are read again, because other
  // processes may have added events.
  let isOld = false
  for (const [hot, revision] of revisions) {
    await hot.catchUp()
    if (hot.revision() > revision) isOld = true
  }
  if (isOld) return null
  if (isCodedError(plan)) return { isDone: false, error: plan }
  return { isDone: true, events: [], position: Math.max(...hots.map((hot) => hot.position())) }
}

/**
 * Decides the commands of all steps. Events are applied to a cached state only if a later step uses
 * the same stream. Most errors therefore leave the cached states unchanged.
 */
function planOf(steps: readonly JointStep[]): PlannedAppend[] | CodedError {
  const plan: PlannedAppend[] = []
  for (const [index, { hot, step }] of steps.entries()) {
    const facts = hot.decider.decide(step.command, hot.state())
    if (isCodedError(facts)) {
      undo(plan)
      return facts
    }
    const isEvolved = steps.slice(index + 1).some((later) => later.hot === hot)
    if (isEvolved) for (const fact of facts) hot.evolve(fact)
    plan.push({ hot, facts, mustBeNew: step.mustBeNew === true, isEvolved })
  }
  return plan
}

function undo(plan: readonly PlannedAppend[]): void {
  for (const { hot, facts, isEvolved } of plan) if (isEvolved && facts.length > 0) hot.forget()
}

/**
 * Writes the events of all steps. The append also requires the revisions of the streams whose steps
 * have no events, because these steps may have allowed the events of the others.
 */
async function writePlan(
  plan: readonly PlannedAppend[],
  context: CommandContext,
  store: EventStore,
): Promise<Outcome<Fact, CodedError>> {
  const events = new Map<CachedStream, NewEvent[]>()
  for (const { hot, facts } of plan) {
    events.set(hot, [...(events.get(hot) ?? []), ...newEvents(facts, context)])
  }
  const appended = await store.append(
    [...events].map(([hot, streamEvents]) => ({
      stream: hot.stream,
      expected: expectedOf(hot),
      events: streamEvents,
      mustBeNew: plan.some((planned) => planned.hot === hot && planned.mustBeNew),
    })),
  )
  for (const { hot, facts, isEvolved } of plan) {
    if (!isEvolved) for (const fact of facts) hot.evolve(fact)
  }
  const recorded = recordedParts([...events], appended)
  return { isDone: true, events: recorded, position: appended.position }
}

/**
 * Returns the written events with their positions, and moves each cached stream to its new
 * revision.
 */
function recordedParts(
  parts: readonly (readonly [CachedStream, NewEvent[]])[],
  appended: Appended,
): Recorded[] {
  return parts.flatMap(([hot, events], index) => {
    const part = appended.streams[index]
    if (part === undefined) throw new Error(`no answer for stream ${hot.stream}`)
    const first = part.revision - events.length + 1
    if (events.length === 0) return []
    if (first === hot.revision() + 1) {
      hot.moveTo(part.revision, part.positions.at(-1) ?? hot.position())
    } else hot.forget()
    return recordedEvents(events, hot.stream, first, part.positions)
  })
}
