import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import { en } from '#test/support/console-texts.ts'
import { byCall, byTokens, pricing } from './pricing/models.ts'
import { redemption } from './redemptions/redemption-routes.ts'
import { openAsRoot, startAdminSite, token } from './support/admin-site.ts'
import { channelHealth } from './support/channel-health-samples.ts'
import { channel } from './support/channel-routes.ts'
import { siteFixture } from './support/console-fixture.ts'
import { type FakeRoutes, ok } from './support/fake-site.ts'
import { takePicture } from './support/open-page.ts'
import { user } from './support/user-routes.ts'
import { logRoutes, logRow } from './usage-log/fake-usage-log.ts'

/** This quota is $1,234,567.89. */
const QUOTA = 617_283_945_000
const MONEY = '1234567.89'
const NOW = Math.floor(Date.now() / 1_000)

const LOG: readonly LogEntry[] = [
  logRow(3, { quota: QUOTA }),
  logRow(2, { type: 3, quota: QUOTA, content: 'bank transfer', request_id: '' }),
  logRow(1, { type: 3, quota: -QUOTA, content: 'correction', request_id: '' }),
]
const ORDER: Order = {
  ...{ id: 5, user_id: 7, username: 'mia', trade_no: 'T5X9f3ab27c', payment_method: 'stripe' },
  ...{ amount: 20, quota: QUOTA, money: MONEY, currency: 'USD', top_up_code: '' },
  ...{ status: 'paid', payment_id: 'pi_3Q5', refundable: MONEY, refunded: MONEY },
  ...{ refunds: [], restorations: [], reports: [], rebate_quota: 0 },
  ...{ created_at: NOW - 900, paid_at: NOW - 860 },
}
const SPENT = { quota: QUOTA, used_quota: QUOTA, aff_history_quota: QUOTA, aff_count: 12 }
const BALANCE = { balance: Number(MONEY), balance_updated_time: NOW - 60 }

const list = (...items: object[]) => ok({ items, page: 0, total: items.length })

const ROUTES: FakeRoutes = {
  ...logRoutes(() => LOG),
  'GET /api/user/': () => list(user({ id: 9, username: 'rich', ...SPENT })),
  'GET /api/user/self': () => ok(user(SPENT)),
  'GET /api/token/': () => list(token({ remain_quota: QUOTA, used_quota: QUOTA })),
  'GET /api/channel/': () => list(channel({ used_quota: QUOTA, ...BALANCE })),
  'GET /api/channel/health': () => ok({ at: Date.now(), channels: [channelHealth(BALANCE)] }),
  'GET /api/user/topup': () => list(ORDER),
  'GET /api/user/topup/self': () => list(ORDER),
  'GET /api/redemption/': () => list(redemption({ quota: QUOTA })),
  'GET /api/pricing': () => {
    const ratios = { model_ratio: Number(MONEY) / 2, completion_ratio: 1, cache_ratio: 1 }
    return pricing([byTokens('gold', ratios), byCall('image', Number(MONEY))])
  },
}

/** The lists that show amounts, with the number of amounts that each shows of the row above. */
const LISTS = [
  { path: '/admin/users', amounts: 3 },
  { path: '/app/tokens', amounts: 1 },
  { path: '/admin/channels', amounts: 2 },
  { path: '/admin/health', amounts: 1 },
  { path: '/admin/orders', amounts: 3 },
  { path: '/admin/coupons', amounts: 1 },
  { path: '/app/logs/api-usage', amounts: 3 },
  { path: '/app/wallet', amounts: 1 },
  { path: '/pricing', amounts: 3 },
]

const app = siteFixture(() => startAdminSite(ROUTES))

/**
 * Returns each amount of a list, and whether it is completely visible in its cell and in every box
 * that clips it.
 */
const amountsOf = (page: Page) =>
  page.evaluate(() => {
    const lists = document.querySelectorAll('.tg-grid-body, .tg-orders')
    const texts = [...lists].flatMap((list) => {
      const nodes: Node[] = []
      const walker = document.createTreeWalker(list, NodeFilter.SHOW_TEXT)
      while (walker.nextNode()) nodes.push(walker.currentNode)
      return nodes.filter(({ textContent }) => /1,234,567/.test(textContent ?? ''))
    })
    return texts.map((text) => {
      const range = document.createRange()
      range.selectNodeContents(text)
      const { left, right } = range.getBoundingClientRect()
      const isWithin = (box: Element): boolean => {
        const edges = box.getBoundingClientRect()
        return left >= edges.left - 0.5 && right <= edges.right + 0.5
      }
      const boxes: Element[] = []
      for (let box = text.parentElement; box !== null; box = box.parentElement) {
        if (box.matches('.tg-grid-body')) break
        const clips = getComputedStyle(box).overflowX !== 'visible'
        if (clips || box.matches('.tg-grid-cell, .tg-card')) boxes.push(box)
      }
      return { text: text.textContent, isWhole: boxes.every(isWithin) }
    })
  })

const cutAmounts = async (page: Page) =>
  (await amountsOf(page)).filter(({ isWhole }) => !isWhole).map(({ text }) => text)

const open = (width: number) => app.openPage({ language: 'en', width })

describe.each([1280, 390])('lists at %i pixels', (width) => {
  it.each(LISTS)('$path shows every amount in full', async ({ path, amounts }) => {
    const { page, faults, close } = await open(width)
    await openAsRoot(page, app.site, path)
    await page.getByText('1,234,567.89').first().waitFor()
    await expect.poll(() => cutAmounts(page)).toEqual([])
    expect((await amountsOf(page)).length).toBeGreaterThanOrEqual(amounts)
    await takePicture(page, `amounts-${path.replaceAll('/', '-')}-${width}`)
    expect(faults).toEqual([])
    await close()
  })
})

it('a column cannot be made narrower than its amounts need', async () => {
  const { page, faults, close } = await open(1280)
  await openAsRoot(page, app.site, '/admin/users')
  await page.getByText('1,234,567.89').first().waitFor()
  for (const name of [en('shared.balance'), en('users.used')]) {
    const edge = page.getByRole('separator', { name: en('ui.resize', { name }) })
    await edge.press('Home')
  }
  await expect.poll(() => cutAmounts(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})
