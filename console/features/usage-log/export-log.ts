import type { LogPage } from '#console/api/logs/list-logs.ts'
import type { LogEntry } from '#read-api/contract/log.ts'
import type { RowFormat } from './row-format.ts'

export const EXPORT_PAGE_SIZE = 100

/** Files are put together in memory: what lies beyond is left out, and said to be. */
export const EXPORT_ROWS_MAX = 100_000

export type ExportTotals = {
  readonly rows: number
  readonly quota: bigint
  readonly promptTokens: bigint
  readonly completionTokens: bigint
}

export type Exported = {
  readonly parts: readonly string[]
  readonly totals: ExportTotals
  /** There were more rows than a file may hold. */
  readonly isCut: boolean
}

/**
 * Reads the whole list page by page and answers it as text, one part per page. Rows that arrive
 * meanwhile push others to later pages, so ids are taken strictly downwards: none twice, and none
 * from after the first page was read.
 */
export async function exportLog(ask: {
  readPage: (page: number) => Promise<LogPage>
  format: RowFormat
  onProgress: (rows: number, total: number) => void
  rowsMax?: number
}): Promise<Exported> {
  const { format, rowsMax = EXPORT_ROWS_MAX } = ask
  const parts = format.head === '' ? [] : [format.head]
  let totals: ExportTotals = { rows: 0, quota: 0n, promptTokens: 0n, completionTokens: 0n }
  let below = Number.POSITIVE_INFINITY
  for (let page = 0; ; page += 1) {
    const { items, total } = await ask.readPage(page)
    const fresh = items.filter(({ id }) => id < below)
    const rows = fresh.slice(0, rowsMax - totals.rows)
    below = rows.at(-1)?.id ?? below
    totals = rows.reduce(withRow, totals)
    if (rows.length > 0) parts.push(rows.map(format.line).join(''))
    ask.onProgress(totals.rows, Math.min(total, rowsMax))
    if (rows.length < fresh.length) return { parts, totals, isCut: true }
    if (items.length < EXPORT_PAGE_SIZE) return { parts, totals, isCut: false }
  }
}

const withRow = (totals: ExportTotals, row: LogEntry): ExportTotals => ({
  rows: totals.rows + 1,
  quota: totals.quota + BigInt(row.quota),
  promptTokens: totals.promptTokens + BigInt(row.prompt_tokens),
  completionTokens: totals.completionTokens + BigInt(row.completion_tokens),
})

/** Hands the parts to the browser as a file. */
export function saveAsFile(parts: readonly string[], name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
