import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { createVault } from '#infra/vault/vault.ts'
import { ADMIN, type Api, apiFixture } from '#test/read-api/fixture.ts'
import { HEAVY_USER, makeLogRows, SITE } from './generate-log-rows.ts'
import { exportFigure, filterFigures, jumpFigures, type Reader } from './measure-usage-log.ts'

/**
 * Runs `npm run bench:logs`: measures the usage log with many generated rows, by the first page and
 * totals of each filter, jumps to far pages, and exports. Needs about 20 GB of disk, which are
 * freed at the end.
 * Parameters: rows (10000000), rows of an export (500000).
 */
const ROWS = Number(process.argv[2] ?? 10_000_000)
const EXPORTED = Number(process.argv[3] ?? 500_000)

const print = (line: string): void => console.log(line)

async function bench(api: Api, now: number): Promise<void> {
  const heavy = await api.logIn(HEAVY_USER)
  const reader: Reader = { app: api.app, admin: await api.logIn(ADMIN), heavy }
  print(
    `${ROWS} rows, ${SITE.days} days, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`,
  )
  print('| filter | rows | page 0 ms | totals ms |\n|---|---|---|---|')
  for await (const { filter, rows, pageMs, statMs } of filterFigures(reader, now)) {
    print(`| ${filter || 'none'} | ${rows} | ${pageMs.toFixed(1)} | ${statMs.toFixed(1)} |`)
  }
  print('\n| page | ms |\n|---|---|')
  for (const { page, ms } of await jumpFigures(reader, now)) print(`| ${page} | ${ms.toFixed(1)} |`)
  print('\n| export | rows | rows/s | MB/s | memory before, MB | most |\n|---|---|---|---|---|---|')
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  for (const kind of ['csv', 'ndjson']) {
    const path = `${address}/api/log/export?format=${kind}`
    const figure = await exportFigure(path, reader.admin, EXPORTED)
    const { rows, rowsPerSecond, megabytesPerSecond, rssBegin, rssMost } = figure
    const cells = [rowsPerSecond, megabytesPerSecond, rssBegin, rssMost].map((n) => n.toFixed(0))
    print(`| ${[kind, rows, ...cells].join(' | ')} |`)
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-bench-logs-'))
const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('error'), durable: false })
process.env.TEST_POSTGRES_URL = postgres.connectionString
try {
  const api = await apiFixture()
  try {
    const { pg } = api.core
    const vault = await createVault({ pg, secretKey: new Uint8Array(32).fill(7) })
    Object.assign(api.core.vault, { open: vault.open })
    const end = Math.floor(api.core.now() / 1_000)
    await makeLogRows(pg, {
      ...{ count: ROWS, end },
      sealed: (userId) => vault.seal(userId, '203.0.113.77'),
      onChunk: (rows) => process.stderr.write(`\r${rows} rows `),
    })
    process.stderr.write('\n')
    await bench(api, end)
  } finally {
    await api.close()
  }
} finally {
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
