import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { startAdminSite } from './admin-site.ts'
import type { FakeSite } from './fake-site.ts'
import { type Look, type OpenPage, openPage } from './open-page.ts'

export type AdminSuite = { browser: Browser; site: FakeSite; page: Page }

/** One browser for a file; for each test a fresh site of an admin, and a page without faults. */
export function adminSuite(look: Look = { language: 'en' }): AdminSuite {
  const suite = {} as AdminSuite
  let open: OpenPage
  beforeAll(async () => {
    suite.browser = await launchBrowser()
  })
  afterAll(() => suite.browser.close())
  beforeEach(async () => {
    suite.site = await startAdminSite()
    open = await openPage(suite.browser, look)
    suite.page = open.page
  })
  afterEach(async () => {
    expect(open.faults).toEqual([])
    await open.close()
    await suite.site.close()
  })
  return suite
}
