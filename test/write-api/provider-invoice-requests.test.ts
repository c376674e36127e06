import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Attempt } from '#domain/accounts/events.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type {
  ProviderInvoiceComparison,
  ProviderInvoiceRequest,
} from '#read-api/contract/provider-invoices.ts'
import {
  aCall,
  appendTo,
  channelCreated,
  costing,
  type Given,
  releasedCall,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const CHANNEL = 9
const OTHER = 10
const DAY = 86_400_000
/** The middle of the day before yesterday. */
let at: number
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

type Ids = { readonly requestId?: string; readonly id?: string; readonly channelId?: number }

const attemptWith = ({ requestId, id, channelId = CHANNEL }: Ids): Attempt => ({
  ...{ channelId, status: 200, error: null, latencyMs: 5 },
  evidence: {
    sentAt: at,
    ...(requestId === undefined ? {} : { requestId }),
    ...(id === undefined ? {} : { fingerprint: { system_fingerprint: 'fp', id } }),
  },
})

const withAttempts = (end: Given, attempts: readonly Attempt[]): Given => ({
  ...end,
  data: { ...(end.data as object), attempts },
})

/** A charged call of the channel with 1 500 tokens. */
const callOf = (model: string, cost: number, attempts: readonly Attempt[], time = at): Given => {
  const end = settledCall(aCall({ userId: 3, model, call: randomUUID() }), 2_000, time, CHANNEL)
  return withAttempts(costing(end, cost), attempts)
}

beforeAll(async () => {
  at = Math.floor(fixture.core.now() / DAY) * DAY - 1.5 * DAY
  const failed = withAttempts(releasedCall(aCall({ userId: 3, model: 'm' }), at), [
    attemptWith({ requestId: 'r-failed' }),
  ])
  const position = await appendTo(fixture.core.store, [
    channelCreated(CHANNEL, 'Ninth'),
    callOf('m', 500, [attemptWith({ requestId: 'r1', id: 'chat-1' })]),
    callOf('m', 500, [attemptWith({ id: 'chat-2' })]),
    callOf('m', 500, [attemptWith({ requestId: 'r3' })]),
    // A retry: both attempts are on this channel, and the second one served the call.
    callOf('m', 500, [attemptWith({ requestId: 'r4-first' }), attemptWith({ requestId: 'r4' })]),
    callOf('m', 500, [attemptWith({ requestId: 'r-early' })], at - 10 * DAY),
    callOf('m', 500, [attemptWith({ requestId: 'r-next' })], at + DAY),
    callOf('m', 500, [attemptWith({ requestId: 'r-kinds' })]),
    callOf('m', 70, [attemptWith({ requestId: 'r-ours' })]),
    callOf('plain', 90, [{ channelId: CHANNEL, status: 200, error: null, latencyMs: 5 }]),
    settledCall(aCall({ userId: 3, model: 'm' }), 2_000, at, 8),
    withAttempts(costing(settledCall(aCall({ userId: 3, model: 'm' }), 2_000, at, 8), 500), [
      attemptWith({ requestId: 'r-elsewhere', channelId: 8 }),
    ]),
    failed,
    channelCreated(OTHER, 'Tenth'),
    withAttempts(costing(settledCall(aCall({ userId: 3, model: 'n' }), 2_000, at, OTHER), 500), [
      attemptWith({ requestId: 'r-model', channelId: OTHER }),
    ]),
    withAttempts(settledCall(aCall({ userId: 3, model: 'm' }), 2_000, at, OTHER), [
      attemptWith({ requestId: 'r-uncosted', channelId: OTHER }),
    ]),
  ])
  await fixture.freshness.waitFor(['usage-by-hour', 'reconciliation', 'channels'], position, 20_000)
})

const COLUMNS = { day: 'day', model: 'model', amount: 'cost', tokens: 'tokens', request_id: 'id' }

async function imported(rows: readonly string[], channel = CHANNEL): Promise<string> {
  const search = new URLSearchParams({ channel_id: String(channel), ...COLUMNS })
  const { cookie, id } = fixture.admin
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${search}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(id) },
    payload: ['day,model,cost,tokens,id', ...rows].join('\n'),
  })
  expect(answer.json()).toMatchObject({ success: true })
  return answer.json<{ data: { id: string } }>().data.id
}

const compared = async (id: string) =>
  (await fixture.admin.call<ProviderInvoiceComparison>('GET', `/api/audit/invoices/${id}`)).data
type Lines = { items: ProviderInvoiceRequest[]; next_cursor: string | null }
const linesOf = async (id: string, match: string, more = '') =>
  (
    await fixture.admin.call<Lines>(
      'GET',
      `/api/audit/invoices/${id}/requests?match=${match}${more}`,
    )
  ).data

const exported = (url: string) => {
  const { cookie, id } = fixture.admin
  return fixture.app.inject({ url, headers: { cookie, 'user-id': String(id) } })
}

async function exportsOf(invoiceId: string): Promise<AuditAct[]> {
  await fixture.freshness.waitFor(['audit-log', 'users'], await fixture.head(), 20_000)
  const url = `/api/audit/log?act=data-exported&object=invoice:${invoiceId}`
  return (await fixture.admin.call<{ items: AuditAct[] }>('GET', url)).data.items
}

describe('an invoice with ids of requests', () => {
  let id: string
  let rows: string[]

  beforeAll(async () => {
    const day = dayOf(at)
    rows = [
      `${day},m,0.001,1500,r1`,
      `${day},m,0.001,1500,chat-2`,
      // Billed at twice the cost, and a quarter of it credited.
      `${day},m,0.002,1500,r3`,
      `${day},m,-0.0005,0,r3`,
      `${day},m,0.002,1500,r3`,
      `${day},m,0.0004,10,r4-first`,
      `${day},m,0.001,1500,r4`,
      `${day},m,0.001,1500,r-early`,
      // The provider's day may be the one before the call ended.
      `${day},m,0.001,1500,r-next`,
      `${day},m,0.25,5,=HYPERLINK("x")`,
      `${day},m,0.0001,5,r-failed`,
      `${day},m,0.000000001,5,r-elsewhere`,
      `${day},plain,0.00018,1500,`,
      // One row for the input and one for the output.
      `${day},m,0.0004,1000,r-kinds`,
      `${day},m,0.0006,500,r-kinds`,
    ]
    id = await imported(rows)
  })

  it('is matched by the ids first, and then by day and model', async () => {
    const { requests, items, counts } = await compared(id)
    expect(requests?.counts).toEqual({
      ...{ matched: 5, different: 1, other_period: 1, failed: 2 },
      ...{ other_model: 0, cost_unknown: 0 },
      ...{ unknown: 2, duplicate: 1, only_ours: 1 },
    })
    expect(requests).toMatchObject({
      ...{ rows: 11, calls: 7, cost: 3_500, charged: 14_000, tokens: 10_500 },
      ...{ amount: '0.008', billed: 4_000, duplicates_billed: 1_000, margin: 10_000 },
    })
    expect(items).toMatchObject([
      // The unknown ids, beside the call that is not in the invoice.
      { model: 'm', comparison: 'different', rows: 2, calls: 1, amount: '0.250000001', cost: 70 },
      { model: 'plain', comparison: 'matched', rows: 1, calls: 1, billed: 90, cost: 90 },
    ])
    expect(counts).toEqual({ matched: 1, different: 1, only_ours: 0, only_theirs: 0 })
  })

  it('has each line and each call in one sum', async () => {
    const { requests, items, total, models, billed } = await compared(id)
    const parts = [...items, ...(requests === null ? [] : [requests])]
    for (const name of ['rows', 'billed_tokens', 'calls', 'tokens', 'cost', 'charged'] as const) {
      const sum = (list: readonly { [key in typeof name]: number }[]) =>
        list.reduce((all, one) => all + one[name], 0)
      expect([name, sum(parts), sum(models)]).toEqual([name, total[name], total[name]])
    }
    const billionths = (list: readonly { amount: string }[]) =>
      Math.round(list.reduce((all, one) => all + Number(one.amount) * 1e9, 0))
    expect(billionths(parts)).toBe(billionths([total]))
    // All rows but the duplicate; the calls of the day, and two of other days.
    expect(total).toMatchObject({ rows: rows.length - 1, calls: 9, amount: '0.258180001' })
    expect(total.billed).toBe(billed)
  })

  it('names the lines and calls of each match', async () => {
    const ids = async (match: string) =>
      (await linesOf(id, match)).items.map(({ row, upstream_id }) => [row, upstream_id])
    expect(await ids('duplicate')).toEqual([[6, 'r3']])
    expect(await ids('other_period')).toEqual([[9, 'r-early']])
    expect(await ids('failed')).toEqual([
      [7, 'r4-first'],
      [12, 'r-failed'],
    ])
    expect(await ids('unknown')).toEqual([
      [11, '=HYPERLINK("x")'],
      [13, 'r-elsewhere'],
    ])
    expect(await ids('only_ours')).toEqual([[0, 'r-ours']])
    const { items } = await linesOf(id, 'different')
    expect(items).toMatchObject([
      { row: 4, rows: 2, upstream_id: 'r3', amount: '0.0015', billed: 750, difference: 250 },
    ])
    expect(items[0]?.call).toMatchObject({ user_id: 3, model: 'm', cost: 500, charged: 2_000 })
    const page = await linesOf(id, 'matched', '&limit=3')
    const rest = await linesOf(id, 'matched', `&limit=3&cursor=${page.next_cursor}`)
    expect([...page.items, ...rest.items].map((one) => one.upstream_id)).toEqual([
      ...['r1', 'chat-2', 'r4', 'r-next', 'r-kinds'],
    ])
    expect(rest.next_cursor).toBeNull()
  })

  it('is exported as CSV that no spreadsheet runs, and each export is recorded', async () => {
    const url = `/api/audit/invoices/${id}`
    const unknown = await exported(`${url}/requests/export?match=unknown`)
    expect(unknown.headers['content-type']).toBe('text/csv; charset=utf-8')
    const [head, first, ...rest] = unknown.body.split('\r\n')
    expect(head).toBe(
      'row,match,upstream_id,day,model,billed_tokens,amount,billed,currency,call_request_id,' +
        'call_user_id,call_ended_at,call_model,call_tokens,call_cost,call_charged,difference',
    )
    const day = dayOf(at)
    const cells = `unknown,"'=HYPERLINK(""x"")",${day},m,5,0.25,125000,USD`
    expect(first).toBe(`11,${cells},,,,,,,,`)
    expect(rest.map((line) => line.slice(0, 2))).toEqual(['13', ''])
    const days = await exported(`${url}/export?comparison=different`)
    expect(days.body.split('\r\n')).toEqual([
      'day,model,comparison,rows,billed_tokens,amount,billed,' +
        'calls,tokens,cost,charged,margin,currency',
      `${day},m,different,2,10,0.250000001,125000,1,1500,70,2000,-123000,USD`,
      '',
    ])
    const acts = await exportsOf(id)
    expect(acts.map(({ after }) => after)).toMatchObject([
      { exported: 'invoice-days', format: 'csv', filters: ['comparison'] },
      { exported: 'invoice-requests', format: 'csv', filters: ['match'] },
    ])
    const all = (await exported(`${url}/export`)).body.split('\r\n')
    expect(all.map((line) => line.split(',')[1])).toEqual(['model', 'm', 'plain', undefined])
    expect((await exported(`${url}/export?comparison=x`)).statusCode).toBe(400)
    expect((await exported(`${url}/requests/export`)).json().message).toContain('match')
    const none = '/api/audit/invoices/00000000-0000-0000-0000-000000000000/export'
    expect((await exported(none)).statusCode).toBe(404)
  })

  it('is matched again by a rebuilt read model', async () => {
    expect(await fixture.isFold('reconciliation')).toBe(true)
    const other = await fixture.admin.call('GET', `/api/audit/invoices/${id}/requests?match=x`)
    expect([other.status, other.message]).toEqual([400, expect.stringContaining('match')])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${id}`)
    const gone = `/api/audit/invoices/${id}/requests?match=matched`
    expect((await fixture.admin.call('GET', gone)).status).toBe(404)
  })
})

describe('an invoice without ids', () => {
  it('is compared by day and model only', async () => {
    const id = await imported([`${dayOf(at)},m,0.001,1500,`])
    const { requests, items } = await compared(id)
    expect(requests).toBeNull()
    expect(items.map(({ model, comparison }) => [model, comparison])).toEqual([
      ['m', 'different'],
      ['plain', 'only_ours'],
    ])
  })
})

describe('a line that agrees in amount and tokens', () => {
  it('is not matched if the model differs, or if the cost of the call is unknown', async () => {
    const id = await imported(
      [`${dayOf(at)},m,0.001,1500,r-model`, `${dayOf(at)},m,0.5,1500,r-uncosted`],
      OTHER,
    )
    const { requests } = await compared(id)
    expect(requests?.counts).toMatchObject({
      ...{ matched: 0, different: 0, other_model: 1, cost_unknown: 1 },
    })
    const { items } = await linesOf(id, 'cost_unknown')
    expect(items).toMatchObject([{ upstream_id: 'r-uncosted', difference: null }])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${id}`)
  })
})
