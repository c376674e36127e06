import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type PaymentGateway, startPaymentGateway } from '#infra/demo/simulated-payment-gateway.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const KEYS = { merchant: '7', key: 'key', stripeKey: 'sk_x', stripeWebhookSecret: 'whsec_x' }
const ROLES = 'write-api,read-api,projections'

let site: Site
let gateway: PaymentGateway
let processes: [ProductProcess, ProductProcess]
let root: ConsoleClient

beforeAll(async () => {
  ;[site, gateway] = await Promise.all([startSite(), startPaymentGateway(KEYS)])
  processes = await Promise.all([site.start(ROLES), site.start(ROLES)])
  root = await setUpSite(processes[0].url)
  for (const [key, value] of [
    ['ServerAddress', processes[0].url],
    ['PayAddress', gateway.url],
    ['EpayId', KEYS.merchant],
    ['EpayKey', KEYS.key],
  ]) {
    await root.must('PUT', '/api/option/', { key, value })
  }
})
afterAll(async () => {
  await site?.close()
  await gateway?.close()
})

/** Orders one dollar and submits the form to the gateway. */
async function order(): Promise<string> {
  const sent = { amount: 1, payment_method: 'zfb' }
  const form = await root.must<Record<string, string>>('POST', '/api/user/pay', sent)
  await fetch(`${gateway.url}/submit.php`, { method: 'POST', body: new URLSearchParams(form) })
  return form.out_trade_no ?? ''
}

const notify = async ({ url }: ProductProcess, tradeNo: string): Promise<string> => {
  const said = await fetch(`${url}/api/user/epay/notify?${gateway.noticeOf(tradeNo)}`)
  return said.text()
}

const standing = async (client: ConsoleClient): Promise<number> =>
  (await client.must<{ quota: number }>('GET', '/api/user/self')).quota

it('a payment notice sent 20 times to two processes, one being killed, credits once', async () => {
  const before = await standing(root)
  const tradeNos = await Promise.all([1, 2, 3].map(order))
  const [one, two] = processes
  const storm = tradeNos.flatMap((tradeNo) =>
    Array.from({ length: 20 }, (_, n) =>
      notify(n % 2 === 0 ? one : two, tradeNo).catch(() => 'cut off'),
    ),
  )
  // The process is killed after the first response, while other requests are between their decision
  // and their response.
  await Promise.race(storm)
  await two.kill()
  const answers = await Promise.all(storm)
  expect(answers, 'the kill interrupted nothing').toContain('cut off')
  expect(new Set(answers).isSubsetOf(new Set(['success', 'cut off']))).toBe(true)
  await two.start()
  for (const tradeNo of tradeNos) {
    const again = await Promise.all([one, two, one, two].map((each) => notify(each, tradeNo)))
    expect(again).toEqual(['success', 'success', 'success', 'success'])
  }
  const other = new ConsoleClient(two.url)
  await other.logIn('root', PASSWORD)
  for (const client of [root, other]) {
    await expect.poll(() => standing(client)).toBe(before + 3 * 500_000)
  }
  // Nobody waits for the read model after a gateway's notification, so the list is polled.
  const statuses = async () => {
    const { items } = await root.must<{ items: Order[] }>('GET', '/api/user/topup')
    return items.map(({ status }) => status)
  }
  await expect.poll(statuses).toEqual(['paid', 'paid', 'paid'])
})
