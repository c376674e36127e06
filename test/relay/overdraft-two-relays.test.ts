import { afterAll, beforeAll, expect, it } from 'vitest'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, addUser, setOption } from '#test/support/test-product.ts'
import { type Book, readBook } from './support/accounts-from-events.ts'
import { type RelaySite, startRelaySite } from './support/relay-site.ts'
import { type Call, callAtOnce } from './support/send-many-calls.ts'

const TEN_CENTS = 50_000n
const RICHES = 1_000_000_000n
/** $2 and $8 per million tokens, so that several streams fit into ten cents. */
const PRICES = { ModelRatio: { 'sim-small': 1 }, CompletionRatio: { 'sim-small': 4 } }
const OUTPUT_PRICE = 4n
/** The stated excess: one progress step of each stream that has no output limit. */
const EXCESS_TOKENS = 1_024n
const POOR = 2
const RICH = 3

let site: RelaySite
let survivor: ProductProcess
let keys: { poor: string; limited: string }
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Streams 100 000 tokens, whatever limit it is sent, and says no usage before the end. */
const provider = startedOnce(() =>
  serve(async (request, response) => {
    request.resume()
    response.on('error', () => {})
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let words = 0; words < 100_000 && !response.destroyed; words += 50) {
      const delta = { content: 'word '.repeat(50) }
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
      await pause(50)
    }
    response.end('data: [DONE]\n\n')
  }),
)

beforeAll(async () => {
  site = await startRelaySite(SHORT_LEASES)
  keys = await seed()
  survivor = await site.startRelay()
})

afterAll(async () => {
  await site?.close()
})

// Both wait for leases most of their time, so they run at once.
it.concurrent.for([
  ['an account with $0.10', POOR, TEN_CENTS, () => keys.poor],
  ['a token limited to $0.10', RICH, RICHES, () => keys.limited],
] as const)(
  'sixty streams without a limit owe no more than %s covers, even after a kill -9',
  // Both share the cores, and each starts two relays and waits twice for leases to expire.
  { timeout: 240_000 },
  async ([, userId, balance, key], { expect }) => {
    const whenQuiet = () =>
      expect.poll(async () => openOf(await book(), userId), { interval: 500 }).toEqual([])
    const victim = await site.startRelay()
    const dying = callAtOnce(2, [victim.url], key())
    await expect.poll(async () => admitted(await book(), userId)).toBe(2)
    const calls = [...dying, ...callAtOnce(58, [survivor.url, victim.url], key())]
    await expect.poll(async () => progressed(await book(), userId)).toBeGreaterThan(0)
    process.kill(victim.pid, 'SIGKILL')
    await victim.ended()
    const again = await site.startRelay()
    calls.push(...callAtOnce(60, [again.url, survivor.url], key()))
    const answers = await Promise.all(calls)
    expect((await Promise.all(dying)).map(({ outcome }: Call) => outcome)).toEqual(['cut', 'cut'])
    expect(answers.some(({ status }) => status === 402)).toBe(true)
    await whenQuiet()
    // The holds of the dead calls are free again: later calls can spend the rest, and no more.
    await Promise.all(callAtOnce(60, [again.url, survivor.url], key()))
    await whenQuiet()
    const ended = await book()
    const open = openEnded(ended, userId)
    const excess = EXCESS_TOKENS * OUTPUT_PRICE * BigInt(open)
    const spent = spentBy(ended, userId)
    console.info(
      `${admitted(ended, userId)} admitted, ${open} of them without an output limit, ` +
        `${spent} of ${TEN_CENTS} spent`,
    )
    expect(open).toBeLessThan(admitted(ended, userId))
    expect(spent).toBeGreaterThan(0n)
    expect(spent).toBeLessThanOrEqual(TEN_CENTS + excess)
    expect(ended.lowest(userId)).toBeGreaterThanOrEqual(balance - TEN_CENTS - excess)
    expect(interrupted(ended, userId)).toBeGreaterThanOrEqual(2)
    expect(ended.endedNotOnce).toEqual([])
    expect(ended.held(userId)).toBe(0n)
    expect(ended.ledgerSum).toBe(0n)
    expect(await again.stop()).toBe(0)
  },
)

it('the read models equal the fold of the events', async () => {
  expect(await survivor.stop()).toBe(0)
  await site.expectReadModelsToEqualTheFold()
})

const book = () => readBook(site.store)
const openOf = ({ open, events }: Book, userId: number): readonly string[] => {
  const own = new Set(
    events.map(({ data }) => 'call' in data && data.userId === userId && data.call),
  )
  return open.filter((call) => own.has(call))
}
const admitted = (read: Book, userId: number): number => read.admitted(userId)

/** Calls that were admitted without an output limit to send. */
const openEnded = ({ events }: Book, userId: number): number =>
  events.filter(
    ({ type, data }) =>
      type === 'CallAdmitted' && data.userId === userId && data.outputLimit === undefined,
  ).length

const countOf = ({ events }: Book, userId: number, type: string): number =>
  events.filter((event) => event.type === type && event.data.userId === userId).length
const progressed = (read: Book, userId: number) => countOf(read, userId, 'CallProgressed')
const interrupted = (read: Book, userId: number) => countOf(read, userId, 'CallInterrupted')

/** What all calls of the user were charged, by their ends. */
function spentBy({ events }: Book, userId: number): bigint {
  const charges = events.map(({ data }) =>
    data.userId === userId && 'charge' in data ? BigInt(data.charge) : 0n,
  )
  return charges.reduce((sum, charge) => sum + charge, 0n)
}

async function seed(): Promise<typeof keys> {
  const { root } = site
  for (const [key, value] of Object.entries(PRICES)) await setOption(root, key, value)
  await addChannel({ root, provider }, { models: 'sim-small' })
  const keyOf = async (username: string, id: number, quota: bigint, token: object) => {
    const user = await addUser(root, username, Number(quota))
    expect(user.id).toBe(id)
    return (await user.client.createToken({ name: username, ...token })).key
  }
  const limited = { unlimited_quota: false, remain_quota: Number(TEN_CENTS) }
  return {
    poor: await keyOf('poor', POOR, TEN_CENTS, { unlimited_quota: true }),
    limited: await keyOf('rich', RICH, RICHES, limited),
  }
}
