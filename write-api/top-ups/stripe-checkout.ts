import type Stripe from 'stripe'
import type { TopUpOrdered } from '#domain/top-ups/events.ts'
import { centsOf } from '#domain/top-ups/money.ts'
import type { Deps } from '../action.ts'
import { providerFetch } from '../oauth/provider-client.ts'
import { topUpError } from './top-up-errors.ts'

const TIMEOUT_MS = 10_000

/**
 * Loads Stripe's library when it is first needed. Loading the library would delay every start of a
 * process, although most sites never use Stripe.
 */
export const loadStripe = async (): Promise<typeof Stripe> => (await import('stripe')).default

type CheckoutRequest = {
  readonly apiKey: string
  readonly order: TopUpOrdered['data']
  readonly returnUrl: string
  readonly name: string
}

/**
 * Opens a checkout page for an order and returns its URL. A repeated call returns the same URL. If
 * Stripe fails, an error is thrown and the order stays unpaid.
 */
export async function createStripeCheckout(deps: Deps, request: CheckoutRequest): Promise<string> {
  const { order, returnUrl, name } = request
  const { tradeNo, money, currency } = order
  const price = {
    currency: currency.toLowerCase(),
    unit_amount: Number(centsOf(money) ?? 0n),
    product_data: { name },
  }
  try {
    const client = await clientOf(deps, request.apiKey)
    const { url } = await client.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: tradeNo,
        // Stripe copies the trade number to the charge. When the charge is refunded, the trade
        // number identifies the order.
        payment_intent_data: { metadata: { trade_no: tradeNo } },
        line_items: [{ quantity: 1, price_data: price }],
        success_url: returnUrl,
        cancel_url: returnUrl,
      },
      { idempotencyKey: tradeNo },
    )
    if (url === null) throw new Error('the checkout has no URL')
    return url
  } catch (error) {
    const { message } = error as Error
    deps.core.log.warn(
      { orderId: order.orderId, reason: message },
      'opening a Stripe checkout failed',
    )
    throw topUpError('PaymentProviderFailed')
  }
}

/**
 * Returns the trade number that the checkout has stored with a payment. Returns null if there is no
 * such number, if Stripe does not know the payment, or if the site's key may not read it. Throws if
 * Stripe cannot be reached, or responds with 429 or a server error.
 */
export async function tradeNoOfPayment(
  deps: Deps,
  apiKey: string,
  paymentId: string,
): Promise<string | null> {
  const { errors } = await loadStripe()
  try {
    const client = await clientOf(deps, apiKey)
    const { metadata } = await client.paymentIntents.retrieve(paymentId)
    return metadata.trade_no ?? null
  } catch (error) {
    const status = error instanceof errors.StripeError ? (error.statusCode ?? 500) : 500
    if (status >= 500 || status === 429) throw error
    return null
  }
}

/**
 * Creates a Stripe client whose requests use the site's outbound connections, so that the
 * operator's outbound policy applies.
 */
async function clientOf({ core, outbound }: Deps, apiKey: string): Promise<Stripe> {
  const Client = await loadStripe()
  const base = core.config.stripeApiBase
  const fetchViaOutbound = providerFetch(outbound)
  const httpClient = Client.createFetchHttpClient(((url: string, init: Init) =>
    fetchViaOutbound(url, {
      ...init,
      headers: Object.fromEntries(init.headers),
    })) as unknown as typeof fetch)
  return new Client(apiKey, {
    httpClient,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(base === null ? {} : addressOf(new URL(base))),
  })
}

type Init = {
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: unknown
}

const addressOf = ({ protocol, hostname, port }: URL) => ({
  protocol: protocol === 'http:' ? ('http' as const) : ('https' as const),
  host: hostname,
  port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
})
