import type { FastifyRequest } from 'fastify'
import type Stripe from 'stripe'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { Done } from '#read-api/contract/response-envelope.ts'
import type { Action, Deps } from '../action.ts'
import { applyPayment } from './apply-payment.ts'
import { applyRefundOrDispute } from './apply-stripe-refund-or-dispute.ts'
import { paymentMethods } from './configured-payment-methods.ts'
import { readStripeReport } from './read-stripe-refund-or-dispute.ts'
import { loadStripe } from './stripe-checkout.ts'

const BODY_BYTES_MAX = 65_536
const TOLERANCE_SECONDS = 300
/**
 * The types of events that report a paid checkout. There are two types, because some payment
 * methods confirm the payment only after the checkout.
 */
const PAID = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
] as const)

const text = Type.Union([Type.String({ maxLength: 255 }), Type.Null()])

/**
 * The expected shape of a checkout. Even a signed event is validated, because it may be a test
 * event, or an event of another version of Stripe's API.
 */
const Checkout = Type.Object({
  id: Type.String({ maxLength: 255 }),
  client_reference_id: Type.Optional(text),
  payment_status: Type.String(),
  amount_total: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()]),
  ),
  currency: Type.Optional(text),
  payment_intent: Type.Optional(Type.Unknown()),
})
const checkouts = Compile(Checkout)

/**
 * POST /api/stripe/webhook: receives events about checkouts, refunds and disputes. The signature is
 * verified before the body is parsed. Status 200 means that the effect is committed, or that the
 * event has no effect.
 */
export const stripeWebhook: Action = (api, deps) => {
  void api.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX },
      async (_request: FastifyRequest, body: Buffer) => body,
    )
    scope.post(
      '/api/stripe/webhook',
      {
        schema: {
          summary: 'Receives Stripe’s reports of payments, refunds and disputes',
          response: { 200: Done },
        },
      },
      async (request) => {
        await applyEvent(deps, request)
        return done()
      },
    )
  })
}

async function applyEvent(deps: Deps, request: FastifyRequest): Promise<void> {
  const { core } = deps
  const { values, stripe } = await paymentMethods(core)
  if (stripe === null) throw httpError('Unavailable')
  const event = await signedEvent(request, stripe.webhookSecret, core.now())
  if (event === null) throw httpError('InvalidRequest')
  const report = readStripeReport(event)
  if (report !== null) return applyRefundOrDispute(deps, stripe.apiKey, report, request.id)
  if (!PAID.has(event.type as never)) return
  const checkout: unknown = event.data?.object
  if (!checkouts.Check(checkout)) throw httpError('InvalidRequest')
  const { client_reference_id: tradeNo, payment_status, amount_total, currency } = checkout
  if (payment_status !== 'paid' || !tradeNo) return
  const payment = {
    provider: 'stripe',
    // No merchant id is needed, because the webhook's secret identifies the merchant.
    merchant: '',
    currency: (currency ?? '').toUpperCase(),
    tradeNo,
    paymentId: paymentIdOf(checkout),
    cents: BigInt(amount_total ?? 0),
  } as const
  await applyPayment(core, values, payment, request.id)
}

/**
 * Returns Stripe's id of the payment intent, or the id of the checkout if there is no payment
 * intent.
 */
const paymentIdOf = ({ id, payment_intent }: Type.Static<typeof Checkout>): string =>
  typeof payment_intent === 'string' ? payment_intent : id

/**
 * Returns the Stripe event in a request. Returns null if the signature is invalid or older than
 * five minutes.
 */
async function signedEvent(
  { body, headers }: FastifyRequest,
  secret: string,
  now: number,
): Promise<Stripe.Event | null> {
  const signature = headers['stripe-signature']
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') return null
  const bounds = [TOLERANCE_SECONDS, undefined, now] as const
  const { webhooks } = await loadStripe()
  return webhooks.constructEventAsync(body, signature, secret, ...bounds).catch(() => null)
}
