import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { openAsRoot, startAdminSite, TOKENS } from './support/admin-site.ts'
import { type FakeSite, ok } from './support/fake-site.ts'
import { LANGUAGES } from './support/looks.ts'
import { openPage, takePicture } from './support/open-page.ts'

let browser: Browser
let site: FakeSite

beforeAll(async () => {
  browser = await launchBrowser()
  site = await startAdminSite()
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

/** What is wider than its place among these: the texts, and by how much. */
const cutAmong = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.scrollWidth > cell.clientWidth)
        .map((cell) => `${cell.textContent} ${cell.scrollWidth}/${cell.clientWidth}`),
    )

describe.each(LANGUAGES)('at 1280 pixels, in %s', (language) => {
  it('every column of the tokens is in sight, and nothing in it is cut', async () => {
    const [first] = TOKENS
    const now = Math.floor(Date.now() / 1_000)
    const odd = [
      { ...first, expired_time: now - 320, accessed_time: 1, remain_quota: 430, used_quota: 270 },
      { ...first, id: 99, status: 3, expired_time: 1 },
    ]
    const items = [...TOKENS, ...odd]
    site.routes['GET /api/token/'] = () => ok({ items, page: 0, total: items.length })
    const { page, faults, close } = await openPage(browser, { language })
    await page.setViewportSize({ width: 1280, height: 860 })
    await openAsRoot(page, site, '/app/tokens')
    await page.getByText('$0.0009').first().waitFor()
    expect(await cutAmong(page, '.tg-grid')).toEqual([])
    expect(await cutAmong(page, '.tg-grid-body :is(.tg-grid-cell, .tg-tag, code)')).toEqual([])
    await takePicture(page, `tokens-fit-${language}`)
    expect(faults).toEqual([])
    await close()
  })

  it('a tag of channels can be read', async () => {
    const { page, faults, close } = await openPage(browser, { language })
    await page.setViewportSize({ width: 1280, height: 860 })
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('button', { name: /标签聚合|By tag/ }).click()
    await page.locator('.tg-tag-name').first().waitFor()
    expect(await cutAmong(page, '.tg-tag-name .tg-cell-strong')).toEqual([])
    expect(await cutAmong(page, '.tg-grid-body .tg-tag')).toEqual([])
    await takePicture(page, `tags-fit-${language}`)
    expect(faults).toEqual([])
    await close()
  })
})
