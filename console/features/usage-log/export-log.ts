import type { LogPage } from '#console/api/logs/list-logs.ts'
import type { LogEntry } from '#read-api/contract/log.ts'
import { BYTE_ORDER_MARK, csvLine } from './csv.ts'
import type { CsvColumn } from './csv-columns.ts'

export const EXPORT_PAGE_SIZE = 100

export type ExportTotals = {
  readonly rows: number
  readonly quota: bigint
  readonly promptTokens: bigint
  readonly completionTokens: bigint
}

export type Exported = { readonly parts: readonly string[]; readonly totals: ExportTotals }

/**
 * Reads the whole list page by page and answers it as CSV, one part per page. Rows that arrive
 * meanwhile push others to later pages, so ids are taken strictly downwards: none twice, and none
 * from after the first page was read.
 */
export async function exportLog(ask: {
  readPage: (page: number) => Promise<LogPage>
  columns: readonly CsvColumn[]
  withByteOrderMark: boolean
  onProgress: (rows: number, total: number) => void
}): Promise<Exported> {
  const header = csvLine(ask.columns.map(({ title }) => title))
  const parts = [ask.withByteOrderMark ? BYTE_ORDER_MARK + header : header]
  let totals: ExportTotals = { rows: 0, quota: 0n, promptTokens: 0n, completionTokens: 0n }
  let below = Number.POSITIVE_INFINITY
  for (let page = 0; ; page += 1) {
    const { items, total } = await ask.readPage(page)
    const rows = items.filter(({ id }) => id < below)
    below = rows.at(-1)?.id ?? below
    totals = rows.reduce(withRow, totals)
    const lines = rows.map((row) => csvLine(ask.columns.map(({ cell }) => cell(row))))
    if (lines.length > 0) parts.push(lines.join(''))
    ask.onProgress(totals.rows, total)
    if (items.length < EXPORT_PAGE_SIZE) return { parts, totals }
  }
}

const withRow = (totals: ExportTotals, row: LogEntry): ExportTotals => ({
  rows: totals.rows + 1,
  quota: totals.quota + BigInt(row.quota),
  promptTokens: totals.promptTokens + BigInt(row.prompt_tokens),
  completionTokens: totals.completionTokens + BigInt(row.completion_tokens),
})

/** Hands the parts to the browser as a file. */
export function saveAsFile(parts: readonly string[], name: string): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
