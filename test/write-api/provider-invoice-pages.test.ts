import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Attempt } from '#domain/accounts/events.ts'
import { providerInvoicesDecider } from '#domain/provider-invoices/decide.ts'
import { matchedProviderInvoiceOf } from '#read-api/audit/compare-provider-invoice.ts'
import { MatchedInvoices } from '#read-api/audit/matched-invoice-cache.ts'
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
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget, shortestMs } from '#test/support/time-limit.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const CHANNEL = 61
const DAY = 86_400_000
const LINES = 100_000
const READ_MODELS = ['reconciliation', 'usage-by-hour'] as const
/** The maximum time of a page in the database, in milliseconds. */
const PAGE_MS = 50
/** The middle of the day before yesterday. */
let at: number
let id: string

/** A charged call of the channel with this id of the provider. */
function callOf(requestId: string, time = at, cost = 500): Given {
  const end = settledCall(
    aCall({ userId: 3, model: 'm', call: randomUUID() }),
    2_000,
    time,
    CHANNEL,
  )
  const attempt: Attempt = {
    ...{ channelId: CHANNEL, status: 200, error: null, latencyMs: 5 },
    evidence: { sentAt: time, requestId },
  }
  const { data, ...call } = costing(end, cost)
  return { ...call, data: { ...(data as object), attempts: [attempt] } } as Given
}

async function append(...calls: readonly Given[]): Promise<void> {
  const position = await appendTo(fixture.core.store, calls)
  await fixture.freshness.waitFor(READ_MODELS, position, 60_000)
}

/** Every 10 000th call has an id that is not in the invoice. */
const isOnlyOurs = (n: number): boolean => n % 10_000 === 9

/**
 * Copies the row of call 0 for all calls that are in the invoice. Their events would have to pass
 * through all read models, which takes longer than everything that is tested here.
 */
const addCallsOfLines = () =>
  fixture.core.pg.query(
    `insert into read_reconciliation.requests
       (channel_id, position, attempt, created_at, request_id, answer_id, call, user_id, model,
         tokens, cost, charged, is_charged)
     select channel_id, -n, attempt, created_at, 'request-' || n, answer_id,
       gen_random_uuid()::text, user_id, model, tokens, case n % 10000 when 5 then 900 else 500 end,
       charged, is_charged
     from read_reconciliation.requests, generate_series(1, $1::int) n
     where request_id = 'request-0' and n % 10000 <> 9`,
    [LINES - 2],
  )

/**
 * An invoice of 100 000 lines. All of them have a call but the last one, every 10 000th is
 * different, and every 10 000th call is not in it.
 */
beforeAll(async () => {
  at = Math.floor(fixture.core.now() / DAY) * DAY - 1.5 * DAY
  await append(channelCreated(CHANNEL, 'Sixty-first'), callOf('request-0'))
  const { rowCount } = await addCallsOfLines()
  expect(rowCount).toBe(LINES - 2 - 10)
  await fixture.core.pg.query('analyze read_reconciliation.requests')
  const numbers = Array.from({ length: LINES }, (_, n) => n)
  await append(...numbers.filter(isOnlyOurs).map((n) => callOf(`ours-${n}`)))
  const day = new Date(at).toISOString().slice(0, 10)
  const rows = numbers.map((n) => `${day},m,0.001,1500,request-${n}`)
  const columns = { day: 'd', model: 'm', amount: 'a', tokens: 't', request_id: 'id' }
  const { cookie, id: userId } = fixture.admin
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${new URLSearchParams({ channel_id: String(CHANNEL), ...columns })}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(userId) },
    payload: `d,m,a,t,id\n${rows.join('\n')}`,
  })
  expect(answer.json()).toMatchObject({ success: true })
  id = answer.json<{ data: { id: string } }>().data.id
  await fixture.freshness.waitFor(READ_MODELS, await fixture.head(), 60_000)
}, 180_000)

const compared = async () =>
  (await fixture.admin.call<ProviderInvoiceComparison>('GET', `/api/audit/invoices/${id}`)).data
type Lines = { items: ProviderInvoiceRequest[]; next_cursor: string | null }
const linesOf = async (match: string, more = '') =>
  (
    await fixture.admin.call<Lines>(
      'GET',
      `/api/audit/invoices/${id}/requests?match=${match}${more}`,
    )
  ).data

describe(`an invoice of ${LINES} lines`, () => {
  it('is matched with the calls of the channel', async () => {
    const { requests } = await compared()
    expect(requests?.counts).toMatchObject({
      ...{ matched: LINES - 21, different: 10, unknown: 11, only_ours: 10 },
    })
    const all: string[] = []
    for (let cursor = '99900'; cursor !== ''; ) {
      const page = await linesOf('matched', `&limit=30&cursor=${cursor}`)
      all.push(...page.items.map(({ upstream_id }) => upstream_id))
      cursor = page.next_cursor ?? ''
    }
    const expected = Array.from({ length: 100 }, (_, n) => LINES - 101 + n)
    expect(all).toEqual(expected.map((n) => `request-${n}`).slice(0, all.length))
    expect(all).toHaveLength(100)
    const different = await linesOf('different', '&limit=3&cursor=50000')
    expect(different.items.map(({ row, difference }) => [row, difference])).toEqual([
      ...[50_007, 60_007, 70_007].map((row) => [row, -400]),
    ])
    const ours = await linesOf('only_ours', '&limit=9')
    const last = await linesOf('only_ours', `&limit=9&cursor=${ours.next_cursor}`)
    expect([...ours.items, ...last.items].map((one) => one.upstream_id)).toEqual(
      Array.from({ length: 10 }, (_, n) => `ours-${n * 10_000 + 9}`),
    )
  })

  it(`has pages that take less than ${PAGE_MS} ms, at any depth and of any match`, async () => {
    const pages = {
      comparison: () => compared(),
      matched: () => linesOf('matched'),
      deep: () => linesOf('matched', '&limit=100&cursor=90000'),
      different: () => linesOf('different'),
      unknown: () => linesOf('unknown'),
      'only ours': () => linesOf('only_ours'),
    }
    for (const [name, page] of Object.entries(pages)) {
      const ms = await shortestMs(page, budget(PAGE_MS))
      console.info(`${name}: ${ms.toFixed(1)} ms`)
      expect([name, ms < budget(PAGE_MS)]).toEqual([name, true])
    }
  })

  it('is matched again if a call of it ends later, and not for other calls', async () => {
    const { invoices } = await fixture.core.actors.peek(providerInvoicesDecider, 'invoices')
    const invoice = invoices.find(({ invoiceId }) => invoiceId === id)
    if (invoice === undefined) throw new Error('the invoice is not there')
    const matched = new MatchedInvoices(fixture.core.db)
    const matches = () => matched.matchesOf(matchedProviderInvoiceOf(invoice))
    const before = await matches()
    await append(callOf('elsewhere', at + DAY))
    expect((await matches()).sums).toBe(before.sums)
    await append(callOf(`request-${LINES - 1}`, at + DAY))
    const rowsOf = (list: typeof before.sums, match: string) =>
      list.filter((sum) => sum.match === match).reduce((all, { rows }) => all + rows, 0)
    const named = await matches()
    expect(rowsOf(named.sums, 'unknown')).toBe(rowsOf(before.sums, 'unknown') - 1)
    await append(callOf('later', at))
    expect((await matches()).onlyOurs).toBe(before.onlyOurs + 1)
    const { requests } = await compared()
    expect(requests?.counts).toMatchObject({ unknown: 10, only_ours: 11 })
  })
})
