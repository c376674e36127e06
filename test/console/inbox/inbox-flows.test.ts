import { beforeEach, expect, it } from 'vitest'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import { textPattern, zh } from '#test/support/console-texts.ts'
import { lookFaults } from '../support/accessibility-faults.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeLive, fakeLive } from '../support/fake-live-socket.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'

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

const app = pageFixture()
let live: FakeLive
let messages: InboxMessage[]
beforeEach(async () => {
  const text = {
    title: 'Maintenance',
    content: 'Maintenance tonight, **22:00** to 23:00. '.repeat(12),
  }
  messages = [
    message(4, { ...text, format: 'markdown' }),
    message(3, { title: 'New prices', content: HTML, format: 'html' }),
    ...[2, 1].map((id) => message(id, { is_read: true, read_at: NOW - 60 })),
  ]
  inboxRoutes(app.site)
  await open('zh')
})

async function open(language: 'zh' | 'en'): Promise<void> {
  await app.openPage({ language })
  live = await fakeLive(app.page)
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

const bell = (name: string) => app.page.getByRole('banner').getByRole('link', { name, exact: true })
const push = (unread_count: number) => live.send('inbox', 9, { unread_count })

it('the bell shows pushed counts, up to 99+, without polling the server', async () => {
  await app.openAsRoot('/app/tokens')
  await bell(zh('shell.inboxUnread', { number: 2 })).waitFor()
  await expect.poll(live.connections).toBe(1)
  await app.page.getByText('production').first().waitFor()
  const countReads = () => app.site.calls.filter(({ path }) => path.endsWith('unread_count')).length
  const before = countReads()
  push(99)
  await bell(zh('shell.inboxUnread', { number: 99 })).waitFor()
  push(100)
  await bell(zh('shell.inboxUnread', { number: '99+' })).waitFor()
  push(0)
  await bell(zh('shell.inbox')).waitFor()
  expect(countReads()).toBeLessThanOrEqual(before + 1)
})

it('the home page shows the bell to a user who is logged in', async () => {
  await app.openAsRoot('/')
  const bell = app.page.getByRole('banner').locator('.tg-bell')
  await expect.poll(() => bell.getAttribute('href')).toBe('/app/inbox')
})

it('without a socket the bell polls every half minute, except in a hidden tab', async () => {
  await app.page.clock.install()
  await app.page.routeWebSocket('**/api/live', (route) => route.close())
  await app.openAsRoot('/app/tokens')
  await bell(zh('shell.inboxUnread', { number: 2 })).waitFor()
  messages = messages.map((one) => ({ ...one, is_read: true }))
  await app.page.clock.runFor(31_000)
  await bell(zh('shell.inbox')).waitFor()
  const countReads = () => app.site.calls.filter(({ path }) => path.endsWith('unread_count')).length
  const before = countReads()
  await app.page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
    Object.defineProperty(document, 'hidden', { get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await app.page.clock.runFor(95_000)
  expect(countReads()).toBe(before)
})

it('a message has a preview, opens in a frame without scripts, and is then read', async () => {
  await app.openAsRoot('/app/inbox')
  const rows = app.page.getByRole('list', { name: zh('shared.messages') }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(4)
  await expect
    .poll(() => rows.first().innerText())
    .toContain('Maintenance tonight, 22:00 to 23:00.')
  await expect.poll(() => rows.first().innerText()).toMatch(/\.\.\.$/)
  await expect
    .poll(() =>
      app.page
        .getByRole('navigation', { name: textPattern('zh', 'ui.pageOf', { page: 1 }) })
        .count(),
    )
    .toBe(0)
  await rows.nth(1).getByRole('link').click()
  await app.page.getByRole('heading', { level: 1, name: 'New prices' }).waitFor()
  const frame = app.page.frameLocator(`iframe[title="${zh('inbox.content')}"]`)
  await frame.getByText('Monday').waitFor()
  await expect.poll(() => frame.locator('[onclick], script').count()).toBe(0)
  await expect
    .poll(() => app.page.locator('iframe').getAttribute('sandbox'))
    .not.toContain('allow-scripts')
  await bell(zh('shell.inboxUnread', { number: 1 })).waitFor()
  const marks = () => app.site.calls.filter(({ method }) => method === 'PUT')
  await expect.poll(() => marks().map(({ path }) => path)).toEqual(['/api/user/messages/3/read'])
  await app.page.getByRole('link', { name: zh('inbox.back') }).click()
  await expect.poll(() => rows.nth(1).innerText()).not.toContain(zh('inbox.unread'))
  await expect.poll(() => rows.first().innerText()).toContain(zh('inbox.unread'))
})

it('the inbox says when a message does not exist and when messages fail to load', async () => {
  await app.openAsRoot('/app/inbox/77')
  await app.page.getByText(zh('shared.messageNotFound')).first().waitFor()
  await app.page.waitForURL('**/app/inbox')
  app.site.routes['GET /api/user/messages'] = () => ({
    status: 400,
    body: { success: false, message: 'The request is not valid', code: 'InvalidRequest' },
  })
  await app.page.reload()
  await app.page.getByText(zh('inbox.loadFailed')).waitFor()
  await app.page.getByText('The request is not valid').waitFor()
  const reads = () => app.site.calls.filter(({ path }) => path === '/api/user/messages').length
  const before = reads()
  const retry = app.page.getByRole('button', { name: zh('ui.retry') })
  await retry.click()
  await expect.poll(reads).toBeGreaterThan(before)
  inboxRoutes(app.site)
  const isRead = async () => {
    // The list may reload by itself, which removes the button.
    await retry.click({ timeout: 1_000 }).catch(() => {})
    return app.page.getByText('New prices').isVisible()
  }
  await expect.poll(isRead).toBe(true)
})

it.each(['zh', 'en'] as const)(
  'the inbox and a message have no accessibility fault: %s',
  async (language) => {
    await open(language)
    await app.openAsRoot('/app/inbox')
    await app.page.getByText('New prices').waitFor()
    expect(await lookFaults(app.page, `inbox-${language}`, [1280, 390])).toEqual([])
    await app.page.getByText('New prices').click()
    await app.page.frameLocator('iframe').getByText('Monday').waitFor()
    expect(await lookFaults(app.page, `message-${language}`, [1280, 390])).toEqual([])
  },
  120_000,
)
