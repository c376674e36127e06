import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { createPools, type Pools } from '#infra/postgres/pools.ts'
import {
  createProviderMessages,
  type ProviderMessages,
  RETENTION_MS,
  WAITING_MAX,
} from '#infra/provider-messages/store-provider-error-messages.ts'
import { testDatabase } from '#test/support/test-database.ts'

const NOW = 1_790_000_000_000
let database: Awaited<ReturnType<typeof testDatabase>>
let pools: Pools
let messages: ProviderMessages
const failures: unknown[] = []

beforeAll(async () => {
  database = await testDatabase()
  pools = await createPools(database.url)
  messages = await createProviderMessages(pools.pg, (error) => failures.push(error))
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

const add = (call: string, more: { at?: number; message?: string } = {}): void =>
  messages.add({
    call,
    userId: 7,
    message: (more.message ?? `sealed ${call}`) as Sealed,
    isShown: true,
    at: more.at ?? NOW,
  })

it('the message store finds only the added messages, by the id of the call', async () => {
  add('a')
  add('b')
  await messages.flush()
  const found = await messages.find(['a', 'c'])
  expect([...found]).toEqual([['a', { message: 'sealed a', isShown: true }]])
  expect(await messages.find([])).toEqual(new Map())
})

it('the message store keeps the first message of a call', async () => {
  add('twice', { message: 'first' })
  add('twice', { message: 'second' })
  await messages.flush()
  expect((await messages.find(['twice'])).get('twice')?.message).toBe('first')
})

it('the message store deletes messages after their retention', async () => {
  add('old', { at: NOW - RETENTION_MS })
  add('young', { at: NOW - RETENTION_MS + 1 })
  await messages.flush()
  await messages.sweep(NOW)
  expect([...(await messages.find(['old', 'young'])).keys()]).toEqual(['young'])
})

it('the message store drops messages while too many wait, and holds a limited number', async () => {
  for (let index = 0; index < WAITING_MAX * 2; index += 1) add(`many-${index}`)
  await messages.flush()
  const names = Array.from({ length: WAITING_MAX * 2 }, (_, index) => `many-${index}`)
  const found = await messages.find(names)
  expect(found.size).toBeGreaterThanOrEqual(WAITING_MAX)
  expect(found.size).toBeLessThan(WAITING_MAX * 2)
  expect(failures).toEqual([])
})
