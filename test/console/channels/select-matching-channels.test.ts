import { expect, it } from 'vitest'
import { textPattern, zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'

const app = pageFixture({ language: 'zh' })

const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const boxes = () => app.page.getByRole('checkbox', { name: zh('ui.selectRow') })

/** Serves `count` channels, page by page. */
function serve(count: number): void {
  let all = Array.from({ length: count }, (_, n) => channel({ id: n + 1, name: `c-${n + 1}` }))
  Object.assign(app.site.routes, channelRoutes(all), {
    'GET /api/channel/': ({ query }: { query: URLSearchParams }) => {
      const size = Number(query.get('page_size'))
      const page = Number(query.get('p'))
      const items = all.slice(page * size, (page + 1) * size)
      return ok({ items, page, total: all.length })
    },
    'DELETE /api/channel/2/': () => {
      all = all.filter(({ id }) => id !== 2)
      return ok(null)
    },
  })
}
const openBatch = async () => {
  await app.openAsRoot('/admin/channels')
  await button(zh('channels.bulkMode')).click()
  await boxes().first().waitFor()
}
/** Serves `count` channels, and selects all of them. */
const chooseAllOf = async (count: number) => {
  serve(count)
  await openBatch()
  await boxes().first().click()
  await button(zh('ui.selectMatching', { count })).click()
  await app.page.getByText(zh('ui.selectedCount', { count })).waitFor()
}
const sentIds = () =>
  app.site.calls
    .filter(({ path, method }) => method === 'POST' && path === '/api/channel/batch/status')
    .map(({ body }) => (body as { ids: number[] }).ids.length)

it('selecting all matches includes other pages, and one call acts on all of them', async () => {
  const { page } = app
  await chooseAllOf(347)
  await takePicture(page, 'channels-selected-all')
  await boxes().nth(2).click()
  await page.getByText(zh('ui.selectedCount', { count: 346 })).waitFor()
  // The request must not contain a deleted channel, because it would be refused as a whole.
  await button(zh('shared.moreActions', { name: 'c-2' })).click()
  await page.getByRole('menuitem', { name: zh('shared.delete') }).click()
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: zh('shared.delete') })
    .click()
  await page.getByText(zh('ui.selectedCount', { count: 345 })).waitFor()
  await button(zh('shared.disableSelected')).click()
  await page.getByText(zh('channels.disabledMany', { count: 345 })).waitFor()
  expect(sentIds()).toEqual([345])
  await expect.poll(() => page.getByText(textPattern('zh', 'ui.selectedCount')).count()).toBe(0)
})

it('a selection made under one filter is dropped under another', async () => {
  const { page } = app
  await chooseAllOf(347)
  await page.goto(`${app.site.url}/admin/channels?status=1`)
  await button(zh('channels.bulkMode')).click()
  await boxes().first().waitFor()
  await expect.poll(() => page.getByText(textPattern('zh', 'ui.selectedCount')).count()).toBe(0)
  await boxes().first().click()
  await button(zh('ui.selectMatching', { count: 347 })).click()
  await button(zh('ui.clearSelection')).click()
  await expect.poll(() => page.getByText(textPattern('zh', 'ui.selectedCount')).count()).toBe(0)
})

it('selecting all matches is not offered for more channels than one call may name', async () => {
  serve(1_001)
  await openBatch()
  await boxes().first().click()
  await expect
    .poll(() => app.page.getByText(textPattern('zh', 'ui.selectMatching')).count())
    .toBe(0)
})

it('the server sorts the list by response time and by balance', async () => {
  const { page, site } = app
  await openAsRoot(page, site, '/admin/channels')
  for (const [title, sort] of [
    [zh('channels.responseTime'), 'response_time'],
    [zh('shared.balance'), 'balance'],
  ] as const) {
    await page.getByRole('columnheader', { name: title }).getByRole('button').first().click()
    const sorts = () => site.calls.map(({ query }) => query.get('sort'))
    await expect.poll(sorts).toContain(sort)
  }
})
