import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '#domain/users/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { startViews, type Views } from '#relay/views/start-views.ts'
import { NO_ROWS } from './support/empty-view-rows.ts'

let views: Views
afterEach(() => views.stop())

const policy = operatorPolicy({ port: 0, isLoopback: true, privateUpstreams: [] })
const log = pino({ level: 'silent' })

const userCreated = (userId: number) => ({
  id: crypto.randomUUID(),
  type: 'UserCreated',
  v: 1,
  meta: { actor: 'system:test', cause: null, at: 0 },
  data: { userId, role: 1, group: `group-${userId}` },
})

const append = (store: EventStore, userId: number) =>
  store.append([{ stream: `user-${userId}`, expected: 'none', events: [userCreated(userId)] }])

const start = (store: EventStore, rows = NO_ROWS) => {
  const vault = { getSecrets: async () => new Map() } as unknown as Core['vault']
  return startViews({ store, vault, log }, rows, policy, async () => NO_ROWS.channels)
}

describe('the views of the relay', () => {
  it('the views include every event stored before they started', async () => {
    const store = createMemoryEventStore()
    for (let userId = 1; userId <= 50; userId += 1) await append(store, userId)
    views = await start(store)
    expect(views.position()).toBe(50)
    expect(views.users.find(50)?.group).toBe('group-50')
  })

  it('the views do not fold again the events that their rows include', async () => {
    const store = createMemoryEventStore()
    await append(store, 1)
    await append(store, 2)
    const role = { role: 10, isEnabled: false, group: 'later' } as const
    const user = { userId: 1, ...role, settings: DEFAULT_SETTINGS }
    views = await start(store, { ...NO_ROWS, users: { position: 1, rows: [user] } })
    expect(views.users.find(1)).toEqual(user)
    expect(views.users.find(2)?.group).toBe('group-2')
  })

  it('the views continue where they stopped each time their subscription is lost', async () => {
    const store = createMemoryEventStore()
    let lost = 0
    const fragile: EventStore = {
      ...store,
      subscribeAll: (after, onBatch, onError, options) =>
        store.subscribeAll(
          after,
          async (events, position) => {
            await onBatch(events, position)
            if (lost < 3) {
              lost += 1
              throw new Error('lost')
            }
          },
          onError,
          options,
        ),
    }
    views = await start(fragile)
    for (let userId = 1; userId <= 8; userId += 1) {
      await append(store, userId)
      await expect.poll(() => views.users.find(userId)?.group).toBe(`group-${userId}`)
    }
    expect(lost).toBe(3)
  })
})
