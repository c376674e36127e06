import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en } from '#test/support/console-texts.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { startFakeSite } from '../support/fake-site.ts'
import { type Look, takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'

const app = siteFixture(() => startFakeSite(logRoutes(() => rows)))
let rows: LogEntry[] = []

async function open(look: Look = {}, query = '') {
  const asked = { language: 'en', ...look } as const
  const opened = await app.openPage(asked)
  await opened.page.setViewportSize({ width: asked.width ?? 1280, height: 800 })
  const live = await fakeLive(opened.page)
  await enter(opened.page, app.site.url + PATH + query, asked)
  await opened.page.locator('.tg-grid-item').first().waitFor()
  return { ...opened, live }
}

const expander = (page: Page, index: number) =>
  page.locator(`.tg-grid-item[data-index="${index}"]`).locator('.tg-grid-expander, .tg-card-more')

const topOf = (page: Page, index: number) =>
  page
    .locator(`.tg-grid-item[data-index="${index}"]`)
    .evaluate((row) => Math.round(row.getBoundingClientRect().top))

/** Returns how many pixels of the details a scrolling box hides. */
const hiddenDetails = (page: Page): Promise<number> =>
  page
    .locator('.tg-grid-details')
    .first()
    .evaluate((details) => {
      let hidden = 0
      const { top, bottom } = details.getBoundingClientRect()
      for (let box = details.parentElement; box !== null; box = box.parentElement) {
        if (box === document.body || box === document.documentElement) break
        if (getComputedStyle(box).overflowY === 'visible') continue
        const edges = box.getBoundingClientRect()
        hidden = Math.max(hidden, edges.top - top, bottom - edges.bottom)
      }
      return Math.round(hidden)
    })

const details = (page: Page) => page.locator('.tg-log-details:not(.tg-log-details-wait)').first()

describe('the details of a call', () => {
  for (const [width, index] of [
    [1280, 0],
    [1280, 11],
    [390, 2],
  ] as const) {
    it(`need only the page to scroll: row ${index} at ${width} px`, async () => {
      rows = manyRows(45)
      const { page, faults, close } = await open({ width })
      await expander(page, index).scrollIntoViewIfNeeded()
      const before = await topOf(page, index)
      await expander(page, index).click()
      await details(page).waitFor()
      expect(await topOf(page, index)).toBe(before)
      await expect.poll(() => hiddenDetails(page)).toBe(0)
      await takePicture(page, `log-opened-${width}-${index}`)
      const pager = page.getByRole('button', { name: en('ui.nextPage') })
      // The page can grow after a scroll, when rows are measured for the first time.
      const scrollToEnd = () =>
        pager.evaluate((button) => {
          window.scrollTo({ top: document.body.scrollHeight })
          return button.getBoundingClientRect().bottom
        })
      await expect.poll(scrollToEnd).toBeLessThan(800)
      await page.locator('.tg-grid-item[data-index="19"]').waitFor()
      await takePicture(page, `log-opened-${width}-${index}-end`)
      expect(faults).toEqual([])
      await close()
    })
  }

  it('keep their row in its place when the list is scrolled and when they close', async () => {
    rows = manyRows(100)
    const { page, close } = await open({}, '?page_size=100')
    const grid = page.getByRole('grid')
    await grid.evaluate((box) => box.scrollTo({ top: 1_500 }))
    await expander(page, 50).waitFor()
    const before = await topOf(page, 50)
    await expander(page, 50).click()
    await details(page).waitFor()
    await expect.poll(() => topOf(page, 50)).toBe(before)
    await expect.poll(() => grid.evaluate((box) => box.scrollTop)).toBe(0)
    await expander(page, 50).click()
    await details(page).waitFor({ state: 'detached' })
    await expect.poll(() => topOf(page, 50)).toBe(before)
    await close()
  })

  it('keep the list virtual and its header visible', async () => {
    rows = manyRows(100)
    const { page, close } = await open({}, '?page_size=100')
    await expander(page, 0).click()
    await details(page).waitFor()
    const height = await page.evaluate(() => document.documentElement.scrollHeight)
    expect(height).toBeGreaterThan(100 * 34)
    for (const share of [0.25, 0.5, 0.75, 1]) {
      await page.evaluate((top) => window.scrollTo({ top }), height * share)
      const seen = () =>
        page.evaluate(() => {
          const [x, y] = [window.innerWidth / 2, window.innerHeight / 3]
          return document.elementFromPoint(x, y)?.closest('.tg-grid-item') !== null
        })
      await expect.poll(seen).toBe(true)
      await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
      const headTop = async () => (await page.locator('.tg-grid-head').boundingBox())?.y
      await expect.poll(headTop).toBe(52)
    }
    await close()
  })

  it('can be reached by keys, and the rows after them scroll into view', async () => {
    rows = manyRows(45)
    const { page, close } = await open()
    await page.getByRole('grid').focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Space')
    await details(page).waitFor()
    for (let row = 0; row < 15; row += 1) await page.keyboard.press('j')
    const active = page.locator('.tg-grid-row-active')
    const bottom = () => active.evaluate((row) => row.getBoundingClientRect().bottom)
    await expect.poll(bottom).toBeLessThanOrEqual(800)
    for (let row = 0; row < 15; row += 1) await page.keyboard.press('k')
    const top = () => active.evaluate((row) => row.getBoundingClientRect().top)
    await expect.poll(top).toBeGreaterThanOrEqual(52 + 36)
    await close()
  })

  it('do not move when new calls arrive, because those wait', async () => {
    rows = manyRows(45)
    const { page, live, close } = await open()
    await expect.poll(() => live.connections()).toBe(1)
    await expander(page, 3).click()
    await details(page).waitFor()
    await page.mouse.move(4, 4)
    await page.getByRole('heading', { level: 1 }).click()
    const before = await topOf(page, 3)
    live.sendCalls(logRow(100), logRow(101))
    await page.getByRole('button', { name: en('usageLog.newRows', { text: '2' }) }).click()
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('48')
    expect(await topOf(page, 5)).toBe(before)
    await close()
  })
})
