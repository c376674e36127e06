import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Language } from '#infra/http/request-language.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { LogRow } from '#projections/logs/query.ts'
import { type ExportColumn, exportColumns } from '../contract/log-export-columns.ts'
import type { LogOther } from '../contract/logs.ts'
import { decryptRows, logResponse, reasonTextOfLogRow, type Viewer } from './log-response.ts'

/**
 * A value of a CSV file. Text is escaped and quoted if necessary. Numbers are written as they are.
 */
type CsvCell = string | number | bigint | null

/**
 * The byte order mark at the start of a CSV file. Without this mark, Chinese versions of
 * spreadsheet programs do not recognize UTF-8.
 */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Matches text that can be written without quotes or escapes. Nearly all text matches. Negative
 * numbers match although they start with `-`, because spreadsheets do not run them as formulas.
 */
const PLAIN = /^(?:-\d+(?:\.\d+)?|(?![=+\-@\t\r])[^",\r\n]*)$/
const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/**
 * Returns one line of a CSV file, including the line break (RFC 4180). A text that a spreadsheet
 * could run as a formula gets the prefix `'`.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  let line = ''
  let separator = ''
  for (const cell of cells) {
    line += separator + cellText(cell)
    separator = ','
  }
  return `${line}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  if (PLAIN.test(cell)) return cell
  const guarded = FORMULA_START.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

/** The format of an exported log, such as CSV. `linesOf` returns the text for some rows. */
export type ExportFormat = {
  readonly type: string
  readonly extension: string
  /** The text before the first row. */
  readonly head: string
  /** True if the file contains encrypted columns. If false, these columns are not read. */
  readonly isUnsealing: boolean
  readonly linesOf: (rows: readonly LogRow[]) => string | Promise<string>
}

/**
 * Returns the NDJSON format, which has one JSON object per row. The objects are the same as in the
 * log's list, with two exceptions: `other` is an object instead of JSON text, and contains neither
 * provider messages nor corrections.
 */
export const ndjsonFormat = (vault: Vault, viewer: Viewer): ExportFormat => ({
  type: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: '',
  isUnsealing: true,
  linesOf: async (rows) => {
    const decrypted = await decryptRows(vault, rows)
    return decrypted.map((row) => jsonLine(logResponse(row, viewer))).join('')
  },
})

/**
 * Returns a row as one line of JSON. `other` is the last member and is already JSON text. The
 * function first writes the row with an empty `other`. It then replaces the `""` at the end of the
 * line by the text of `other`, so this text need not be parsed.
 */
function jsonLine(entry: ReturnType<typeof logResponse>): string {
  const { other } = entry
  const line = JSON.stringify(Object.assign(entry, { other: '' }))
  return `${line.slice(0, -EMPTY_AT_END.length)}${other}}\n`
}

const EMPTY_AT_END = '""}'

type CsvSettings = {
  /** True if the file may contain the columns that only admins may see. */
  readonly isAdmin: boolean
  /**
   * The time zone in which times are written. The title of the time column contains the name of
   * this zone.
   */
  readonly zone: string
  /** Formats quota as dollars (see `dollarsAt`). */
  readonly dollars: (quota: bigint) => string
  readonly language: Language
}

/**
 * Returns the CSV format. `names` lists the requested columns, comma-separated and in order. Null
 * means all columns. If a name is unknown, throws an error that lists the available columns.
 */
export function csvFormat(settings: CsvSettings, names: string | null): ExportFormat {
  const columns = selectColumns(columnsOf(settings), names)
  const titles = csvLine(columns.map(({ title }) => title))
  return {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    head: settings.language === 'zh' ? `${BYTE_ORDER_MARK}${titles}` : titles,
    isUnsealing: false,
    linesOf: (rows) => {
      let text = ''
      for (const row of rows) {
        const other = JSON.parse(row.other) as LogOther
        text += csvLine(columns.map(({ cell }) => cell(row, other)))
      }
      return text
    },
  }
}

function selectColumns(all: readonly Column[], names: string | null): readonly Column[] {
  if (names === null) return all
  const selected = new Map<string, Column>()
  for (const name of names.split(',')) {
    const column = all.find((one) => one.name === name.trim())
    if (column === undefined) {
      const available = all.map((one) => one.name).join(', ')
      const excerpt = name.trim().slice(0, 40)
      throw invalidField('columns', {
        zh: `没有名为“${excerpt}”的列，可用：${available}`,
        en: `the column “${excerpt}” does not exist; available columns: ${available}`,
      })
    }
    selected.set(column.name, column)
  }
  return [...selected.values()]
}

type Column = {
  readonly name: string
  readonly title: string
  readonly cell: (row: LogRow, other: LogOther) => CsvCell
}

function columnsOf({ isAdmin, zone, dollars, language }: CsvSettings): readonly Column[] {
  const formatTime = timeFormatter(zone)
  const cells: Readonly<Record<ExportColumn, Column['cell']>> = {
    id: (row) => row.id,
    time: (row) => formatTime(row.createdAt),
    unix_time: (row) => row.createdAt,
    type: (row) => row.type,
    channel: (row) => row.channelId,
    channel_name: (row) => row.channelName,
    user_id: (row) => row.userId,
    username: (row) => row.username,
    token: (row) => row.tokenName,
    group: (row) => row.group,
    model: (row) => row.model,
    stream: (row) => (row.isStream ? 1 : 0),
    duration_ms: ({ durationMs }, other) =>
      other.end === 'interrupted' ? null : (other.duration_ms ?? durationMs),
    first_token_ms: (_row, other) => other.frt ?? null,
    prompt_tokens: (row) => row.promptTokens,
    completion_tokens: (row) => row.completionTokens,
    quota: (row) => row.quota,
    cost_usd: (row) => (isCall(row) ? dollars(row.quota) : null),
    amount_usd: (row) => (isCall(row) || row.quota === 0n ? null : dollars(row.quota)),
    provider_cost_usd: ({ adminOther }) => costIn(adminOther, dollars),
    end: (_row, other) => other.end ?? '',
    error: (_row, other) => other.error_code ?? '',
    request_id: (row) => row.requestId,
    content: (row) => reasonTextOfLogRow(row, language),
  }
  return exportColumns(isAdmin).map((name) => ({
    name,
    title: name === 'time' ? `time (${zone})` : name,
    cell: cells[name],
  }))
}

const CONSUMPTION = 2
const ERROR = 6

/**
 * Reports whether the row is a call. The quota of a call is the charge. The quota of any other row
 * is a change of the balance: positive for an addition, and negative for a deduction.
 */
const isCall = ({ type }: LogRow): boolean => type === CONSUMPTION || type === ERROR

/**
 * Returns the expected cost of a call at the provider, in dollars, or null if the cost is unknown.
 * The JSON text is parsed only if it contains the cost.
 */
function costIn(adminOther: string, dollars: CsvSettings['dollars']): CsvCell {
  if (!adminOther.includes('"cost":')) return null
  const { cost } = JSON.parse(adminOther) as LogOther
  return cost === undefined ? null : dollars(BigInt(cost))
}

/**
 * Returns a function that formats times as `2026-11-21 07:03:09`. Rows are sorted by time, so the
 * formatted minute is kept and reused for all rows of the same minute.
 */
function timeFormatter(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  })
  let minute = Number.NaN
  let text = ''
  return (at) => {
    const started = Math.floor(at / 60)
    if (started !== minute) {
      minute = started
      text = format.format(started * 60_000)
    }
    return `${text}:${String(at - started * 60).padStart(2, '0')}`
  }
}
