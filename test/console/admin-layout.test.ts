import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { en, startingWith } from '#test/support/console-texts.ts'
import { openAsRoot, token } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { contrast } from './support/contrast.ts'
import { ok } from './support/fake-site.ts'

const app = pageFixture()
const HEIGHT = 860

const sizeTo = (width: number) => app.page.setViewportSize({ width, height: HEIGHT })
type Figure = number | string
const rangeText = (from: Figure, to: Figure, total: Figure) => en('ui.rangeOf', { from, to, total })
const boxOf = async (place: Locator) =>
  (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }

describe('the layout at each width', () => {
  it('a width of 600 px shows cards and a menu button like a phone', async () => {
    const { page, site } = app
    await sizeTo(600)
    await openAsRoot(page, site, '/admin/channels')
    await page.locator('.tg-card').first().waitFor()
    await page.getByRole('button', { name: en('shell.openMenu') }).waitFor()
    await expect.poll(() => page.locator('.tg-sidebar').count()).toBe(0)
  })

  it('a width of 768 px has a slim sidebar, and one press shows its labels', async () => {
    const { page, site } = app
    await sizeTo(768)
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('grid').waitFor()
    await expect.poll(async () => (await boxOf(page.locator('.tg-sidebar'))).width).toBe(60)
    await page.getByRole('button', { name: en('shell.expand') }).click()
    await page
      .getByRole('dialog')
      .getByRole('link', { name: en('shell.tokens') })
      .click()
    await page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await sizeTo(1280)
    await expect.poll(async () => (await boxOf(page.locator('.tg-sidebar'))).width).toBe(200)
  })

  it.each(['/app/tokens', '/admin/channels', '/admin/settings'])(
    'the search field fills the width of a phone: %s',
    async (path) => {
      const { page, site } = app
      await sizeTo(390)
      await openAsRoot(page, site, path)
      const search = page.getByRole('searchbox').first()
      await search.waitFor()
      const room = await boxOf(page.locator('.tg-toolbar').first())
      await expect.poll(async () => (await boxOf(search)).width).toBe(room.width)
      expect(room.width).toBeGreaterThan(300)
    },
  )
})

describe('a list', () => {
  it('shows a shadow where more columns continue under the pinned column', async () => {
    const { page, site } = app
    await sizeTo(1000)
    await openAsRoot(page, site, '/admin/channels')
    const last = page.locator('.tg-grid-body .tg-grid-row > :last-child').first()
    const shadow = () => last.evaluate((cell) => getComputedStyle(cell).boxShadow)
    await expect.poll(shadow).not.toBe('none')
    await page.getByRole('grid').evaluate((grid) => grid.scrollTo({ left: 9_999 }))
    await expect.poll(shadow).toBe('none')
    await sizeTo(1280)
    await page.getByRole('link', { name: en('shell.settings'), exact: true }).click()
    await page.getByRole('gridcell', { name: 'gpt-4o', exact: true }).waitFor()
    await expect.poll(() => page.locator('.tg-grid[data-more]').count()).toBe(0)
  })

  it('has no page buttons when it is empty', async () => {
    const { page, site } = app
    site.routes['GET /api/token/'] = () => ok({ items: [], page: 0, total: 0 })
    await openAsRoot(page, site, '/app/tokens')
    await page.getByText(en('tokens.noneTitle')).waitFor()
    await expect.poll(() => page.getByRole('button', { name: en('ui.nextPage') }).count()).toBe(0)
  })

  it('has buttons for the first and last page and shows its position, also on phones', async () => {
    const { page, site } = app
    const items = [token({})]
    site.routes['GET /api/token/'] = ({ query }) =>
      ok({ items, page: Number(query.get('p') ?? 0), total: 1_015 })
    await openAsRoot(page, site, '/app/tokens')
    const press = (name: string) => page.getByRole('button', { name, exact: true })
    await page.getByText(en('ui.pageOf', { page: 1, pages: 102 })).waitFor()
    await expect.poll(() => press(en('ui.firstPage')).isDisabled()).toBe(true)
    await press(en('ui.lastPage')).click()
    await page.getByText(en('ui.pageOf', { page: 102, pages: 102 })).waitFor()
    await expect.poll(() => press(en('ui.lastPage')).isDisabled()).toBe(true)
    await sizeTo(390)
    const pagination = page.locator('.tg-pagination')
    await expect.poll(async () => (await boxOf(pagination)).height).toBeLessThan(70)
    const topOf = async (name: string) => (await boxOf(press(name))).y
    await expect
      .poll(async () => (await topOf(en('ui.lastPage'))) - (await topOf(en('ui.firstPage'))))
      .toBe(0)
    const range = page.getByText(rangeText('1,011', '1,015', '1,015'))
    expect((await boxOf(range)).height).toBeLessThan(24)
    await press(en('ui.firstPage')).click()
    await page.getByText(rangeText(1, 10, '1,015')).waitFor()
  })

  it('shows its last page instead of one that is gone, and Back never leads there', async () => {
    const { page, site } = app
    let total = 21
    site.routes['GET /api/token/'] = ({ query }) => {
      const p = Number(query.get('p') ?? 0)
      return ok({ items: p * 10 < total ? [token({})] : [], page: p, total })
    }
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('button', { name: en('ui.nextPage') }).click()
    await page.getByText(en('ui.pageOf', { page: 2, pages: 3 })).waitFor()
    await page.goto(`${new URL(page.url()).origin}/app/tokens?page=9999`)
    await page.getByText(rangeText(21, 21, 21)).waitFor()
    expect(new URL(page.url()).searchParams.get('page')).not.toBe('9999')
    total = 20
    await page.reload()
    await page.getByText(rangeText(11, 20, 20)).waitFor()
    await expect.poll(() => page.getByText(en('tokens.noneTitle')).count()).toBe(0)
    await page.goBack()
    await page.getByText(en('ui.pageOf', { page: 2, pages: 2 })).waitFor()
  })

  it('has its resize handles in the middle of the header', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('grid').waitFor()
    const head = await boxOf(page.locator('.tg-grid-head'))
    for (const mark of await page.locator('.tg-grid-resizer').all()) {
      const box = await boxOf(mark)
      const middle = box.y + box.height / 2 - (head.y + head.height / 2)
      expect(Math.abs(middle)).toBeLessThanOrEqual(1)
    }
  })
})

describe('the settings page', () => {
  it('a toast covers neither the save bar nor the title', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/settings')
    await page.getByRole('button', { name: en('shared.saveSettings') }).click()
    const toast = await boxOf(page.locator('.tg-toast'))
    const bar = await boxOf(page.locator('.tg-save-bar'))
    expect(toast.height).toBeGreaterThan(0)
    expect(toast.y + toast.height).toBeLessThan(bar.y)
    const title = await page.getByRole('heading', { level: 1 }).evaluate((heading) => {
      const words = document.createRange()
      words.selectNodeContents(heading)
      return words.getBoundingClientRect().right
    })
    expect(toast.x).toBeGreaterThan(title)
  })

  it('a negative price shows an error, and required fields are marked', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/settings')
    await page.getByRole('button', { name: en('pricing.addModel') }).click()
    const input = page.getByLabel(startingWith(en('pricing.inputPriceLabel')))
    const output = page.getByLabel(startingWith(en('pricing.outputPriceLabel')))
    await expect.poll(() => input.getAttribute('aria-required')).toBe('true')
    await expect.poll(() => output.getAttribute('aria-required')).toBeNull()
    await page.getByLabel(startingWith(en('pricing.modelName'))).fill('mine')
    await input.fill('1')
    await output.fill('-1')
    await page.getByRole('button', { name: en('timeRange.apply') }).click()
    await page.getByText(en('shared.error.negative')).waitFor()
    await output.fill('2')
    await page.getByRole('button', { name: en('timeRange.apply') }).click()
    await page.getByText(en('settings.changes', { count: 2 })).waitFor()
    await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
  })

  it('a site without channels does not claim that every model has a price', async () => {
    const { page, site } = app
    site.routes['GET /api/channel/models_enabled'] = () => ok([])
    await openAsRoot(page, site, '/admin/settings?prices=unset')
    await page.getByText(en('pricing.unservedTitle')).waitFor()
    await page
      .getByRole('main')
      .getByRole('link', { name: en('shared.toChannels') })
      .click()
    await page.getByRole('heading', { level: 1, name: en('shell.channels') }).waitFor()
  })

  it.each(['light', 'dark'] as const)('the selected part stands out: %s', async (colorScheme) => {
    const { page, site } = app
    await page.emulateMedia({ colorScheme })
    await openAsRoot(page, site, '/admin/settings')
    const parts = page.locator('.tg-segmented').first()
    await parts.waitFor()
    const [selected = '', other = ''] = await parts.evaluate((group) => {
      const pressed = group.querySelector('[aria-pressed="true"]') ?? group
      return [getComputedStyle(pressed).boxShadow, getComputedStyle(group).backgroundColor]
    })
    expect(contrast(selected, other)).toBeGreaterThanOrEqual(3)
  })
})

describe('a relative time', () => {
  it('counts from the current time after a pause, and is never in the future', async () => {
    const { page, site } = app
    const start = Math.floor(Date.now() / 1000)
    await page.clock.install({ time: start * 1000 })
    await openAsRoot(page, site, '/admin/settings')
    await page.clock.runFor(60_000)
    const used = (id: number, name: string, accessed_time: number) =>
      token({ id, name, accessed_time })
    site.routes['GET /api/token/'] = () => {
      const items = [used(1, 'past', start + 20), used(2, 'ahead', start + 600)]
      return ok({ items, page: 0, total: 2 })
    }
    await page.getByRole('link', { name: en('shell.tokens') }).click()
    const row = (name: string) => page.getByRole('row', { name }).locator('.tg-time')
    await expect.poll(() => row('past').innerText()).toMatch(/^4\d sec\. ago$/)
    await expect.poll(() => row('ahead').innerText()).toBe('now')
  })

  it('updates as soon as its browser tab becomes visible', async () => {
    const { page, site } = app
    const start = Math.floor(Date.now() / 1000)
    await page.clock.install({ time: start * 1000 })
    site.routes['GET /api/token/'] = () =>
      ok({ items: [token({ accessed_time: start - 5 })], page: 0, total: 1 })
    await openAsRoot(page, site, '/app/tokens')
    const time = page.getByRole('row', { name: 'production' }).locator('.tg-time')
    await time.waitFor()
    const hide = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await hide(true)
    await page.clock.runFor(180_000)
    await expect.poll(() => time.innerText()).toMatch(/sec\. ago/)
    await hide(false)
    await expect.poll(() => time.innerText()).toBe('3 min. ago')
  })
})
