import { invalidField } from '#infra/http/http-errors.ts'
import type { Language } from '#infra/http/language.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { LogRow } from '#projections/call-log/query.ts'
import type { LogOther } from '../contract/logs.ts'
import { logAnswer, openRows, type Viewer, wordsOf } from './log-answer.ts'

/** A cell: text is guarded and quoted, numbers are written as they are. */
type CsvCell = string | number | bigint | null

/** What makes spreadsheets in Chinese read UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Looked for first, in one go: nearly every text is. A number is no formula, whatever its sign. */
const PLAIN = /^(?:-\d+(?:\.\d+)?|(?![=+\-@\t\r])[^",\r\n]*)$/
const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** One line with its end (RFC 4180). Text that a spreadsheet would run as a formula gets a `'`. */
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

/** How rows become a file. */
export type ExportFormat = {
  readonly type: string
  readonly extension: string
  /** Before the first row. */
  readonly head: string
  /** Whether it needs what is sealed in the rows. */
  readonly isUnsealing: boolean
  readonly linesOf: (rows: readonly LogRow[]) => string | Promise<string>
}

/** The rows of the list, one JSON object a line, its `other` no text in text. */
export const ndjsonFormat = (vault: Vault, viewer: Viewer): ExportFormat => ({
  type: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: '',
  isUnsealing: true,
  linesOf: async (rows) => {
    const opened = await openRows(vault, rows)
    return opened.map((row) => jsonLine(logAnswer(row, viewer))).join('')
  },
})

/** NOTE: `other`, the last member, is JSON already: it takes the place of an empty text. */
function jsonLine(answer: ReturnType<typeof logAnswer>): string {
  const { other } = answer
  const line = JSON.stringify(Object.assign(answer, { other: '' }))
  return `${line.slice(0, -EMPTY_AT_END.length)}${other}}\n`
}

const EMPTY_AT_END = '""}'

type CsvLook = {
  /** Whether channels and users are named. */
  readonly isAdmin: boolean
  /** Named in the header of the times that are written in it. */
  readonly zone: string
  /** An exact amount. */
  readonly dollars: (quota: bigint) => string
  readonly language: Language
}

/** By their names, in this order; null: all of them. Throws a fault that names what is none. */
export function csvFormat(look: CsvLook, names: string | null): ExportFormat {
  const columns = chosenOf(columnsOf(look), names)
  const titles = csvLine(columns.map(({ title }) => title))
  return {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    head: look.language === 'zh' ? `${BYTE_ORDER_MARK}${titles}` : titles,
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

function chosenOf(all: readonly Column[], names: string | null): readonly Column[] {
  if (names === null) return all
  const chosen = new Map<string, Column>()
  for (const name of names.split(',')) {
    const column = all.find((one) => one.name === name.trim())
    if (column === undefined) {
      const known = all.map((one) => one.name).join(', ')
      const shown = name.trim().slice(0, 40)
      throw invalidField('columns', {
        zh: `没有名为“${shown}”的列，可用：${known}`,
        en: `there is no column “${shown}”; there are ${known}`,
      })
    }
    chosen.set(column.name, column)
  }
  return [...chosen.values()]
}

type Column = {
  readonly name: string
  readonly title: string
  readonly cell: (row: LogRow, other: LogOther) => CsvCell
}

/** By names that stay the same in every language. */
function columnsOf({ isAdmin, zone, dollars, language }: CsvLook): readonly Column[] {
  const column = (name: string, cell: Column['cell'], title = name): Column => ({
    name,
    title,
    cell,
  })
  const stamp = stampsIn(zone)
  const forAdmins = [
    column('channel', (row) => row.channelId),
    column('channel_name', (row) => row.channelName),
    column('user_id', (row) => row.userId),
    column('username', (row) => row.username),
  ]
  const costs = [column('provider_cost_usd', ({ adminOther }) => costIn(adminOther, dollars))]
  return [
    column('id', (row) => row.id),
    column('time', (row) => stamp(row.createdAt), `time (${zone})`),
    column('unix_time', (row) => row.createdAt),
    column('type', (row) => row.type),
    ...(isAdmin ? forAdmins : []),
    column('token', (row) => row.tokenName),
    column('group', (row) => row.group),
    column('model', (row) => row.model),
    column('stream', (row) => (row.isStream ? 1 : 0)),
    column('duration_ms', ({ durationMs }, other) =>
      other.end === 'interrupted' ? null : (other.duration_ms ?? durationMs),
    ),
    column('first_token_ms', (_row, other) => other.frt ?? null),
    column('prompt_tokens', (row) => row.promptTokens),
    column('completion_tokens', (row) => row.completionTokens),
    column('quota', (row) => row.quota),
    column('cost_usd', (row) => (isCall(row) ? dollars(row.quota) : null)),
    column('amount_usd', (row) => (isCall(row) || row.quota === 0n ? null : dollars(row.quota))),
    ...(isAdmin ? costs : []),
    column('end', (_row, other) => other.end ?? ''),
    column('error', (_row, other) => other.error_code ?? ''),
    column('request_id', (row) => row.requestId),
    column('content', (row) => wordsOf(row, language)),
  ]
}

const CONSUMPTION = 2
const ERROR = 6

/** What it charged is a cost. Of any other row `quota` is what came in, or went out by hand. */
const isCall = ({ type }: LogRow): boolean => type === CONSUMPTION || type === ERROR

/** Nothing where what the provider charges is not known: then nothing is parsed. */
function costIn(adminOther: string, dollars: CsvLook['dollars']): CsvCell {
  if (!adminOther.includes('"cost":')) return null
  const { cost } = JSON.parse(adminOther) as LogOther
  return cost === undefined ? null : dollars(BigInt(cost))
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
