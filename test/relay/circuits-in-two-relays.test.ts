import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SimulatedProvider, startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { setOption, setUpSite } from '#test/support/test-product.ts'

const FAILURES = 5
/** From the circuit's event to its effect in another process. */
const KNOWN_WITHIN_MS = 1_000

let site: Site
let ill: SimulatedProvider
let well: SimulatedProvider
let relays: readonly ProductProcess[]
let key: string

beforeAll(async () => {
  ;[site, ill, well] = await Promise.all([
    startSite(),
    startSimulatedProvider(),
    startSimulatedProvider(),
  ])
  const office = await site.start('write-api,read-api,projections')
  const root = await setUpSite(office.url)
  await setOption(root, 'ModelPrice', { 'sim-small': 0.000001 })
  await setOption(root, 'RetryTimes', '1')
  await setOption(root, 'channel_health.circuit_failures', String(FAILURES))
  const channel = (name: string, base_url: string, priority: number) =>
    root.must('POST', '/api/channel/', {
      ...{ name, base_url, priority, type: 1, key: 'sk-provider' },
      ...{ models: 'sim-small', group: 'default' },
    })
  await channel('ill', ill.url, 9)
  await channel('well', well.url, 0)
  key = (await root.createToken({ name: 'calls', unlimited_quota: true })).key
  relays = [await site.start('relay'), await site.start('relay')]
})

afterAll(async () => {
  await site?.close()
  await ill?.close()
  await well?.close()
})

async function call(relay: ProductProcess | undefined): Promise<number> {
  const response = await fetch(`${relay?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.arrayBuffer()
  return response.status
}

it('a channel whose circuit one relay opens gets no call from another a second later', async () => {
  const [one, other] = relays
  // Both know the site, and both draw the ill channel first while it is well.
  await expect.poll(() => call(other)).toBe(200)
  expect(ill.journal.count).toBeGreaterThan(0)
  ill.script.push(
    ...Array.from({ length: FAILURES }, () => ({ kind: 'status', status: 503 }) as const),
  )
  for (let n = 0; n < FAILURES; n += 1) expect(await call(one)).toBe(200)
  const trippedAt = Date.now()
  const late: number[] = []
  while (Date.now() - trippedAt < KNOWN_WITHIN_MS * 3) {
    const sentAt = Date.now()
    const before = ill.journal.count
    expect(await call(other)).toBe(200)
    if (ill.journal.count > before) late.push(sentAt - trippedAt)
  }
  console.log(
    `the other relay still asked ${late.length} times, the last ${late.at(-1) ?? 0} ms after`,
  )
  expect(late.filter((ms) => ms > KNOWN_WITHIN_MS)).toEqual([])
  expect(well.journal.count).toBeGreaterThan(FAILURES)
})
