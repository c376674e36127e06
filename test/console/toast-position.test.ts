import { describe, expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { openAsRoot } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'

const app = pageFixture()

const ROUTES = ['/app/tokens', '/admin/channels', '/admin/users', '/admin/settings', '/pricing']
const BAR = '.tg-save-bar, .tg-drawer-foot, .tg-pagination'

/** The edges of the stack of toasts, from the bottom and from both sides, in pixels. */
const place = () =>
  app.page.locator('.tg-toaster').evaluate((toaster) => {
    const box = toaster.getBoundingClientRect()
    const { innerHeight, innerWidth } = window
    const sides = Math.abs(box.left - (innerWidth - box.right)) < 1
    return { bottom: Math.round(innerHeight - box.bottom), isCentred: sides }
  })

describe('the toasts', () => {
  for (const width of [1280, 390]) {
    it(`appear in one place on every page, with and without a drawer: ${width}`, async () => {
      const { page, site } = app
      await page.setViewportSize({ width, height: 800 })
      for (const route of ROUTES) {
        await openAsRoot(page, site, route)
        expect(await place(), route).toEqual({ bottom: 84, isCentred: true })
      }
      await openAsRoot(page, site, '/app/tokens')
      await page
        .getByRole('button', { name: en('tokens.create') })
        .first()
        .click()
      await page.locator('.tg-drawer-foot').waitFor()
      expect(await place()).toEqual({ bottom: 84, isCentred: true })
    })

    it(`appear above the bars at the bottom of the window: ${width}`, async () => {
      const { page, site } = app
      await page.setViewportSize({ width, height: 800 })
      await openAsRoot(page, site, '/admin/settings')
      await page.locator('.tg-save-bar').waitFor()
      const heights = await page
        .locator(BAR)
        .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height))
      for (const height of heights) expect(height).toBeLessThanOrEqual(84 - 12)
    })
  }
})
