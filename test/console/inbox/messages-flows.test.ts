import { expect, it } from 'vitest'
import type { AdminMessage } from '#read-api/contract/messages.ts'
import { en, zh } from '#test/support/console-texts.ts'
import { lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })
const NOW = Math.floor(Date.now() / 1_000)

const sent = (id: number, patch: Partial<AdminMessage> = {}): AdminMessage => ({
  ...{ id, title: `Message ${id}`, content: 'Some **text**', format: 'markdown' },
  ...{ created_at: NOW - 3_600, updated_at: null },
  stats: { total_recipients: 10_000, read_count: 12 },
  ...patch,
})

function messageRoutes({ routes }: FakeSite): void {
  let rows = [sent(2, { title: 'Prices', format: 'html' }), sent(1)]
  // The list contains only the beginning of each message. The editor loads the whole message.
  const listed = () => rows.map((row) => ({ ...row, content: 'Some' }))
  const list = () => ok({ items: listed(), page: 0, total: rows.length })
  routes['GET /api/admin/messages'] = list
  routes['GET /api/admin/messages/search'] = list
  routes['GET /api/admin/messages/2'] = () => ok(rows[0])
  routes['GET /api/admin/messages/2/recipients'] = () => {
    const items = Array.from({ length: 10 }, (_, n) => ({
      ...{ user_id: n + 1, username: `user${n + 1}`, display_name: 'Somebody' },
      read_at: n === 0 ? NOW : null,
    }))
    return ok({ items, page: 0, total: 10_000 })
  }
  routes['PUT /api/admin/messages/2'] = () => ok(null)
  routes['POST /api/admin/messages'] = () => ok({ id: 3, total_recipients: 1 })
  routes['DELETE /api/admin/messages/1'] = () => {
    rows = rows.filter(({ id }) => id !== 1)
    return ok(null)
  }
}

async function open() {
  const { page, site } = app
  messageRoutes(site)
  await openAsRoot(page, site, '/admin/messages')
  await page
    .getByRole('row')
    .filter({ hasText: en('me.tab.price') })
    .waitFor()
  return { page, site, drawer: page.getByRole('dialog') }
}

const bodiesOf = ({ calls }: FakeSite, method: string) =>
  calls.filter((call) => call.method === method).map(({ path, body }) => ({ path, body }))

it('a message is written, checked and sent to the selected users', async () => {
  const { page, site, drawer } = await open()
  await page.getByRole('button', { name: zh('messages.create') }).click()
  await drawer.getByRole('button', { name: zh('shared.send') }).click()
  await drawer.getByText(zh('messages.titleRequired')).waitFor()
  await drawer.getByText(zh('messages.recipientRequired')).waitFor()
  await drawer.getByLabel(zh('messages.messageTitle')).fill('  Hello ')
  await drawer.getByLabel(zh('messages.content')).fill('**World**')
  await page
    .frameLocator(`iframe[title="${zh('shared.preview')}"]`)
    .getByText('World')
    .waitFor()
  await drawer.getByRole('checkbox', { name: /^mia/ }).check()
  await drawer.getByText(zh('shared.usersSelected_one', { count: 1 })).waitFor()
  expect(await lookFaults(page, 'message-create', [1280, 390], '[role="dialog"]')).toEqual([])
  await drawer.getByRole('button', { name: zh('shared.send') }).click()
  await page.getByText(zh('messages.sent_one', { count: 1 })).waitFor()
  const body = { title: 'Hello', content: '**World**', format: 'markdown', user_ids: [3] }
  expect(bodiesOf(site, 'POST')).toEqual([{ path: '/api/admin/messages', body }])
})

it('a message is edited beside its recipients, and deleted after a confirmation', async () => {
  const { page, site, drawer } = await open()
  expect(await lookFaults(page, 'messages', [1280, 390])).toEqual([])
  await page.getByText(en('me.tab.price')).click()
  await drawer.getByText('user10').waitFor()
  await expect.poll(() => drawer.evaluate((panel) => panel.getBoundingClientRect().width)).toBe(900)
  await expect.poll(() => drawer.getByRole('row').count()).toBe(11)
  await drawer.getByText(zh('ui.pageOf', { page: 1, pages: 1000 })).waitFor()
  expect(await lookFaults(page, 'message-edit', [1280, 390], '[role="dialog"]')).toEqual([])
  expect(page.url()).toBe(`${site.url}/admin/messages/edit/2`)
  await page.goBack()
  await drawer.waitFor({ state: 'detached' })
  await page.goForward()
  await drawer.getByText('user10').waitFor()
  await drawer.getByLabel(zh('messages.messageTitle')).fill('New prices')
  await drawer.getByRole('button', { name: zh('shared.save') }).click()
  await page.getByText(zh('messages.updated')).waitFor()
  const body = { title: 'New prices', content: 'Some **text**', format: 'html' }
  expect(bodiesOf(site, 'PUT')).toEqual([{ path: '/api/admin/messages/2', body }])
  await page.getByRole('button', { name: zh('messages.more', { title: 'Message 1' }) }).click()
  await page.getByRole('menuitem', { name: zh('credentials.remove') }).click()
  const question = page.getByRole('alertdialog', { name: zh('messages.deleteTitle') })
  await question.getByRole('button', { name: zh('credentials.remove') }).click()
  await page.getByText(zh('messages.deleted')).waitFor()
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
})

it('a message leads to its acts in the audit log', async () => {
  const { page } = await open()
  await page.getByRole('button', { name: zh('messages.more', { title: 'Prices' }) }).click()
  await page.getByRole('menuitem', { name: zh('shared.history') }).click()
  await page.waitForURL(/\/app\/audit\/log\?object=message%3A2&range=all/)
})

it('a search sends both dates at once, in ISO format; only admins see the page', async () => {
  const { page, site } = await open()
  const searches = () => site.calls.filter(({ path }) => path.endsWith('/search'))
  await page.getByLabel(zh('messages.from')).fill('2026-11-01')
  expect(searches()).toEqual([])
  await page.getByLabel(zh('messages.until')).fill('2026-11-02')
  await expect.poll(() => searches().length).toBeGreaterThan(0)
  const query = searches().at(-1)?.query
  expect(query?.get('start_date')).toMatch(/^2026-1\d-\d\dT.*Z$/)
  const [start, end] = ['start_date', 'end_date'].map((name) => Date.parse(query?.get(name) ?? ''))
  expect((end ?? 0) - (start ?? 0)).toBe(2 * 86_400_000 - 1)
  await page.addInitScript(() => {
    const user = JSON.parse(localStorage.getItem('user') ?? '{}')
    localStorage.setItem('user', JSON.stringify({ ...user, role: 1 }))
  })
  await page.goto(`${site.url}/admin/messages`)
  await page.waitForURL(`${site.url}/`)
})
