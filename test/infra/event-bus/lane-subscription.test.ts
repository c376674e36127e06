import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LaneSubscription } from '#infra/event-bus/brokerless-bus.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { to } from '../event-store/conformance.ts'

const log = pino({ level: 'silent' })
let store: EventStore
let feed: LaneSubscription
let batches: LaneBatch[]
/** Delays the next batch that `isToHold` selects, until the test settles this promise. */
let held: PromiseWithResolvers<void>
let isToHold: (batch: LaneBatch) => boolean

beforeEach(() => {
  store = createMemoryEventStore()
  batches = []
  held = Promise.withResolvers()
  isToHold = () => false
  feed = new LaneSubscription(
    { store, log },
    {
      onBatch: async (batch) => {
        batches.push(batch)
        if (!isToHold(batch)) return
        isToHold = () => false
        await held.promise
      },
    },
  )
})
afterEach(async () => {
  held.resolve()
  await feed.stop()
  await store.close()
})

const write = () => store.append([to('account-1', 'any')])
const last = () => {
  const batch = batches.at(-1)
  return { after: batch?.after, position: batch?.position, count: batch?.events.length }
}

/** Simulates that another process has the lanes for some time and writes an event. */
async function loseAndRegain(): Promise<void> {
  feed.remove(ALL_LANES)
  await write()
  await feed.add(ALL_LANES)
}

it('a batch that fails after its lanes were lost and regained skips nothing', async () => {
  await write()
  await feed.add(ALL_LANES)
  isToHold = ({ events }) => events.length > 0
  await write()
  await expect.poll(last).toEqual({ after: 1, position: 2, count: 1 })
  await loseAndRegain()
  expect(last()).toEqual({ after: 3, position: 3, count: 0 })
  held.reject(new Error('fenced'))
  await write()
  // The batch starts at position 3, so a worker before position 3 must read the missing events.
  await expect.poll(last).toEqual({ after: 3, position: 4, count: 1 })
})

it('a batch that waited while its lanes were lost and regained is not delivered', async () => {
  await write()
  isToHold = () => true
  await feed.add(ALL_LANES)
  const subscribed = await store.headPosition()
  await write()
  // The feed has read the event, and delivers it after the first batch of the lanes.
  await readUpTo(subscribed + 1)
  await loseAndRegain()
  held.resolve()
  await write()
  await expect.poll(last).toEqual({ after: 3, position: 4, count: 1 })
  expect(batches.filter(({ after, position }) => position < after)).toEqual([])
})

/**
 * Waits until subscriptions have read up to `position`. This subscription starts after the feed's
 * subscription, so it is notified after the feed.
 */
async function readUpTo(position: number): Promise<void> {
  const read = Promise.withResolvers<void>()
  const reader = store.subscribeAll(
    position - 1,
    async () => read.resolve(),
    (error) => read.reject(error),
  )
  await read.promise
  await reader.stop()
}
