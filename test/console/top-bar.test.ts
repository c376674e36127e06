import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Status } from '#read-api/contract/status.ts'
import { LANGUAGES } from './support/accessibility-faults.ts'
import { ROOT_USER } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from './support/fake-site.ts'
import { takePicture } from './support/open-page.ts'
import { enter } from './usage-log/fake-usage-log.ts'

const WIDTHS = [360, 390, 601, 640, 721, 768, 800, 880, 901, 951]
const DOCS = { docs_link: 'https://docs.example.com' }
const LONG = { ...DOCS, system_name: 'Northern Lights Research Gateway of Tromsø' }
const SITES: Readonly<Record<string, Partial<Status>>> = {
  plain: DOCS,
  'long-name': LONG,
  demo: { ...LONG, demo_site_enabled: true },
  'self-use': { ...LONG, self_use_mode_enabled: true },
}
const USER = { ...ROOT_USER, username: 'nineteen-characters', display_name: 'nineteen-characters' }

const app = siteFixture(() => startFakeSite({ 'GET /api/user/self': () => ok(USER) }))

/** Returns the faults of the bar at one width. */
async function faultsAt(page: Page, width: number, siteName: string): Promise<string[]> {
  await page.setViewportSize({ width, height: 600 })
  await expect.poll(() => page.evaluate(() => innerWidth)).toBe(width)
  await expect.poll(() => page.locator('.tg-top-links').count()).toBe(width <= 600 ? 0 : 1)
  const seen = await page.evaluate(() => {
    const root = document.documentElement
    const rows = [...document.querySelectorAll('.tg-top-links')]
    const links = [...document.querySelectorAll('.tg-top-links a')]
    const badge = document.querySelector('.tg-top > .tg-tag')
    const end = document.querySelector('.tg-top-end > :last-child')
    const cut = (element: Element | null) =>
      element === null ? 0 : element.scrollWidth - element.clientWidth
    return {
      over: root.scrollWidth - root.clientWidth,
      unseen: rows.reduce((sum, row) => sum + cut(row), 0),
      badge: cut(badge),
      name: document.querySelector('.tg-top .tg-brand > :last-child')?.clientWidth ?? 0,
      tallest: Math.max(0, ...links.map((link) => link.clientHeight)),
      end: end?.getBoundingClientRect().right ?? 0,
    }
  })
  const home = page.getByRole('banner').getByRole('link', { name: siteName })
  return [
    ...(seen.over > 0 ? [`${width}: ${seen.over} px over`] : []),
    ...(seen.end === 0 || seen.end > width ? [`${width}: no account menu, no way in`] : []),
    ...((await home.count()) !== 1 ? [`${width}: the way home has no name`] : []),
    ...(seen.name < 24 ? [`${width}: nothing of the name is seen`] : []),
    ...(seen.unseen > 0 ? [`${width}: ${seen.unseen} px of the links are cut`] : []),
    ...(seen.badge > 0 && width > 720 ? [`${width}: the badge is cut`] : []),
    ...(seen.tallest > 40 ? [`${width}: links wrap`] : []),
  ]
}

describe('the top bar', () => {
  for (const language of LANGUAGES) {
    it.each(Object.entries(SITES))(`fits at every width: ${language}, %s`, async (name, status) => {
      app.site.routes['GET /api/status'] = () => ok({ ...STATUS, ...status })
      const faults: string[] = []
      for (const end of ['.tg-account', '.tg-top-login']) {
        const { page, close } = await app.openPage({ language })
        if (end === '.tg-account') await enter(page, `${app.site.url}/about`, { language }, USER)
        else await page.goto(`${app.site.url}/about`)
        await page.locator(end).waitFor()
        for (const width of WIDTHS) {
          const siteName = status.system_name ?? STATUS.system_name
          const found = await faultsAt(page, width, siteName)
          faults.push(...found.map((fault) => `${end} ${fault}`))
          await takePicture(page, `top-bar-${name}-${language}-${width}${end}`)
        }
        await close()
      }
      expect(faults).toEqual([])
    })
  }
})
