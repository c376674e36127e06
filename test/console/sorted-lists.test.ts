import { expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { token } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { ok } from './support/fake-site.ts'
import { startWholeSite } from './support/site-with-data-on-every-page.ts'

const app = pageFixture({ startSite: () => startWholeSite(0) })

/** Returns the order that the last request of a route contained. */
const orderOf = (route: string): string => {
  const query = app.calls(route).at(-1)?.query
  return `${query?.get('sort')} ${query?.get('order')}`
}

async function clickHeader(name: string): Promise<void> {
  await app.page.getByRole('columnheader').getByRole('button', { name, exact: true }).click()
}

it.each([
  ['/app/tokens', 'shared.key', 'GET /api/token/', 'key'],
  ['/admin/coupons', 'redemptions.key', 'GET /api/redemption/', 'key'],
  ['/admin/coupons', 'redemptions.usedBy', 'GET /api/redemption/', 'used_username'],
  ['/app/logs/api-usage', 'usageLog.ratios', 'GET /api/log/', 'ratios'],
  ['/app/logs/api-usage', 'shared.firstToken', 'GET /api/log/', 'first_token'],
  ['/app/logs/api-usage', 'usageLog.column.retry', 'GET /api/log/', 'retries'],
] as const)('%s is sorted by a click on the header %s', async (path, title, route, column) => {
  await app.page.setViewportSize({ width: 1_900, height: 900 })
  await app.openAsRoot(path)
  await clickHeader(en(title))
  await expect.poll(() => orderOf(route)).toBe(`${column} desc`)
  await clickHeader(en(title))
  await expect.poll(() => orderOf(route)).toBe(`${column} asc`)
})

it('the recipients of a message are sorted by a click on their headers', async () => {
  const route = 'GET /api/admin/messages/1/recipients'
  const recipient = { user_id: 1, username: 'mia', display_name: 'Mia', read_at: null }
  app.site.routes[route] = () => ok({ items: [recipient], page: 0, total: 1 })
  await app.openAsRoot('/admin/messages/edit/1')
  const dialog = app.page.getByRole('dialog')
  const header = dialog.getByRole('columnheader', { name: en('messages.readAt') })
  await header.getByRole('button').click()
  await expect.poll(() => orderOf(route)).toBe('read_at desc')
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending')
  await header.getByRole('button').click()
  await expect.poll(() => orderOf(route)).toBe('read_at asc')
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending')
})

it.each([
  ['/app/inbox', 'inbox.unreadFirst', 'GET /api/user/messages', 'is_read asc'],
  ['/app/wallet', 'wallet.highestFirst', 'GET /api/user/topup/self', 'money desc'],
] as const)('%s is sorted by the choice %s', async (path, choice, route, order) => {
  await app.openAsRoot(path)
  const select = app.page.getByLabel(en('shared.order'), { exact: true }).locator('visible=true')
  await select.last().selectOption({ label: en(choice) })
  await expect.poll(() => orderOf(route)).toBe(order)
})

it('the second page of a list starts after the last row of the first page', async () => {
  const route = 'GET /api/token/'
  const { routes } = app.site
  const rows = Array.from({ length: 25 }, (_, index) => token({ id: 25 - index }))
  routes[route] = ({ query }) => {
    const first = rows.findIndex(({ id }) => String(id) === query.get('after')) + 1
    return ok({ items: rows.slice(first, first + 10), page: Number(query.get('p')), total: 25 })
  }
  await app.openAsRoot('/app/tokens')
  const turn = () => app.page.getByRole('button', { name: en('ui.nextPage'), exact: true }).click()
  const starts = () => app.calls(route).map(({ query }) => [query.get('p'), query.get('after')])
  await turn()
  await expect.poll(() => starts().at(-1)).toEqual(['1', '16'])
  await turn()
  await expect.poll(() => starts().at(-1)).toEqual(['2', '6'])
  await clickHeader(en('shared.quota'))
  await expect.poll(() => starts().at(-1)).toEqual(['0', null])
})
