import type { LogEntry } from '#read-api/contract/log.ts'
import { BYTE_ORDER_MARK, csvLine } from './csv.ts'
import type { CsvColumn } from './csv-columns.ts'
import { otherOf } from './log-other.ts'

/** How an exported row is written; each line has its end. */
export type RowFormat = {
  readonly type: string
  readonly extension: string
  readonly head: string
  readonly line: (row: LogEntry) => string
}

export function csvFormat(columns: readonly CsvColumn[], withByteOrderMark: boolean): RowFormat {
  const header = csvLine(columns.map(({ title }) => title))
  return {
    type: 'text/csv',
    extension: 'csv',
    head: withByteOrderMark ? BYTE_ORDER_MARK + header : header,
    line: (row) => csvLine(columns.map(({ cell }) => cell(row))),
  }
}

/** One JSON object a line: the row as the API has it, with `other` as an object. */
export const NDJSON: RowFormat = {
  type: 'application/x-ndjson',
  extension: 'ndjson',
  head: '',
  line: (row) => `${JSON.stringify({ ...row, other: otherOf(row) })}\n`,
}
