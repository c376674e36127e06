import { randomBytes } from 'node:crypto'
import { optionValue } from '#domain/options/registry.ts'
import { toWire } from '#domain/shared/quota.ts'
import { topUpDecider } from '#domain/top-up/decide.ts'
import { type TopUpOrdered, topUpStream } from '#domain/top-up/events.ts'
import { moneyText } from '#domain/top-up/money.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { Amount, AskAmount, Pay, PaymentPage } from '../contract/top-ups.ts'
import { epayForm } from './epay.ts'
import { ownAddress, type PaymentMethods, paymentMethods } from './payment-methods.ts'
import { type Quote, quoteFor } from './quote.ts'
import { openStripePage } from './stripe.ts'

const FORM = /^T([1-9]\d{0,14})X[0-9A-F]{24}$/

/** What a provider calls the order by: its id, and what nobody can guess. */
const newTradeNo = (orderId: number): string =>
  `T${orderId}X${randomBytes(12).toString('hex').toUpperCase()}`

/** null for what is no trade number of ours. */
export function orderIdOf(tradeNo: string): number | null {
  const [, id] = FORM.exec(tradeNo) ?? []
  return id === undefined ? null : Number(id)
}

/** POST /api/user/pay: orders a top-up, and answers where and how to pay for it. */
export const pay: Action = (api, deps) => {
  api.post(
    '/api/user/pay',
    {
      onRequest: onlyUser,
      schema: { summary: 'Order a top-up', body: Pay, response: { 200: PaymentPage } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const ways = await paymentMethods(deps.core)
      const quote = await quoteFor(deps, ways, userId, request.body)
      const own = ownAddress(ways.values)
      await takeTurn(deps, userId)
      const { id, outcome } = await deps.nextIds('order', (orderId) => {
        const order = orderOf(orderId, userId, request.body, quote, ways)
        const command = { type: 'PlaceTopUp', ...order } as const
        const context = contextOf(deps, request)
        return deps.core.actors.handle(topUpDecider, topUpStream(orderId), command, context)
      })
      const { events, position } = accepted(outcome)
      const order = events[0]?.data as TopUpOrdered['data']
      const page = await paymentPage(deps, ways, order, own)
      deps.core.log.debug({ orderId: id, provider: quote.provider }, 'a top-up was ordered')
      await waitUntilVisible(deps, reply, ['orders'], position)
      return { success: true, message: 'success', ...page }
    },
  )
}

const ORDERS_PER_MINUTE_MAX = 10

/** Each order is a stream for ever, paid or not. */
async function takeTurn({ core }: Deps, userId: number): Promise<void> {
  const key = `top-up:${userId}`
  const outcome = await core.limits.enter(`user:${userId}`, [
    { kind: 'rate', key, max: ORDERS_PER_MINUTE_MAX, periodMs: 60_000, isRefundable: false },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  outcome.release({ isRefunded: false })
}

const orderOf = (
  orderId: number,
  userId: number,
  { amount, payment_method: method }: Pay,
  { provider, quota, cents, currency, code }: Quote,
  ways: PaymentMethods,
): TopUpOrdered['data'] => ({
  orderId,
  userId,
  tradeNo: newTradeNo(orderId),
  provider,
  method,
  merchant: provider === 'epay' ? (ways.epay?.merchant ?? '') : '',
  amount,
  quota: toWire(quota),
  money: moneyText(cents),
  currency,
  code,
})

type Page = { readonly data: Record<string, string>; readonly url: string }

async function paymentPage(
  deps: Deps,
  { values, epay, stripe }: PaymentMethods,
  order: TopUpOrdered['data'],
  own: string,
): Promise<Page> {
  const { method, tradeNo, money, amount } = order
  const returnUrl = `${own}/app/wallet`
  if (method === 'stripe') {
    const apiKey = stripe?.apiKey ?? ''
    const site = optionValue(values, 'SystemName') || 'Tallygate'
    const name = `${site}: $${amount}`
    return { data: {}, url: await openStripePage(deps, { apiKey, order, returnUrl, name }) }
  }
  if (epay === null) throw new Error('an order by a gateway that is off')
  const notifyUrl = `${own}/api/user/epay/notify`
  // Plain letters: gateways differ in the encoding that they sign other ones in.
  const name = `TopUp-${amount}`
  const data = epayForm(epay, { method, tradeNo, money, name, notifyUrl, returnUrl })
  return { data, url: `${epay.address}/submit.php` }
}

/** POST /api/user/amount: what so much quota costs, before it is ordered. */
export const getAmount: Action = (api, deps) => {
  api.post(
    '/api/user/amount',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'What a top-up would cost',
        body: AskAmount,
        response: { 200: Amount },
      },
    },
    async (request) => {
      const ways = await paymentMethods(deps.core)
      const { userId } = principalOf(request)
      const { cents, currency } = await quoteFor(deps, ways, userId, request.body)
      return { success: true, message: 'success', data: moneyText(cents), currency }
    },
  )
}
