import type { Browser, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import { launchBrowser } from '#test/support/browser.ts'
import { zh } from '#test/support/words.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'
import { lookFaults } from '../support/looks.ts'
import { type OpenPage, openPage } from '../support/open-page.ts'

const NOW = Math.floor(Date.now() / 1_000)

const message = (id: number, patch: Partial<InboxMessage> = {}): InboxMessage => ({
  id,
  title: `Message ${id}`,
  content: `Content of ${id}`,
  format: 'plain',
  created_at: NOW - 3_600 * id,
  read_at: null,
  is_read: false,
  ...patch,
})

const HTML =
  '<h2>Prices</h2><p onclick="alert(1)">From <b>Monday</b></p><script>document.title = "x"</script>'

let browser: Browser
let site: FakeSite
let opened: OpenPage
let page: Page
let socket: WebSocketRoute | null
let messages: InboxMessage[]

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())
beforeEach(async () => {
  const text = { title: '维护通知', content: '今晚 **22:00** 至 23:00 维护。'.repeat(12) }
  messages = [
    message(4, { ...text, format: 'markdown' }),
    message(3, { title: 'New prices', content: HTML, format: 'html' }),
    ...[2, 1].map((id) => message(id, { is_read: true, read_at: NOW - 60 })),
  ]
  site = await startAdminSite()
  inboxRoutes(site)
  await open('zh')
})
afterEach(async () => {
  expect(opened.faults).toEqual([])
  await opened.close()
  await site.close()
})

async function open(language: 'zh' | 'en'): Promise<void> {
  opened = await openPage(browser, { language })
  page = opened.page
  socket = null
  await page.routeWebSocket('**/api/live', (route) => {
    route.onMessage((text) => {
      if (JSON.parse(String(text)).type !== 'subscribe') return
      socket = route
      route.send(JSON.stringify({ type: 'ready', position: 0 }))
    })
  })
}

function inboxRoutes({ routes }: FakeSite): void {
  const unread = () => messages.filter(({ is_read }) => !is_read).length
  routes['GET /api/user/messages/unread_count'] = () => ok({ unread_count: unread() })
  routes['GET /api/user/messages'] = () => ok({ items: messages, page: 0, total: messages.length })
  for (const { id } of messages) {
    routes[`GET /api/user/messages/${id}`] = () => ok(messages.find((one) => one.id === id))
    routes[`PUT /api/user/messages/${id}/read`] = () => {
      messages = messages.map((one) =>
        one.id === id ? { ...one, is_read: true, read_at: NOW } : one,
      )
      return ok(null)
    }
  }
}

const bell = (name: string) => page.getByRole('banner').getByRole('link', { name, exact: true })
const push = (unread_count: number) =>
  socket?.send(
    JSON.stringify({ type: 'event', topic: 'inbox', position: 9, data: { unread_count } }),
  )

it('the bell moves as it is told, to 99+, and asks nobody meanwhile', async () => {
  await openAsRoot(page, site, '/app/tokens')
  await bell('收件箱，2 条未读').waitFor()
  await expect.poll(() => socket !== null).toBe(true)
  await page.getByText('production').first().waitFor()
  const asked = () => site.calls.filter(({ path }) => path.endsWith('unread_count')).length
  const before = asked()
  push(99)
  await bell('收件箱，99 条未读').waitFor()
  push(100)
  await bell('收件箱，99+ 条未读').waitFor()
  push(0)
  await bell('收件箱').waitFor()
  expect(asked()).toBeLessThanOrEqual(before + 1)
})

it('the bell is at home, too, for who is logged in', async () => {
  await openAsRoot(page, site, '/')
  const bell = page.getByRole('banner').locator('.tg-bell')
  await expect.poll(() => bell.getAttribute('href')).toBe('/app/inbox')
})

it('without a socket the bell asks every half minute, but not in a hidden tab', async () => {
  await page.clock.install()
  await page.routeWebSocket('**/api/live', (route) => route.close())
  await openAsRoot(page, site, '/app/tokens')
  await bell('收件箱，2 条未读').waitFor()
  messages = messages.map((one) => ({ ...one, is_read: true }))
  await page.clock.runFor(31_000)
  await bell('收件箱').waitFor()
  const asked = () => site.calls.filter(({ path }) => path.endsWith('unread_count')).length
  const before = asked()
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
    Object.defineProperty(document, 'hidden', { get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await page.clock.runFor(95_000)
  expect(asked()).toBe(before)
})

it('a message has a preview, is shown in a frame without scripts, and read then', async () => {
  await openAsRoot(page, site, '/app/inbox')
  const rows = page.getByRole('list', { name: zh('inbox.list') }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(4)
  await expect.poll(() => rows.first().innerText()).toContain('今晚 22:00 至 23:00 维护。')
  expect(await rows.first().innerText()).toMatch(/\.\.\.$/)
  expect(await page.getByRole('navigation', { name: /第 1/ }).count()).toBe(0)
  await rows.nth(1).getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'New prices' }).waitFor()
  const frame = page.frameLocator('iframe[title="消息内容"]')
  await frame.getByText('Monday').waitFor()
  expect(await frame.locator('[onclick], script').count()).toBe(0)
  expect(await page.locator('iframe').getAttribute('sandbox')).not.toContain('allow-scripts')
  await bell('收件箱，1 条未读').waitFor()
  const marks = () => site.calls.filter(({ method }) => method === 'PUT')
  await expect.poll(() => marks().map(({ path }) => path)).toEqual(['/api/user/messages/3/read'])
  await page.getByRole('link', { name: zh('inbox.back') }).click()
  await expect.poll(() => rows.nth(1).innerText()).not.toContain('未读')
  expect(await rows.first().innerText()).toContain('未读')
})

it('says that a message is not there, and that messages did not come', async () => {
  await openAsRoot(page, site, '/app/inbox/77')
  await page.getByText(zh('inbox.missing')).first().waitFor()
  await page.waitForURL('**/app/inbox')
  site.routes['GET /api/user/messages'] = () => ({
    status: 400,
    body: { success: false, message: '请求格式错误', code: 'InvalidRequest' },
  })
  await page.reload()
  await page.getByText(zh('inbox.loadFailed')).waitFor()
  await page.getByText('请求格式错误').waitFor()
  inboxRoutes(site)
  await page.getByRole('button', { name: zh('ui.retry') }).click()
  await page.getByText('New prices').waitFor()
})

it.each(['zh', 'en'] as const)(
  'has no fault in any look: %s',
  async (language) => {
    await opened.close()
    await open(language)
    await openAsRoot(page, site, '/app/inbox')
    await page.getByText('New prices').waitFor()
    expect(await lookFaults(page, `inbox-${language}`, [1280, 390])).toEqual([])
    await page.getByText('New prices').click()
    await page.frameLocator('iframe').getByText('Monday').waitFor()
    expect(await lookFaults(page, `message-${language}`, [1280, 390])).toEqual([])
  },
  120_000,
)
