import { randomUUID } from 'node:crypto'
import { sql } from 'slonik'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { providerInvoiceRequestsDecider } from '#domain/provider-invoices/decide.ts'
import { providerInvoiceRequestsStream } from '#domain/provider-invoices/events.ts'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { appendTo, channelCreated } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { removeAbandonedRows } from '#write-api/audit/remove-leftover-provider-invoice-rows.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const CHANNEL = 51
const DAY = 86_400_000
const HOUR = 3_600_000
let day: string

beforeAll(async () => {
  day = new Date(fixture.core.now() - DAY).toISOString().slice(0, 10)
  const position = await appendTo(fixture.core.store, [channelCreated(CHANNEL, 'Fifty-first')])
  await fixture.freshness.waitFor(['channels'], position, 20_000)
})

/** Uploads an invoice with this number of rows that have request ids. */
async function upload(rows: number) {
  const texts = Array.from({ length: rows }, (_, n) => `${day},m,0.001,${rows}-${n}`)
  const query = { channel_id: String(CHANNEL), day: 'd', model: 'm', amount: 'a', request_id: 'id' }
  const { cookie, id } = fixture.admin
  return await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${new URLSearchParams(query)}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(id) },
    payload: `d,m,a,id\n${texts.join('\n')}`,
  })
}

async function imported(rows: number): Promise<string> {
  const answer = await upload(rows)
  expect(answer.json()).toMatchObject({ success: true })
  return answer.json<{ data: { id: string } }>().data.id
}

/**
 * Pauses appends to several streams whose first command has one of these types. The functions are
 * by type: `reached` resolves when such an append is paused, and `resume` lets it continue.
 */
function pauseAppends<Type extends string>(...types: readonly Type[]) {
  const { actors } = fixture.core
  const gateOf = () => ({
    reached: Promise.withResolvers<void>(),
    resumed: Promise.withResolvers<void>(),
  })
  const gates = new Map<string, ReturnType<typeof gateOf>>(types.map((type) => [type, gateOf()]))
  const handleTogether = actors.handleTogether.bind(actors)
  const spy = vi.spyOn(actors, 'handleTogether').mockImplementation(async (steps, context) => {
    const gate = gates.get(steps[0]?.command.type)
    gate?.reached.resolve()
    await gate?.resumed.promise
    return handleTogether(steps, context)
  })
  onTestFinished(() => spy.mockRestore())
  return {
    reached: (type: Type) => gates.get(type)?.reached.promise,
    resume: (type: Type) => gates.get(type)?.resumed.resolve(),
  }
}

const invoiceIds = async (): Promise<string[]> =>
  (await fixture.admin.call<{ id: string }[]>('GET', '/api/audit/invoices')).data.map(
    ({ id }) => id,
  )

/** Records rows without an invoice, as an import does that fails before its end. */
async function recordRows(): Promise<string> {
  const invoiceId = randomUUID()
  const context = { actor: 'user:1', cause: null, at: fixture.core.now() }
  const requests = [[2, day, 'm', 'r', 0, 1]] as const
  await fixture.core.actors.handle(
    providerInvoiceRequestsDecider,
    providerInvoiceRequestsStream(invoiceId),
    { type: 'RecordInvoiceRequests', invoiceId, part: 0, requests },
    context,
  )
  await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
  return invoiceId
}

const linesOf = (invoiceId: string): Promise<number> =>
  fixture.core.db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count from read_reconciliation.lines where invoice_id = ${invoiceId}
  `)

describe('the rows of an invoice', () => {
  it('are removed after the invoice was deleted, and those of others stay', async () => {
    const [deleted, kept] = [await imported(4_500), await imported(1_001)]
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    expect([await linesOf(deleted), await linesOf(kept)]).toEqual([4_500, 1_001])
    await fixture.admin.call('DELETE', `/api/audit/invoices/${deleted}`)
    await expect.poll(() => linesOf(deleted), { timeout: 20_000 }).toBe(0)
    expect(await linesOf(kept)).toBe(1_001)
    expect(await fixture.isFold('reconciliation')).toBe(true)
    const again = await imported(4_500)
    const url = `/api/audit/invoices/${again}/requests?match=unknown`
    expect((await fixture.admin.call('GET', url)).status).toBe(200)
  })

  it('are removed after an hour if the import did not end', async () => {
    const invoiceId = await recordRows()
    await removeAbandonedRows(fixture)
    expect(await linesOf(invoiceId)).toBe(1)
    fixture.clock.ahead += HOUR + 1
    await removeAbandonedRows(fixture)
    await expect.poll(() => linesOf(invoiceId), { timeout: 20_000 }).toBe(0)
    expect(await fixture.isFold('reconciliation')).toBe(true)
  })

  it('are not left out of an import that ends after their removal: it is refused', async () => {
    const before = await invoiceIds()
    const { reached, resume } = pauseAppends('ImportInvoice')
    const answer = upload(2_500)
    await reached('ImportInvoice')
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    fixture.clock.ahead += HOUR + 1
    await removeAbandonedRows(fixture)
    resume('ImportInvoice')
    expect((await answer).json()).toMatchObject({ success: false, code: 'InvoiceRowsRemoved' })
    expect(await invoiceIds()).toEqual(before)
    expect((await upload(2_500)).json()).toMatchObject({ success: true })
  })

  it('are not removed if the import ends just before their removal', async () => {
    const { reached, resume } = pauseAppends('ImportInvoice', 'MustNotExist')
    const answer = upload(2_501)
    await reached('ImportInvoice')
    await fixture.freshness.waitFor(['reconciliation'], await fixture.head(), 20_000)
    fixture.clock.ahead += HOUR + 1
    const removed = removeAbandonedRows(fixture)
    await reached('MustNotExist')
    resume('ImportInvoice')
    const { id } = (await answer).json<{ data: { id: string } }>().data
    resume('MustNotExist')
    await removed
    expect(await linesOf(id)).toBe(2_501)
    const url = `/api/audit/invoices/${id}/requests?match=unknown`
    expect((await fixture.admin.call('GET', url)).status).toBe(200)
  })
})
