import { ConsoleClient } from './management-api-client.ts'
import { PASSWORD } from './seed.ts'
import type { GatewayKeys, PaymentGateway } from './simulated-payment-gateway.ts'

export const DEMO_KEYS: GatewayKeys = {
  merchant: '1001',
  key: 'demo-epay-key',
  stripeKey: 'sk_test_demo',
  stripeWebhookSecret: 'whsec_demo',
}

/**
 * Configures payment through the simulated gateway, which moves no money. If no top-up orders exist
 * yet, also creates two orders of the user alice. The client must be logged in as `root`.
 */
export async function seedPayments(
  root: ConsoleClient,
  gateway: Pick<PaymentGateway, 'url'>,
): Promise<void> {
  const { server_address } = await root.must<{ server_address: string }>('GET', '/api/status')
  for (const [key, value] of Object.entries({
    ServerAddress: /^$|^http:\/\/127\.0\.0\.1:/.test(server_address) ? root.url : server_address,
    PayAddress: gateway.url,
    EpayId: DEMO_KEYS.merchant,
    EpayKey: DEMO_KEYS.key,
    StripeApiKey: DEMO_KEYS.stripeKey,
    StripeWebhookSecret: DEMO_KEYS.stripeWebhookSecret,
    TopUpCodes: '{"SPRING": 0.9}',
  })) {
    await root.must('PUT', '/api/option/', { key, value })
  }
  const { total } = await root.must<{ total: number }>('GET', '/api/user/topup')
  if (total > 0) return
  const alice = new ConsoleClient(root.url)
  await alice.logIn('alice', PASSWORD)
  for (const [amount, isPaid] of [
    [20, true],
    [50, false],
  ] as const) {
    const order = { amount, payment_method: 'zfb', top_up_code: 'SPRING' }
    const form = await alice.must<Record<string, string>>('POST', '/api/user/pay', order)
    await send(`${gateway.url}/submit.php`, form)
    if (isPaid) await send(`${gateway.url}/pay`, { trade_no: form.out_trade_no ?? '' })
  }
}

const send = (url: string, form: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
