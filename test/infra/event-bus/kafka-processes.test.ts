import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { kafkaForTests, placeOf } from '#test/support/kafka/kafka-for-tests.ts'
import { type LaneProcess, startLaneProcess } from '#test/support/kafka/lane-process.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/short-kafka-timings.ts'
import { appendSome, type BusFixture, expectFold, lanesOf, openBusFixture } from './conformance.ts'
import { startRecording } from './recording-worker.ts'

const kafka = await kafkaForTests()
const { isMissing, place } = placeOf(kafka)
const brokers = 'skip' in kafka ? [] : kafka.brokers
afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

let fixture: BusFixture
let topic: string
let name: string
let stallMs: number | undefined
let isPublisher: boolean
const processes: LaneProcess[] = []
beforeEach(async () => {
  topic = `processes-${randomUUID()}`
  name = `work-${randomUUID()}`
  stallMs = QUICK_TIMINGS.stallMs
  isPublisher = true
  fixture = await openBusFixture((parts) => {
    const timings = { ...QUICK_TIMINGS, ...(stallMs === undefined ? {} : { stallMs }) }
    return createKafkaBus({ ...parts, topic, brokers, timings, isPublisher })
  })
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.kill()))
  await fixture.close()
})

const start = async (work?: string): Promise<LaneProcess> => {
  const where = { databaseUrl: fixture.url, brokers, topic }
  const started = await startLaneProcess(work === undefined ? where : { ...where, work })
  processes.push(started)
  return started
}
const work = async () => {
  const bus = await fixture.openBus()
  return startRecording({ pg: fixture.pg, store: fixture.store, bus, name })
}
const count = (process: LaneProcess, line: string): number =>
  process.lines.filter((each) => each === line).length

/** Appends events until `isOver` returns true, and 40 more events after that. */
async function appendUntil(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await appendSome(fixture.store, 20)
    await delay(20)
  }
  await appendSome(fixture.store, 40)
}

describe.skipIf(isMissing)(`processes on a bus over Kafka (${place})`, () => {
  it('when the publishing process is killed, another continues where the topic ends', async () => {
    await appendSome(fixture.store, 100)
    const first = await start()
    await expect.poll(() => count(first, 'publishing')).toBe(1)
    const second = await start()
    // From now on, every event must come through Kafka.
    stallMs = 600_000
    isPublisher = false
    await work()
    await expectFold(fixture, name)
    let isOver = false
    const appending = appendUntil(() => isOver)
    await delay(500)
    expect(count(second, 'publishing')).toBe(0)
    await first.kill()
    await expect.poll(() => count(second, 'publishing')).toBe(1)
    isOver = true
    await appending
    await expectFold(fixture, name)
  })

  it('a process that is frozen loses its lanes, and is fenced when it continues', async () => {
    const sleeper = await start(name)
    await appendSome(fixture.store, 100)
    const worker = await work()
    await expect.poll(() => worker.lanes.size).toBe(ALL_LANES.length / 2)
    let isOver = false
    const appending = appendUntil(() => isOver)
    await expect.poll(() => count(sleeper, 'written')).toBeGreaterThan(3)
    sleeper.signal('SIGSTOP')
    await expect.poll(() => lanesOf([worker])).toEqual(ALL_LANES)
    isOver = true
    await appending
    await expectFold(fixture, name)
    sleeper.signal('SIGCONT')
    // The resumed process gets its share of the lanes again. The test then checks that no event was
    // written twice.
    await expect.poll(() => worker.lanes.size).toBe(ALL_LANES.length / 2)
    const before = count(sleeper, 'written')
    await expect
      .poll(() => appendSome(fixture.store, 20).then(() => count(sleeper, 'written') > before))
      .toBe(true)
    await expectFold(fixture, name)
  })

  it('a process that is killed leaves its lanes to the others', async () => {
    const victim = await start(name)
    const worker = await work()
    await expect.poll(() => worker.lanes.size).toBe(ALL_LANES.length / 2)
    let isOver = false
    const appending = appendUntil(() => isOver)
    await expect.poll(() => count(victim, 'written')).toBeGreaterThan(3)
    await victim.kill()
    await expect.poll(() => lanesOf([worker])).toEqual(ALL_LANES)
    isOver = true
    await appending
    await expectFold(fixture, name)
  })
})
