import { randomUUID } from 'node:crypto'
import Stripe from 'stripe'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { topUpStream } from '#domain/top-ups/events.ts'
import { checkoutEvent } from '#infra/demo/simulated-payment-gateway.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { warnOfPartialConfigAtStart } from '#write-api/top-ups/configured-payment-methods.ts'
import { KEYS, topUpFixture } from './top-up-fixture.ts'

const fixture = startedOnce(topUpFixture)

beforeAll(async () => {
  await fixture.switchOn()
})

const balance = async () => (await fixture.stands(fixture.user)).quota
const FAIL = { status: 200, text: 'fail' }
const SUCCESS = { status: 200, text: 'success' }

describe('a payment notice of the gateway', () => {
  it.each(['GET', 'POST'] as const)('credits the order once when sent by %s', async (method) => {
    const before = await balance()
    const tradeNo = await fixture.order(fixture.user, { amount: 2 })
    const notice = fixture.gateway.noticeOf(tradeNo, { money: '14.6' })
    expect(await fixture.notify(notice, method)).toEqual(SUCCESS)
    expect(await balance()).toBe(before + 1_000_000)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.notify(notice, method)),
    )
    expect(answers).toEqual(answers.map(() => SUCCESS))
    expect(await balance()).toBe(before + 1_000_000)
    const [order] = await fixture.orders(fixture.user, '/self')
    expect(order).toMatchObject({ status: 'paid', payment_id: `2026${tradeNo}` })
  })

  it('credits the order once when twenty notices arrive at once', async () => {
    const before = await balance()
    const notice = fixture.gateway.noticeOf(await fixture.order(fixture.user, { amount: 1 }))
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.notify(notice)))
    expect(answers).toEqual(answers.map(() => SUCCESS))
    expect(await balance()).toBe(before + 500_000)
  })

  it('gets no success answer until the credit is written', async () => {
    const before = await balance()
    const tradeNo = await fixture.order(fixture.user, { amount: 1 })
    const orderId = Number(/^T(\d+)X/.exec(tradeNo)?.[1])
    const notice = fixture.gateway.noticeOf(tradeNo)
    const data = { orderId, userId: fixture.user.id, paymentId: `2026${tradeNo}`, rebate: null }
    const meta = { actor: 'system:epay', cause: null, at: fixture.core.now() }
    const paid = { id: randomUUID(), type: 'TopUpPaid', v: 1, data, meta }
    await fixture.core.store.append([{ stream: topUpStream(orderId), expected: 0, events: [paid] }])
    expect((await fixture.notify(notice)).status).toBe(503)
    expect(await balance()).toBe(before)
  })

  it.each([
    ['less money', { money: '7.29' }],
    ['more money', { money: '7.31' }],
    ['money that is none', { money: '7,30' }],
    ['another merchant', { pid: '1002' }],
    ['another status', { trade_status: 'TRADE_CLOSED' }],
    ['no status', { trade_status: '' }],
    ['another order', { out_trade_no: 'T1X000000000000000000000000' }],
    ['an order that never was', { out_trade_no: 'T999X000000000000000000000000' }],
    ['no order', { out_trade_no: '' }],
    ['what is no order', { out_trade_no: "T1X' or 1=1" }],
  ])('credits nothing with %s, even if well signed', async (_what, over) => {
    const before = await balance()
    const tradeNo = await fixture.order(fixture.user, { amount: 1 })
    expect(await fixture.notify(fixture.gateway.noticeOf(tradeNo, over))).toEqual(FAIL)
    expect(await balance()).toBe(before)
  })

  it('credits nothing with a wrong signature or a repeated field', async () => {
    const before = await balance()
    const good = fixture.gateway.noticeOf(await fixture.order(fixture.user, { amount: 1 }))
    const changed = (change: (notice: URLSearchParams) => void) => {
      const notice = new URLSearchParams(good)
      change(notice)
      return notice
    }
    for (const notice of [
      changed((all) => all.delete('sign')),
      changed((all) => all.set('sign', '0'.repeat(32))),
      changed((all) => all.set('sign', 'é')),
      changed((all) => all.set('sign', 'é'.repeat(32))),
      changed((all) => all.set('money', '1.00')),
      changed((all) => all.set('sign_type', 'RSA')),
      changed((all) => all.append('money', '1.00')),
      changed((all) => all.append('sign', '0'.repeat(32))),
      new URLSearchParams(),
    ]) {
      for (const method of ['GET', 'POST'] as const) {
        expect(await fixture.notify(notice, method)).toEqual(FAIL)
      }
    }
    expect(await balance()).toBe(before)
    expect(await fixture.notify(good)).toEqual(SUCCESS)
  })

  it('counts on a demo site too, but not after the secret is cleared', async () => {
    const notice = fixture.gateway.noticeOf(await fixture.order(fixture.user, { amount: 1 }))
    const other = fixture.gateway.noticeOf(await fixture.order(fixture.user, { amount: 1 }))
    await fixture.set('DemoSiteEnabled', 'true')
    expect(await fixture.notify(notice, 'POST')).toEqual(SUCCESS)
    await fixture.set('DemoSiteEnabled', 'false')
    await fixture.set('EpayKey', '')
    const warned = vi.spyOn(fixture.core.log, 'warn')
    expect((await fixture.notify(other)).status).toBe(503)
    await warnOfPartialConfigAtStart(fixture.core)
    const off = expect.objectContaining({ alarm: 'payment-gateway-off' })
    expect(warned).toHaveBeenCalledExactlyOnceWith(off, expect.any(String))
    warned.mockRestore()
    await fixture.set('EpayKey', KEYS.key)
    expect(await fixture.notify(other)).toEqual(SUCCESS)
  })

  it('is refused before it is read if its body is too long', async () => {
    const long = new URLSearchParams({ name: 'x'.repeat(70_000) })
    expect((await fixture.notify(long, 'POST')).status).toBe(413)
  })
})

describe('a Stripe event', () => {
  const signed = (payload: string, secret = KEYS.stripeWebhookSecret, timestamp?: number) =>
    Stripe.webhooks.generateTestHeaderString({
      payload,
      secret,
      timestamp: timestamp ?? Math.floor(fixture.core.now() / 1_000),
    })
  const send = async (payload: string, signature: string) => {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
    const url = '/api/stripe/webhook'
    return (await fixture.app.inject({ method: 'POST', url, headers, payload })).statusCode
  }
  const ordered = async (): Promise<URLSearchParams> => {
    const tradeNo = await fixture.order(fixture.user, { amount: 4, payment_method: 'stripe' })
    return fixture.gateway.checkouts.get(tradeNo) ?? new URLSearchParams()
  }

  it('credits the order once when it arrives twenty times at once', async () => {
    const before = await balance()
    const event = checkoutEvent(await ordered())
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(event, signed(event))))
    expect(answers).toEqual(answers.map(() => 200))
    expect(await balance()).toBe(before + 2_000_000)
    const [order] = await fixture.orders(fixture.user, '/self')
    expect(order).toMatchObject({ status: 'paid', money: '4.00', currency: 'USD' })
    expect(order?.payment_id).toMatch(/^pi_/)
  })

  it.each([
    ['less money', { amount_total: 399 }],
    ['another currency', { currency: 'eur' }],
    ['nothing paid yet', { payment_status: 'unpaid' }],
    ['an order of ours that is not there', { client_reference_id: 'T9X0' }],
    ['no order', { client_reference_id: null }],
  ])('is accepted with %s, but credits nothing', async (_what, over) => {
    const before = await balance()
    const event = checkoutEvent(await ordered(), over)
    expect(await send(event, signed(event))).toBe(200)
    expect(await balance()).toBe(before)
  })

  it.each([
    ['an amount that is no whole number', { amount_total: 400.5 }],
    ['an amount below nothing', { amount_total: -400 }],
    ['an amount in words', { amount_total: '400' }],
    ['a currency that is none', { currency: 7 }],
    ['an order that is no text', { client_reference_id: { $gt: '' } }],
  ])('is refused with %s, even if well signed', async (_what, over) => {
    const before = await balance()
    const event = checkoutEvent(await ordered(), over)
    expect(await send(event, signed(event))).toBe(400)
    expect(await balance()).toBe(before)
  })

  it.each(['', ',"data":null', ',"data":{}', ',"data":{"object":[]}', ',"data":{"object":7}'])(
    'is refused without a checkout: %j',
    async (rest) => {
      const event = `{"id":"evt_1","type":"checkout.session.completed"${rest}}`
      expect(await send(event, signed(event))).toBe(400)
    },
  )

  it('is refused with a wrong, old or missing signature or a changed body', async () => {
    const before = await balance()
    const event = checkoutEvent(await ordered())
    const old = Math.floor(fixture.core.now() / 1_000) - 301
    expect(await send(event, signed(event, 'whsec_other'))).toBe(400)
    expect(await send(event, signed(event, KEYS.stripeWebhookSecret, old))).toBe(400)
    expect(await send(event, '')).toBe(400)
    expect(await send(event.replace('400', '4000'), signed(event))).toBe(400)
    expect(await send(` ${event}`, signed(event))).toBe(400)
    expect(await send('{', signed('{'))).toBe(400)
    expect(await balance()).toBe(before)
    await fixture.set('StripeWebhookSecret', '')
    expect(await send(event, signed(event, 'x'))).toBe(503)
    await fixture.set('StripeWebhookSecret', KEYS.stripeWebhookSecret)
  })

  it('credits no gateway order, and a gateway notice credits no Stripe order', async () => {
    const before = await balance()
    const ofGateway = await fixture.order(fixture.user, { amount: 1 })
    const form = await ordered()
    const over = { client_reference_id: ofGateway, amount_total: 730, currency: 'cny' }
    const event = checkoutEvent(form, over)
    expect(await send(event, signed(event))).toBe(200)
    const tradeNo = form.get('client_reference_id') ?? ''
    const notice = fixture.gateway.noticeOf(tradeNo, { money: '4.00' })
    expect(await fixture.notify(notice)).toEqual(FAIL)
    expect(await balance()).toBe(before)
  })
})
