import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { type LogFilter, type LogRow, logBatches } from '#projections/logs/query.ts'
import type { ExportFormat } from './log-export-formats.ts'

/**
 * The number of rows that are read at once. They are formatted `STEP_ROWS` at a time, so that the
 * event loop is not blocked.
 */
const BATCH_ROWS = 2_000
const STEP_ROWS = 200

/**
 * The text of an exported log, in chunks. At most two batches of rows are in memory at the same
 * time.
 */
export type ExportText = AsyncIterable<string> & {
  /** Reads the first rows. Call it once before the iteration. It throws if reading fails. */
  readonly begin: () => Promise<void>
}

type ExportSource = {
  /** The filter for the rows, or null if no row can match. */
  readonly filter: LogFilter | null
  readonly format: ExportFormat
  /** Reports whether the user may still read the rows. It is called before each batch. */
  readonly isAllowed: () => Promise<boolean>
}

export function exportText(core: Core, { filter, format, isAllowed }: ExportSource): ExportText {
  const batches =
    filter === null ? null : logBatches(core, filter, { withSealed: format.isUnsealing })
  const read = async (before: number): Promise<readonly LogRow[]> =>
    (await batches?.(before, BATCH_ROWS)) ?? []
  let next: Promise<readonly LogRow[]> = Promise.resolve([])
  return {
    begin: async () => {
      next = read(Number.MAX_SAFE_INTEGER)
      await next
    },
    async *[Symbol.asyncIterator]() {
      if (format.head !== '') yield format.head
      for (;;) {
        const rows = await next
        if (!(await isAllowed())) throw new Error('the export is no longer allowed')
        const last = rows.at(-1)
        const isLast = last === undefined || rows.length < BATCH_ROWS
        // The next batch is read while the current one is formatted. If the client stops reading
        // meanwhile, nobody awaits `next`. The empty `catch` prevents an unhandled rejection in
        // that case.
        if (!isLast) next = read(last.id)
        next.catch(() => {})
        for (let at = 0; at < rows.length; at += STEP_ROWS) {
          yield await format.linesOf(rows.slice(at, at + STEP_ROWS))
          await nextTurn()
        }
        if (isLast) return
      }
    },
  }
}
