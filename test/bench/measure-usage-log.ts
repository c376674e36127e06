import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type { LogPage } from '#read-api/contract/logs.ts'
import type { ExportAsked, ExportRead } from './export-reader.ts'
import { HEAVY_USER, RARE, SITE } from './generate-log-rows.ts'

/** `admin` and `heavy` are the session headers of an admin and of the user with the most rows. */
export type Reader = {
  readonly app: FastifyInstance
  readonly admin: Record<string, string>
  readonly heavy: Record<string, string>
}

export type Figure = {
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

export async function* filterFigures(reader: Reader, now: number): AsyncGenerator<Figure> {
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
export async function jumpFigures(
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

export type ExportFigure = {
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
export async function exportFigure(
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
