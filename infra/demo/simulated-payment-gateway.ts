import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnFreePort } from './listen-on-free-port.ts'

export type GatewayKeys = {
  readonly merchant: string
  readonly key: string
  readonly stripeKey: string
  readonly stripeWebhookSecret: string
}

export type GatewayOrder = {
  readonly tradeNo: string
  readonly money: string
  readonly notifyUrl: string
  readonly returnUrl: string
}

export type PaymentGateway = {
  readonly url: string
  readonly orders: Map<string, GatewayOrder>
  readonly checkouts: Map<string, URLSearchParams>
  /**
   * Returns the query parameters of the notification that the order is paid. `over` replaces some
   * of these parameters.
   */
  readonly noticeOf: (tradeNo: string, over?: Record<string, string>) => URLSearchParams
  readonly close: () => Promise<void>
}

/**
 * Starts a simulated epay gateway and Stripe checkout, each with a page that has one button. The
 * button sends a signed notification. No money is moved.
 */
export async function startPaymentGateway(keys: GatewayKeys): Promise<PaymentGateway> {
  const orders = new Map<string, GatewayOrder>()
  const checkouts = new Map<string, URLSearchParams>()
  const noticeOf = (tradeNo: string, over: Record<string, string> = {}): URLSearchParams => {
    const fields = {
      pid: keys.merchant,
      trade_no: `2026${tradeNo}`,
      out_trade_no: tradeNo,
      type: 'alipay',
      name: 'TopUp',
      money: orders.get(tradeNo)?.money ?? '0.00',
      trade_status: 'TRADE_SUCCESS',
      ...over,
    }
    return new URLSearchParams({ ...fields, sign: signed(fields, keys.key), sign_type: 'MD5' })
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message))
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://gateway')
    const form = new URLSearchParams(await text(request))
    const tradeNo = form.get('trade_no') ?? ''
    const origin = `http://${request.headers.host}`
    switch (url.pathname) {
      case '/submit.php':
        return takeOrder(keys, orders, form, response)
      case '/pay': {
        const order = orders.get(tradeNo)
        if (order === undefined) return void response.writeHead(404).end()
        await fetch(`${order.notifyUrl}?${noticeOf(tradeNo)}`)
        return void response.writeHead(303, { location: order.returnUrl }).end()
      }
      case '/v1/checkout/sessions':
        return openCheckout(keys, checkouts, origin, { request, form, response })
      case '/checkout':
        return payPage(response, '/checkout/pay', url.searchParams.get('trade_no') ?? '')
      case '/checkout/pay':
        return await payCheckout(keys, checkouts, tradeNo, response)
      default:
        return showPayment(keys, checkouts, url.pathname, { request, form, response })
    }
  }
  return { ...(await listenOnFreePort(server)), orders, checkouts, noticeOf }
}

function takeOrder(
  { merchant, key }: GatewayKeys,
  orders: Map<string, GatewayOrder>,
  form: URLSearchParams,
  response: ServerResponse,
): void {
  const fieldOf = (name: string): string => form.get(name) ?? ''
  const isOurs =
    fieldOf('pid') === merchant && fieldOf('sign') === signed(Object.fromEntries(form), key)
  if (!isOurs) return void response.writeHead(400).end('wrong signature')
  const tradeNo = fieldOf('out_trade_no')
  const [notifyUrl, returnUrl] = [fieldOf('notify_url'), fieldOf('return_url')]
  orders.set(tradeNo, { tradeNo, money: fieldOf('money'), notifyUrl, returnUrl })
  payPage(response, '/pay', tradeNo)
}

function payPage(response: ServerResponse, action: string, tradeNo: string): void {
  const safe = tradeNo.replace(/\W/g, '')
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(
    `<!doctype html><title>Pay</title><form method="post" action="${action}">` +
      `<input type="hidden" name="trade_no" value="${safe}"><button>Pay ${safe}</button></form>`,
  )
}

type GatewayRequest = {
  readonly request: IncomingMessage
  readonly form: URLSearchParams
  readonly response: ServerResponse
}

function openCheckout(
  { stripeKey }: GatewayKeys,
  checkouts: Map<string, URLSearchParams>,
  origin: string,
  { request, form, response }: GatewayRequest,
): void {
  if (request.headers.authorization !== `Bearer ${stripeKey}`)
    return sendJson(response, 401, WRONG_KEY)
  const tradeNo = form.get('client_reference_id') ?? ''
  checkouts.set(tradeNo, form)
  const id = `cs_test_${randomUUID().replaceAll('-', '')}`
  const url = `${origin}/checkout?trade_no=${tradeNo}`
  sendJson(response, 200, { id, object: 'checkout.session', url })
}

const WRONG_KEY = { error: { type: 'invalid_request_error', message: 'Invalid API Key' } }
const PAYMENT = /^\/v1\/payment_intents\/pi_(\w+)$/

/**
 * Sends the payment intent of a checkout. The metadata of the payment intent contains the trade
 * number from the checkout request.
 */
function showPayment(
  { stripeKey }: GatewayKeys,
  checkouts: Map<string, URLSearchParams>,
  path: string,
  { request, response }: GatewayRequest,
): void {
  const [, tradeNo] = PAYMENT.exec(path) ?? []
  if (tradeNo === undefined) return void response.writeHead(404).end()
  if (request.headers.authorization !== `Bearer ${stripeKey}`)
    return sendJson(response, 401, WRONG_KEY)
  const form = checkouts.get(tradeNo)
  if (form === undefined) {
    const error = { type: 'invalid_request_error', code: 'resource_missing' }
    return sendJson(response, 404, { error })
  }
  const metadata = { trade_no: form.get('payment_intent_data[metadata][trade_no]') }
  sendJson(response, 200, { id: `pi_${tradeNo}`, object: 'payment_intent', metadata })
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Returns the Stripe event for a paid checkout. `over` replaces fields of the checkout session. */
export function checkoutEvent(form: URLSearchParams, over: object = {}): string {
  const tradeNo = form.get('client_reference_id')
  const price = (name: string) => form.get(`line_items[0][price_data][${name}]`) ?? ''
  const session = {
    id: `cs_test_${tradeNo}`,
    object: 'checkout.session',
    client_reference_id: tradeNo,
    payment_intent: `pi_${tradeNo}`,
    payment_status: 'paid',
    amount_total: Number(price('unit_amount')),
    currency: price('currency'),
    ...over,
  }
  const type = 'checkout.session.completed'
  return JSON.stringify({ id: `evt_${tradeNo}`, object: 'event', type, data: { object: session } })
}

async function payCheckout(
  { stripeWebhookSecret }: GatewayKeys,
  checkouts: Map<string, URLSearchParams>,
  tradeNo: string,
  response: ServerResponse,
): Promise<void> {
  const form = checkouts.get(tradeNo)
  if (form === undefined) return void response.writeHead(404).end()
  const returnUrl = form.get('success_url') ?? ''
  const body = checkoutEvent(form)
  const at = Math.floor(Date.now() / 1_000)
  const v1 = createHmac('sha256', stripeWebhookSecret).update(`${at}.${body}`).digest('hex')
  await fetch(new URL('/api/stripe/webhook', returnUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${v1}` },
    body,
  })
  response.writeHead(303, { location: returnUrl }).end()
}

/** Computes the epay signature over the sorted fields, to which the merchant's key is appended. */
function signed(fields: Record<string, string>, key: string): string {
  const names = Object.keys(fields).filter((name) => !['sign', 'sign_type'].includes(name))
  const pairs = names
    .sort()
    .filter((name) => fields[name] !== '')
    .map((name) => `${name}=${fields[name]}`)
  return createHash('md5')
    .update(pairs.join('&') + key)
    .digest('hex')
}
