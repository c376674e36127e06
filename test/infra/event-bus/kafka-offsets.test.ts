import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { type ConsumerSession, keepConsuming } from '#infra/event-bus/kafka/consumer-session.ts'
import { KAFKA_TIMINGS } from '#infra/event-bus/kafka/kafka-timings.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'

const TOPIC = 'events'
type Place = { readonly partition: number; readonly offset: string }
type Attempt = { readonly places: readonly Place[]; readonly end: PromiseWithResolvers<void> }

let session: ConsumerSession
afterEach(() => session.stop())

/** A member of a group whose broker is played by the test. */
function startMember() {
  const listeners = new Map<string, (event: { payload: unknown }) => void>()
  const running = Promise.withResolvers<(batch: EachBatchPayload) => Promise<void>>()
  const attempts: Attempt[] = []
  let isAccepting = true
  const consumer = () => ({
    events: { CRASH: 'crash', GROUP_JOIN: 'join', HEARTBEAT: 'heartbeat' },
    on: (event: string, listener: () => void) => listeners.set(event, listener),
    connect: async () => {},
    subscribe: async () => {},
    run: async ({ eachBatch }: { eachBatch: (batch: EachBatchPayload) => Promise<void> }) =>
      running.resolve(eachBatch),
    disconnect: async () => {},
    commitOffsets: (places: readonly Place[]) => {
      const end = Promise.withResolvers<void>()
      attempts.push({ places, end })
      if (isAccepting) end.resolve()
      return end.promise
    },
  })
  const admin = () => ({
    connect: async () => {},
    fetchTopicOffsets: async () => ALL_LANES.map((partition) => ({ partition })),
    disconnect: async () => {},
  })
  session = keepConsuming({
    ...{ kafka: { consumer, admin } as unknown as Kafka, topic: TOPIC, groupId: 'group' },
    ...{ timings: KAFKA_TIMINGS, log: pino({ level: 'silent' }) },
    onMessages: () => {},
  })
  const received = async (partition: number, offset: string) => {
    const eachBatch = await running.promise
    const messages = [{ offset } as KafkaMessage]
    await eachBatch({ batch: { partition, messages } } as unknown as EachBatchPayload)
  }
  return {
    /** A generation of the group begins, in which this member has these lanes. */
    join: async (lanes: readonly number[], memberId = 'one') => {
      await running.promise
      listeners.get('join')?.({ payload: { memberId, memberAssignment: { [TOPIC]: lanes } } })
    },
    received,
    attempts,
    committed: (lane: number) =>
      attempts.flatMap(({ places }) =>
        places.filter(({ partition }) => partition === lane).map(({ offset }) => offset),
      ),
    /** Sets whether commits succeed at once. Otherwise, they wait until the test ends them. */
    accept: (isAccepted: boolean) => {
      isAccepting = isAccepted
    },
    /** Resolves when offsets were committed that were there before. */
    nextCommit: async (lane: number, offset: string) => {
      await received(lane, offset)
      session.done(lane, offset)
      const expected = String(BigInt(offset) + 1n)
      await expect.poll(() => attempts.at(-1)?.places.at(-1)?.offset).toBe(expected)
    },
  }
}

it('an offset is committed again after a failed commit, while the lane is assigned', async () => {
  const { join, received, attempts, accept, committed } = startMember()
  await join([1, 2])
  accept(false)
  await received(1, '10')
  session.done(1, '10')
  await expect.poll(() => attempts).toHaveLength(1)
  accept(true)
  await join([1])
  attempts[0]?.end.reject(new Error('the group is rebalancing'))
  await expect.poll(() => committed(1)).toEqual(['11', '11'])
})

it('an offset whose commit failed is forgotten when its lane was of another member', async () => {
  const { join, received, attempts, accept, committed, nextCommit } = startMember()
  await join([1, 2])
  accept(false)
  await received(1, '10')
  session.done(1, '10')
  await expect.poll(() => attempts).toHaveLength(1)
  accept(true)
  await join([2])
  await join([1, 2])
  attempts[0]?.end.reject(new Error('the generation is over'))
  await nextCommit(2, '5')
  expect(committed(1)).toEqual(['11'])
})

it('an offset of a lane that another member has is not committed', async () => {
  const { join, received, committed, nextCommit } = startMember()
  await join([1, 2])
  await received(1, '10')
  await join([2])
  session.done(1, '10')
  await nextCommit(2, '5')
  expect(committed(1)).toEqual([])
})

it.each([
  ['an interruption of its assignment', [[2], [1, 2]], 'one'],
  ['the member was out of the group', [[1, 2]], 'two'],
])('a message from before %s commits no lower offset', async (_, generations, memberId) => {
  const { join, received, committed, nextCommit } = startMember()
  await join([1, 2])
  await received(1, '10')
  for (const lanes of generations) await join(lanes, memberId)
  session.done(1, '10')
  await received(1, '20')
  session.done(1, '10')
  await nextCommit(2, '5')
  expect(committed(1)).toEqual([])
  session.done(1, '20')
  await nextCommit(2, '6')
  expect(committed(1)).toEqual(['21'])
})
