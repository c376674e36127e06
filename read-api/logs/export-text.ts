import { setImmediate as turn } from 'node:timers/promises'
import type { Core } from '#infra/core.ts'
import { type LogFilter, type LogRow, logBatches } from '#projections/call-log/query.ts'
import type { ExportFormat } from './export-format.ts'

/** Rows read at once, and written in one turn of the loop, which others need too. */
const BATCH_ROWS = 2_000
const TURN_ROWS = 200

/** The text of a file, piece by piece: what is held at a time is two batches of rows. */
export type ExportText = AsyncIterable<string> & {
  /** Reads the first rows, once, before all else; throws what stands in the way of that. */
  readonly begin: () => Promise<void>
}

type Asked = {
  /** null where nothing can match. */
  readonly filter: LogFilter | null
  readonly format: ExportFormat
  /** Whether the rows may still be shown to who asked; looked at for every batch. */
  readonly isAllowed: () => Promise<boolean>
}

export function exportText(core: Core, { filter, format, isAllowed }: Asked): ExportText {
  const batches =
    filter === null ? null : logBatches(core.pg, filter, { withSealed: format.isUnsealing })
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
        if (!(await isAllowed())) throw new Error('the export is no longer allowed: cut off')
        const last = rows.at(-1)
        const isLast = last === undefined || rows.length < BATCH_ROWS
        // Read on while these are written; who stops listening is told nothing of a failure.
        if (!isLast) next = read(last.id)
        next.catch(() => {})
        for (let at = 0; at < rows.length; at += TURN_ROWS) {
          yield await format.linesOf(rows.slice(at, at + TURN_ROWS))
          await turn()
        }
        if (isLast) return
      }
    },
  }
}
