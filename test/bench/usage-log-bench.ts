import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { createVault } from '#infra/vault/vault.ts'
import type { LogPage } from '#read-api/contract/logs.ts'
import { ADMIN, type Api, apiFixture } from '#test/read-api/fixture.ts'
import type { ExportAsked, ExportRead } from './export-reader.ts'
import { HEAVY_USER, makeLogRows, RARE, SITE } from './generate-log-rows.ts'

/** `admin` and `heavy` are the session headers of an admin and of the user with the most rows. */
type Reader = {
  readonly app: FastifyInstance
  readonly admin: Record<string, string>
  readonly heavy: Record<string, string>
}

type Figure = {
  readonly filter: string
  readonly rows: string
  readonly pageMs: number
  readonly statMs: number
}

const HEAVY = `username=user-${HEAVY_USER - SITE.firstUser}`
const { channel, model, group } = RARE

/** Each filter alone, with values that match few, no or most rows, and usual combinations. */
const ADMIN_FILTERS = [
  ...['', 'type=2', 'type=6', 'type=1', HEAVY, 'username=user-77'],
  ...['model_name=model-3', `model_name=${model}`, 'model_name=nothing'],
  ...['group=vip', `group=${group}`, 'group=nothing'],
  ...['channel=3', `channel=${channel}`, 'channel=99'],
  ...['token_name=token-0', 'token_name=token-231'],
  ...[`${HEAVY}&model_name=model-3`, `${HEAVY}&model_name=${model}`, `${HEAVY}&type=1`],
  ...[`${HEAVY}&group=${group}`, `${HEAVY}&channel=3`, `${HEAVY}&channel=${channel}`],
  ...['channel=3&model_name=model-3', `channel=3&model_name=${model}`, 'type=6&channel=3'],
  ...[`type=6&model_name=${model}`, 'type=1&group=vip', 'group=vip&channel=3'],
]
const OWN_FILTERS = [
  ...['', 'type=6', 'type=5', 'model_name=model-3', `model_name=${model}`],
  ...['token_name=token-1', 'token_name=token-1&model_name=model-3', 'group=vip'],
  ...[`group=${group}`, 'group=nothing', `token_name=token-1&group=${group}`],
]

const DAY = 86_400

async function* filterFigures(reader: Reader, now: number): AsyncGenerator<Figure> {
  const { app, admin, heavy } = reader
  const ranges = [1, 7, 30].map((days) => `start_timestamp=${now - days * DAY}`)
  const asked = [
    ...ADMIN_FILTERS.map((query) => ['', query, admin] as const),
    ...ranges.map((range) => ['', range, admin] as const),
    ...ranges.map((range) => ['', `${range}&${HEAVY}&model_name=model-3`, admin] as const),
    ...ranges.map((range) => ['', `${range}&channel=3&type=6`, admin] as const),
    ...OWN_FILTERS.map((query) => ['self/', query, heavy] as const),
  ]
  for (const [own, query, headers] of asked) {
    const list = `/api/log/${own}?p=0&page_size=20&${query}`
    const first = await app.inject({ url: list, headers })
    if (first.statusCode !== 200) throw new Error(`${list}: ${first.body}`)
    const { data } = first.json<{ data: LogPage }>()
    yield {
      filter: `${own}${query}`.replaceAll(/_timestamp=\d+/g, (text) => agoOf(text, now)),
      rows: String(data.total),
      pageMs: await medianMs(() => app.inject({ url: list, headers })),
      statMs: await medianMs(() => app.inject({ url: `/api/log/${own}stat?${query}`, headers })),
    }
  }
}

const agoOf = (text: string, now: number): string =>
  ` ${Math.round((now - Number(text.split('=')[1])) / DAY)} d`

/** Measures jumps to a far page. Each jump uses another list, so that no cursor is cached. */
async function jumpFigures(
  { app, admin, heavy }: Reader,
  now: number,
): Promise<{ page: string; ms: number }[]> {
  const figures: { page: string; ms: number }[] = []
  for (const [own, headers] of [
    ['', admin],
    ['self/', heavy],
  ] as const) {
    for (const pageSize of [10, 20, 50, 100]) {
      let [end, rows] = [now, 0]
      const ms = await medianMs(async () => {
        end -= 1
        const query = `p=10000&page_size=${pageSize}&end_timestamp=${end}`
        const answer = await app.inject({ url: `/api/log/${own}?${query}`, headers })
        if (answer.statusCode !== 200) throw new Error(answer.body)
        rows = answer.json<{ data: LogPage }>().data.items.length
      })
      figures.push({ page: `${own}p=10000, ${rows} rows of ${pageSize}`, ms })
    }
  }
  return figures
}

type ExportFigure = {
  readonly rows: number
  /** The median of the rounds. The memory figures include all rounds. */
  readonly rowsPerSecond: number
  readonly megabytesPerSecond: number
  readonly rssBegin: number
  readonly rssMost: number
}

const EXPORT_ROUNDS = 3
const LOOK_EVERY_MS = 20

/**
 * Measures exports of up to `rowsMax` rows that another process reads, and the memory of this
 * process.
 */
async function exportFigure(
  address: string,
  headers: Record<string, string>,
  rowsMax: number,
): Promise<ExportFigure> {
  const rssMegabytes = () => process.memoryUsage.rss() / 1e6
  const rssBegin = rssMegabytes()
  let rssMost = rssBegin
  const looking = setInterval(() => {
    rssMost = Math.max(rssMost, rssMegabytes())
  }, LOOK_EVERY_MS)
  const reads: ExportRead[] = []
  for (let round = 0; round < EXPORT_ROUNDS; round += 1) {
    reads.push(await readBy(fork('test/bench/export-reader.ts'), { address, headers, rowsMax }))
  }
  clearInterval(looking)
  const read = reads.sort((a, b) => a.seconds - b.seconds)[Math.floor(EXPORT_ROUNDS / 2)]
  if (read === undefined) throw new Error('no export was read')
  const { rows, bytes, seconds } = read
  const megabytesPerSecond = bytes / 1e6 / seconds
  return { rows, rowsPerSecond: rows / seconds, megabytesPerSecond, rssBegin, rssMost }
}

async function readBy(reader: ChildProcess, asked: ExportAsked): Promise<ExportRead> {
  try {
    reader.send(asked)
    const failed = once(reader, 'exit').then(() => Promise.reject(new Error('the reader failed')))
    const [read] = (await Promise.race([once(reader, 'message'), failed])) as [ExportRead]
    return read
  } finally {
    reader.removeAllListeners('exit').kill('SIGKILL')
  }
}

const ROUNDS = 5

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
}

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
