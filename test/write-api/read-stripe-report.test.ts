import Stripe from 'stripe'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkoutEvent } from '#infra/demo/simulated-payment-gateway.ts'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEYS, topUpFixture } from './top-up-fixture.ts'
import type { LoggedIn } from './write-fixture.ts'

const fixture = startedOnce(topUpFixture)

beforeAll(async () => {
  await fixture.switchOn()
})

const fresh = async () => ({ 'x-after-position': String(await fixture.head()) })
const balance = async (who: LoggedIn = fixture.user) => (await fixture.stands(who)).quota

async function send(payload: string, secret = KEYS.stripeWebhookSecret): Promise<number> {
  const timestamp = Math.floor(fixture.core.now() / 1_000)
  const options = { payload, secret, timestamp }
  const signature = Stripe.webhooks.generateTestHeaderString(options)
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
  const url = '/api/stripe/webhook'
  return (await fixture.app.inject({ method: 'POST', url, headers, payload })).statusCode
}

let eventNo = 0
const event = (type: string, object: object, created = 1_700_000_000): string => {
  eventNo += 1
  return JSON.stringify({ id: `evt_${eventNo}`, object: 'event', type, created, data: { object } })
}
type Payment = { readonly id: number; readonly payment_intent: string; readonly tradeNo: string }

/** An order of $4.00 for 2 000 000 units, paid at Stripe. */
async function paidOrder(who: LoggedIn = fixture.user): Promise<Payment> {
  const payment = await order(who)
  const form = fixture.gateway.checkouts.get(payment.tradeNo) ?? new URLSearchParams()
  expect(await send(checkoutEvent(form))).toBe(200)
  return payment
}
async function order(who: LoggedIn = fixture.user): Promise<Payment> {
  const tradeNo = await fixture.order(who, { amount: 4, payment_method: 'stripe' })
  const id = Number(/^T(\d+)X/.exec(tradeNo)?.[1])
  return { id, payment_intent: `pi_${tradeNo}`, tradeNo }
}
const refundOf = (payment: Payment, id: string, amount: number, over: object = {}) => ({
  ...{ id, object: 'refund', amount, currency: 'usd', payment_intent: payment.payment_intent },
  ...{ charge: 'ch_1', status: 'succeeded', reason: 'requested_by_customer', ...over },
})
const chargeOf = (payment: Payment, amount_refunded: number) => ({
  ...{ id: `ch_${payment.id}`, object: 'charge', amount: 400, amount_refunded, currency: 'usd' },
  payment_intent: payment.payment_intent,
  metadata: { trade_no: payment.tradeNo },
})
const disputeOf = (payment: Payment, over: object = {}) => ({
  ...{ id: `dp_${payment.id}`, object: 'dispute', amount: 400, currency: 'usd' },
  ...{ payment_intent: payment.payment_intent, charge: 'ch_1', reason: 'fraudulent' },
  ...{ status: 'needs_response', evidence_details: { due_by: 1_800_000_000 }, ...over },
})

async function notices(who: LoggedIn, { id }: Payment): Promise<InboxMessage[]> {
  const path = '/api/user/messages?page_size=100'
  const { data } = await who.call<{ items: InboxMessage[] }>('GET', path, {
    headers: await fresh(),
  })
  return data.items.filter(({ title }) => title.endsWith(`order #${id}`))
}
async function orderRow({ id }: Payment, by: LoggedIn = fixture.admin) {
  const path = by === fixture.admin ? `?keyword=${id}` : '/self?page_size=100'
  const found = (await fixture.orders(by, path)).find((row) => row.id === id)
  if (found === undefined) throw new Error(`order ${id} is not listed`)
  return found
}

describe('a refund at Stripe', () => {
  it('takes its share back once and informs each admin once for twenty reports', async () => {
    const payment = await paidOrder()
    const before = await balance()
    const said = event('refund.created', refundOf(payment, 're_a', 100))
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(said)))
    expect(answers).toEqual(answers.map(() => 200))
    expect(await balance()).toBe(before - 500_000)
    for (const who of [fixture.admin, fixture.root]) {
      const [notice, ...more] = await notices(who, payment)
      expect(more).toEqual([])
      expect(notice?.content).toContain(`/admin/orders?keyword=${payment.tradeNo}`)
      expect(notice?.content).toContain('1.00 USD')
    }
    expect(await notices(fixture.user, payment)).toEqual([])
    const row = await orderRow(payment)
    expect(row).toMatchObject({ status: 'refunded', refunded: '1.00', refundable: '3.00' })
    expect(row.refunds).toMatchObject([{ source: 'refund', source_id: 're_a', money: '1.00' }])
    expect(row.reports).toMatchObject([{ kind: 'refund', report_id: 're_a', status: 'succeeded' }])
    const own = await orderRow(payment, fixture.user)
    expect(own).toMatchObject({ status: 'refunded', refunded: '1.00', reports: [] })
    expect(own.refunds).toMatchObject([{ source: 'refund', source_id: '', money: '1.00' }])
  })

  it('is applied once, whether the refund or the charge is reported first', async () => {
    for (const chargeFirst of [true, false]) {
      const payment = await paidOrder()
      const before = await balance()
      const id = `re_${payment.id}`
      const refund = event('refund.created', refundOf(payment, id, 150))
      const charge = event('charge.refunded', chargeOf(payment, 150))
      for (const said of chargeFirst ? [charge, refund] : [refund, charge]) {
        expect(await send(said)).toBe(200)
      }
      expect(await balance()).toBe(before - 750_000)
      expect(await notices(fixture.admin, payment)).toHaveLength(1)
    }
  })

  it('takes back only the new part when the charge reports a growing sum', async () => {
    const payment = await paidOrder()
    const before = await balance()
    for (const sum of [100, 400, 100]) {
      expect(await send(event('charge.refunded', chargeOf(payment, sum)))).toBe(200)
    }
    expect(await balance()).toBe(before - 2_000_000)
    expect(await notices(fixture.admin, payment)).toHaveLength(2)
  })

  it('is applied once if an admin records it before or after the report', async () => {
    const record = (id: number, refunds: number) =>
      fixture.admin.call('POST', `/api/user/topup/${id}/refund`, {
        body: { money: '1.00', reason: 'asked for', refunds },
      })
    const payment = await paidOrder()
    const before = await balance()
    expect((await record(payment.id, 0)).success).toBe(true)
    const said = event('refund.created', refundOf(payment, 're_b', 100))
    expect(await send(said)).toBe(200)
    expect(await balance()).toBe(before - 500_000)
    const other = await paidOrder()
    expect(await send(event('refund.created', refundOf(other, 're_c', 100)))).toBe(200)
    expect((await record(other.id, 0)).code).toBe('RefundedMeanwhile')
    expect(await balance()).toBe(before - 500_000 + 2_000_000 - 500_000)
  })

  it('gives the quota and the inviter’s share back if it fails, and informs admins', async () => {
    await fixture.set('RebateEnabled', 'true')
    await fixture.set('RebatePercentage', '10')
    const { invited, user } = fixture
    const payment = await paidOrder(invited)
    await fixture.set('RebateEnabled', 'false')
    const [before, inviter] = [await balance(invited), await fixture.stands(user)]
    const refund = refundOf(payment, 're_d', 200, { status: 'pending' })
    expect(await send(event('refund.created', refund))).toBe(200)
    expect(await balance(invited)).toBe(before - 1_000_000)
    expect((await fixture.stands(user)).aff_quota).toBe(inviter.aff_quota - 100_000)
    const failed = event('refund.failed', { ...refund, status: 'failed' })
    await Promise.all(Array.from({ length: 20 }, () => send(failed)))
    expect(await balance(invited)).toBe(before)
    expect((await fixture.stands(user)).aff_quota).toBe(inviter.aff_quota)
    expect(await notices(fixture.admin, payment)).toHaveLength(2)
    const row = await orderRow(payment)
    expect(row).toMatchObject({ status: 'paid', refunded: '0.00', refundable: '4.00' })
    expect(row.restorations).toMatchObject([{ money: '2.00', source_id: 're_d' }])
  })

  it('is answered 503 before its payment, and ignored for another site’s payment', async () => {
    const payment = await order()
    const head = await fixture.head()
    expect(await send(event('charge.refunded', chargeOf(payment, 400)))).toBe(503)
    const other = { ...payment, payment_intent: 'pi_of_another_site' }
    expect(await send(event('refund.created', refundOf(other, 're_x', 100)))).toBe(200)
    expect(await send(event('charge.dispute.created', disputeOf(other)))).toBe(200)
    const stranger = { ...chargeOf(other, 100), metadata: {} }
    expect(await send(event('charge.refunded', stranger))).toBe(200)
    const none = refundOf(payment, 're_y', 100, { payment_intent: null })
    expect(await send(event('refund.created', none))).toBe(200)
    expect(await fixture.head()).toBe(head)
  })

  it('is answered 503 if Stripe names no payment, and ignored with a wrong key', async () => {
    const payment = await order()
    const said = event('refund.created', refundOf(payment, 're_asked', 100))
    await fixture.set('StripeApiKey', 'sk_test_wrong')
    expect(await send(said)).toBe(200)
    await fixture.set('StripeApiKey', KEYS.stripeKey)
    // The scripted Stripe answers 500.
    fixture.gateway.checkouts.set(payment.tradeNo, null as never)
    expect(await send(said)).toBe(503)
  })

  it('is not applied in another currency, and each admin is informed once', async () => {
    const payment = await paidOrder()
    const before = await balance()
    const euros = event('refund.created', refundOf(payment, 're_z', 100, { currency: 'eur' }))
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(euros)))
    expect(answers).toEqual(answers.map(() => 200))
    const [notice, ...more] = await notices(fixture.admin, payment)
    expect(more).toEqual([])
    for (const words of ['1.00 EUR', 're_z', payment.tradeNo]) {
      expect(notice?.content).toContain(words)
    }
    const lost = disputeOf(payment, { currency: 'eur', status: 'lost' })
    expect(await send(event('charge.dispute.closed', lost))).toBe(200)
    expect(await notices(fixture.admin, payment)).toHaveLength(2)
    expect(await balance()).toBe(before)
  })

  it('is refused if its fields are invalid', async () => {
    const payment = await paidOrder()
    const head = await fixture.head()
    for (const over of [{ amount: -1 }, { amount: '100' }, { id: 7 }, { currency: null }]) {
      const wrong = refundOf(payment, 're_w', 100, over)
      expect(await send(event('refund.created', wrong))).toBe(400)
    }
    expect(await send(event('charge.dispute.created', { id: 'dp_1' }))).toBe(400)
    const right = event('refund.created', refundOf(payment, 're_v', 100))
    expect(await send(right, 'whsec_other')).toBe(400)
    expect(await fixture.head()).toBe(head)
  })
})

describe('a dispute at Stripe', () => {
  it('takes nothing until the money is withdrawn, and reports the deadline', async () => {
    const payment = await paidOrder()
    const before = await balance()
    const created = event('charge.dispute.created', disputeOf(payment))
    await Promise.all(Array.from({ length: 20 }, () => send(created)))
    expect(await balance()).toBe(before)
    const [notice, ...more] = await notices(fixture.admin, payment)
    expect(more).toEqual([])
    expect(notice?.content).toContain('2027-01-15 08:00 UTC')
    const withdrawn = event('charge.dispute.funds_withdrawn', disputeOf(payment))
    await Promise.all(Array.from({ length: 20 }, () => send(withdrawn)))
    expect(await balance()).toBe(before - 2_000_000)
    expect(await notices(fixture.admin, payment)).toHaveLength(1)
    const disputed = await fixture.orders(fixture.admin, '?status=disputed')
    expect(disputed.map(({ id }) => id)).toEqual([payment.id])
    expect((await orderRow(payment)).reports.at(-1)).toMatchObject({
      ...{ kind: 'dispute', money: '4.00', reason: 'fraudulent', status: 'needs_response' },
      ...{ due_by: 1_800_000_000, is_withdrawn: true, is_reinstated: false },
    })
    const won = disputeOf(payment, { status: 'won' })
    for (const [type, at] of [
      ['charge.dispute.funds_reinstated', 1_700_000_010],
      ['charge.dispute.closed', 1_700_000_009],
      ['charge.dispute.funds_withdrawn', 1_700_000_000],
    ] as const) {
      const object = type.endsWith('withdrawn') ? disputeOf(payment) : won
      expect(await send(event(type, object, at))).toBe(200)
    }
    expect(await balance()).toBe(before)
    expect(await notices(fixture.admin, payment)).toHaveLength(2)
  })

  it('takes the quota once if it is lost, in any order with the withdrawal', async () => {
    const payment = await paidOrder()
    const before = await balance()
    const lost = event(
      'charge.dispute.closed',
      disputeOf(payment, { status: 'lost' }),
      1_700_000_009,
    )
    const withdrawn = event('charge.dispute.funds_withdrawn', disputeOf(payment))
    await Promise.all(Array.from({ length: 10 }, () => [send(lost), send(withdrawn)]).flat())
    expect(await balance()).toBe(before - 2_000_000)
    expect((await orderRow(payment)).refunds).toMatchObject([{ source: 'dispute', money: '4.00' }])
  })

  it('is answered 503 before its payment, like a refund, and is applied after it', async () => {
    const payment = await order()
    const [before, head] = [await balance(), await fixture.head()]
    const reports = [
      event('refund.created', refundOf(payment, 're_early', 100)),
      event('charge.dispute.created', disputeOf(payment, { amount: 300 })),
      event('charge.dispute.funds_withdrawn', disputeOf(payment, { amount: 300 })),
    ]
    for (const said of reports) expect(await send(said)).toBe(503)
    expect(await fixture.head()).toBe(head)
    const form = fixture.gateway.checkouts.get(payment.tradeNo) ?? new URLSearchParams()
    expect(await send(checkoutEvent(form))).toBe(200)
    expect(await balance()).toBe(before + 2_000_000)
    for (const said of reports) expect(await send(said)).toBe(200)
    expect(await balance()).toBe(before)
  })
})

it('the read models equal the folds of their events', async () => {
  for (const name of ['orders', 'balances', 'call-log', 'usage-by-hour', 'messages'] as const) {
    expect(await fixture.isFold(name), name).toBe(true)
  }
})
