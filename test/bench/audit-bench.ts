import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { GrowingTree } from '#infra/audit-program/growing-tree.ts'
import { postgresRecords } from '#infra/audit-program/read-records.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { exportFiles } from '#infra/audit-program/write-export.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { startCore } from '#infra/start-core.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { consistentHistory } from '../infra/audit-program/consistent-history.ts'

/**
 * Measures the export, the offline verification, and the rebuild of all read models. Prints events
 * per second and the memory of the process. Parameters: events (100000), accounts (400).
 */
const EVENTS = Number(process.argv[2] ?? 100_000)
const ACCOUNTS = Number(process.argv[3] ?? 400)

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

async function measured(name: string, work: () => Promise<unknown>): Promise<void> {
  let peak = process.memoryUsage.rss()
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 50)
  const [begin, cpuBefore] = [performance.now(), process.cpuUsage()]
  await work()
  const cpu = process.cpuUsage(cpuBefore)
  peak = Math.max(peak, process.memoryUsage.rss())
  clearInterval(watch)
  const seconds = (performance.now() - begin) / 1_000
  const rate = Math.round(EVENTS / seconds).toLocaleString('en-US')
  const [cpuSeconds, megabytes] = [(cpu.user + cpu.system) / 1e6, Math.round(peak / 2 ** 20)]
  print(
    `${name}: ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of this process), ` +
      `${rate} events/s, at most ${megabytes} MB`,
  )
}

async function fill({ store }: Core): Promise<void> {
  for (const append of consistentHistory(EVENTS, ACCOUNTS)) await store.append(append)
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
await measured('rebuild all read models', () => runner.rebuild(PROJECTION_NAMES))
await runner.stop()
await close()
await embedded.stop()
rmSync(dataDir, { recursive: true, force: true })
