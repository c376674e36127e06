import { expect } from 'vitest'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import { type BatchEvent, batchStream } from '#domain/batches/events.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, addUser, setOption } from '#test/support/test-product.ts'
import type { RelaySite } from './relay-site.ts'

export const LINES = 10_000
/** Every tenth line fails and costs nothing. */
export const BILLED = 9_000
const USER = 2

/** Adds a channel of the type and a user with quota. Returns the user's key. */
export async function addBatchCaller(
  { root }: RelaySite,
  provider: { readonly url: string },
  { type, model }: { readonly type: number; readonly model: string },
): Promise<string> {
  await setOption(root, 'ModelRatio', { [model]: 1 })
  await setOption(root, 'CompletionRatio', { [model]: 1 })
  await addChannel({ root, provider }, { type, models: model })
  const user = await addUser(root, 'batcher', 100_000_000)
  expect(user.id).toBe(USER)
  return (await user.client.createToken({ name: 'batches', unlimited_quota: true })).key
}

/** Returns the id at the end of a batch's name, such as `batch_…`, as the site stores it. */
export const batchIn = (name: string): string =>
  name.replace(/^.*?(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

async function billedLines({ store }: RelaySite, batch: string) {
  const events = (await store.readStream(batchStream(batch))) as unknown as BatchEvent[]
  return events.flatMap((event) => (event.type === 'BatchLinesBilled' ? event.data.lines : []))
}

/**
 * Lets the relay read the results of an ended batch by `look`, and kills it before all lines are
 * billed, twice. `onKilled` is called before the next relay starts. Returns the last relay.
 */
export async function killTwiceWhileItSettles(
  site: RelaySite,
  first: ProductProcess,
  batch: string,
  look: (relay: ProductProcess) => Promise<unknown>,
  onKilled: (kills: number) => void = () => {},
): Promise<ProductProcess> {
  let relay = first
  for (const [kill, atLeast] of [1_000, 4_000].entries()) {
    void look(relay).catch(() => {})
    await expect
      .poll(async () => (await billedLines(site, batch)).length, { interval: 50 })
      .toBeGreaterThan(atLeast)
    expect((await billedLines(site, batch)).length).toBeLessThan(BILLED)
    await relay.kill()
    onKilled(kill + 1)
    relay = await site.startRelay()
  }
  return relay
}

/** Each line has as many input tokens as its index, and one output token. */
export async function expectEachLineToBeBilledOnce(site: RelaySite, batch: string): Promise<void> {
  const lines = await billedLines(site, batch)
  expect(lines).toHaveLength(BILLED)
  expect(new Set(lines.map(({ line }) => line)).size).toBe(BILLED)
  // A line costs half of its tokens, rounded half up, as a call of its own.
  const charges = lines.map(({ line }) => Math.floor((line + 1) / 2 + 0.5))
  expect(lines.map(({ charge }) => Number(charge))).toEqual(charges)
  const events = (await site.store.readStream(accountStream(USER))) as unknown as AccountEvent[]
  const ends = events.filter(({ type }) => type === 'CallSettled')
  expect(ends).toHaveLength(1)
  const sum = charges.reduce((total, charge) => total + charge, 0)
  expect(ends[0]?.data).toMatchObject({ charge: sum, billedLines: BILLED })
}
