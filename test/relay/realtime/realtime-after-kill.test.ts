import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, setOption } from '#test/support/test-product.ts'
import { readBook } from '../support/accounts-from-events.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE, realtimeProvider } from '../support/realtime-provider.ts'
import { MODEL } from '../support/realtime-site.ts'
import { startRelaySite } from '../support/relay-site.ts'

const SESSIONS = 20
const provider = startedOnce(realtimeProvider)
const site = startedOnce(() => startRelaySite(SHORT_LEASES))
let root: ConsoleClient
let key: string

beforeAll(async () => {
  root = site.root
  await addChannel({ root, provider }, { type: 8, models: MODEL })
  await setOption(root, 'ModelRatio', { [MODEL]: 2.5 })
  await setOption(root, 'CompletionRatio', { [MODEL]: 4 })
  await setOption(root, 'AudioRatio', { [MODEL]: 8 })
  await setOption(root, 'AudioCompletionRatio', { [MODEL]: 2 })
  key = (await root.createToken({ name: 'realtime', unlimited_quota: true })).key
})

it('each response of a killed relay is ended once, with its recorded progress', async () => {
  const victim = await site.startRelay()
  const survivor = await site.startRelay()
  const headers = { authorization: `Bearer ${key}` }
  const clients = await Promise.all(
    Array.from({ length: SESSIONS }, () =>
      new RealtimeClient(victim.url, MODEL, { headers }).open(),
    ),
  )
  for (const client of clients) client.send({ type: 'response.create' })
  await Promise.all(clients.map((client) => client.event('response.done')))
  provider.onEvent = ({ type }, at) => {
    if (type === 'response.create') at.delta(at.begin(), 'Hello there, '.repeat(40))
    return type === 'response.create'
  }
  for (const client of clients) client.send({ type: 'response.create' })
  await Promise.all(clients.map((client) => client.event('response.output_text.delta')))
  const progressed = async () => {
    const { events } = await readBook(site.store)
    return events.filter(({ type }) => type === 'CallProgressed').length
  }
  await expect.poll(progressed).toBeGreaterThanOrEqual(SESSIONS)
  await victim.kill()
  await expect
    .poll(async () => (await readBook(site.store)).open.length, { timeout: 60_000 })
    .toBe(0)
  const book = await readBook(site.store)
  expect(book.endedNotOnce).toEqual([])
  expect(book.ledgerSum).toBe(0n)
  const charges = (name: string) =>
    book.events.flatMap(({ type, data }) =>
      type === name && 'charge' in data ? [Number(data.charge)] : [],
    )
  expect(charges('CallSettled')).toEqual(Array(SESSIONS).fill(CHARGE))
  const cut = charges('CallInterrupted').filter((charge) => charge > 0)
  expect(cut.length).toBeGreaterThanOrEqual(SESSIONS)
  expect(await survivor.stop()).toBe(0)
}, 180_000)
