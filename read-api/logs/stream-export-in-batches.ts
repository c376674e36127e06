import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { type LogFilter, type LogRow, logBatches } from '#projections/logs/query.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * The number of rows that are read at once. They are formatted in smaller steps, so that the event
 * loop is not blocked.
 */
const BATCH_ROWS = 2_000
const STEP_ROWS = 200

/** The text of an export, in chunks. At most two batches of rows are in memory. */
export type ExportText = AsyncIterable<string> & {
  /** Reads the first rows. It must be called once before the iteration. Throws if reading fails. */
  readonly begin: () => Promise<void>
}

type ExportSource = {
  /** The filter for the rows, or null if no row can match. */
  readonly filter: LogFilter | null
  readonly format: ExportFormat
  /** Returns whether the user may still read the rows. It is called before each batch. */
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
        // The next batch is read while the current batch is formatted. If the client stops reading,
        // no one awaits `next`. The empty `catch` prevents an unhandled rejection in this case.
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
