import type { Browser, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { zh } from '#test/support/words.ts'
import { openAsRoot, startAdminSite, token } from '../support/admin-site.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'
import { type OpenPage, openPage } from '../support/open-page.ts'

let browser: Browser
let site: FakeSite
let opened: OpenPage
let page: Page
let socket: WebSocketRoute | null

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startAdminSite()
  opened = await openPage(browser, { language: 'zh' })
  page = opened.page
  socket = null
  await page.routeWebSocket('**/api/live', (route) => {
    route.onMessage((text) => {
      if (JSON.parse(String(text)).type !== 'subscribe') return
      socket = route
      route.send(JSON.stringify({ type: 'ready', position: 0 }))
    })
  })
})
afterEach(async () => {
  expect(opened.faults).toEqual([])
  await opened.close()
  await site.close()
})

const row = (name: string) => page.getByRole('row').filter({ hasText: name })
const tell = (position: number, data: object) =>
  socket?.send(JSON.stringify({ type: 'event', topic: 'tokens', position, data }))

it('a token that a call exhausts, elsewhere is switched off or goes, shows at once', async () => {
  await openAsRoot(page, site, '/app/tokens')
  await row('production').getByText(zh('tokens.state.enabled')).waitFor()
  await expect.poll(() => socket !== null).toBe(true)
  const spent = { id: 1, name: 'production', status: 4, remain_quota: 0, used_quota: 5_000_000 }
  const usual = { unlimited_quota: false, expired_time: -1, accessed_time: 1 }
  tell(7, { ...spent, ...usual })
  await row('production').getByText(zh('tokens.state.exhausted')).waitFor()
  await row('production')
    .getByText(zh('tokens.used', { amount: '$10.00' }))
    .waitFor()
  tell(8, { ...spent, ...usual, status: 2 })
  await row('production').getByText(zh('tokens.state.disabled')).waitFor()
  site.routes['GET /api/token/'] = () => ok({ items: [], page: 0, total: 0 })
  tell(9, { id: 1, deleted: true })
  await page.getByText(zh('tokens.noneTitle')).waitFor()
})

it('a token ends by the clock, with nobody telling', async () => {
  const end = Math.floor(Date.now() / 1_000) + 3_600
  site.routes['GET /api/token/'] = () =>
    ok({ items: [token({ expired_time: end })], page: 0, total: 1 })
  await page.clock.install()
  await openAsRoot(page, site, '/app/tokens')
  await row('production').getByText(zh('tokens.state.enabled')).waitFor()
  await page.clock.runFor(3_620_000)
  await row('production').getByText(zh('tokens.state.expired')).waitFor()
  expect(
    await page
      .getByRole('switch', { name: zh('tokens.toggle', { name: 'production' }) })
      .isDisabled(),
  ).toBe(true)
})

it('a thousand rows scroll with few of them drawn', async () => {
  const items = Array.from({ length: 1_000 }, (_, n) => token({ id: n + 1, name: `token ${n}` }))
  site.routes['GET /api/token/'] = () => ok({ items, page: 0, total: 1_000 })
  await openAsRoot(page, site, '/app/tokens')
  await row('token 0').first().waitFor()
  const grid = page.getByRole('grid').first()
  const drawn = await grid.evaluate(async (element) => {
    let most = 0
    for (let frame = 0; frame < 40; frame += 1) {
      element.scrollTop += 400
      await new Promise((done) => requestAnimationFrame(done))
      most = Math.max(most, element.querySelectorAll('[role="row"]').length)
    }
    return most
  })
  expect(await grid.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(10_000)
  expect(drawn).toBeLessThanOrEqual(60)
})
