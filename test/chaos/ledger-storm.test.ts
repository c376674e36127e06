import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type Running, startProduct } from '#infra/start.ts'
import type { BalanceAt, LedgerItem, LedgerPage, Statement } from '#read-api/contract/ledger.ts'
import type { LogStat } from '#read-api/contract/logs.ts'
import type { CorrectionPreview } from '#write-api/contract/repricing-and-corrections.ts'
import { startPinned } from '../bench/pinned-processes.ts'
import {
  type ProviderProcess,
  SHORT_LEASES,
  startProviderProcess,
} from '../support/multi-process-site.ts'
import { sendChat } from '../support/send-chat.ts'
import { addChannel, setOption } from '../support/test-product.ts'
import { readAccountTotals } from './account-totals.ts'
import { seedStorm } from './seed-storm.ts'
import { Supervisor } from './supervisor.ts'

const KILLS = Number(process.env.CHAOS_KILLS ?? 5)
/** The highest rate of calls. They pause while the read models of a slow machine catch up. */
const CALLS_PER_SECOND = 200
/**
 * The least number of answered calls, which a slow machine needs longer for, and the least share of
 * the calls that the product could answer, because it was not killed before they ended.
 */
const ANSWERED_MIN = 1_000
const ANSWERED_SHARE_MIN = 0.95
/** The calls that are under way when the product is killed. Calls may pause before that. */
const OPEN_AT_KILL_MIN = 20
const TOKENS = 50
const OPEN_MAX = 400
/** A stream of this model takes seconds, so that a kill leaves calls that are charged in part. */
const SLOW_MODEL = 'sim-large'
const SLOW_EVERY = 20
const LOOKS_MIN = KILLS * 2
/** The ratios to which the price of the plain calls is lowered during the storm. */
const CORRECTED_MODEL = 'sim-small'
const CORRECTED_RATIOS = ['0.5', '0.25']
/** A slow machine needs longer for its looks. The storm ends after this time in any case. */
const LONGEST_MS = 240_000
/** The calls pause while a look takes longer, so that a slow machine's read models catch up. */
const LOOK_MS = 5_000
const OPENING_BALANCE = 1_000_000_000
const REDEEMED = 1_234
const SERVERS = 'write-api,read-api,projections,relay'

const folder = mkdtempSync(join(tmpdir(), 'tallygate-ledger-storm-'))
const startedAt = Date.now()
/** The faults of each look at the four answers about the account. */
const looks: (readonly string[])[] = []
const done = { calls: 0, answered: 0, redeemed: 0, corrected: 0 }
/** The calls under way, and how many there were at each kill. */
const open = new Set<Promise<void>>()
const openAtKills: number[] = []
type FailedCall = { readonly begunAt: number; readonly endedAt: number; readonly reason: string }
const failedCalls: FailedCall[] = []
/** The calls that failed while the product was up, although nothing had killed it. */
let lost: readonly FailedCall[] = []
let pausedMs = 0
let lookedAt = Date.now()
let provider: Awaited<ReturnType<typeof startPinned>>
let slowProvider: ProviderProcess
let running: Running
let root: ConsoleClient

beforeAll(async () => {
  provider = await startPinned(1, 'infra/demo/run-simulated-provider.ts', ['0', '1', '8'])
  slowProvider = await startProviderProcess({ firstByteMs: 20, gapMs: 100, answerTokens: 120 })
  const port = await freePort()
  const environment = { DATA_DIR: join(folder, 'data'), PORT: String(port), LOG_LEVEL: 'error' }
  const supervisor = new Supervisor(folder, {
    ...{ ...environment, ROLES: SERVERS, NODE_OPTIONS: SHORT_LEASES },
  })
  await supervisor.start()
  const url = `http://127.0.0.1:${port}`
  const seeded = await seedStorm(url, provider.line.trim(), OPENING_BALANCE)
  root = seeded.root
  await setOption(root, 'ModelRatio', { [CORRECTED_MODEL]: 1, [SLOW_MODEL]: 1 })
  await addChannel({ root, provider: slowProvider }, { models: SLOW_MODEL })
  const keys = [seeded.key]
  while (keys.length < TOKENS) {
    const fields = { name: `storm-${keys.length}`, unlimited_quota: true }
    keys.push((await root.createToken(fields)).key)
  }
  const codes = await root.must<string[]>('POST', '/api/redemption/', {
    ...{ name: 'storm', quota: REDEEMED, count: 20 },
  })
  const isLong = () => Date.now() > startedAt + LONGEST_MS
  const isEnough = () => looks.length > LOOKS_MIN && done.answered >= ANSWERED_MIN
  const isOver = () => (openAtKills.length === KILLS && isEnough()) || isLong()
  const charging = [callAtRate(url, keys, isOver), correctPrices(isOver)]
  const killing = killInMidCalls(supervisor, isOver)
  await Promise.all([...charging, redeem(codes, isOver), lookOn(isOver), killing])
  await supervisor.whenReady
  lost = failedCalls.filter(({ begunAt, endedAt }) => supervisor.wasUp(begunAt, endedAt))
  expect(supervisor.faults).toEqual([])
  expect(await supervisor.stop()).toBe(0)
  running = await startProduct(readConfig({ ...environment, LOG_LEVEL: 'silent', ROLES: SERVERS }))
  const { interrupted } = await readAccountTotals(running)
  const seconds = Math.round((Date.now() - startedAt) / 1_000)
  process.stdout.write(
    `ledger storm: ${done.calls} calls in ${seconds} s, of which ` +
      `${Math.round(pausedMs / 1_000)} s were pauses; ${done.answered} answered, ` +
      `${failedCalls.length} failed, ${lost.length} of them while the product was up, ` +
      `${interrupted} interrupted, ${openAtKills.join(', ')} open at the kills, ` +
      `${done.redeemed} codes, ${done.corrected} corrections, ${looks.length} looks, ` +
      `${supervisor.starts} starts\n`,
  )
}, 600_000)

afterAll(async () => {
  await running?.stop(1_000)
  provider?.child.kill('SIGKILL')
  slowProvider?.close()
  rmSync(folder, { recursive: true, force: true })
})

const sleep = (ms: number) => new Promise((resume) => setTimeout(resume, ms))

/** Starts calls at a steady rate, whether or not earlier ones have ended. */
async function callAtRate(url: string, keys: readonly string[], isOver: () => boolean) {
  for (let due = Date.now(); !isOver(); due += 1_000 / CALLS_PER_SECOND) {
    if (due > Date.now()) await sleep(due - Date.now())
    if (Date.now() > lookedAt + LOOK_MS) {
      const pausedAt = performance.now()
      await sleep(100)
      pausedMs += performance.now() - pausedAt
      due = Date.now()
      continue
    }
    if (open.size >= OPEN_MAX) await Promise.race(open)
    const key = keys[done.calls % keys.length] ?? ''
    const call = callOnce(url, key, done.calls).finally(() => open.delete(call))
    open.add(call)
    done.calls += 1
  }
  await Promise.all(open)
}

async function callOnce(url: string, key: string, number: number): Promise<void> {
  const isSlow = number % SLOW_EVERY === 0
  const model = isSlow ? { model: SLOW_MODEL } : { max_tokens: 8 }
  const begunAt = Date.now()
  const fail = (reason: string) => failedCalls.push({ begunAt, endedAt: Date.now(), reason })
  try {
    const response = await sendChat(url, key, { stream: isSlow || number % 3 === 0, ...model })
    const text = await response.text()
    if (response.status === 200) done.answered += 1
    else fail(`${response.status} ${text}`)
  } catch (error) {
    // Expected if the process was killed.
    fail(`${error}: ${(error as Error).cause}`)
  }
}

/** Kills the product some seconds after each start, in the middle of calls. */
async function killInMidCalls(supervisor: Supervisor, isOver: () => boolean): Promise<void> {
  while (openAtKills.length < KILLS) {
    await supervisor.whenReady
    await sleep(4_000 + Math.random() * 3_000)
    while (open.size < OPEN_AT_KILL_MIN && !isOver()) await sleep(20)
    if (isOver()) return
    openAtKills.push(open.size)
    await supervisor.kill()
  }
}

async function redeem(codes: readonly string[], isOver: () => boolean): Promise<void> {
  for (const key of codes) {
    if (isOver()) return
    const answer = await root.call('POST', '/api/user/topup', { key }).catch(() => null)
    if (answer?.success === true) done.redeemed += 1
    await sleep(1_500)
  }
}

/** Lowers the price of past calls. A kill can cut a correction off, which is then continued. */
async function correctPrices(isOver: () => boolean): Promise<void> {
  for (const ratio of CORRECTED_RATIOS) {
    const looksBefore = looks.length
    while (looks.length < looksBefore + 2 || !(await correctTo(ratio).catch(() => false))) {
      if (isOver()) return
      await sleep(500)
    }
    done.corrected += 1
  }
}

async function correctTo(ratio: string): Promise<boolean> {
  const range = { from: Math.floor(startedAt / 1_000), to: Math.floor(Date.now() / 1_000) }
  const { preview } = await root.must<CorrectionPreview>('POST', '/api/audit/corrections/preview', {
    ...{ ...range, model: CORRECTED_MODEL, price: { model_ratio: ratio } },
  })
  const body = { preview, reason: 'a wrong price' }
  return (await root.call('POST', '/api/audit/corrections', body)).success
}

/** Compares the answers about the account again and again. */
async function lookOn(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    lookedAt = Date.now()
    looks.push(await look())
    await sleep(500)
  }
}

/** Asks again until the product answers, because a kill cuts answers off. */
async function read<T>(path: string): Promise<T> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    try {
      return await root.must<T>('GET', path)
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

const monthOf = (time: number) => new Date(time).toISOString().slice(0, 7)
const sumOf = (parts: readonly { readonly amount: number }[]) =>
  parts.reduce((sum, { amount }) => sum + amount, 0)

/** The statements of the months of the storm, which can be two. */
const statements = async (): Promise<Statement[]> =>
  await Promise.all(
    [...new Set([monthOf(startedAt), monthOf(Date.now())])].map((month) =>
      read<Statement>(`/api/ledger/self/statement?month=${month}`),
    ),
  )
const chargedIn = (months: readonly Statement[]) => -sumOfType(months, 'call')
const refundedIn = (months: readonly Statement[]) => sumOfType(months, 'correction')
const sumOfType = (months: readonly Statement[], wanted: string) =>
  sumOf(months.flatMap(({ by_type }) => by_type.filter(({ type }) => type === wanted)))

type Card = { readonly quota: number; readonly used_quota: number }
const card = () => read<Card>('/api/user/self')
const used = async () => {
  const points = await read<{ quota: number }[]>('/api/data/self/')
  return points.reduce((sum, { quota }) => sum + quota, 0)
}
const logged = async () => (await read<LogStat>('/api/log/self/stat')).quota
const page = (query = '') => read<LedgerPage>(`/api/ledger/self?${query}`)
const balanceAt = (at: number | '') => read<BalanceAt>(`/api/ledger/self/balance?at=${at}`)

/**
 * Asks all sources once, and returns what does not agree. Charges and refunds can only grow, so
 * what the balance card, the usage and the log say was used is between the charges of the statement
 * before less the refunds of the one after, and the reverse.
 */
async function look(): Promise<string[]> {
  const faults: string[] = []
  const check = (isRight: boolean, text: string) => isRight || faults.push(text)
  const before = await statements()
  const [{ used_quota }, usage, log] = [await card(), await used(), await logged()]
  const months = await statements()
  const least = chargedIn(before) - refundedIn(months)
  const most = chargedIn(months) - refundedIn(before)
  for (const [name, sum] of Object.entries({ used_quota, usage, log })) {
    check(least <= sum && sum <= most, `${name} ${sum}, statements ${least} to ${most}`)
  }
  for (const { opening, closing, by_type, by_day, by_model } of months) {
    const sum = sumOf(by_type)
    check(opening.total + sum === closing.total, `statement ${opening.total} + ${sum}`)
    check(sumOf(by_day) === sum, 'the sums by day')
    const own = [{ by_type } as Statement]
    check(-sumOf(by_model) === chargedIn(own) - refundedIn(own), 'the sums by model')
  }
  const { items, closing, next_cursor } = await page('limit=100')
  check(items[0]?.total === closing.total, `closing ${closing.total}, last ${items[0]?.total}`)
  for (const [n, { total, amount, position }] of items.entries()) {
    const older = items[n + 1]
    if (older !== undefined) check(older.total + amount === total, `total at ${position}`)
  }
  const older = next_cursor === null ? [] : (await page(`limit=1&cursor=${next_cursor}`)).items
  const last = items.at(-1)
  if (older[0] !== undefined && last !== undefined) {
    check(older[0].total + last.amount === last.total, `total at the page after ${next_cursor}`)
  }
  for (const { position, total, balance, held } of [...items.slice(0, 2), ...older]) {
    const found = await balanceAt(position)
    check(
      found.total === total && found.balance === balance && found.held === held,
      `balance as of ${position}: ${JSON.stringify(found)}`,
    )
  }
  return faults
}

type Folded = Pick<LedgerItem, 'position' | 'amount' | 'total' | 'balance' | 'held'>

/** Folds the postings of the account without the product's code: the figures after each event. */
async function foldAccount(): Promise<Folded[]> {
  const figures: Folded[] = []
  let [balance, held] = [0, 0]
  for (let from = 0; ; ) {
    const events = await running.core.store.readStream(accountStream(1), from, 1_000)
    if (events.length === 0) return figures
    from += events.length
    for (const { data, position } of events as (AccountEvent & { position: number })[]) {
      const total = balance + held
      for (const [account, amount] of 'postings' in data ? data.postings : []) {
        if (account === 'user:1:main') balance += amount
        if (account === 'user:1:held') held += amount
      }
      figures.push({
        position,
        amount: balance + held - total,
        total: balance + held,
        balance,
        held,
      })
    }
  }
}

const hasCharge = (data: AccountEvent['data']): boolean => 'charge' in data && data.charge > 0

describe(`${KILLS} kill -9 under at most ${CALLS_PER_SECOND} calls/s with ${TOKENS} tokens`, () => {
  it('ledger, balance card, usage, log and statement agree at each look during the storm', () => {
    expect(looks.flat()).toEqual([])
    // On a slow machine, the storm ends before there are enough looks.
    expect(looks.length).toBeGreaterThan(KILLS)
    expect(done.redeemed).toBeGreaterThan(0)
  })

  it('is a storm: each kill ends calls, and the product answers the others', () => {
    expect(openAtKills).toHaveLength(KILLS)
    expect(Math.min(...openAtKills)).toBeGreaterThanOrEqual(OPEN_AT_KILL_MIN)
    expect(done.answered).toBeGreaterThanOrEqual(ANSWERED_MIN)
    const share = done.answered / (done.answered + lost.length)
    const reasons = Object.groupBy(lost, ({ reason }) => reason.slice(0, 80))
    expect(share, Object.keys(reasons).join('\n')).toBeGreaterThan(ANSWERED_SHARE_MIN)
  })

  it('a kill leaves calls that are charged for what they delivered', async () => {
    const events = (await running.core.store.readAll(0, 1_000_000)) as Recorded<AccountEvent>[]
    const charged = events.filter(({ type, data }) => type === 'CallInterrupted' && hasCharge(data))
    // On a slow machine, the calls may pause while a process is killed.
    expect(charged.length).toBeGreaterThan(0)
  })

  it('they agree to the unit after it and a correction, also with the fold', async () => {
    // A correction that a kill cut off is completed first.
    const corrected = () => correctTo('0.125').catch(() => false)
    await expect.poll(corrected, { interval: 1_000, timeout: 60_000 }).toBe(true)
    const figures = await foldAccount()
    const now = figures.at(-1)
    const last = figures.findLast(({ amount }) => amount !== 0)
    await expect
      .poll(async () => (await page('limit=1')).items[0]?.position, { timeout: 60_000 })
      .toBe(last?.position)
    expect(await look()).toEqual([])
    const { quota, used_quota } = await card()
    const months = await statements()
    const [charged, refunded] = [chargedIn(months), refundedIn(months)]
    expect(refunded).toBeGreaterThan(0)
    expect(now?.held).toBe(0)
    expect([quota, (await page()).closing.total]).toEqual([now?.balance, now?.total])
    expect(months.at(-1)?.closing.total).toBe(now?.total)
    const inForce = charged - refunded
    expect([used_quota, await used(), await logged()]).toEqual([inForce, inForce, inForce])
    const gained = figures.filter(({ amount }) => amount > 0)
    expect(charged).toBe(gained.reduce((sum, { amount }) => sum + amount, 0) - quota)
  })

  it('the ledger has each movement with the figures that the events give', async () => {
    const figures = await foldAccount()
    const response = await fetch(`${root.url}/api/ledger/self/export?format=ndjson`, {
      headers: root.sessionHeaders,
    })
    const lines = (await response.text()).trimEnd().split('\n')
    const items = lines.map((line): Folded => {
      const { position, amount, total, balance, held } = JSON.parse(line) as LedgerItem
      return { position, amount, total, balance, held }
    })
    expect(items.reverse()).toEqual(figures.filter(({ amount }) => amount !== 0))
  })

  it('the balance as of a position is that of the events until it, holds included', async () => {
    const figures = await foldAccount()
    for (let n = 0; n < 100; n += 1) {
      const one = figures[Math.floor((n * figures.length) / 100)]
      expect(await balanceAt(one?.position ?? 0)).toMatchObject({
        ...{ total: one?.total, balance: one?.balance, held: one?.held },
      })
    }
  })

  it('the read models equal the fold of the events', async () => {
    const verified = await running.projections?.verify()
    expect(verified?.filter(({ isEqual }) => !isEqual)).toEqual([])
  }, 150_000)
})

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => found(port))
    })
  })
}
