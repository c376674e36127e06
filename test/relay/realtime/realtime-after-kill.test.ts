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

const SESSIONS = 100
const ROOT = 1
const CUT_TEXT = 'Hello there, '.repeat(40)
/**
 * The charge for a response that is cut after `CUT_TEXT`, at the prices below. Its input is the
 * first response with its own input: 150 tokens of text and 500 of audio. `CUT_TEXT` counts as 130
 * tokens.
 */
const CUT_CHARGE = 2.5 * (150 + 500 * 8 + 130 * 4)
/** The code that a websocket reports if its connection ends without a closing handshake. */
const ABNORMAL_CLOSURE = 1006
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

it('responses of 100 sockets are billed once, and end once when the relay is killed', async () => {
  const victim = await site.startRelay()
  const headers = { authorization: `Bearer ${key}` }
  const clients = await Promise.all(
    Array.from({ length: SESSIONS }, () =>
      new RealtimeClient(victim.url, MODEL, { headers }).open(),
    ),
  )
  for (const client of clients) client.send({ type: 'response.create' })
  await Promise.all(clients.map((client) => client.event('response.done')))
  provider.onEvent = ({ type }, at) => {
    if (type === 'response.create') at.delta(at.begin(), CUT_TEXT)
    return type === 'response.create'
  }
  for (const client of clients) client.send({ type: 'response.create' })
  await Promise.all(clients.map((client) => client.event('response.output_text.delta')))
  const progressed = async () => {
    const { events } = await readBook(site.store)
    const calls = events.flatMap(({ type, data }) =>
      type === 'CallProgressed' && data.usage.output > 0 ? [data.call] : [],
    )
    return new Set(calls).size
  }
  await expect.poll(progressed).toBe(SESSIONS)
  await victim.kill()
  for (const client of clients) expect(await client.isClosed()).toBe(ABNORMAL_CLOSURE)
  await expect
    .poll(() => provider.sessions.filter(({ isClosed }) => isClosed))
    .toHaveLength(SESSIONS)
  // The sweeper of this relay ends the calls of the killed one.
  const survivor = await site.startRelay()
  await expect
    .poll(async () => (await readBook(site.store)).open.length, { timeout: 60_000 })
    .toBe(0)
  const book = await readBook(site.store)
  const charges = (name: string) =>
    book.events.flatMap(({ type, data }) =>
      type === name && 'charge' in data ? [Number(data.charge)] : [],
    )
  expect(book.endedNotOnce).toEqual([])
  expect(book.ledgerSum).toBe(0n)
  expect(book.held(ROOT)).toBe(0n)
  expect(book.admitted(ROOT)).toBe(2 * SESSIONS)
  expect(charges('CallSettled')).toEqual(Array(SESSIONS).fill(CHARGE))
  expect(charges('CallInterrupted')).toEqual(Array(SESSIONS).fill(CUT_CHARGE))
  expect(await survivor.stop()).toBe(0)
}, 180_000)
