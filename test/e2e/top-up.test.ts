import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startPaymentGateway } from '#infra/demo/simulated-payment-gateway.ts'
import { en, zh } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addUser, PASSWORD, setOption, testProduct } from '#test/support/test-product.ts'
import { eventually, openRealPage, realPage, submitLogin } from './open-product-page.ts'

const KEYS = { merchant: '7', key: 'key', stripeKey: 'sk_x', stripeWebhookSecret: 'whsec_x' }

const gateway = startedOnce(() => startPaymentGateway(KEYS))
const product = startedOnce(() => {
  const roles = new Set(['write-api', 'read-api', 'projections', 'console'] as const)
  return testProduct({ roles, engines: { stripeApiBase: gateway.url } })
})
const open = realPage(() => product.url)
let buyer: ConsoleClient

beforeAll(async () => {
  buyer = (await addUser(product.root, 'buyer')).client
  await open.page.goto(`${product.url}/login?returnTo=/app/wallet`)
  await submitLogin(open.page, 'buyer')
  await open.page.getByRole('heading', { level: 1, name: en('shell.wallet') }).waitFor()
})

const standing = async () => (await buyer.must<{ quota: number }>('GET', '/api/user/self')).quota
const button = (name: string) => open.page.getByRole('button', { name, exact: true })

it('the page says that nothing can be paid until the administrator has enabled it', async () => {
  await open.page.getByText(en('wallet.topUpOff')).waitFor()
  await expect.poll(() => button(en('wallet.pay')).count()).toBe(0)
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

it('a user tops up by a gateway: amount, price, confirmation, its page, and balance', async () => {
  await open.page.reload()
  const amount = open.page.getByLabel(en('wallet.amount'))
  await amount.fill('3')
  await open.page.getByText(en('wallet.amountTooSmall', { min: 5 })).waitFor()
  await amount.fill('')
  await amount.pressSequentially('6')
  await expect.poll(() => amount.inputValue()).toBe('6')
  await amount.fill('')
  await amount.blur()
  await expect.poll(() => amount.inputValue()).toBe('1')
  for (const wrong of ['7.5', '-7', '1e3']) {
    await amount.fill(wrong)
    await open.page.getByText(en('wallet.amountNotWhole')).waitFor()
  }
  await expect.poll(() => button(en('wallet.pay')).isDisabled()).toBe(true)
  await button('$10').click()
  await open.page.getByText('CN¥73.00').waitFor()
  const code = open.page.getByLabel(en('shared.topUpCode'))
  await code.fill('SUMMER')
  await code.blur()
  await open.page
    .getByText(en('request.other', { message: 'The top-up code is invalid' }))
    .waitFor()
  await code.fill('SPRING')
  await code.blur()
  await open.page.getByText('CN¥65.70').waitFor()
  await button(en('wallet.pay')).click()
  const dialog = open.page.getByRole('dialog', { name: en('wallet.confirmTitle') })
  await dialog.getByText('CN¥65.70').waitFor()
  await dialog.getByText(en('wallet.method_zfb')).waitFor()
  await dialog.getByRole('button', { name: en('wallet.pay'), exact: true }).click()
  await open.page.waitForURL(`${gateway.url}/submit.php`)
  await open.page.getByRole('button', { name: /^Pay T1X/ }).click()
  await open.page.waitForURL(`${product.url}/app/wallet`)
  await open.page.getByText(`${en('wallet.order', { id: 1 })} · $10 · SPRING`).waitFor()
  await open.page.getByText(en('wallet.orderPaid', { id: 1, amount: '$10.00' })).waitFor()
  await open.page.getByText(en('wallet.paymentReceived', { amount: '$10.00' })).waitFor()
  await open.page.getByText(en('wallet.status_paid'), { exact: true }).waitFor()
  expect(await standing()).toBe(5_000_000)
})

it('a user tops up by Stripe, in Chinese; a cancelled dialog creates no order', async () => {
  await open.page.evaluate(() => localStorage.setItem('i18nextLng', 'zh'))
  await open.page.reload()
  await open.page.getByRole('heading', { name: zh('wallet.topUp') }).waitFor()
  await open.page.getByLabel(zh('wallet.method_stripe')).check()
  await open.page.getByText('US$5.00').first().waitFor()
  await button(zh('wallet.pay')).click()
  const dialog = open.page.getByRole('dialog', { name: zh('wallet.confirmTitle') })
  await dialog.getByRole('button', { name: zh('ui.cancel') }).click()
  await dialog.waitFor({ state: 'hidden' })
  await button(zh('wallet.pay')).click()
  await dialog.getByRole('button', { name: zh('wallet.pay'), exact: true }).click()
  await open.page.waitForURL(`${gateway.url}/checkout?**`)
  // The user returns without paying, so the order is not confirmed.
  await open.page.goto(`${product.url}/app/wallet`)
  const note = open.page.getByText(zh('wallet.orderUnconfirmed', { id: 2 }))
  await note.waitFor()
  const ways = open.page.getByRole('heading', { name: zh('wallet.topUp') })
  expect((await note.boundingBox())?.y).toBeLessThan((await ways.boundingBox())?.y ?? 0)
  await open.page.goBack()
  await open.page.getByRole('button', { name: /^Pay T2X/ }).click()
  await open.page.waitForURL(`${product.url}/app/wallet`)
  await open.page.getByText(zh('wallet.order', { id: '2 · $5' })).waitFor()
  await open.page.getByText(zh('wallet.orderPaid', { id: 2, amount: '$5.00' })).waitFor()
  await eventually(() =>
    open.page.getByText(zh('wallet.status_paid'), { exact: true }).count(),
  ).toBe(2)
  expect(await standing()).toBe(7_500_000)
})

it('an admin finds the order and refunds it with a reason; its user sees it at once', async () => {
  const admin = await openRealPage(open.browser, product.url)
  await admin.page.goto(`${product.url}/login?returnTo=/admin/orders?keyword=buyer`)
  await admin.page.getByLabel(en('auth.username')).fill('root')
  await admin.page.getByRole('textbox', { name: en('auth.password'), exact: true }).fill(PASSWORD)
  await admin.page
    .getByRole('button', { name: en('shell.login') })
    .last()
    .click()
  const row = admin.page.getByRole('row').filter({ hasText: '#1' })
  await row.getByRole('button', { name: en('orders.refund') }).click()
  const dialog = admin.page.getByRole('dialog', { name: en('orders.refundTitle', { id: 1 }) })
  await dialog.getByRole('button', { name: en('orders.refund') }).click()
  await dialog.getByText(en('orders.reasonRequired')).waitFor()
  await dialog.getByLabel(en('orders.reason')).fill('paid twice')
  const sum = dialog.getByLabel(en('shared.amount'))
  for (const [wrong, errorText] of [
    ['999', en('orders.refundTooMuch', { max: 'CN¥65.70' })],
    ['0.00', en('orders.refundInvalid')],
    ['1.001', en('orders.refundInvalid')],
  ] as const) {
    await sum.fill(wrong)
    await dialog.getByText(errorText).waitFor()
    await expect
      .poll(() => dialog.getByRole('button', { name: en('orders.refund') }).isDisabled())
      .toBe(true)
  }
  await sum.fill('10')
  await dialog.getByRole('button', { name: en('orders.refund') }).click()
  await row.getByText(en('wallet.status_partly')).waitFor()
  await open.page.getByText(zh('wallet.status_partly'), { exact: true }).waitFor()
  await admin.page.getByLabel(en('shared.status'), { exact: true }).selectOption('refunded')
  await row.getByRole('button', { name: en('orders.refund') }).click()
  await dialog.getByLabel(en('orders.reason')).fill('paid twice')
  await dialog.getByRole('button', { name: en('orders.refund') }).click()
  await row.getByText(en('wallet.status_refunded'), { exact: true }).waitFor()
  await open.page.getByText(zh('wallet.status_refunded'), { exact: true }).waitFor()
  await expect.poll(() => row.getByRole('button', { name: en('orders.refund') }).count()).toBe(0)
  await open.page
    .getByText(zh('wallet.refundedOf', { money: '¥10.00', reason: 'paid twice' }))
    .waitFor()
  await open.page
    .getByText(zh('wallet.refundedOf', { money: '¥55.70', reason: 'paid twice' }))
    .waitFor()
  expect(await standing()).toBe(2_500_000)
  const faults = [...open.faults, ...admin.faults]
  expect(faults.filter((errorText) => !errorText.includes('favicon'))).toEqual([])
})
