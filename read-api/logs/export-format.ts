import type { LogEntry, LogOther } from '../contract/log.ts'
import { BYTE_ORDER_MARK, type CsvCell, csvLine } from './csv.ts'

/** How rows become a file. */
export type ExportFormat = {
  readonly type: string
  readonly extension: string
  /** Before the first row. */
  readonly head: string
  readonly line: (row: LogEntry) => string
}

/** One JSON object a line, its `other` no text in text. */
export const NDJSON: ExportFormat = {
  type: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: '',
  line: ({ other, ...row }) => `${JSON.stringify(row).slice(0, -1)},"other":${other}}\n`,
}

export type CsvLook = {
  /** Whether channels and users are named. */
  readonly isAdmin: boolean
  /** Named in the header of the times that are written in it. */
  readonly zone: string
  /** An exact amount. */
  readonly dollars: (quota: number) => string
  readonly isChinese: boolean
}

export function csvFormat(look: CsvLook): ExportFormat {
  const columns = columnsOf(look)
  const titles = csvLine(columns.map(({ title }) => title))
  return {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    head: look.isChinese ? `${BYTE_ORDER_MARK}${titles}` : titles,
    line: (row) => {
      const other = JSON.parse(row.other) as LogOther
      return csvLine(columns.map(({ cell }) => cell(row, other)))
    },
  }
}

type Column = {
  readonly title: string
  readonly cell: (row: LogEntry, other: LogOther) => CsvCell
}

/** By names that stay the same in every language. */
function columnsOf({ isAdmin, zone, dollars }: CsvLook): readonly Column[] {
  const column = (title: string, cell: Column['cell']): Column => ({ title, cell })
  const stamp = stampsIn(zone)
  const forAdmins = [
    column('channel', (row) => row.channel),
    column('channel_name', (row) => row.channel_name),
    column('user_id', (row) => row.user_id),
    column('username', (row) => row.username),
  ]
  return [
    column('id', (row) => row.id),
    column(`time (${zone})`, (row) => stamp(row.created_at)),
    column('unix_time', (row) => row.created_at),
    column('type', (row) => row.type),
    ...(isAdmin ? forAdmins : []),
    column('token', (row) => row.token_name),
    column('group', (row) => row.group),
    column('model', (row) => row.model_name),
    column('stream', (row) => (row.is_stream ? 1 : 0)),
    column('duration_ms', (row, other) => other.duration_ms ?? row.use_time * 1000),
    column('first_token_ms', (_row, other) => other.frt ?? null),
    column('prompt_tokens', (row) => row.prompt_tokens),
    column('completion_tokens', (row) => row.completion_tokens),
    column('quota', (row) => row.quota),
    column('cost_usd', (row) => dollars(row.quota)),
    column('end', (_row, other) => other.end ?? ''),
    column('error', (_row, other) => other.error_code ?? ''),
    column('request_id', (row) => row.request_id),
    column('content', (row) => row.content),
  ]
}

/** `2026-11-21 07:03:09`. Rows come in order of time: a minute is worked out once. */
function stampsIn(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    timeZone: zone,
  })
  let minute = Number.NaN
  let text = ''
  return (at) => {
    const begun = Math.floor(at / 60)
    if (begun !== minute) {
      minute = begun
      text = format.format(begun * 60_000)
    }
    return `${text}:${String(at - begun * 60).padStart(2, '0')}`
  }
}
