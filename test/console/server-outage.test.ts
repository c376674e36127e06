import { describe, expect, it } from 'vitest'
import { en, textPattern } from '#test/support/console-texts.ts'
import { openAsRoot, ROOT_USER } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { fakeLive } from './support/fake-live-socket.ts'
import type { FakeAnswer } from './support/fake-site.ts'
import { enter } from './usage-log/fake-usage-log.ts'

const app = pageFixture()

const banner = (text: string | RegExp) => app.page.locator('.tg-health').getByText(text)
const productionCell = () => app.page.getByRole('gridcell', { name: 'production', exact: true })
const toasts = () => app.page.locator('.tg-toast').count()
const fault = (status: number, message: string, headers = {}): FakeAnswer => ({
  status,
  headers,
  body: { success: false, message, code: 'Fault' },
})

const REFUSED = fault(429, 'slow down', { 'retry-after': '60' })
const tokenReads = () => app.site.calls.filter(({ path }) => path === '/api/token/')

describe('a server that cannot serve requests', () => {
  it('causes one banner with a countdown for too many requests, which then closes', async () => {
    const { page, site } = app
    // Any other response would show that the server is available again.
    const refusedReads = [
      'GET /api/token/',
      'GET /api/notice',
      'GET /api/user/messages/unread_count',
    ]
    let isBusy = true
    for (const read of refusedReads) {
      const answer = site.routes[read]
      site.routes[read] = (call) => (isBusy ? REFUSED : (answer?.(call) ?? fault(404, 'no route')))
    }
    await page.clock.install()
    await openAsRoot(page, site, '/app/tokens')
    await banner(en('request.health.busy')).waitFor()
    await banner(textPattern('en', 'request.retryIn')).waitFor()
    expect(await toasts()).toBe(0)
    isBusy = false
    await page.clock.fastForward(60_000)
    await productionCell().waitFor()
    await banner(en('request.health.busy')).waitFor({ state: 'detached' })
    expect(tokenReads()).toHaveLength(2)
  })

  it('causes a banner while the browser is offline, which disappears afterwards', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    await productionCell().waitFor()
    await page.context().setOffline(true)
    await banner(en('request.health.offline')).waitFor()
    await expect.poll(() => productionCell().count()).toBe(1)
    await page.context().setOffline(false)
    await banner(en('request.health.offline')).waitFor({ state: 'detached' })
    expect(await toasts()).toBe(0)
  })

  it('causes an error with a general text, the text of the server and the request id', async () => {
    const { page, site } = app
    site.routes['GET /api/token/'] = () => fault(500, 'disk is full')
    await openAsRoot(page, site, '/app/tokens')
    const alert = page.getByRole('alert')
    await alert.getByText(en('request.serverError')).waitFor()
    await alert.getByText('disk is full').waitFor()
    await expect.poll(() => alert.locator('code').innerText()).toMatch(/^req-\d+$/)
    await alert.getByRole('button', { name: en('ui.retry') }).waitFor()
  })

  it('causes a message without a retry button when it forbids a page', async () => {
    const { page, site } = app
    const live = await fakeLive(page)
    site.routes['GET /api/channel/'] = () => fault(403, 'admins only')
    await openAsRoot(page, site, '/admin/channels')
    const alert = page.getByRole('alert')
    await alert.getByText(en('ui.forbidden')).waitFor()
    await alert.getByText('admins only').waitFor()
    await expect.poll(() => alert.getByRole('button', { name: en('ui.retry') }).count()).toBe(0)
    for (const name of [en('shared.newChannel'), en('shared.deleteSelected'), en('ui.nextPage')]) {
      await expect.poll(() => page.getByRole('button', { name }).count(), { message: name }).toBe(0)
    }
    // The bell opens a live connection on every page. Its connection must not cause another request
    // here.
    await expect.poll(() => live.connections()).toBe(1)
    expect(site.calls.filter(({ path }) => path === '/api/channel/')).toHaveLength(1)
  })

  it('gets no request for an admin page of a user who is no admin', async () => {
    const { page, site } = app
    const member = { ...ROOT_USER, id: 5, role: 1 }
    await enter(page, `${site.url}/admin/channels`, { language: 'en' }, member)
    await page.getByText(en('ui.forbidden')).waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: en('shared.newChannel') }).count())
      .toBe(0)
    expect(site.calls.filter(({ path }) => path === '/api/channel/')).toEqual([])
  })

  it('causes one toast with a request id for an action that it refuses repeatedly', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    const toggle = page.getByRole('switch', { name: /production/ })
    await toggle.waitFor()
    // A late response to another request of the page would show that the server is available again.
    for (const route of [...Object.keys(site.routes), 'PUT /api/token/']) {
      site.routes[route] = () => fault(503, 'restarting')
    }
    for (let time = 1; time <= 2; time += 1) {
      await toggle.click()
      await expect.poll(() => site.calls.filter(({ method }) => method === 'PUT').length).toBe(time)
      await expect.poll(() => toggle.isChecked()).toBe(true)
    }
    await page.locator('.tg-toast-count').getByText('×2').waitFor()
    expect(await toasts()).toBe(1)
    await expect.poll(() => page.locator('.tg-toast code').innerText()).toMatch(/^req-\d+$/)
    await banner(en('request.health.down')).waitFor()
    const left = page.locator('.tg-toast').first()
    await page.getByRole('link', { name: en('shell.channels'), exact: true }).click()
    await left.waitFor({ state: 'detached', timeout: 5_000 })
  })
})
