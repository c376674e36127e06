import type { Fact, Recorded } from '#domain/shared/event.ts'
import { randomUuid } from '../random-uuids.ts'
import type { NewEvent } from './port.ts'
import type { CommandContext } from './stream-actors-port.ts'

/**
 * Turns facts, which deciders return, into events with ids. The context provides the actor, the
 * cause, the time and, if known, the client.
 */
export function newEvents(facts: readonly Fact[], context: CommandContext): NewEvent[] {
  const { actor, cause, at, client = null } = context
  const meta = { actor, cause, at }
  return facts.map(({ type, v, data: ofFact }) => {
    const data = client === null ? ofFact : { ...ofFact, client }
    return { type, v, data, id: randomUuid(), meta }
  })
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
