import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { openAsRoot, startAdminSite } from './admin-site.ts'
import type { FakeCall, FakeSite } from './fake-site.ts'
import { type Look, type OpenPage, openPage } from './open-page.ts'

type StartSite = () => Promise<FakeSite>

export type SiteFixture = {
  readonly browser: Browser
  readonly site: FakeSite
  /** Opens a page in a clean profile. The test closes it and checks its faults. */
  readonly openPage: (look?: Look) => Promise<OpenPage>
}

export type PageFixture = SiteFixture & {
  /** The page that was opened last. */
  readonly page: Page
  /** Its faults so far. A test that provokes some empties the list. */
  readonly faults: string[]
  /** Opens a path of the console as the super admin, who is logged in already. */
  readonly openAsRoot: (path: string) => Promise<void>
  /** The calls of one route, such as `PUT /api/option/`, in the order in which they arrived. */
  readonly calls: (route: string) => FakeCall[]
  readonly bodies: (route: string) => unknown[]
}

/** Starts one browser and one site for all tests of a file. Each test opens its own pages. */
export function siteFixture(startSite: StartSite = startAdminSite): SiteFixture {
  const browser = browserFixture()
  let site: FakeSite
  beforeAll(async () => {
    site = await startSite()
  })
  afterAll(() => site.close())
  return {
    get browser() {
      return browser()
    },
    get site() {
      return site
    },
    openPage: (look) => openPage(browser(), look),
  }
}

type PageOptions = Look & {
  /** Starts the site of an admin by default. */
  readonly startSite?: StartSite
  /** Whether the tests of a file share one site. Otherwise each test has its own. */
  readonly isSiteShared?: boolean
}

/**
 * Starts one browser for a file, and for each test a site and an English page in a clean profile.
 * After a test every page that it opened is closed, and must not have shown any fault.
 */
export function pageFixture(options: PageOptions = {}): PageFixture {
  const { startSite = startAdminSite, isSiteShared = false, ...first } = options
  const browser = browserFixture()
  let site: FakeSite
  let pages: OpenPage[] = []
  const [beforeSite, afterSite] = isSiteShared ? [beforeAll, afterAll] : [beforeEach, afterEach]
  beforeSite(async () => {
    site = await startSite()
  })
  afterSite(() => site.close())
  const open = async (look: Look = { language: 'en', ...first }) => {
    const opened = await openPage(browser(), look)
    pages.push(opened)
    return opened
  }
  const current = () => {
    const opened = pages.at(-1)
    if (opened === undefined) throw new Error('no test is running')
    return opened
  }
  const calls = (route: string) =>
    site.calls.filter(({ method, path }) => `${method} ${path}` === route)
  beforeEach(async () => {
    await open()
  })
  afterEach(async () => {
    const faults = pages.flatMap((opened) => opened.faults)
    for (const { close } of pages) await close()
    pages = []
    expect(faults).toEqual([])
  })
  return {
    get browser() {
      return browser()
    },
    get site() {
      return site
    },
    get page() {
      return current().page
    },
    get faults() {
      return current().faults
    },
    openPage: open,
    openAsRoot: (path) => openAsRoot(current().page, site, path),
    calls,
    bodies: (route) => calls(route).map(({ body }) => body),
  }
}

function browserFixture(): () => Browser {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())
  return () => browser
}
