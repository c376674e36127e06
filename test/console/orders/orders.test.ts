import { describe, expect, it } from 'vitest'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import type { Order, PaymentReport, Refund } from '#read-api/contract/top-ups.ts'
import { en, TEXTS, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { cutAmong } from '../support/truncated-texts.ts'

const DAY = 86_400
const NOW = Math.floor(Date.now() / 1_000)
const DUE_BY = NOW + 9 * DAY

const order = (id: number, patch: Partial<Order> = {}): Order => ({
  ...{ id, user_id: 7, username: 'mia', trade_no: `T${id}X9f3ab27c`, payment_method: 'stripe' },
  ...{ amount: 20, quota: 10_000_000, money: '20.00', currency: 'USD', top_up_code: '' },
  ...{ status: 'paid', payment_id: `pi_3Q${id}`, refundable: '20.00', refunded: '0.00' },
  ...{ refunds: [], restorations: [], reports: [], rebate_quota: 0 },
  ...{ created_at: NOW - 12 * DAY, paid_at: NOW - 12 * DAY + 40 },
  ...patch,
})

const dispute = (at: number, patch: Partial<PaymentReport> = {}): PaymentReport => ({
  ...{ kind: 'dispute', report_id: 'dp_1Q7', money: '20.00', status: 'needs_response' },
  ...{ reason: 'fraudulent', due_by: DUE_BY, is_withdrawn: false, is_reinstated: false },
  ...{ created_at: at, ...patch },
})

const withdrawn = { is_withdrawn: true }
const takenBack: Refund = {
  ...{ refund_no: 1, money: '20.00', quota: 10_000_000, actor_id: 0, actor_name: '' },
  ...{ source: 'dispute', source_id: 'dp_1Q7', created_at: NOW - 3 * DAY + 2 },
  reason: 'Stripe: dispute dp_1Q7 (fraudulent)',
}
const restored: Order['restorations'][number] = {
  ...{ money: '20.00', quota: 10_000_000, source: 'dispute', source_id: 'dp_1Q7' },
  created_at: NOW - DAY,
}

const opened = [dispute(NOW - 3 * DAY), dispute(NOW - 3 * DAY + 2, withdrawn)]
const gone = { status: 'refunded', refunded: '20.00', refundable: '0.00' } as const
const DISPUTED = order(14, { ...gone, refunds: [takenBack], reports: opened })
const WON = order(13, {
  refunds: [takenBack],
  restorations: [restored],
  reports: [
    ...opened,
    dispute(NOW - 2 * DAY, { ...withdrawn, status: 'under_review' }),
    dispute(NOW - DAY, { ...withdrawn, status: 'won', due_by: null, is_reinstated: true }),
  ],
})
const LOST = order(12, {
  ...gone,
  refunds: [takenBack],
  reports: [...opened, dispute(NOW - DAY, { ...withdrawn, status: 'lost', due_by: null })],
})
const partOf = (no: number) => ({ refund_no: no, money: '5.00', quota: 2_500_000 })
const refunded = { report_id: 're_3Q8', money: '5.00', due_by: null, is_withdrawn: false }
const REFUNDED = order(11, {
  ...{ status: 'refunded', refunded: '5.00', refundable: '15.00', username: 'a-long-username' },
  refunds: [
    {
      ...takenBack,
      ...partOf(1),
      source: 'admin',
      source_id: '',
      actor_name: 'root',
      reason: 'bought by mistake',
    },
    { ...takenBack, ...partOf(2), source: 'refund', source_id: 're_3Q8' },
  ],
  restorations: [{ ...restored, money: '5.00', quota: 2_500_000, source: 'refund' }],
  reports: [
    dispute(NOW - 2 * DAY, {
      ...{ ...refunded, kind: 'refund', status: 'pending', reason: 'requested_by_customer' },
    }),
    dispute(NOW - DAY, { ...refunded, kind: 'refund', status: 'failed', reason: 'a_new_reason' }),
  ],
})
const ORDERS = [DISPUTED, WON, LOST, REFUNDED, order(10)]

const NOTICE: InboxMessage = {
  ...{ id: 1, title: 'A payment is disputed: order #14' },
  content: `[Open the order](/admin/orders?keyword=${DISPUTED.trade_no})`,
  ...{ format: 'markdown', created_at: NOW, read_at: null, is_read: false },
}

const app = siteFixture(() =>
  startAdminSite({
    'GET /api/user/topup': ({ query }) => {
      const keyword = query.get('keyword') ?? ''
      const isDisputed = query.get('status') === 'disputed'
      const items = ORDERS.filter(
        ({ trade_no, reports }) =>
          ['', trade_no].includes(keyword) &&
          (!isDisputed || reports.some(({ kind }) => kind === 'dispute')),
      )
      return ok({ items, page: 0, total: items.length })
    },
    // As in the server's response to users, the rows have no reports and no names or ids of other
    // people.
    'GET /api/user/topup/self': () => {
      const items = ORDERS.map((row) => ({ ...row, reports: [] }))
      return ok({ items, page: 0, total: items.length })
    },
    'GET /api/log/self/': () => ok({ items: [], page: 0, total: 0 }),
    'GET /api/user/messages/1': () => ok(NOTICE),
    'PUT /api/user/messages/1/read': () => ok(null),
  }),
)

async function open(path: string, language: 'zh' | 'en') {
  const opened = await app.openPage({ language })
  await openAsRoot(opened.page, app.site, path)
  return opened
}

describe.each(LANGUAGES)('pages with orders in %s', (language) => {
  it('the list of orders and its timelines have no accessibility fault', async () => {
    const { page, faults, close } = await open('/admin/orders', language)
    await page.getByText(TEXTS[language]('wallet.status_disputed'), { exact: true }).waitFor()
    await expect
      .poll(() => cutAmong(page, '.tg-grid-title, .tg-grid-body :is(.tg-grid-cell, .tg-tag)'))
      .toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid')).toEqual([])
    expect.soft(await lookFaults(page, `orders-${language}`, [1280, 390])).toEqual([])
    for (const shown of [WON, REFUNDED]) {
      await page.goto(`${app.site.url}/admin/orders?keyword=${shown.trade_no}`)
      await page.locator('.tg-order-timeline').waitFor()
      const name = `orders-${shown.id}-${language}`
      expect.soft(await lookFaults(page, name, [1280, 390])).toEqual([])
    }
    expect(faults).toEqual([])
    await close()
  })

  it('the wallet has no accessibility fault', async () => {
    const { page, faults, close } = await open('/app/wallet', language)
    await page.locator('.tg-orders-refund').first().scrollIntoViewIfNeeded()
    expect.soft(await lookFaults(page, `wallet-orders-${language}`, [1280, 390])).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})

it('an order’s row and timeline say what happened, and the filter finds its dispute', async () => {
  const { page, close } = await open('/admin/orders', 'en')
  const row = page.getByRole('row').filter({ hasText: '#14' })
  await row.getByText(en('wallet.status_disputed'), { exact: true }).waitFor()
  await expect.poll(() => row.getByText('$20.00').count()).toBeGreaterThan(1)
  await page.getByText(en('wallet.status_disputeLost'), { exact: true }).waitFor()
  await page.getByLabel(en('shared.status'), { exact: true }).selectOption('disputed')
  await page.getByText('#10').waitFor({ state: 'detached' })
  // Another request of the page, such as that for unread messages, may come last.
  const listed = app.site.calls.findLast(({ path }) => path === '/api/user/topup')
  expect(listed?.query.get('status')).toBe('disputed')
  await page.goto(`${app.site.url}/admin/orders?keyword=${WON.trade_no}`)
  const lines = page.locator('.tg-order-timeline li p:first-child')
  await lines.first().waitFor()
  await expect
    .poll(() => lines.allTextContents())
    .toEqual([
      en('orders.event_disputeOpened', { money: '$20.00' }),
      en('orders.event_fundsWithdrawn', { money: '$20.00' }),
      en('orders.event_deducted', { quota: '$20.00', money: '$20.00' }),
      en('orders.event_disputeUpdated', { money: '$20.00' }),
      en('orders.event_disputeWon', { money: '$20.00' }),
      en('orders.event_fundsReinstated', { money: '$20.00' }),
      en('orders.event_restored', { quota: '$20.00', money: '$20.00' }),
    ])
  const first = page.locator('.tg-order-timeline li').first()
  for (const text of [
    en('orders.dispute_needs_response'),
    en('orders.eventReason', { reason: en('orders.reason_fraudulent') }),
    en('orders.eventDue'),
    'dp_1Q7',
  ]) {
    await first.getByText(text).waitFor()
  }
  await page.goto(`${app.site.url}/admin/orders?keyword=${REFUNDED.trade_no}`)
  await page
    .getByText(en('orders.eventReason', { reason: en('orders.reason_requested_by_customer') }))
    .waitFor()
  await page.getByText(en('orders.eventReason', { reason: 'bought by mistake' })).waitFor()
  await expect
    .poll(() => lines.allTextContents())
    .toContain(en('orders.event_refundFailed', { money: '$5.00' }))
  await close()
})

it('the link in a notice opens the disputed order, with its details, for an admin', async () => {
  const { page, faults, close } = await open('/app/inbox/1', 'zh')
  const link = page.frameLocator('iframe').getByRole('link', { name: 'Open the order' })
  const [tab] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await tab.getByText(zh('orders.event_disputeOpened', { money: 'US$20.00' })).waitFor()
  await tab.getByText(zh('wallet.status_disputed'), { exact: true }).waitFor()
  await expect.poll(() => tab.getByText('#13').count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})

it('an order leads to its acts in the audit log', async () => {
  const { page, close } = await open(`/admin/orders?keyword=${WON.trade_no}`, 'en')
  await page
    .getByRole('grid')
    .getByRole('link', { name: en('shared.history') })
    .click()
  await page.waitForURL(/\/app\/audit\/log\?object=order%3A13&range=all/)
  await close()
})

it('the wallet says in the user’s language what was refunded and restored', async () => {
  const { page, close } = await open('/app/wallet', 'zh')
  await page
    .getByText(zh('wallet.disputeWithdrawn', { money: 'US$20.00', quota: '$20.00' }))
    .first()
    .waitFor()
  await page
    .getByText(zh('wallet.disputeReversed', { money: 'US$20.00', quota: '$20.00' }))
    .waitFor()
  await page
    .getByText(zh('wallet.refundedByProvider', { money: 'US$5.00', quota: '$5.00' }))
    .waitFor()
  await page.getByText(zh('wallet.refundReversed', { money: 'US$5.00', quota: '$5.00' })).waitFor()
  await page
    .getByText(zh('wallet.refundedOf', { money: 'US$5.00', reason: 'bought by mistake' }))
    .waitFor()
  await expect.poll(() => page.getByText('Stripe: ').count()).toBe(0)
  await close()
})
