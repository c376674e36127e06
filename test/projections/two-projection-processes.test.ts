import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LANE_TTL_MS } from '#infra/event-bus/brokerless-bus.ts'
import type { RunningCore } from '#infra/start-core.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { testCore } from '#test/support/test-core.ts'
import { aCall, admitted, appendTo, channelCreated, granted, settledCall } from './fixture.ts'

let running: RunningCore
const processes: ProductProcess[] = []
let isAppending = true
let appending: Promise<void>

beforeAll(async () => {
  running = await testCore()
  await start()
  await start()
  await appendTo(running.core.store, [channelCreated(1, 'a'), granted(1, 1_000_000)])
  appending = append()
})
afterAll(async () => {
  isAppending = false
  await appending
  for (const each of processes) await each.close()
  await running.close()
})

async function start(): Promise<ProductProcess> {
  const { config } = running.core
  const started = await ProductProcess.create({
    DATABASE_URL: config.databaseUrl ?? '',
    SECRET_KEY: Buffer.from(config.secretKey ?? '').toString('base64'),
    ROLES: 'projections',
  })
  processes.push(started)
  await started.start()
  return started
}

async function append(): Promise<void> {
  for (let user = 0; isAppending; user = (user + 1) % 40) {
    const call = aCall({ userId: user + 1, tokenId: user + 1 })
    await appendTo(running.core.store, [admitted(call), settledCall(call, 3)])
    await delay(2)
  }
}

/** Returns how many lanes each running process has. */
async function shares(): Promise<number[]> {
  const { rows } = await running.core.pg.query<{ lanes: string }>(
    `select count(*) as lanes from leases.leases
     where name like 'lane:projections:%' and owner is not null
       and expires_at >= clock_timestamp()
     group by owner order by 1`,
  )
  return rows.map(({ lanes }) => Number(lanes))
}

async function lowest(): Promise<number> {
  const { rows } = await running.core.pg.query<{ position: string }>(
    'select min(position) as position from projections.checkpoint',
  )
  return Number(rows[0]?.position)
}

const foldIsCurrent = async (timeout: number): Promise<void> => {
  const head = await running.core.store.headPosition()
  await expect.poll(lowest, { timeout }).toBeGreaterThanOrEqual(head)
}

async function everythingIsFolded(): Promise<void> {
  const { core } = running
  const context = { open: async () => '', messageText: async () => '' }
  const verdicts = await verifyReadModels(core, PROJECTIONS, context)
  for (const verdict of verdicts) expect(verdict).toMatchObject({ isEqual: true })
}

/** Stops the process while one of its transactions is open. */
async function standStill({ pid }: ProductProcess): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP')
    await delay(20)
    const { rowCount } = await running.core.pg.query(
      `select from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction'
         and clock_timestamp() - state_change > interval '15 ms'`,
    )
    if (rowCount !== 0) return
    process.kill(pid, 'SIGCONT')
    await delay(7)
  }
}

it('another process takes over the lanes of a killed one within the lease', async () => {
  await expect.poll(shares).toEqual([4, 4])
  await foldIsCurrent(15_000)
  const [killed] = processes
  process.kill(killed?.pid ?? 0, 'SIGKILL')
  await expect.poll(shares, { timeout: LANE_TTL_MS + 2_000 }).toEqual([8])
  await foldIsCurrent(3_000)
  await everythingIsFolded()
})

it('a process paused in a transaction is fenced on waking, and counts nothing twice', async () => {
  const other = await start()
  await expect.poll(shares).toEqual([4, 4])
  await standStill(other)
  await expect.poll(shares, { timeout: LANE_TTL_MS + 5_000 }).toEqual([8])
  await foldIsCurrent(3_000)
  process.kill(other.pid, 'SIGCONT')
  await expect.poll(shares).toEqual([4, 4])
  await foldIsCurrent(5_000)
  isAppending = false
  await appending
  await foldIsCurrent(5_000)
  await everythingIsFolded()
  expect(processes.map(({ output }) => output).join('')).not.toContain('projection-stopped')
})
