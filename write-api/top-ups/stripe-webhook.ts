import type { FastifyRequest } from 'fastify'
import Stripe from 'stripe'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { Done, done } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import type { Action, Deps } from '../action.ts'
import { paymentMethods } from './payment-methods.ts'
import { stripeReport } from './stripe-reports.ts'
import { takePayment } from './take-payment.ts'
import { takeReport } from './take-report.ts'

const BODY_BYTES_MAX = 65_536
const TOLERANCE_SECONDS = 300
/** A bank's answer may come later than the page's end. */
const PAID = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
] as const)

const text = Type.Union([Type.String({ maxLength: 255 }), Type.Null()])

/** What is read of a checkout: what is signed may still be of another version, or a test. */
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
 * POST /api/stripe/webhook: Stripe says what became of a checkout, a refund or a dispute. Nothing
 * of the body is looked at before its signature is right; 200 comes once what follows from it is a
 * fact, or where nothing does.
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
          summary: 'Where Stripe reports payments, refunds and disputes',
          response: { 200: Done },
        },
      },
      async (request) => {
        await takeEvent(deps, request)
        return done()
      },
    )
  })
}

async function takeEvent(deps: Deps, request: FastifyRequest): Promise<void> {
  const { core } = deps
  const { values, stripe } = await paymentMethods(core)
  if (stripe === null) throw httpError('Unavailable')
  const event = await signedEvent(request, stripe.webhookSecret, core.now())
  if (event === null) throw httpError('InvalidRequest')
  const report = stripeReport(event)
  if (report !== null) return takeReport(deps, report, request.id)
  if (!PAID.has(event.type as never)) return
  const checkout: unknown = event.data?.object
  if (!checkouts.Check(checkout)) throw httpError('InvalidRequest')
  const { client_reference_id: tradeNo, payment_status, amount_total, currency } = checkout
  if (payment_status !== 'paid' || !tradeNo) return
  const said = {
    provider: 'stripe',
    // The webhook's secret is one merchant's own.
    merchant: '',
    currency: (currency ?? '').toUpperCase(),
    tradeNo,
    paymentId: paymentIdOf(checkout),
    cents: BigInt(amount_total ?? 0),
  } as const
  await takePayment(core, values, said, request.id)
}

/** By which the payment is found at Stripe. */
const paymentIdOf = ({ id, payment_intent }: Type.Static<typeof Checkout>): string =>
  typeof payment_intent === 'string' ? payment_intent : id

/** null unless Stripe signed it with our secret, within the last five minutes. */
async function signedEvent(
  { body, headers }: FastifyRequest,
  secret: string,
  now: number,
): Promise<Stripe.Event | null> {
  const signature = headers['stripe-signature']
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') return null
  const bounds = [TOLERANCE_SECONDS, undefined, now] as const
  return Stripe.webhooks.constructEventAsync(body, signature, secret, ...bounds).catch(() => null)
}
