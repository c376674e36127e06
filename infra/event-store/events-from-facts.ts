import type { Fact, Recorded } from '#domain/shared/event.ts'
import { randomUuid } from '../random-uuids.ts'
import type { NewEvent } from './port.ts'
import type { CommandContext } from './stream-actors-port.ts'

/**
 * Turns facts, which deciders return, into events with ids. The context provides the actor, the
 * cause, the time and, if known, the client.
 */
export function newEvents(facts: readonly Fact[], context: CommandContext): NewEvent[] {
  const events: NewEvent[] = []
  addNewEvents(events, facts, context)
  return events
}

/** Turns facts into events, as `newEvents` does, and adds them to `events`. */
export function addNewEvents(
  events: NewEvent[],
  facts: readonly Fact[],
  { actor, cause, at, client = null }: CommandContext,
): void {
  const meta = { actor, cause, at }
  for (const { type, v, data: ofFact } of facts) {
    const data = client === null ? ofFact : { ...ofFact, client }
    events.push({ type, v, data, id: randomUuid(), meta })
  }
}

/**
 * Returns appended events with their stream, revisions and positions. The revisions start at
 * `firstRevision`.
 */
export function recordedEvents(
  events: readonly NewEvent[],
  stream: string,
  firstRevision: number,
  positions: readonly number[],
): Recorded[] {
  return events.map((event, index) => ({
    ...event,
    stream,
    revision: firstRevision + index,
    position: positions[index] ?? 0,
  }))
}
