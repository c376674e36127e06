import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#infra/config/read-config.ts'
import { ConsoleClient } from '#infra/demo/console-client.ts'
import { startProduct } from '#infra/start.ts'
import { type RunningCore, startCore } from '#infra/start-core.ts'
import { PASSWORD, setOption } from '#test/support/product.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import {
  type ProviderProcess,
  SHORT_LEASES,
  type Site,
  startProviderProcess,
  startSite,
} from '#test/support/site.ts'
import { type Book, readBook } from './support/account-book.ts'
import { type Call, callAtOnce } from './support/many-calls.ts'

const PRICE = 1_000n
const AFFORDABLE = 10
const RICH = 2
const POOR = 3
/** Of the call leases in these processes, of the sweeper's own and its next try, and its pace. */
const LEASE_MS = 8_000
const TAKEOVER_MS = 14_000
const PACE_MS = 5_000
const SLACK_MS = 3_000

let site: Site
let provider: ProviderProcess
let office: ProductProcess
let survivor: ProductProcess
let victim: ProductProcess
let core: RunningCore
let keys: Record<'rich' | 'poor', string>
let calls: Call[]
let killedAt = 0

const relay = () => site.start('relay', { NODE_OPTIONS: SHORT_LEASES, LOG_LEVEL: 'error' })

beforeAll(async () => {
  ;[site, provider] = await Promise.all([
    startSite(),
    startProviderProcess({ firstByteMs: 150, gapMs: 60, answerTokens: 30 }),
  ])
  office = await site.start('write-api,read-api,projections')
  keys = await seed(office.url)
  // The first one holds the sweeper's lease, and is the one to die: another has to take over.
  victim = await relay()
  survivor = await relay()
  const environment = { ...site.environment, LOG_LEVEL: 'silent', PORT: '0', ROLES: 'projections' }
  core = await startCore(readConfig(environment))
}, 60_000)

afterAll(async () => {
  await core?.close()
  await site?.close()
  provider?.close()
}, 60_000)

describe('two relays, two accounts, 500 calls at once, one relay killed in the middle', () => {
  it('the kill is real: calls were cut off, and holds were left behind', async () => {
    const killer = killOnceUnderWay(victim)
    calls = await Promise.all([
      ...callAtOnce(250, [victim.url, survivor.url], keys.rich),
      ...callAtOnce(250, [survivor.url, victim.url], keys.poor),
    ])
    killedAt = await killer
    expect(calls.filter(({ outcome }) => outcome === 'cut').length).toBeGreaterThan(20)
    const book = await readBook(core.core.store)
    expect(book.open.length).toBeGreaterThan(20)
  })

  it('every hold ends, each call once, within its lease and the sweeper’s', async () => {
    const book = await whenQuiet()
    expect(book.endedNotOnce).toEqual([])
    const orphans = book.events.filter(({ type }) => type === 'CallInterrupted')
    expect(orphans.length).toBeGreaterThan(20)
    const latest = Math.max(...orphans.map(({ meta }) => meta.at))
    const bound = killedAt + Math.max(LEASE_MS, TAKEOVER_MS) + PACE_MS + SLACK_MS
    expect(latest).toBeLessThan(bound)
    expect(book.held(RICH)).toBe(0n)
    expect(book.held(POOR)).toBe(0n)
  }, 60_000)

  it('not one call too many was admitted, and no balance was ever below 0', async () => {
    const book = await readBook(core.core.store)
    expect(book.admitted(POOR)).toBe(AFFORDABLE)
    expect(book.lowest(POOR)).toBe(0n)
    expect(book.lowest(RICH)).toBeGreaterThanOrEqual(0n)
    const refused = calls.filter(({ status }) => status === 402)
    expect(refused.length).toBeGreaterThan(250 - AFFORDABLE - cutCount())
    expect(book.ledgerSum).toBe(0n)
  })

  it('what a caller has whole is settled once, and asked of the provider once', async () => {
    const book = await readBook(core.core.store)
    const whole = calls.filter(({ outcome }) => outcome === 'whole')
    expect(whole.length).toBeGreaterThan(50)
    expect(whole.filter(({ requestId }) => book.settled.get(requestId) !== 1)).toEqual([])
    const asked = (await provider.journal()).map(({ requestId }) => requestId)
    expect(new Set(asked).size).toBe(asked.length)
    expect([...book.settled.keys()].filter((call) => !asked.includes(call))).toEqual([])
  })
})

describe('a relay that stands still for longer than its calls’ lease, and wakes', () => {
  it('doubles nothing, and gives no caller a whole answer that the ledger calls cut', async () => {
    const sleeper = await relay()
    const late = callAtOnce(40, [sleeper.url], keys.rich)
    await expect.poll(async () => (await readBook(core.core.store)).open.length).toBe(40)
    process.kill(sleeper.pid, 'SIGSTOP')
    const swept = await whenQuiet()
    expect(swept.endedNotOnce).toEqual([])
    process.kill(sleeper.pid, 'SIGCONT')
    const answers = await Promise.all(late)
    expect(answers.map(({ outcome }) => outcome)).not.toContain('whole')
    const again = await Promise.all(callAtOnce(10, [sleeper.url], keys.rich))
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(10).fill('whole'))
    const book = await readBook(core.core.store)
    expect(book.endedNotOnce).toEqual([])
    expect(book.open).toEqual([])
    for (const { requestId } of answers) expect(book.settled.get(requestId)).toBeUndefined()
    expect(book.ledgerSum).toBe(0n)
    expect(await sleeper.stop()).toBe(0)
  }, 60_000)
})

describe('afterwards', () => {
  it('read models equal the fold of the events', async () => {
    expect(await survivor.stop()).toBe(0)
    expect(await office.stop()).toBe(0)
    const running = await startProduct({ ...core.core.config, roles: new Set(['projections']) })
    const head = await running.core.store.headPosition()
    await expect
      .poll(() => [...(running.projections?.positions() ?? [])].every(([, at]) => at >= head))
      .toBe(true)
    const verdicts = await running.projections?.verify()
    await running.stop(0)
    expect(verdicts?.length).toBeGreaterThan(5)
    expect(verdicts?.filter(({ isEqual }) => !isEqual)).toEqual([])
  }, 60_000)
})

const cutCount = (): number => calls.filter(({ outcome }) => outcome === 'cut').length

/** The book once no call is open any more. */
async function whenQuiet(): Promise<Book> {
  await expect
    .poll(async () => (await readBook(core.core.store)).open, { timeout: 45_000, interval: 500 })
    .toEqual([])
  return readBook(core.core.store)
}

/** Both relays take calls in turn, so with so many holds open its own are among them. */
async function killOnceUnderWay(target: ProductProcess): Promise<number> {
  const openHolds = async () => (await readBook(core.core.store)).open.length
  await expect.poll(openHolds, { timeout: 20_000 }).toBeGreaterThan(150)
  return killFromOutside(target)
}

/** From a process of its own, so that nothing waits for the callers. Resolves with the moment. */
async function killFromOutside(target: ProductProcess): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-two-'))
  const pidFile = join(folder, 'product.pid')
  writeFileSync(pidFile, String(target.pid))
  const killer = spawn(process.execPath, ['test/chaos/killer.ts', folder, '1', '50', '150'])
  await target.ended()
  const at = Date.now()
  rmSync(pidFile)
  await once(killer, 'exit')
  rmSync(folder, { recursive: true, force: true })
  return at
}

async function seed(url: string): Promise<typeof keys> {
  const root = new ConsoleClient(url)
  await root.setUp('root', PASSWORD)
  await root.logIn('root', PASSWORD)
  await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
  await root.must('POST', '/api/channel/', {
    name: 'slow',
    type: 1,
    key: 'sk-provider',
    base_url: provider.url,
    models: 'sim-small',
    group: 'default',
  })
  const account = async (username: string, id: number, quota: bigint): Promise<string> => {
    await root.must('POST', '/api/user/', { username, password: PASSWORD, display_name: username })
    await root.must('PUT', '/api/user/', { id, quota: Number(quota) })
    const owner = new ConsoleClient(url)
    expect(await owner.logIn(username, PASSWORD)).toBe(id)
    return (await owner.createToken({ name: username, unlimited_quota: true })).key
  }
  return {
    rich: await account('rich', RICH, PRICE * 10_000n),
    poor: await account('poor', POOR, PRICE * BigInt(AFFORDABLE)),
  }
}
