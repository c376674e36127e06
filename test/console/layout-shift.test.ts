import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ROOT_USER } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { fakeLive } from './support/fake-live-socket.ts'
import { BLANK_PATH } from './support/fake-site.ts'
import { startWholeSite } from './support/site-with-data-on-every-page.ts'

const ROUTES = new URL('../../console/app/routes.tsx', import.meta.url)
const WIDTHS = [390, 768, 1280]
const REFUSED_EXAMPLES = ['/admin/users', '/admin/messages']
const DELAY_MS = 150
/** Longer than the pause between a response and the request that follows it. */
const QUIET_MS = 2 * DELAY_MS
const PAGES_AT_ONCE = 4
/** Four pages that load at the same time take long on a busy machine. */
const GOTO_MS_MAX = 90_000
/** The limit for a good page (web.dev/cls). */
const CLS_MAX = 0.1

type Shift = { readonly value: number; readonly startTime: number; readonly moved: string }

const app = siteFixture(async () => {
  const site = await startWholeSite(DELAY_MS)
  site.delays.scriptMs = DELAY_MS
  return site
})

/**
 * The paths of the router, with 1 in the place of an id. Public pages are alike for all users. The
 * pages of admins show all other users the same refusal, or lead to the home page in the case of
 * messages, so the user's run opens one page of each kind.
 */
function routePaths(isAdmin: boolean): string[] {
  const source = readFileSync(ROUTES, 'utf8')
  const start = isAdmin ? 0 : source.indexOf('const CONSOLE_PAGES')
  const literals = source.slice(start).matchAll(/'(\/(?:[a-z0-9][a-z0-9/:?-]*)?)'/g)
  const paths = [...literals].map(([, path = '']) => path.replace(/:id\??/, '1'))
  const isRefused = (path: string) => /^\/(admin|channel)\/|^\/user\/edit\/1/.test(path)
  return [...new Set(paths)].filter(
    (path) => isAdmin || !isRefused(path) || REFUSED_EXAMPLES.includes(path),
  )
}

/** Records each layout shift that no input caused, and the elements that moved. */
function recordShifts(): void {
  const shifts: Shift[] = []
  Object.assign(window, { shifts })
  type Entry = PerformanceEntry & {
    value: number
    hadRecentInput: boolean
    sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[]
  }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Entry[]) {
      if (entry.hadRecentInput) continue
      const moved = entry.sources.map(({ node, previousRect: from, currentRect: to }) => {
        const name = node instanceof Element ? node.className || node.tagName : node?.textContent
        return `${name} ${Math.round(from.top)}→${Math.round(to.top)}`
      })
      const { value, startTime } = entry
      shifts.push({ value, startTime, moved: moved.slice(0, 3).join(', ') })
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Cumulative layout shift: the largest sum of shifts less than 1 s apart, within 5 s. */
function cumulativeShift(shifts: readonly Shift[]): number {
  let [largest, sum, first, last] = [0, 0, 0, Number.NEGATIVE_INFINITY]
  for (const { value, startTime } of shifts) {
    if (startTime - last > 1_000 || startTime - first > 5_000) [sum, first] = [0, startTime]
    sum += value
    last = startTime
    largest = Math.max(largest, sum)
  }
  return largest
}

/** The tabs of one profile. */
type Tabs = {
  readonly pages: readonly Page[]
  /** Makes the profile new, and its windows as wide as asked. The processes are kept. */
  reset(width: number): Promise<void>
}

async function openTabs(user: object): Promise<Tabs> {
  const context = await app.browser.newContext({ locale: 'en-US', timezoneId: 'UTC' })
  await context.addInitScript(recordShifts)
  await context.addInitScript((stored) => {
    localStorage.setItem('user', stored)
    localStorage.setItem('i18nextLng', 'en')
  }, JSON.stringify(user))
  const pages: Page[] = []
  for (let n = 0; n < PAGES_AT_ONCE; n += 1) {
    const page = await context.newPage()
    await fakeLive(page)
    pages.push(page)
  }
  const reset = async (page: Page, width: number): Promise<void> => {
    await page.goto(app.site.url + BLANK_PATH)
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    const devTools = await context.newCDPSession(page)
    await devTools.send('Network.clearBrowserCache')
    await devTools.detach()
    await page.setViewportSize({ width, height: width < 600 ? 844 : 800 })
  }
  return {
    pages,
    reset: async (width) => void (await Promise.all(pages.map((page) => reset(page, width)))),
  }
}

/**
 * Waits until a page has sent no new request for `QUIET_MS`. Chromium's own idle state is not used,
 * because on a busy machine it may never report the end of a request.
 */
async function waitUntilQuiet(page: Page): Promise<void> {
  await page.waitForFunction(
    (quietMs) => {
      const seen = window as unknown as { loaded?: number; quietSince?: number }
      const loaded = performance.getEntriesByType('resource').length
      if (loaded !== seen.loaded) Object.assign(seen, { loaded, quietSince: performance.now() })
      return performance.now() - (seen.quietSince ?? 0) > quietMs
    },
    QUIET_MS,
    { polling: 50, timeout: GOTO_MS_MAX },
  )
}

/**
 * Opens a page and waits until it has all its data. Returns a description of its shifts if they
 * exceed the limit.
 */
async function excessOf(page: Page, path: string): Promise<string | null> {
  await page.goto(app.site.url + path, { timeout: GOTO_MS_MAX })
  await waitUntilQuiet(page)
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  const shifts = await page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts)
  const sum = cumulativeShift(shifts)
  if (sum < CLS_MAX) return null
  const worst = shifts
    .filter(({ value }) => value > 0.02)
    .map(({ value, moved }) => `${value.toFixed(3)} ${moved}`)
  return `${sum.toFixed(3)} = ${worst.join(' + ')}`
}

/** The tabs of each user, by the user's id. */
const openedTabs = new Map<number, Promise<Tabs>>()

function tabsOf(user: typeof ROOT_USER): Promise<Tabs> {
  const tabs = openedTabs.get(user.id) ?? openTabs(user)
  openedTabs.set(user.id, tabs)
  return tabs
}

/**
 * Returns the routes that shift more than a good page. The first page that needs a script gets it
 * as late as its data, because the profile is new. Tabs are reused, because a new process compiles
 * the console again, which takes most of the CPU time of a page.
 */
async function excesses(width: number, user: typeof ROOT_USER): Promise<Record<string, string>> {
  const { pages, reset } = await tabsOf(user)
  await reset(width)
  const isAdmin = user.role > 1
  const paths = routePaths(isAdmin)
  expect(paths.length).toBeGreaterThan(isAdmin ? 35 : 12)
  const found: Record<string, string> = {}
  const openPages = async (page: Page): Promise<void> => {
    for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
      const excess = await excessOf(page, path)
      if (excess !== null) found[path] = excess
    }
  }
  await Promise.all(pages.map(openPages))
  return found
}

const USERS = { 'an admin': ROOT_USER, 'a user': { ...ROOT_USER, id: 5, username: 'mia', role: 1 } }

describe.each(WIDTHS)('layout shifts at %i px', (width) => {
  for (const [name, user] of Object.entries(USERS)) {
    it(`no page shifts while its data arrive, for ${name}`, { timeout: 180_000 }, async () => {
      expect(await excesses(width, user)).toEqual({})
    })
  }
})

it('the fake site has an answer for every request of these pages', () => {
  const missing = app.site.calls.filter(
    ({ method, path }) => app.site.routes[`${method} ${path}`] === undefined,
  )
  expect([...new Set(missing.map(({ method, path }) => `${method} ${path}`))]).toEqual([])
})
