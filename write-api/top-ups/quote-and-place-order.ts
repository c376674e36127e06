import { randomBytes } from 'node:crypto'
import { optionInteger, optionValue } from '#domain/options/option-registry.ts'
import { readRatios } from '#domain/pricing/read-ratios.ts'
import { QUOTA_MAX, type Quota, toWire } from '#domain/shared/quota.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import { type TopUpOrdered, topUpStream } from '#domain/top-ups/events.ts'
import { moneyText, priceCents, quotaOfDollars } from '#domain/top-ups/money.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull } from '#infra/limits/port.ts'
import type { AmountRequest } from '#write-api/contract/top-ups.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { orderActions, type Pay } from '../contract/top-ups.ts'
import {
  type PaymentMethods,
  type PaymentTerms,
  paymentMethods,
  publicAddress,
  termsOf,
} from './configured-payment-methods.ts'
import { epayForm } from './epay.ts'
import { createStripeCheckout } from './stripe-checkout.ts'
import { topUpError } from './top-up-errors.ts'

const TRADE_NO_PATTERN = /^T([1-9]\d{0,14})X[0-9A-F]{24}$/

/**
 * Returns a new trade number. The payment provider identifies the order by this number. The trade
 * number contains the order's id and a random part.
 */
const newTradeNo = (orderId: number): string =>
  `T${orderId}X${randomBytes(12).toString('hex').toUpperCase()}`

/**
 * Returns the order id in a trade number. Returns null if the text does not have the form of a
 * trade number of this site.
 */
export function orderIdOf(tradeNo: string): number | null {
  const [, id] = TRADE_NO_PATTERN.exec(tradeNo) ?? []
  return id === undefined ? null : Number(id)
}

/** POST /api/user/pay: places an order and returns the page on which the user pays. */
export const placeOrder: Action = (api, deps) => {
  api.route({
    ...endpoint(orderActions, 'POST /api/user/pay'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const methods = await paymentMethods(deps.core)
      const quote = await quoteFor(deps, methods, userId, request.body)
      const siteAddress = publicAddress(methods.values)
      await limitOrders(deps, userId)
      const { id, outcome } = await deps.nextIds('order', (orderId) => {
        const order = orderOf(orderId, userId, request.body, quote, methods)
        const command = { type: 'PlaceTopUp', ...order } as const
        const context = contextOf(deps, request)
        return deps.core.actors.handle(topUpDecider, topUpStream(orderId), command, context)
      })
      const { events, position } = accepted(outcome)
      const order = events[0]?.data as TopUpOrdered['data']
      const page = await paymentPage(deps, methods, order, siteAddress)
      deps.core.log.debug({ orderId: id, provider: quote.provider }, 'a top-up was ordered')
      await waitUntilVisible(deps, reply, ['orders'], position)
      return { success: true, message: 'success', ...page }
    },
  })
}

const ORDERS_PER_MINUTE_MAX = 10

/**
 * Limits orders per user and minute, because every order is stored permanently, even if it is never
 * paid.
 */
async function limitOrders({ core }: Deps, userId: number): Promise<void> {
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
  methods: PaymentMethods,
): TopUpOrdered['data'] => ({
  orderId,
  userId,
  tradeNo: newTradeNo(orderId),
  provider,
  method,
  merchant: provider === 'epay' ? (methods.epay?.merchant ?? '') : '',
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
  siteAddress: string,
): Promise<Page> {
  const { method, tradeNo, money, amount } = order
  const returnUrl = `${siteAddress}/app/wallet`
  if (method === 'stripe') {
    const apiKey = stripe?.apiKey ?? ''
    const site = optionValue(values, 'SystemName') || 'Tallygate'
    const name = `${site}: $${amount}`
    return { data: {}, url: await createStripeCheckout(deps, { apiKey, order, returnUrl, name }) }
  }
  if (epay === null) throw new Error('an order for a gateway that is not configured')
  const notifyUrl = `${siteAddress}/api/user/epay/notify`
  // The name contains only ASCII characters, because payment gateways do not agree on the signature
  // of other characters.
  const name = `TopUp-${amount}`
  const data = epayForm(epay, { method, tradeNo, money, name, notifyUrl, returnUrl })
  return { data, url: `${epay.address}/submit.php` }
}

/** POST /api/user/amount: returns the price of a top-up before it is ordered. */
export const quoteTopUp: Action = (api, deps) => {
  api.route({
    ...endpoint(orderActions, 'POST /api/user/amount'),
    onRequest: onlyUser,
    handler: async (request) => {
      const methods = await paymentMethods(deps.core)
      const { userId } = principalOf(request)
      const { cents, currency } = await quoteFor(deps, methods, userId, request.body)
      return { success: true, message: 'success', data: moneyText(cents), currency }
    },
  })
}

/**
 * A requested top-up with the price according to the current options. `cents` is the price in
 * hundredths of the currency.
 */
type Quote = PaymentTerms & {
  readonly cents: bigint
  readonly quota: Quota
  readonly code: TopUpOrdered['data']['code']
}

/**
 * The maximum price of an order through Stripe, in hundredths of the currency. For Epay, the
 * maximum is `CENTS_MAX`, but the operator's Epay gateway may have a lower maximum.
 */
const STRIPE_CENTS_MAX = 99_999_999n
const CENTS_MAX = 99_999_999_999n

/** Computes the price of a top-up. Throws if the top-up is not allowed. */
async function quoteFor(
  deps: Deps,
  methods: PaymentMethods,
  userId: number,
  { amount, top_up_code = '', payment_method = 'zfb' }: AmountRequest,
): Promise<Quote> {
  const { values } = methods
  const terms = termsOf(methods, payment_method)
  const minimum = optionInteger(values, 'MinTopUp')
  if (amount < minimum) throw topUpError('TopUpTooSmall', { least: minimum })
  const code = await codeOf(deps, values, userId, top_up_code.trim())
  const cents = priceCents(amount, terms.price, code?.ratio ?? '1')
  const quota = quotaOfDollars(amount, optionValue(values, 'QuotaPerUnit'))
  const most = terms.provider === 'stripe' ? STRIPE_CENTS_MAX : CENTS_MAX
  if (cents > most || quota > QUOTA_MAX) throw topUpError('TopUpTooLarge')
  if (cents < 1n || quota < 1n) throw topUpError('TopUpTooSmall', { least: amount + 1 })
  return { ...terms, cents, quota, code }
}

const WRONG_CODES_PER_MINUTE_MAX = 10

/**
 * Returns the top-up code with its discount, or null for an empty name. Throws if the code is
 * unknown. Wrong codes are limited, so that codes cannot be guessed.
 */
async function codeOf(
  { core }: Deps,
  values: ReadonlyMap<string, string>,
  userId: number,
  name: string,
): Promise<Quote['code']> {
  if (name === '') return null
  const outcome = await core.limits.enter(`user:${userId}`, [
    {
      kind: 'rate',
      key: `top-up-code:${userId}`,
      max: WRONG_CODES_PER_MINUTE_MAX,
      periodMs: 60_000,
      isRefundable: true,
    },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  const ratio = readRatios(optionValue(values, 'TopUpCodes')).get(name)
  outcome.release({ isRefunded: ratio !== undefined })
  if (ratio === undefined) throw topUpError('TopUpCodeUnknown')
  return { name, ratio }
}
