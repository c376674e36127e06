import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { sharedBrowser } from '#test/support/browser.ts'
import { openAsRoot, startAdminSite } from './admin-site.ts'
import type { FakeCall, FakeSite } from './fake-site.ts'
import { closeLeftPages, type Look, type OpenPage, pageOpener } from './open-page.ts'

type StartSite = () => Promise<FakeSite>

export type SiteFixture = {
  readonly browser: Browser
  readonly site: FakeSite
  /** Opens a page in a clean profile. The test must close the page and check its faults. */
  readonly openPage: (look?: Look) => Promise<OpenPage>
}

export type PageFixture = SiteFixture & {
  readonly page: Page
  /** The faults of `page`. A test that provokes faults empties this list. */
  readonly faults: string[]
  readonly openAsRoot: (path: string) => Promise<void>
  /** Returns the calls of a route, such as `PUT /api/option/`, in their order. */
  readonly calls: (route: string) => FakeCall[]
  readonly bodies: (route: string) => unknown[]
}

/** Starts one site for a test file. Each test opens pages itself. */
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
    openPage: pageOpener(browser, () => site.url),
  }
}

type PageOptions = Look & {
  /** The default is the site of an admin. */
  readonly startSite?: StartSite
  /** True to share one site between the tests of a file. */
  readonly isSiteShared?: boolean
}

/**
 * Starts for each test a site and an English page in a clean profile.
 * After each test, its pages are closed and must have shown no faults.
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
  const openPage = pageOpener(browser, () => site.url)
  const open = async (look: Look = { language: 'en', ...first }) => {
    const opened = await openPage(look)
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
    const closing = pages
    pages = []
    for (const { close } of closing) await close()
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

/** The number of fixtures of the current file that are in use. */
let fixtures = 0

function browserFixture(): () => Browser {
  let browser: Browser
  beforeAll(async () => {
    fixtures += 1
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    fixtures -= 1
    if (fixtures === 0) await closeLeftPages(browser)
  })
  return () => browser
}
