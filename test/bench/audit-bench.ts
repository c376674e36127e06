import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { GrowingTree } from '#infra/audit-program/growing-tree.ts'
import { postgresRecords } from '#infra/audit-program/read-records.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { exportFiles } from '#infra/audit-program/write-export.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { startCore } from '#infra/start-core.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { consistentHistory } from '../infra/audit-program/consistent-history.ts'
import { cpuSeconds } from './pinned-processes.ts'

/**
 * Measures the export, the offline verification, and the rebuild of all read models, once they have
 * followed the events. Prints events per second, CPU of this process and of Postgres per event, and
 * the memory of this process. Parameters: events (100000), accounts (400), milliseconds between two
 * calls (10). With more time between calls, sums by hour and day have more rows.
 */
const EVENTS = Number(process.argv[2] ?? 100_000)
const ACCOUNTS = Number(process.argv[3] ?? 400)
const STEP_MS = Number(process.argv[4] ?? 10)

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

async function measured(name: string, work: () => Promise<unknown>): Promise<void> {
  let peak = process.memoryUsage.rss()
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 50)
  const [begin, cpuBefore] = [performance.now(), process.cpuUsage()]
  const postgresBefore = cpuSeconds(embedded.pid)
  await work()
  const cpu = process.cpuUsage(cpuBefore)
  const postgresUs = ((cpuSeconds(embedded.pid) - postgresBefore) * 1e6) / EVENTS
  peak = Math.max(peak, process.memoryUsage.rss())
  clearInterval(watch)
  const seconds = (performance.now() - begin) / 1_000
  const rate = Math.round(EVENTS / seconds).toLocaleString('en-US')
  const nodeUs = (cpu.user + cpu.system) / EVENTS
  print(
    `${name}: ${seconds.toFixed(1)} s, ${rate} events/s, CPU per event ${nodeUs.toFixed(1)} µs ` +
      `here and ${postgresUs.toFixed(1)} µs in Postgres, at most ${Math.round(peak / 2 ** 20)} MB`,
  )
}

async function fill({ store }: Core): Promise<void> {
  for (const append of consistentHistory(EVENTS, ACCOUNTS, STEP_MS)) await store.append(append)
}

async function exportTo(core: Core, folder: string): Promise<void> {
  const sealedTree = async () => ({ signedCheckpoints: [], keys: [], witnessKeys: [] })
  const source = { records: postgresRecords(core.pg), sealedTree }
  for await (const { name, bytes } of exportFiles(source, { exportedAt: new Date() })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes ?? '')
  }
}

async function hashAll({ pg }: Core): Promise<void> {
  const records = postgresRecords(pg)
  const tree = new GrowingTree()
  for (let after = 0; ; ) {
    const page = await records.read(after, 2_500)
    for (const record of page) tree.append(leafHash(record))
    if (page.length === 0) return
    after = page.at(-1)?.position ?? after
  }
}

/** Waits until all read models have reached the last event. */
async function untilFolded({ health }: ProjectionRunner): Promise<void> {
  while (health().some(({ lanes, position }) => lanes < LANE_COUNT || position < EVENTS)) {
    await delay(20)
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'audit-bench-'))
const embedded = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
const config = readConfig({
  DATABASE_URL: embedded.connectionString,
  SECRET_KEY: randomBytes(32).toString('base64'),
  LOG_LEVEL: 'error',
})
const { core, close } = await startCore(config)
const folder = join(dataDir, 'export')
await measured('append', () => fill(core))
await measured('read and hash', () => hashAll(core))
await measured('export', () => exportTo(core, folder))
await measured('verify offline', async () => {
  const { findings } = verifyExport(openExport(folder))
  if (findings.total() > 0) print(JSON.stringify(findings.list()))
})
const runner = await startProjections(core)
await measured('follow the events', () => untilFolded(runner))
await measured('rebuild all read models', () => runner.rebuild(PROJECTION_NAMES))
await runner.stop()
await close()
await embedded.stop()
rmSync(dataDir, { recursive: true, force: true })
