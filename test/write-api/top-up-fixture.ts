import { type PaymentGateway, startPaymentGateway } from '#infra/demo/simulated-payment-gateway.ts'
import { codeOfId } from '#infra/vault/id-code.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import type { User } from '#read-api/contract/users.ts'
import { type Caller, type LoggedIn, PASSWORD, writeFixture } from './write-fixture.ts'

export const KEYS = {
  merchant: '1001',
  key: 'epay-key',
  stripeKey: 'sk_test_scripted',
  stripeWebhookSecret: 'whsec_scripted',
}

export const OWN_ADDRESS = 'https://wallet.example'

export type PayAnswer = Awaited<ReturnType<Caller>> & { data: Record<string, string>; url: string }

/** A site that takes payments by the scripted gateway; `invited` was invited by `user`. */
export async function topUpFixture() {
  const gateway: PaymentGateway = await startPaymentGateway(KEYS)
  const fixture = await writeFixture({ stripeApiBase: gateway.url })
  await fixture.setUp()
  const root = await fixture.logIn('root')
  const set = (key: string, value: string) =>
    root.call('PUT', '/api/option/', { body: { key, value } })
  for (const username of ['admin1', 'user1']) {
    await root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
  }
  await root.call('POST', '/api/user/manage', { body: { id: 2, action: 'promote' } })
  const [admin, user] = [await fixture.logIn('admin1'), await fixture.logIn('user1')]
  await set('AffEnabled', 'true')
  const aff_code = codeOfId(fixture.core.vault, user.id)
  const form = { username: 'invited', password: PASSWORD, password2: PASSWORD, aff_code }
  await fixture.anybody('POST', '/api/user/register', { body: form })
  const invited = await fixture.logIn('invited')
  await set('ServerAddress', `${OWN_ADDRESS}/`)
  const fresh = async () => ({ 'x-after-position': String(await fixture.head()) })
  const stands = async ({ call }: LoggedIn): Promise<User> =>
    (await call<User>('GET', '/api/user/self', { headers: await fresh() })).data
  return {
    ...fixture,
    gateway,
    root,
    admin,
    user,
    invited,
    set,
    stands,
    switchOn: async () => {
      await set('PayAddress', gateway.url)
      await set('EpayId', KEYS.merchant)
      await set('EpayKey', KEYS.key)
      await set('StripeApiKey', KEYS.stripeKey)
      await set('StripeWebhookSecret', KEYS.stripeWebhookSecret)
    },
    orders: async ({ call }: LoggedIn, query = ''): Promise<Order[]> => {
      const path = `/api/user/topup${query}`
      const { data } = await call<{ items: Order[] }>('GET', path, { headers: await fresh() })
      return data.items
    },
    /** Creates an order, and submits the form to the gateway as a browser would. */
    order: async ({ call }: LoggedIn, body: object): Promise<string> => {
      fixture.clock.ahead += 10_000
      const sent = { payment_method: 'zfb', ...body }
      const answer = (await call('POST', '/api/user/pay', { body: sent })) as unknown as PayAnswer
      if (!answer.success) throw new Error(answer.message)
      if (Object.keys(answer.data).length === 0) return answer.url.split('trade_no=')[1] ?? ''
      const form = new URLSearchParams(answer.data)
      const page = await fetch(answer.url, { method: 'POST', body: form })
      if (page.status !== 200) throw new Error(`the gateway answered ${page.status}`)
      return answer.data.out_trade_no ?? ''
    },
    /** Returns the response to a gateway's notification as plain text. */
    notify: async (params: URLSearchParams, method: 'GET' | 'POST' = 'GET') => {
      const url = '/api/user/epay/notify'
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer =
        method === 'GET'
          ? await fixture.app.inject({ url: `${url}?${params}` })
          : await fixture.app.inject({ method, url, headers: type, payload: String(params) })
      return { status: answer.statusCode, text: answer.payload }
    },
    close: async () => {
      await fixture.close()
      await gateway.close()
    },
  }
}

export type TopUpFixture = Awaited<ReturnType<typeof topUpFixture>>
