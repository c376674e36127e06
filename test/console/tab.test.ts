import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openAsRoot } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { BLANK_PATH } from './support/fake-site.ts'

const app = siteFixture()

/** Opens the blank page, and returns all that an earlier page of the tab could have changed. */
async function stateOf(page: Page): Promise<object> {
  const address = page.url()
  await page.goto(app.site.url + BLANK_PATH)
  const seen = await page.evaluate(async (sitePath) => {
    const isMatched = (query: string) => matchMedia(query).matches
    return {
      stored: [{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name],
      isScripted: 'isScripted' in window,
      size: [innerWidth, innerHeight],
      isDark: isMatched('(prefers-color-scheme: dark)'),
      hasForcedColors: isMatched('(forced-colors: active)'),
      hasLessMotion: isMatched('(prefers-reduced-motion: reduce)'),
      clipboard: (await navigator.permissions.query({ name: 'clipboard-read' as never })).state,
      isOnline: navigator.onLine,
      answer: await fetch(sitePath).then((response) => response.status),
      hasHistory: history.length > 2,
    }
  }, '/api/status')
  const isAtSite = address === 'about:blank' || address === app.site.url + BLANK_PATH
  return { ...seen, isAtSite, tabs: page.context().pages().length }
}

/** Changes all of it, and returns how many responses the test has seen. */
async function changeAll(page: Page): Promise<string[]> {
  const responses: string[] = []
  page.on('response', (response) => responses.push(response.url()))
  await page.context().grantPermissions(['clipboard-read'])
  await page.addInitScript(() => Object.assign(window, { isScripted: true }))
  await page.route('**/api/status', (route) => route.fulfill({ status: 418 }))
  await page.context().route('**/api/notice', (route) => route.abort())
  await page.routeWebSocket('**/api/live', (socket) => void socket.close({ code: 4_000 }))
  await page.goto(app.site.url.replace('127.0.0.1', 'localhost') + BLANK_PATH)
  await page.evaluate(() => localStorage.setItem('user', 'of another name of the host'))
  await page.goto(app.site.url + BLANK_PATH)
  await page.evaluate(async () => {
    await cookieStore.set('session', '1')
    localStorage.setItem('user', 'the one before')
    sessionStorage.setItem('draft', 'kept')
    window.name = 'named'
    addEventListener('pagehide', () => localStorage.setItem('late', 'written while leaving'))
  })
  await page.context().newPage()
  await page.setViewportSize({ width: 390, height: 500 })
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active', reducedMotion: null })
  await page.context().setOffline(true)
  return responses
}

it('a page in a reused tab keeps nothing of the page before, in any origin', async () => {
  const first = await app.openPage({ language: 'en' })
  const fresh = await stateOf(first.page)
  const responses = await changeAll(first.page)
  await first.close()
  const seen = responses.length

  const second = await app.openPage({ language: 'en' })
  expect(second.page).toBe(first.page)
  expect(await stateOf(second.page)).toEqual(fresh)
  expect(responses).toHaveLength(seen)
  const closed = second.page.evaluate(
    () =>
      new Promise((done) => {
        new WebSocket('/api/live').addEventListener('close', ({ code }) => done(code))
      }),
  )
  expect(await closed).not.toBe(4_000)
  await second.page.goto(app.site.url.replace('127.0.0.1', 'localhost') + BLANK_PATH)
  await expect.poll(() => second.page.evaluate(() => localStorage.length)).toBe(0)
  await second.close()
})

it('a reused tab has cached the files of the console, and a first visit has not', async () => {
  const fetched = async (isFirstVisit: boolean) => {
    const { page, close } = await app.openPage({ language: 'en', isFirstVisit })
    await openAsRoot(page, app.site, '/app/tokens')
    const bytes = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.includes('/assets/'))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0),
    )
    await close()
    return bytes
  }
  expect(await fetched(true)).toBeGreaterThan(500_000)
  expect(await fetched(false)).toBeLessThan(50_000)
  expect(await fetched(true)).toBeGreaterThan(500_000)
})

it.each(['install', 'setFixedTime', 'setSystemTime'] as const)(
  'a tab with a clock set by a test is not reused: %s',
  async (method) => {
    const { page, close } = await app.openPage({ language: 'en' })
    if (method === 'install') await page.clock.install({ time: 0 })
    else await page.clock[method](0)
    await close()
    expect(page.isClosed()).toBe(true)
  },
)

it('two simultaneous pages have separate profiles, and so does each language', async () => {
  const opened = [
    await app.openPage({ language: 'en' }),
    await app.openPage({ language: 'en' }),
    await app.openPage({ language: 'zh' }),
  ]
  expect(new Set(opened.map(({ page }) => page.context())).size).toBe(3)
  const languages = opened.map(({ page }) => page.evaluate(() => navigator.language))
  expect(await Promise.all(languages)).toEqual(['en-US', 'en-US', 'zh-CN'])
  for (const { close } of opened) await close()
})
