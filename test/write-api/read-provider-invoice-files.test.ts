import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { ProviderInvoiceRequest } from '#domain/provider-invoices/events.ts'
import {
  exactAmountOf,
  type ProviderInvoiceFormat,
  roundedAmount,
  utcDayOf,
} from '#write-api/audit/read-provider-invoice-row.ts'
import { sumProviderInvoice } from '#write-api/audit/sum-provider-invoice.ts'

const FORMAT: ProviderInvoiceFormat = {
  ...{ day: 'date', model: 'model', amount: 'cost', tokens: null, requestId: 'id' },
  ...{ delimiter: ',', decimal: '.', currency: 'USD', decimals: 9, models: new Map() },
}
const NOW = Date.UTC(2026, 10, 28, 12)
const HEADER = 'date,model,cost,id\n'

describe('the encoding of an invoice', () => {
  const text = `${HEADER}2026-11-27,通义千问,1,a\n`
  const little = Buffer.from(`\ufeff${text}`, 'utf16le')
  /** The name of the model in GBK, which is not valid UTF-8. */
  const gbk = Buffer.from([0xcd, 0xa8, 0xd2, 0xe5, 0xc7, 0xa7, 0xce, 0xca])
  const bytewise = (file: Buffer) =>
    sumProviderInvoice(Readable.from([...file].map((byte) => Buffer.from([byte]))), FORMAT, NOW)

  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE', little],
    ['UTF-16 BE', Buffer.from(little).swap16()],
  ])('may be %s', async (_name, file) => {
    expect((await bytewise(file)).lines).toMatchObject([{ model: '通义千问', rows: 1 }])
    const whole = await sumProviderInvoice(Readable.from([file]), FORMAT, NOW)
    expect(whole.lines).toMatchObject([{ model: '通义千问', rows: 1 }])
  })

  it.each([
    ['GBK', Buffer.concat([Buffer.from(`${HEADER}2026-11-27,`), gbk, Buffer.from(',1,a\n')])],
    ['a character that is cut off', Buffer.from(text).subarray(0, -6)],
    ['UTF-16 without a byte order mark', little.subarray(2)],
  ])('must not be %s', async (_name, file) => {
    await expect(bytewise(file)).rejects.toThrow('InvoiceNotUtf8')
  })
})

const amountOf = (text: string, decimal: '.' | ',') => {
  const exact = exactAmountOf(text, decimal)
  return exact === null ? null : Number(roundedAmount(exact, 9))
}

describe('an amount', () => {
  it.each([
    ['12.5', '.', 12_500_000_000],
    ['-0.000000001', '.', -1],
    ['1,25', ',', 1_250_000_000],
    ['0.10000000000', '.', 100_000_000],
    ['1e-05', '.', 10_000],
    ['1.5E3', '.', 1_500_000_000_000],
    ['$1.50', '.', 1_500_000_000],
    ['-$1.50', '.', -1_500_000_000],
    ['€ 1,50', ',', 1_500_000_000],
    ['$-0.25', '.', -250_000_000],
    ['1,234.50', '.', 1_234_500_000_000],
    ['1.234,50', ',', 1_234_500_000_000],
    ['1,234,567', '.', 1_234_567_000_000_000],
  ] as const)('%s with the decimal point %s is exact', (text, decimal, amount) => {
    expect(amountOf(text, decimal)).toBe(amount)
  })

  it('has up to thirty decimals', () => {
    expect(exactAmountOf('0.0000012345', '.')).toBe(1_234_500_000_000_000_000_000_000n)
    expect(exactAmountOf('1.2345678901234567e-14', '.')).toBe(12_345_678_901_234_567n)
    expect(exactAmountOf('1e-31', '.')).toBe(null)
  })

  it.each([
    ...['', '1,25', '1.2.3', '=1', '0x1', '9999999999999', 'NaN', ' 1', '1e999', '1e-999', '-$-1'],
    ...['1,234', '12,34.5', '1,234.5e3', '$', '$$1', '1$'],
  ])('%j is refused', (text) => expect(amountOf(text, '.')).toBe(null))
})

describe('the day of a row', () => {
  it.each([
    ['2026-11-28', '2026-11-28'],
    ['2026-11-28T23:30:00-08:00', '2026-11-29'],
    ['2026-11-28 00:30:00 +0800 CST', '2026-11-27'],
    ['2026-11-28T23:30:00.123Z', '2026-11-28'],
    ['2026-11-28 23:30', '2026-11-28'],
  ])('%s is in UTC', (text, day) => expect(utcDayOf(text)).toBe(day))

  it.each([
    ...['2026-02-31', '2026-11-28 25:00', '2026-11-28 10:00 PM', '2026-11-28 10:00 EST'],
    ...['0000-01-01T00:00:00+05:00', '9999-12-31T23:00:00-05:00'],
  ])('%s is refused', (text) => expect(utcDayOf(text)).toBe(null))
})

describe('the rows of an invoice', () => {
  const read = (rows: string, requests: ProviderInvoiceRequest[] = []) =>
    sumProviderInvoice(Readable.from([Buffer.from(HEADER + rows)]), FORMAT, NOW, (one) =>
      requests.push(one),
    )

  it('are summed exactly and rounded once, and their own amounts add up to the sum', async () => {
    const requests: ProviderInvoiceRequest[] = []
    const rows = [1, 2, 3, 4, 5].map((id) => `2026-11-27,m,0.0000000004,r${id}\n`)
    const { lines } = await read(rows.join(''), requests)
    expect(lines).toMatchObject([{ rows: 5, amount: 2 }])
    expect(requests.reduce((sum, one) => sum + one[5], 0)).toBe(2)
  })

  it.each([
    ['2019-12-31,m,1,a', 'Invalid day in row 2: before 2020 or in the future'],
    ['2026-11-30,m,1,a', 'Invalid day in row 2: before 2020 or in the future'],
    ['9999-01-01,m,1,a', 'Invalid day in row 2: before 2020 or in the future'],
    ['Total,,2,', 'Row 2 is a total'],
    [',Grand total,2,', 'Row 2 is a total'],
    ['合计：,,2,', 'Row 2 is a total'],
    ['2026-11-27,m,1,\n2026-11-27,Total,1,', 'Row 3 is a total'],
    ['2026-11-27,Subtotal (USD):,1,', 'Row 2 is a total'],
    ['2026-11-27,All models,1,', 'Row 2 is a total'],
    ['2026-11-27,合计,1,', 'Row 2 is a total'],
    ['2026-11-27,m,9007200,a', 'Invalid amount in row 2: too large'],
    ['2026-11-27,m,€1,a', 'Invalid amount in row 2: the sign of another currency'],
    ['2026-11-27,m,9000000,\n2026-11-27,m,-9000000,', 'Invalid amount in row 3'],
  ])('%j are refused', async (rows, message) => {
    await expect(read(rows)).rejects.toThrow(message)
  })

  it('have token counts whose sum is an exact number, even with duplicates', async () => {
    const format = { ...FORMAT, tokens: 'tokens' }
    const sum = (rows: readonly string[]) =>
      sumProviderInvoice(
        Readable.from([Buffer.from(`date,model,cost,id,tokens\n${rows.join('\n')}`)]),
        format,
        NOW,
      )
    const large = '999999999999999'
    for (const row of [`2026-11-27,m,1,r,${large}`, `2026-11-27,m,1,,-${large}`]) {
      expect((await sum(Array(9).fill(row))).rows).toBe(9)
      await expect(sum(Array(10).fill(row))).rejects.toThrow('Invalid tokens in row 11')
    }
  })

  it('have long request ids shortened, so that only equal ids stay equal', async () => {
    const ids = ['a'.repeat(128), 'a'.repeat(129), 'a'.repeat(130), '😀'.repeat(100)]
    const requests: ProviderInvoiceRequest[] = []
    const rows = [...ids, ...ids].map((id, n) => `2026-11-27,m,${n},${id}\n`)
    expect((await read(rows.join(''), requests)).rows).toBe(8)
    const found = requests.map(([, , , id]) => id)
    expect(found.slice(0, 4)).toEqual(found.slice(4))
    expect(new Set(found).size).toBe(4)
    expect(found[0]).toBe(ids[0])
    for (const id of found) expect([id.length <= 128, id.isWellFormed()]).toEqual([true, true])
    expect(found[1]).toMatch(/^a{60}…[0-9a-f]{64}$/)
  })

  it('have models whose names start like a total, or are mapped', async () => {
    const names = ['total-recall-1', 'summary', 'all-minilm', 'sum-large']
    const format = { ...FORMAT, models: new Map([['summary', 'm']]) }
    const file = HEADER + names.map((name) => `2026-11-27,${name},1,\n`).join('')
    const { lines } = await sumProviderInvoice(Readable.from([Buffer.from(file)]), format, NOW)
    expect(lines.map(({ model }) => model)).toEqual([
      ...['all-minilm', 'm', 'sum-large', 'total-recall-1'],
    ])
  })

  it('may be of tomorrow', async () => {
    expect((await read('2026-11-29,m,1,a')).rows).toBe(1)
  })
})
