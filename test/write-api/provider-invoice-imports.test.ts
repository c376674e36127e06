import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  providerInvoiceRequestsDecider,
  providerInvoicesDecider,
} from '#domain/provider-invoices/decide.ts'
import {
  PROVIDER_INVOICES_STREAM,
  providerInvoiceRequestsStream,
} from '#domain/provider-invoices/events.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { Margins } from '#read-api/contract/margins.ts'
import type {
  ProviderInvoiceComparison,
  ProviderInvoiceSummary,
} from '#read-api/contract/provider-invoices.ts'
import { appendTo, channelCreated } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const CHANNEL = 31
const DAY = 86_400_000
/** Yesterday, as text. */
let day: string

beforeAll(async () => {
  day = new Date(fixture.core.now() - DAY).toISOString().slice(0, 10)
  const position = await appendTo(fixture.core.store, [channelCreated(CHANNEL, 'Thirty-first')])
  await fixture.freshness.waitFor(['channels'], position, 20_000)
})

type Imported = { id: string; rows: number; known_ids: number | null }

async function upload(payload: string, query: Record<string, string> = {}) {
  const columns = { channel_id: String(CHANNEL), day: 'd', model: 'm', amount: 'a' }
  const { cookie, id } = fixture.admin
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${new URLSearchParams({ ...columns, ...query })}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(id) },
    payload,
  })
  const body = answer.json<{ data: Imported; message: string; code?: string }>()
  return { status: answer.statusCode, headers: answer.headers, ...body }
}

type Terms = { currency: string; dollars: string; amount: number; requests?: number }

/** Imports an invoice without the checks of the route. It has one line with the amount. */
async function appendProviderInvoice({ amount, ...terms }: Terms): Promise<string> {
  const invoiceId = randomUUID()
  const line = { day, model: 'sim-small', rows: 1, tokens: 0, amount }
  const at = fixture.core.now()
  await fixture.core.actors.handle(
    providerInvoicesDecider,
    PROVIDER_INVOICES_STREAM,
    {
      ...{ type: 'ImportInvoice', invoiceId, channelId: CHANNEL, digest: invoiceId, bytes: 40 },
      ...{ rows: 1, duplicates: 0, ...terms, lines: [line], importedAt: at },
    },
    { actor: 'user:1', cause: null, at },
  )
  return invoiceId
}

const read = <T>(url: string) => fixture.admin.call<T>('GET', `/api/audit/${url}`)

describe('an invoice with an inverted exchange rate', () => {
  it('is refused with the name of the rate', async () => {
    const file = `d,m,a\n${day},sim-small,900000\n`
    const answer = await upload(file, { currency: 'VND', dollars: '25000' })
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining('dollars')])
    expect((await read<ProviderInvoiceSummary[]>('invoices')).data).toEqual([])
  })

  it('that an earlier release imported is shown as out of range, and can be deleted', async () => {
    const terms = { currency: 'VND', dollars: '25000', amount: 900_000_000_000_000 }
    const invoiceId = await appendProviderInvoice(terms)
    const { status, data } = await read<ProviderInvoiceSummary[]>('invoices')
    expect([status, data]).toMatchObject([200, [{ id: invoiceId, is_out_of_range: true }]])
    const one = await read<ProviderInvoiceComparison>(`invoices/${invoiceId}`)
    expect([one.status, one.data]).toMatchObject([
      200,
      { is_out_of_range: true, billed: Number.MAX_SAFE_INTEGER, total: { amount: '900000' } },
    ])
    const margins = await read<Margins>(`margins?first_day=${day}&last_day=${day}`)
    expect([margins.status, margins.data]).toMatchObject([
      200,
      { out_of_range_channels: [CHANNEL], total: { billed: 0, invoiced: 0 } },
    ])
    for (const path of ['export', 'requests?match=matched', 'requests/export?match=matched']) {
      expect((await read(`invoices/${invoiceId}/${path}`)).status).toBe(200)
    }
    const deleted = await fixture.admin.call('DELETE', `/api/audit/invoices/${invoiceId}`)
    expect(deleted.status).toBe(200)
    // The console sends the position with its next read of the list.
    expect(Number(deleted.headers['x-position'])).toBe(await fixture.head())
  })
})

describe('an invoice in a currency other than the dollar', () => {
  it('is refused without an exchange rate', async () => {
    const file = `d,m,a\n${day},sim-small,1\n`
    const answer = await upload(file, { currency: 'CNY' })
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining('dollars')])
    const { status, data } = await upload(file, { currency: 'CNY', dollars: '0.14' })
    expect(status).toBe(200)
    const listed = (await read<ProviderInvoiceSummary[]>('invoices')).data
    expect(listed).toMatchObject([{ currency: 'CNY', dollars: '0.14', billed: 70_000 }])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${data.id}`)
    await fixture.freshness.waitFor(['audit-log', 'users'], await fixture.head(), 20_000)
    const acts = await read<{ items: AuditAct[] }>(
      `log?act=invoice-imported&object=invoice:${data.id}`,
    )
    expect(acts.data.items).toMatchObject([
      { after: { channel_id: CHANNEL, currency: 'CNY', dollars: '0.14', amount: '1' } },
    ])
  })
})

describe('an invoice in a currency of small units', () => {
  it.each([
    ['VND', '0.00004', '250000000', 5_000_000_000],
    ['KRW', '0.0007', '20000000.00005', 7_000_000_000],
  ])('has amounts beyond 9 million a day and model (%s)', async (currency, dollars, a, billed) => {
    const columns = { request_id: 'id', currency, dollars }
    const rows = [`${day},sim-small,${a},r1`, `${day},sim-small,-0.00005,r2`]
    const { status, data, message } = await upload(`d,m,a,id\n${rows.join('\n')}\n`, columns)
    expect([message, status]).toEqual(['', 200])
    const one = await read<ProviderInvoiceComparison>(`invoices/${data.id}`)
    const amount = currency === 'VND' ? '249999999.99995' : '20000000'
    expect(one.data).toMatchObject({ billed, total: { billed, amount } })
    await fixture.freshness.waitFor(['reconciliation', 'audit-log'], await fixture.head(), 20_000)
    const unknown = await read<{ items: object[] }>(`invoices/${data.id}/requests?match=unknown`)
    expect(unknown.data.items).toMatchObject([
      { amount: a, billed },
      { amount: '-0.00005', billed: 0 },
    ])
    const margins = await read<Margins>(`margins?first_day=${day}&last_day=${day}`)
    expect(margins.data.total.billed).toBe(billed)
    const acts = await read<{ items: AuditAct[] }>(
      `log?act=invoice-imported&object=invoice:${data.id}`,
    )
    expect(acts.data.items).toMatchObject([{ after: { amount } }])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${data.id}`)
  })
})

describe('the comparison of an invoice', () => {
  /** Makes the read model of the comparisons appear to be behind while `work` runs. */
  async function whileBehind(work: () => Promise<void>): Promise<void> {
    const waitFor = fixture.freshness.waitFor.bind(fixture.freshness)
    const waits = vi
      .spyOn(fixture.freshness, 'waitFor')
      .mockImplementation(async (names, ...others) =>
        names.some((name) => name === 'reconciliation') ? false : waitFor(names, ...others),
      )
    await work().finally(() => waits.mockRestore())
  }
  const PATHS = ['', '/export', '/requests?match=unknown', '/requests/export?match=unknown']

  it.each([
    ['the position of the request', 0, { 'x-after-position': '1' }],
    ['all lines of the invoice', 1, {}],
  ])('is refused until the read model has %s', async (_name, requests, headers) => {
    const invoiceId = await appendProviderInvoice({
      currency: 'USD',
      dollars: '1',
      amount: 1,
      requests,
    })
    const get = (path: string) =>
      fixture.admin.call('GET', `/api/audit/invoices/${invoiceId}${path}`, { headers })
    await whileBehind(async () => {
      for (const path of PATHS) {
        const answer = await get(path)
        expect([path, answer.status, answer.code]).toEqual([path, 503, 'ReconciliationBehind'])
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
    })
    for (const path of PATHS) expect((await get(path)).status).toBe(200)
    await fixture.admin.call('DELETE', `/api/audit/invoices/${invoiceId}`)
  })
})

describe('token counts of an earlier release, beyond the numbers of a response', () => {
  it('are cut off, and the invoice can be read and deleted', async () => {
    const large = 999_999_999_999_999
    const rows = Array.from({ length: 24 }, (_, n) => n + 2)
    const requests = rows.map((row) => [
      row,
      day,
      'sim',
      'r',
      large,
      1,
      ...(row > 13 ? [true] : []),
    ])
    const invoiceId = await appendProviderInvoice({
      ...{ currency: 'USD', dollars: '1', amount: 1, requests: rows.length },
    })
    const context = { actor: 'user:1', cause: null, at: fixture.core.now() }
    await fixture.core.actors.handle(
      providerInvoiceRequestsDecider,
      providerInvoiceRequestsStream(invoiceId),
      { type: 'RecordInvoiceRequests', invoiceId, part: 0, requests: requests as never },
      context,
    )
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    for (const path of ['', '/requests?match=unknown', '/requests/export?match=unknown']) {
      expect([path, (await read(`invoices/${invoiceId}${path}`)).status]).toEqual([path, 200])
    }
    await fixture.admin.call('DELETE', `/api/audit/invoices/${invoiceId}`)
  })
})

describe('rows that another file contains as well', () => {
  it('are counted by their request ids', async () => {
    const columns = { request_id: 'id' }
    const first = await upload(`d,m,a,id\n${day},sim,1,r1\n${day},sim,1,r2\n`, columns)
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    const rows = [`${day},sim,1,r2`, `${day},sim,2,r2`, `${day},sim,1,r3`]
    const second = await upload(`d,m,a,id\n${rows.join('\n')}`, columns)
    expect([null, 0]).toContain(first.data.known_ids)
    expect([null, 1]).toContain(second.data.known_ids)
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    const { data } = await read<ProviderInvoiceComparison>(`invoices/${second.data.id}`)
    expect(data.requests?.known_ids).toBe(1)
    // The count is kept for further pages, until an invoice is imported or deleted.
    const counts = vi.spyOn(fixture.core.db, 'oneFirst')
    const known = async (path = '') =>
      (await read<ProviderInvoiceComparison>(`invoices/${second.data.id}${path}`)).data.requests
        ?.known_ids
    const countsOfIds = () => counts.mock.calls.filter(([{ sql }]) => sql.includes('intersect'))
    for (const cursor of [0, 1, 2]) expect(await known(`?cursor=${cursor}&limit=1`)).toBe(1)
    expect(countsOfIds()).toHaveLength(0)
    await fixture.admin.call('DELETE', `/api/audit/invoices/${first.data.id}`)
    expect(await known()).toBe(0)
    const third = await upload(`d,m,a,id\n${day},sim,1,r2\n${day},sim,1,r3\n`, columns)
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    expect(await known()).toBe(2)
    expect(countsOfIds().length).toBeGreaterThan(0)
    for (const id of [second.data.id, third.data.id]) {
      await fixture.admin.call('DELETE', `/api/audit/invoices/${id}`)
    }
  })
})
