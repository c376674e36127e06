import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/console-client.ts'
import { type PaymentGateway, startPaymentGateway } from '#infra/demo/payment-gateway.ts'
import { launchBrowser } from '#test/support/browser.ts'
import { PASSWORD, setOption, type TestProduct, testProduct } from '#test/support/product.ts'
import { eventually, type OpenPage, openRealPage } from './open-real-page.ts'

const KEYS = { merchant: '7', key: 'key', stripeKey: 'sk_x', stripeWebhookSecret: 'whsec_x' }

let browser: Browser
let gateway: PaymentGateway
let product: TestProduct
let buyer: ConsoleClient
let open: OpenPage
let page: Page

beforeAll(async () => {
  const roles = new Set(['write-api', 'read-api', 'projections', 'console'] as const)
  gateway = await startPaymentGateway(KEYS)
  const engines = { stripeApiBase: gateway.url }
  ;[browser, product] = await Promise.all([launchBrowser(), testProduct({ roles, engines })])
  const { root, url } = product
  await root.must('POST', '/api/user/', { username: 'buyer', password: PASSWORD })
  buyer = new ConsoleClient(url)
  await buyer.logIn('buyer', PASSWORD)
  open = await openRealPage(browser, url)
  page = open.page
  await page.goto(`${url}/login?returnTo=/app/wallet`)
  await page.getByLabel('Username or email').fill('buyer')
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).last().click()
  await page.getByRole('heading', { level: 1, name: 'Wallet' }).waitFor()
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await product?.close()
  await gateway?.close()
})

const standing = async () => (await buyer.must<{ quota: number }>('GET', '/api/user/self')).quota
const button = (name: string) => page.getByRole('button', { name, exact: true })

it('says that nothing can be paid until the administrator has enabled it', async () => {
  await page.getByText('The administrator has not enabled online top-up!').waitFor()
  expect(await button('Pay').count()).toBe(0)
  for (const [key, value] of Object.entries({
    ServerAddress: product.url,
    PayAddress: gateway.url,
    EpayId: KEYS.merchant,
    EpayKey: KEYS.key,
    StripeApiKey: KEYS.stripeKey,
    StripeWebhookSecret: KEYS.stripeWebhookSecret,
    TopUpCodes: '{"SPRING": 0.9}',
    MinTopUp: '5',
  })) {
    await setOption(product.root, key, value)
  }
})

it('tops up by a gateway: amount, price, confirmation, its page, and the balance', async () => {
  await page.reload()
  const amount = page.getByLabel('Amount (dollars)')
  await amount.fill('3')
  await page.getByText('The amount can not be below 5').waitFor()
  await amount.fill('')
  await amount.pressSequentially('6')
  expect(await amount.inputValue()).toBe('6')
  await amount.fill('')
  await amount.blur()
  expect(await amount.inputValue()).toBe('1')
  for (const wrong of ['7.5', '-7', '1e3']) {
    await amount.fill(wrong)
    await page.getByText('The amount is a whole number of dollars').waitFor()
  }
  expect(await button('Pay').isDisabled()).toBe(true)
  await button('$10').click()
  await page.getByText('CN¥73.00').waitFor()
  const code = page.getByLabel('Top-up code')
  await code.fill('SUMMER')
  await code.blur()
  await page.getByText('Error: No such top-up code').waitFor()
  await code.fill('SPRING')
  await code.blur()
  await page.getByText('CN¥65.70').waitFor()
  await button('Pay').click()
  const dialog = page.getByRole('dialog', { name: 'Confirm the top-up' })
  await dialog.getByText('CN¥65.70').waitFor()
  await dialog.getByText('Alipay').waitFor()
  await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
  await page.waitForURL(`${gateway.url}/submit.php`)
  await page.getByRole('button', { name: /^Pay T1X/ }).click()
  await page.waitForURL(`${product.url}/app/wallet`)
  await page.getByText('Order #1 · $10 · SPRING').waitFor()
  await page.getByText('Order #1 is paid: $10.00 added to your balance').waitFor()
  await page.getByText('Payment received: $10.00').waitFor()
  await page.getByText('Paid', { exact: true }).waitFor()
  expect(await standing()).toBe(5_000_000)
})

it('tops up by Stripe, in Chinese; a cancelled dialog orders nothing', async () => {
  await page.evaluate(() => localStorage.setItem('i18nextLng', 'zh'))
  await page.reload()
  await page.getByRole('heading', { name: '在线充值' }).waitFor()
  await page.getByLabel('Stripe').check()
  await page.getByText('US$5.00').first().waitFor()
  await button('去支付').click()
  const dialog = page.getByRole('dialog', { name: '确认充值' })
  await dialog.getByRole('button', { name: '取消' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await button('去支付').click()
  await dialog.getByRole('button', { name: '去支付', exact: true }).click()
  await page.waitForURL(`${gateway.url}/checkout?**`)
  // Back without paying: nothing came yet.
  await page.goto(`${product.url}/app/wallet`)
  const note = page.getByText('订单 #2 的付款尚未确认')
  await note.waitFor()
  const ways = page.getByRole('heading', { name: '在线充值' })
  expect((await note.boundingBox())?.y).toBeLessThan((await ways.boundingBox())?.y ?? 0)
  await page.goBack()
  await page.getByRole('button', { name: /^Pay T2X/ }).click()
  await page.waitForURL(`${product.url}/app/wallet`)
  await page.getByText('订单 #2 · $5').waitFor()
  await page.getByText('订单 #2 支付成功，已到账 $5.00').waitFor()
  await eventually(() => page.getByText('已支付', { exact: true }).count()).toBe(2)
  expect(await standing()).toBe(7_500_000)
})

it('an admin finds the order and refunds it, by a reason; its user sees it at once', async () => {
  const admin = await openRealPage(browser, product.url)
  await admin.page.goto(`${product.url}/login?returnTo=/admin/orders?keyword=buyer`)
  await admin.page.getByLabel('Username or email').fill('root')
  await admin.page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
  await admin.page.getByRole('button', { name: 'Sign in' }).last().click()
  const row = admin.page.getByRole('row').filter({ hasText: '#1' })
  await row.getByRole('button', { name: 'Refund' }).click()
  const dialog = admin.page.getByRole('dialog', { name: 'Refund order #1' })
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByText('Say why it is refunded!').waitFor()
  await dialog.getByLabel('Reason').fill('重复支付')
  const sum = dialog.getByLabel('Money')
  for (const [wrong, fault] of [
    ['999', 'Only CN¥65.70 can be refunded'],
    ['0.00', 'A sum above zero, with two decimals at most'],
    ['1.001', 'A sum above zero, with two decimals at most'],
  ] as const) {
    await sum.fill(wrong)
    await dialog.getByText(fault).waitFor()
    expect(await dialog.getByRole('button', { name: 'Refund' }).isDisabled()).toBe(true)
  }
  await sum.fill('10')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await row.getByText('Partly refunded').waitFor()
  await page.getByText('部分退款', { exact: true }).waitFor()
  await admin.page.getByLabel('Status', { exact: true }).selectOption('refunded')
  await row.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByLabel('Reason').fill('重复支付')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await row.getByText('Refunded', { exact: true }).waitFor()
  await page.getByText('已退款', { exact: true }).waitFor()
  expect(await row.getByRole('button', { name: 'Refund' }).count()).toBe(0)
  await page.getByText('已退款 ¥10.00：重复支付').waitFor()
  await page.getByText('已退款 ¥55.70：重复支付').waitFor()
  expect(await standing()).toBe(2_500_000)
  const faults = [...open.faults, ...admin.faults]
  expect(faults.filter((fault) => !fault.includes('favicon'))).toEqual([])
})
