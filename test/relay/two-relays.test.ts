import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ProviderProcess,
  SHORT_LEASES,
  startProviderProcess,
} from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, addUser, setOption } from '#test/support/test-product.ts'
import { type Book, readBook } from './support/accounts-from-events.ts'
import { type RelaySite, startRelaySite } from './support/relay-site.ts'
import { type Call, callAtOnce } from './support/send-many-calls.ts'

const PRICE = 1_000n
const AFFORDABLE = 10
const RICH = 2
const POOR = 3
/** Of the call leases in these processes, of the sweeper's own and its next try, and its pace. */
const LEASE_MS = 8_000
const TAKEOVER_MS = 14_000
const PACE_MS = 5_000
const SLACK_MS = 3_000

let site: RelaySite
let provider: ProviderProcess
let survivor: ProductProcess
let victim: ProductProcess
let keys: Record<'rich' | 'poor', string>
let calls: Call[]
let killedAt = 0

beforeAll(async () => {
  ;[site, provider] = await Promise.all([
    startRelaySite(SHORT_LEASES),
    startProviderProcess({ firstByteMs: 150, gapMs: 60, answerTokens: 30 }),
  ])
  keys = await seed()
  // The first relay holds the sweeper's lease and is the one to die: another has to take over.
  victim = await site.startRelay()
  survivor = await site.startRelay()
})

afterAll(async () => {
  await site?.close()
  provider?.close()
})

describe('two relays, two accounts, 500 concurrent calls, one relay killed in the middle', () => {
  it('the kill cuts calls off and leaves holds behind', async () => {
    const killer = killOnceUnderWay(victim)
    calls = await Promise.all([
      ...callAtOnce(250, [victim.url, survivor.url], keys.rich),
      ...callAtOnce(250, [survivor.url, victim.url], keys.poor),
    ])
    killedAt = await killer
    expect(calls.filter(({ outcome }) => outcome === 'cut').length).toBeGreaterThan(20)
    const book = await readBook(site.store)
    expect(book.open.length).toBeGreaterThan(20)
  })

  it('every call ends once, within its lease and the sweeper’s interval', async () => {
    const book = await whenQuiet()
    expect(book.endedNotOnce).toEqual([])
    const orphans = book.events.filter(({ type }) => type === 'CallInterrupted')
    expect(orphans.length).toBeGreaterThan(20)
    const latest = Math.max(...orphans.map(({ meta }) => meta.at))
    const bound = killedAt + Math.max(LEASE_MS, TAKEOVER_MS) + PACE_MS + SLACK_MS
    expect(latest).toBeLessThan(bound)
    expect(book.held(RICH)).toBe(0n)
    expect(book.held(POOR)).toBe(0n)
  })

  it('no call too many is admitted, and no balance is ever below 0', async () => {
    const book = await readBook(site.store)
    // If sending takes longer than a lease, the holds of the killed relay are free again.
    const freed = book.events.filter(
      ({ type, stream }) => type === 'CallInterrupted' && stream === `account-${POOR}`,
    )
    expect(book.admitted(POOR)).toBeGreaterThanOrEqual(AFFORDABLE)
    expect(book.admitted(POOR)).toBeLessThanOrEqual(AFFORDABLE + freed.length)
    expect(book.lowest(POOR)).toBe(0n)
    expect(book.lowest(RICH)).toBeGreaterThanOrEqual(0n)
    const refused = calls.filter(({ status }) => status === 402)
    expect(refused.length).toBeGreaterThan(250 - AFFORDABLE - cutCount())
    expect(book.ledgerSum).toBe(0n)
  })

  it('a call answered whole is settled once and sent to the provider once', async () => {
    const book = await readBook(site.store)
    const whole = calls.filter(({ outcome }) => outcome === 'whole')
    expect(whole.length).toBeGreaterThan(50)
    expect(whole.filter(({ requestId }) => book.settled.get(requestId) !== 1)).toEqual([])
    const requestIds = (await provider.journal()).map(({ requestId }) => requestId)
    expect(new Set(requestIds).size).toBe(requestIds.length)
    expect([...book.settled.keys()].filter((call) => !requestIds.includes(call))).toEqual([])
  })
})

describe('a relay that is paused for longer than the lease of its calls', () => {
  it('the relay ends no call twice and completes no answer recorded as interrupted', async () => {
    const sleeper = await site.startRelay()
    const late = callAtOnce(40, [sleeper.url], keys.rich)
    // On a busy machine, the first calls may end before the last ones are admitted.
    const openCalls = async () => (await readBook(site.store)).open
    await expect.poll(async () => (await openCalls()).length).toBeGreaterThan(20)
    process.kill(sleeper.pid, 'SIGSTOP')
    const paused = new Set(await openCalls())
    expect(paused.size).toBeGreaterThan(10)
    const swept = await whenQuiet()
    expect(swept.endedNotOnce).toEqual([])
    process.kill(sleeper.pid, 'SIGCONT')
    const answers = (await Promise.all(late)).filter(({ requestId }) => paused.has(requestId))
    expect(answers.length).toBeGreaterThan(10)
    expect(answers.map(({ outcome }) => outcome)).not.toContain('whole')
    const again = await Promise.all(callAtOnce(10, [sleeper.url], keys.rich))
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(10).fill('whole'))
    const book = await readBook(site.store)
    expect(book.endedNotOnce).toEqual([])
    expect(book.open).toEqual([])
    for (const { requestId } of answers) expect(book.settled.get(requestId)).toBeUndefined()
    expect(book.ledgerSum).toBe(0n)
    expect(await sleeper.stop()).toBe(0)
  })
})

describe('the site after these faults', () => {
  it('the read models equal the fold of the events', async () => {
    expect(await survivor.stop()).toBe(0)
    await site.expectReadModelsToEqualTheFold()
  })
})

const cutCount = (): number => calls.filter(({ outcome }) => outcome === 'cut').length

/** The book once no call is open any more. */
async function whenQuiet(): Promise<Book> {
  await expect.poll(async () => (await readBook(site.store)).open, { interval: 500 }).toEqual([])
  return readBook(site.store)
}

/** Both relays take calls in turn, so with so many holds open its own are among them. */
async function killOnceUnderWay(target: ProductProcess): Promise<number> {
  const openHolds = async () => (await readBook(site.store)).open.length
  await expect.poll(openHolds).toBeGreaterThan(150)
  return killFromOutside(target)
}

/** From a process of its own, so that nothing waits for the callers. Resolves with the moment. */
async function killFromOutside(target: ProductProcess): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-two-'))
  const pidFile = join(folder, 'product.pid')
  writeFileSync(pidFile, String(target.pid))
  const killer = spawn(process.execPath, [
    'test/chaos/kill-process-tree.ts',
    folder,
    '1',
    '50',
    '150',
  ])
  await target.ended()
  const at = Date.now()
  rmSync(pidFile)
  await once(killer, 'exit')
  rmSync(folder, { recursive: true, force: true })
  return at
}

async function seed(): Promise<typeof keys> {
  await setOption(site.root, 'ModelPrice', { 'sim-small': 0.002 })
  await addChannel({ root: site.root, provider }, { models: 'sim-small' })
  const keyOf = async (username: string, id: number, quota: bigint): Promise<string> => {
    const user = await addUser(site.root, username, Number(quota))
    expect(user.id).toBe(id)
    return (await user.client.createToken({ name: username, unlimited_quota: true })).key
  }
  return {
    rich: await keyOf('rich', RICH, PRICE * 10_000n),
    poor: await keyOf('poor', POOR, PRICE * BigInt(AFFORDABLE)),
  }
}
