import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#infra/config/read-config.ts'
import type { JournalEntry } from '#infra/demo/received-requests.ts'
import { type Running, startProduct } from '#infra/start.ts'
import { startPinned } from '../bench/pinned-processes.ts'
import { SHORT_LEASES } from '../support/multi-process-site.ts'
import { type AccountTotals, readAccountTotals } from './account-totals.ts'
import { type CallRecord, callInStorm } from './call-repeatedly.ts'
import { seedStorm } from './seed-storm.ts'
import { Supervisor } from './supervisor.ts'

const CALLS = Number(process.env.CHAOS_CALLS ?? 20_000)
const KILLS = Number(process.env.CHAOS_KILLS ?? 12)

const folder = mkdtempSync(join(tmpdir(), 'tallygate-storm-'))
let provider: Awaited<ReturnType<typeof startPinned>>
let records: CallRecord[]
let journal: JournalEntry[]
let running: Running
let totals: AccountTotals
const OPENING_BALANCE = 1_000_000_000

beforeAll(async () => {
  provider = await startPinned(1, 'infra/demo/run-simulated-provider.ts', ['0', '1', '8'])
  const port = await freePort()
  const environment = { DATA_DIR: join(folder, 'data'), PORT: String(port), LOG_LEVEL: 'error' }
  const supervisor = new Supervisor(folder, {
    ...{ ...environment, ROLES: SERVERS },
    // With short leases, open calls of a killed process end during the test instead of a minute
    // later.
    NODE_OPTIONS: SHORT_LEASES,
  })
  await supervisor.start()
  const url = `http://127.0.0.1:${port}`
  const { key } = await seedStorm(url, provider.line.trim(), OPENING_BALANCE)
  const killer = spawn(process.execPath, ['test/chaos/kill-process-tree.ts', folder, String(KILLS)])
  records = await callInStorm({
    url,
    key,
    total: CALLS,
    atOnce: 40,
    isOver: () => killer.exitCode !== null,
    acknowledgedMin: CALLS / 2,
  })
  await supervisor.whenReady
  expect(supervisor.faults).toEqual([])
  expect(await supervisor.stop()).toBe(0)
  const config = readConfig({ ...environment, LOG_LEVEL: 'silent', ROLES: SERVERS })
  running = await startProduct(config)
  totals = await readAccountTotals(running)
  journal = await (await fetch(`${provider.line.trim()}/journal`)).json()
  const count = (outcome: CallRecord['outcome']) =>
    records.filter((record) => record.outcome === outcome).length
  process.stdout.write(
    `storm: ${records.length} calls, ${count('acknowledged')} acknowledged, ` +
      `${count('unknown')} interrupted, ${count('refused')} refused, ${journal.length} reached ` +
      `the provider, ${totals.interrupted} held by a dead owner, ${supervisor.starts} starts\n`,
  )
}, 600_000)

afterAll(async () => {
  await running?.stop(1_000)
  provider?.child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const SERVERS = 'write-api,read-api,projections,relay'

describe(`${CALLS} calls under ${KILLS} kill -9 of the whole process tree`, () => {
  it('every kill interrupts calls', () => {
    const kills = existsSync(join(folder, 'kills.log'))
      ? readFileSync(join(folder, 'kills.log'), 'utf8').trim().split('\n')
      : []
    expect(kills).toHaveLength(KILLS)
    expect(records.length).toBeGreaterThanOrEqual(CALLS)
    expect(records.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThan(KILLS)
    expect(totals.interrupted).toBeGreaterThanOrEqual(KILLS)
  })

  it('every call acknowledged to a client is recorded and billed once', () => {
    const acknowledged = records.filter(({ outcome }) => outcome === 'acknowledged')
    const wrong = acknowledged.filter(({ requestId }) => totals.settled.get(requestId ?? '') !== 1)
    expect(wrong).toEqual([])
    expect(acknowledged.length).toBeGreaterThanOrEqual(CALLS / 2)
  })

  it('every admitted call ends exactly once, and no hold is left', () => {
    expect(totals.endedNotOnce).toEqual([])
    expect(totals.held).toBe(0n)
  })

  it('each billed call is in the provider’s journal, and no call was sent twice', () => {
    const requestCounts = new Map<string, number>()
    for (const { requestId } of journal)
      requestCounts.set(requestId, (requestCounts.get(requestId) ?? 0) + 1)
    const billedUnasked = [...totals.charged.keys()].filter((call) => !requestCounts.has(call))
    expect(billedUnasked).toEqual([])
    const askedTwice = [...requestCounts].filter(([, count]) => count !== 1)
    expect(askedTwice).toEqual([])
  })

  it('each charge equals the cost of the token counts in the provider’s journal', () => {
    const wrong = journal.filter(
      ({ requestId, outcome, promptTokens, completionTokens }) =>
        outcome === 'answered' &&
        totals.settled.get(requestId) === 1 &&
        totals.complete.has(requestId) &&
        totals.charged.get(requestId) !== BigInt(promptTokens + completionTokens * 2),
    )
    expect(wrong).toEqual([])
  })

  it('the balance is exactly the opening balance less every charge', () => {
    const charges = [...totals.charged.values()].reduce((sum, charge) => sum + charge, 0n)
    expect(totals.balance).toBe(BigInt(OPENING_BALANCE) - charges)
    expect(totals.ledgerSum).toBe(0n)
  })

  it('read models equal the fold of the events, also after a rebuild', async () => {
    const verified = await running.projections?.verify()
    expect(verified?.filter(({ isEqual }) => !isEqual)).toEqual([])
    await running.projections?.rebuild('call-log')
    const again = await running.projections?.verify()
    expect(again?.filter(({ isEqual }) => !isEqual)).toEqual([])
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
