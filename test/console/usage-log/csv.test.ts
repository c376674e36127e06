import { describe, expect, it } from 'vitest'
import type { LogPage } from '#console/api/logs/list-logs.ts'
import { BYTE_ORDER_MARK, csvLine } from '#console/features/usage-log/csv.ts'
import { csvColumns } from '#console/features/usage-log/csv-columns.ts'
import { EXPORT_PAGE_SIZE, exportLog } from '#console/features/usage-log/export-log.ts'
import { csvFormat, NDJSON } from '#console/features/usage-log/row-format.ts'
import { logRow } from './fake-log.ts'

const columns = (isAdmin: boolean) => csvColumns({ isAdmin, zone: 'UTC', dollars: String })

describe('a line of CSV', () => {
  it.each(['=', '+', '-', '@', '\t', '\r'])(
    'text that begins with %j is no formula any more',
    (start) => {
      const [cell = ''] = csvLine([`${start}1+1`]).split('\r\n')
      expect(cell.replace(/^"/, '')).toMatch(/^'/)
    },
  )

  it('numbers stay numbers, below zero too', () => {
    expect(csvLine([-5, 10n, null, 0])).toBe('-5,10,,0\r\n')
  })

  it('quotes, commas and line ends stay inside their cell', () => {
    expect(csvLine(['say "a, b"', 'two\nlines', 'plain'])).toBe(
      '"say ""a, b""","two\nlines",plain\r\n',
    )
  })
})

describe('the export', () => {
  const rows = Array.from({ length: 230 }, (_, index) => logRow(500 - index))
  const pagesOf =
    (late: number) =>
    async (page: number): Promise<LogPage> => {
      // From the second page on, `late` new rows have pushed all others down.
      const now =
        page === 0 ? rows : [...Array.from({ length: late }, (_, i) => logRow(501 + i)), ...rows]
      const from = page * EXPORT_PAGE_SIZE
      return { items: now.slice(from, from + EXPORT_PAGE_SIZE), page, total: now.length }
    }
  const run = (late: number, format = csvFormat(columns(true), true), rowsMax?: number) =>
    exportLog({
      readPage: pagesOf(late),
      format,
      onProgress: () => {},
      ...(rowsMax === undefined ? {} : { rowsMax }),
    })

  it.each([0, 7, 100])('holds every row once, with %i arriving meanwhile', async (late) => {
    const { parts, totals } = await run(late)
    const [header = '', ...lines] = parts.join('').split('\r\n').filter(Boolean)
    expect(header.startsWith(`${BYTE_ORDER_MARK}id,`)).toBe(true)
    expect(lines.map((line) => Number(line.split(',')[0]))).toEqual(rows.map(({ id }) => id))
    expect(totals).toMatchObject({ rows: 230, quota: 230n * 3375n, promptTokens: 230_000n })
  })

  it('as NDJSON is one whole object a line, its details no text in text', async () => {
    const { parts } = await run(0, NDJSON)
    const found = parts
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    expect(found.map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    expect(found[0]).toEqual({ ...rows[0], other: JSON.parse(rows[0]?.other ?? '') })
  })

  it('stops at its bound, with the newest rows, and says so', async () => {
    const { totals, parts, isCut } = await run(7, NDJSON, 150)
    expect({ rows: totals.rows, isCut }).toEqual({ rows: 150, isCut: true })
    expect(
      parts
        .join('')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(rows.slice(0, 150).map(({ id }) => id))
    expect((await run(0, NDJSON, 230)).isCut).toBe(false)
  })

  it('names channels and users to admins alone', () => {
    const titles = columns(false).map(({ title }) => title)
    for (const title of ['channel', 'channel_name', 'user_id', 'username']) {
      expect(titles).not.toContain(title)
      expect(columns(true).map((column) => column.title)).toContain(title)
    }
  })
})
