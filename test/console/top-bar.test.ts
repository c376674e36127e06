import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Status } from '#read-api/contract/status.ts'
import { launchBrowser } from '#test/support/browser.ts'
import { type FakeSite, ok, STATUS, startFakeSite } from './support/fake-site.ts'
import { LANGUAGES } from './support/looks.ts'
import { openPage, takePicture } from './support/open-page.ts'
import { enter, OWNER } from './usage-log/fake-log.ts'

const WIDTHS = [360, 390, 601, 640, 768, 901]
const DOCS = { docs_link: 'https://docs.example.com' }
const SITES: Readonly<Record<string, Partial<Status>>> = {
  plain: DOCS,
  demo: { demo_site_enabled: true },
  'self-use': { ...DOCS, self_use_mode_enabled: true },
  'long-name': { ...DOCS, system_name: 'A name with nineteen' },
}
const USER = { ...OWNER, username: 'nineteen-characters', display_name: 'nineteen-characters' }

let browser: Browser
let site: FakeSite

beforeAll(async () => {
  browser = await launchBrowser()
  site = await startFakeSite({ 'GET /api/user/self': () => ok(USER) })
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

describe('the top bar', () => {
  for (const language of LANGUAGES) {
    it.each(Object.entries(SITES))(`fits at every width: ${language}, %s`, async (name, status) => {
      site.routes['GET /api/status'] = () => ok({ ...STATUS, ...status })
      const { page, close } = await openPage(browser, { language })
      await enter(page, `${site.url}/about`, { language }, USER)
      const account = page.locator('.tg-account')
      await account.waitFor()
      const faults: string[] = []
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 600 })
        await expect.poll(() => page.evaluate(() => innerWidth)).toBe(width)
        const over = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement
          return scrollWidth - clientWidth
        })
        const box = await account.boundingBox()
        const tallest = await page
          .locator('.tg-top-links a')
          .evaluateAll((links) => Math.max(0, ...links.map((link) => link.clientHeight)))
        if (over > 0) faults.push(`${width}: ${over} px over`)
        if (box === null || box.x + box.width > width) faults.push(`${width}: no account menu`)
        const siteName = status.system_name ?? STATUS.system_name
        const home = page.getByRole('banner').getByRole('link', { name: siteName })
        if ((await home.count()) !== 1) faults.push(`${width}: the way home has no name`)
        const unseen = await page
          .locator('.tg-top-links')
          .evaluateAll((rows) =>
            rows.reduce((sum, row) => sum + row.scrollWidth - row.clientWidth, 0),
          )
        if (unseen > 0) faults.push(`${width}: ${unseen} px of the links are cut`)
        if (tallest > 40) faults.push(`${width}: links wrap`)
        await takePicture(page, `top-bar-${name}-${language}-${width}`)
      }
      await close()
      expect(faults).toEqual([])
    })
  }
})
