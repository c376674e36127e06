import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { type FakeSite, ok, STATUS, startFakeSite } from './support/fake-site.ts'
import { LANGUAGES, lookFaults } from './support/looks.ts'
import { openPage } from './support/open-page.ts'

const PAGES = [
  { path: '/', name: 'home' },
  { path: '/login?expired=true', name: 'login' },
  { path: '/register?aff=abc', name: 'register' },
  { path: '/reset', name: 'request-reset' },
  { path: '/user/reset?email=ada@example.com&token=x', name: 'confirm-reset' },
  { path: '/setup', name: 'setup' },
  { path: '/no/such/page', name: 'not-found' },
]

let browser: Browser
let site: FakeSite

beforeAll(async () => {
  browser = await launchBrowser()
  site = await startFakeSite({
    'GET /api/status': () => ok(STATUS),
    'GET /api/setup': () => ok({ status: false, root_init: false, database_type: 'postgres' }),
  })
})

afterAll(async () => {
  await browser.close()
  await site.close()
})

describe('pages before the login', () => {
  for (const language of LANGUAGES) {
    it(`have no fault at any width, in either theme: ${language}`, {
      timeout: 60_000,
    }, async () => {
      const { page, faults, close } = await openPage(browser, { language })
      for (const { path, name } of PAGES) {
        site.routes['GET /api/status'] = () =>
          ok({ ...STATUS, email_verification: true, setup: path !== '/setup' })
        await page.goto(site.url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.locator('form, .tg-home, .tg-message-page').first().waitFor()
        expect(await lookFaults(page, `${name}-${language}`, [1280, 390]), name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    })
  }
})
