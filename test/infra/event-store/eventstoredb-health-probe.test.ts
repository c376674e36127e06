import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { newEvent, to } from './conformance.ts'

const log = pino({ level: 'silent' })
const PROBES = 'readiness-probe'

async function open() {
  const server = await startEventStoreDbServer()
  const locks = createMemoryLocks()
  const store = await createEventStoreDbStore({ url: server.url, locks, log })
  onTestFinished(async () => {
    await store.close()
    await server.stop()
  })
  const probe = async (): Promise<void> => {
    if (store.probeAppend === undefined) throw new Error('the store has no probe')
    await store.probeAppend()
  }
  return { server, store, probe }
}

const idsOf = (events: readonly Recorded[]) => events.map(({ id }) => id)

it('the probe is appended to a stream that no reader of events sees', async () => {
  const { server, store, probe } = await open()
  const seen: string[] = []
  const subscription = store.subscribeAll(
    0,
    (events) => void seen.push(...idsOf(events)),
    () => {},
  )
  onTestFinished(() => subscription.stop())
  await probe()
  expect([await store.readAll(0, 10), await store.headPosition()]).toEqual([[], 0])
  const [first, second] = [newEvent(), newEvent()]
  const { position } = await store.append([to('a', 'none', [first])])
  for (let n = 0; n < 40; n += 1) await probe()
  expect(await store.headPosition()).toBe(position)
  await store.append([to('a', 0, [second])])
  const ids = [first.id, second.id]
  expect(idsOf(await store.readAll(0, 10))).toEqual(ids)
  expect(idsOf(await store.readAll(position, 10))).toEqual([second.id])
  await expect.poll(() => seen).toEqual(ids)
  expect(await store.readStream(PROBES)).toEqual([])
  expect(server.log.stream(PROBES)).toHaveLength(41)
})

it('the server keeps only a few probes, by a limit that is set once', async () => {
  const { server, probe } = await open()
  await probe()
  await probe()
  const other = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  await other.probeAppend?.()
  await other.close()
  const metadata = server.log.stream(`$$${PROBES}`)
  expect(metadata.map(({ data }) => JSON.parse(Buffer.from(data).toString()))).toEqual([
    { $maxCount: 10 },
  ])
})

it('the probe fails within 3 s if the server reads but cannot append, and recovers', async () => {
  const { server, store, probe } = await open()
  await probe()
  server.loseAppends(PROBES)
  const since = performance.now()
  await expect(probe()).rejects.toBeInstanceOf(StoreUnavailable)
  expect(performance.now() - since).toBeLessThan(3_000)
  expect(await store.readAll(0, 1)).toEqual([])
  server.loseAppends(null)
  await probe()
})

it('the probe survives a lost connection', async () => {
  const { server, probe } = await open()
  await probe()
  await server.stop()
  const pending = probe()
  await server.start()
  await pending
})
