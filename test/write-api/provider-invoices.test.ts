import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ProviderInvoiceRequest } from '#domain/provider-invoices/events.ts'
import type {
  ProviderInvoiceComparison,
  ProviderInvoiceSummary,
} from '#read-api/contract/provider-invoices.ts'
import {
  aCall,
  appendTo,
  channelChanged,
  channelCreated,
  costing,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { CsvParser } from '#write-api/audit/parse-csv.ts'
import type { ProviderInvoiceFormat } from '#write-api/audit/read-provider-invoice-row.ts'
import { sumProviderInvoice } from '#write-api/audit/sum-provider-invoice.ts'
import { seededFixture } from './write-fixture.ts'

const rowsOf = (text: string, delimiter = ',', size = text.length): string[][] => {
  const rows: string[][] = []
  const limits = { columnsMax: 5, fieldMax: 20 }
  const parser = new CsvParser(delimiter, (fields) => rows.push([...fields]), limits)
  for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size))
  parser.end()
  return rows
}

describe('a CSV file', () => {
  const text = '\ufeffa,"b, ""c""\r\nd"\r\n\n=1+1,\rlast,'
  const rows = [
    ['a', 'b, "c"\r\nd'],
    ['=1+1', ''],
    ['last', ''],
  ]

  it('is read with quotes, a byte order mark and any ends of lines', () => {
    expect(rowsOf(text)).toEqual(rows)
    expect(rowsOf('1,5;x', ';')).toEqual([['1,5', 'x']])
  })

  it('is read the same, however it is split', () => {
    for (let size = 1; size < text.length; size += 1) expect(rowsOf(text, ',', size)).toEqual(rows)
  })

  it('is refused with the row of an endless quote, field or list of columns', () => {
    expect(() => rowsOf('a\n"b')).toThrow('row 2: unclosed-quote')
    expect(() => rowsOf(`a\n${'b'.repeat(21)}`)).toThrow('row 2: field-too-long')
    expect(() => rowsOf('a,b,c,d,e,f')).toThrow('row 1: too-many-columns')
  })
})

const FORMAT: ProviderInvoiceFormat = {
  ...{ day: 'date', model: 'model', amount: 'cost', tokens: null, requestId: 'id' },
  ...{ delimiter: ',', decimal: '.', currency: 'USD', decimals: 9, models: new Map() },
}
const NOW = Date.UTC(2026, 10, 28)
const sum = (text: string) => sumProviderInvoice(Readable.from([Buffer.from(text)]), FORMAT, NOW)
const HEADER = 'date,model,cost,id\n'

describe('the sums of an invoice', () => {
  it('pass on each row with an id, and mark the duplicates', async () => {
    const requests: ProviderInvoiceRequest[] = []
    const rows = ['m,1,a', 'm,-1,a', 'm,2,a', 'm,-1,a', 'm,3,'].map((row) => `2026-11-27,${row}\n`)
    const file = Readable.from([Buffer.from(HEADER + rows.join(''))])
    const sums = await sumProviderInvoice(file, FORMAT, NOW, (one) => requests.push(one))
    expect(sums).toMatchObject({
      ...{ rows: 5, requests: 4, duplicates: 1, duplicatesAmount: -1_000_000_000 },
      lines: [{ rows: 4, amount: 5_000_000_000 }],
    })
    expect(
      requests.map(([row, , , id, , amount, isDuplicate]) => [row, id, amount, isDuplicate]),
    ).toEqual([
      [2, 'a', 1_000_000_000, undefined],
      [3, 'a', -1_000_000_000, undefined],
      [4, 'a', 2_000_000_000, undefined],
      [5, 'a', -1_000_000_000, true],
    ])
  })

  it('count a repeated row once, and subtract credits', async () => {
    const text = `${HEADER}2026-11-27,m,1,a\n2026-11-27,m,1,a\n2026-11-27,m,-0.25,b\n`
    expect(await sum(text)).toMatchObject({
      ...{ rows: 3, duplicates: 1 },
      lines: [{ day: '2026-11-27', model: 'm', rows: 2, amount: 750_000_000 }],
    })
  })

  it.each([
    ['2026-02-31,m,1,a', 'InvoiceRowInvalid: Invalid day in row 2'],
    ['0000-01-01,m,1,a', 'InvoiceRowInvalid: Invalid day in row 2'],
    ['2026-02-01,,1,a', 'Invalid model in row 2'],
    ['2026-02-01,m,=1,a', 'Invalid amount in row 2'],
    ['2026-02-01,m\0,1,a', 'Invalid model in row 2'],
    ['2026-02-01,m,1,a\0', 'Invalid request_id in row 2'],
    ['2026-02-01,"m', 'a quote is not closed'],
    ['', 'InvoiceEmpty'],
  ])('refuse %j and name the row', async (row, message) => {
    await expect(sum(HEADER + row)).rejects.toThrow(message)
  })

  it('are bounded in pairs of day and model, and in bytes', async () => {
    const rows = Array.from({ length: 1_001 }, (_, n) => `2026-02-01,m${n},1,${n}\n`)
    await expect(sum(HEADER + rows.join(''))).rejects.toThrow('InvoiceTooVaried')
    function* endless() {
      yield Buffer.from(HEADER)
      for (;;) yield Buffer.from(`2026-02-01,m,0,,${'x'.repeat(4_000)}\n`.repeat(16))
    }
    await expect(sumProviderInvoice(Readable.from(endless()), FORMAT, NOW)).rejects.toThrow(
      'InvoiceTooLarge',
    )
  })
})

const fixture = startedOnce(seededFixture)
/** The day before yesterday, in unix milliseconds and as text. */
let at: number
let day: string

beforeAll(async () => {
  at = Math.floor(fixture.core.now() / 86_400_000) * 86_400_000 - 86_400_000
  day = new Date(at).toISOString().slice(0, 10)
  const call = (model: string, cost: number) =>
    costing(settledCall(aCall({ userId: 3, model }), 2_000, at, 9), cost)
  const position = await appendTo(fixture.core.store, [
    channelCreated(9, 'nine'),
    channelCreated(10, 'Deleted'),
    channelChanged(10, 'ChannelsDeleted'),
    ...[call('m', 500), call('m', 500), call('other', 100), call('ours', 70)],
  ])
  await fixture.freshness.waitFor(['usage-by-hour', 'channels'], position, 20_000)
})

const upload = async (text: string, query: object = {}, user = fixture.admin) => {
  const search = new URLSearchParams({
    ...{ channel_id: '9', day: 'Day', model: 'Model', amount: 'Cost', tokens: 'Tokens' },
    ...{ delimiter: ';', decimal: ',', ...query },
  })
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${search}`,
    headers: { 'content-type': 'text/csv', cookie: user.cookie, 'user-id': String(user.id) },
    payload: text,
  })
  return { status: answer.statusCode, ...answer.json<{ data: { id: string }; message: string }>() }
}

describe('an imported invoice', () => {
  it('is compared with the calls of its channel by day and model', async () => {
    const rows = [`${day};gpt-m;0,0005;1500`, `${day};gpt-m;0,0015;1500`]
    const text = ['Day;Model;Cost;Tokens', ...rows, `${day};other;0,004;1500`, `${day};new;1;5`]
    const file = text.join('\r\n')
    const { status, data } = await upload(file, { models: '{"gpt-m":"m"}' })
    expect([status, data]).toMatchObject([200, { rows: 4, duplicates: 0, lines: 3 }])
    const url = `/api/audit/invoices/${data.id}`
    const { data: found } = await fixture.admin.call<ProviderInvoiceComparison>('GET', url)
    expect(found.channel_name).toBe('nine')
    expect(found.counts).toEqual({ matched: 1, different: 1, only_ours: 1, only_theirs: 1 })
    const by = new Map(found.items.map((item) => [item.model, item]))
    expect(by.get('m')).toMatchObject({
      ...{ comparison: 'matched', calls: 2, tokens: 3_000, billed_tokens: 3_000 },
      ...{ billed: 1_000, cost: 1_000, charged: 4_000, margin: 3_000 },
    })
    expect(by.get('other')).toMatchObject({ comparison: 'different', billed: 2_000, cost: 100 })
    expect(by.get('ours')).toMatchObject({ comparison: 'only_ours', calls: 1, billed: 0 })
    expect(by.get('new')).toMatchObject({ comparison: 'only_theirs', billed: 500_000, calls: 0 })
    expect(found.total).toMatchObject({ billed: 503_000, charged: 8_000, margin: -495_000 })
    const page = await fixture.admin.call<ProviderInvoiceComparison>(
      'GET',
      `${url}?limit=1&cursor=1`,
    )
    expect([page.data.items, page.data.next_cursor]).toEqual([[found.items[1]], '2'])

    const listed = await fixture.admin.call<ProviderInvoiceSummary[]>('GET', '/api/audit/invoices')
    expect(listed.data.map(({ channel_name: name }) => name)).toEqual(['nine'])

    expect(await upload(file)).toMatchObject({ status: 409, code: 'InvoiceKnown' })
    expect((await fixture.admin.call('DELETE', url)).status).toBe(200)
    expect((await fixture.admin.call('GET', url)).status).toBe(404)
    expect((await fixture.admin.call('DELETE', url)).status).toBe(404)
    const { data: left } = await fixture.admin.call<ProviderInvoiceSummary[]>(
      'GET',
      '/api/audit/invoices',
    )
    expect(left).toEqual([])
  })

  it('is accepted for a channel that has been deleted', async () => {
    const file = `Day;Model;Cost;Tokens\n${day};m;1;1\n`
    const { status, data } = await upload(file, { channel_id: '10' })
    expect([status, data]).toMatchObject([200, { rows: 1 }])
    const listed = await fixture.admin.call<ProviderInvoiceSummary[]>('GET', '/api/audit/invoices')
    expect(listed.data).toMatchObject([{ id: data.id, channel_id: 10, channel_name: 'Deleted' }])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${data.id}`)
  })

  it('is refused with the name of the wrong field', async () => {
    const file = `Day;Model;Cost;Tokens\n${day};m;1;1\n`
    const wrong: [object, string][] = [
      [{ day: 'Date' }, 'day'],
      [{ dollars: '0' }, 'dollars'],
      [{ models: '[' }, 'models'],
      [{ models: '{"a":1}' }, 'models'],
      [{ channel_id: 'x' }, 'channel_id'],
      [{ channel_id: '999' }, 'channel_id'],
    ]
    for (const [query, field] of wrong) {
      const answer = await upload(file, query)
      expect([answer.status, answer.message]).toEqual([400, expect.stringContaining(field)])
    }
    expect((await upload('')).status).toBe(400)
    expect((await upload(file, {}, fixture.user)).status).toBe(403)
  })
})
