import { beforeAll, describe, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { setOption, setUpSite } from '#test/support/test-product.ts'
import { callAtOnce } from './support/send-many-calls.ts'

const WITHIN_MS = 1_000
const AFTERWARDS_MS = 2_000

const site = startedOnce(startSite)
const provider = startedOnce(startSimulatedProvider)
let relay: ProductProcess
let root: ConsoleClient
let key: string
const ids: Record<string, number> = {}

beforeAll(async () => {
  const office = await site.start('write-api,read-api,projections')
  root = await setUpSite(office.url)
  await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
  for (const name of ['one', 'two', 'three']) {
    const { id } = await root.must<{ id: number }>('POST', '/api/channel/', {
      ...{ name, key: `sk-${name}`, base_url: provider.url, models: 'sim-small', tag: name },
    })
    ids[name] = id
  }
  key = (await root.createToken({ name: 'caller', unlimited_quota: true })).key
  relay = await site.start('relay')
})

const callsOf = (name: string): number =>
  provider.journal.entries.filter(({ authorization }) => authorization === `Bearer sk-${name}`)
    .length

/** Calls without a pause, until told to stop. */
function callOn(): () => Promise<void> {
  let isOver = false
  const calling = (async () => {
    while (!isOver) {
      for (const { outcome } of await Promise.all(callAtOnce(4, [relay.url], key))) {
        expect(outcome).toBe('whole')
      }
    }
  })()
  return () => {
    isOver = true
    return calling
  }
}

const elapsed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a channel that an admin disables in one process', () => {
  it.each([
    ['by itself', 'one', () => root.must('PUT', '/api/channel/', { id: ids.one, status: 2 })],
    ['with its tag', 'two', () => root.must('POST', '/api/channel/tag/disabled', { tag: 'two' })],
  ])(
    'a channel disabled %s gets no new call from another process after a second',
    async (_how, name, turnOff) => {
      const stop = callOn()
      await expect.poll(() => callsOf(name)).toBeGreaterThan(3)
      await turnOff()
      // What must not happen within a time can only be awaited.
      await elapsed(WITHIN_MS)
      const [before, all] = [callsOf(name), provider.journal.count]
      await elapsed(AFTERWARDS_MS)
      expect(callsOf(name)).toBe(before)
      expect(provider.journal.count).toBeGreaterThan(all + 10)
      await stop()
    },
  )
})
