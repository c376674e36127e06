import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'

const USER = 7
const STREAM = accountStream(USER)
const context = { actor: 'system:test', cause: null, at: 1 }

const grant = (grantId: string) =>
  ({ type: 'GrantQuota', userId: USER, grantId, amount: 1n, reason: 'admin' }) as const

/**
 * Creates the stream actors of a simulated process on the shared store, and counts the events that
 * it reads.
 */
function process(store: EventStore) {
  const reads = { events: 0 }
  const watched: EventStore = {
    ...store,
    readStream: async (...parameters) => {
      const events = await store.readStream(...parameters)
      reads.events += events.length
      return events
    },
  }
  const log = pino({ level: 'silent' })
  const actors = createStreamActors({ store: watched, snapshots: createMemorySnapshots(), log })
  return { actors, reads }
}

describe('two processes that write to one account alternately', () => {
  it('each process reads the other’s events without reading the whole history again', async () => {
    const store = createMemoryEventStore()
    const [one, other] = [process(store), process(store)]
    for (let n = 0; n < 300; n += 1) {
      await one.actors.handle(accountDecider, STREAM, grant(`early${n}`), context)
    }
    await other.actors.stateOf(accountDecider, STREAM)
    one.reads.events = 0
    other.reads.events = 0
    for (let n = 0; n < 50; n += 1) {
      await one.actors.handle(accountDecider, STREAM, grant(`one${n}`), context)
      await other.actors.handle(accountDecider, STREAM, grant(`other${n}`), context)
    }
    expect(one.reads.events).toBeLessThanOrEqual(50)
    expect(other.reads.events).toBeLessThanOrEqual(50)
    for (const { actors } of [one, other]) {
      const { balance, grantIds } = await actors.stateOf(accountDecider, STREAM)
      expect(balance).toBe(400n)
      expect(grantIds.size).toBe(400)
    }
    await store.close()
  })
})
