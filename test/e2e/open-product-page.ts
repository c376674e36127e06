import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page, WebSocket } from 'playwright-core'
import { expect } from 'vitest'
import { sharedBrowser } from '#test/support/browser.ts'
import { en } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD } from '#test/support/test-product.ts'

export type OpenPage = {
  page: Page
  /** Policy violations, errors in the console and failed requests. Tests expect none. */
  faults: string[]
  /**
   * Errors in the console are expected while `perform` runs, because the server is not available.
   */
  whileAway(perform: () => Promise<void>): Promise<void>
  /** Waits until no live connection of the page is being opened, but not for long. */
  liveConnectionsOpened(): Promise<void>
}

/** Collects the page's websockets over which nothing was sent and that have not been closed. */
function watchOpeningSockets(page: Page): ReadonlySet<WebSocket> {
  const opening = new Set<WebSocket>()
  page.on('websocket', (socket) => {
    const opened = () => opening.delete(socket)
    opening.add(socket)
    socket.on('framesent', opened).on('framereceived', opened)
    socket.on('close', opened).on('socketerror', opened)
  })
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) opening.clear()
  })
  return opening
}

/** Opens an English page on the real product in a clean profile, and records all faults. */
export async function openRealPage(browser: Browser, url: string): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1600, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  const openingSockets = watchOpeningSockets(page)
  let isAway = false
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!isAway) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
  })
  return {
    page,
    faults,
    whileAway: async (perform) => {
      isAway = true
      await perform()
      isAway = false
    },
    liveConnectionsOpened: async () => {
      // The end of a connection of an earlier page may never be reported.
      const until = Date.now() + 5_000
      while (openingSockets.size > 0 && Date.now() < until) await delay(50)
    },
  }
}

/**
 * Opens a page on the product at `url` for a test file, in the browser of its worker. After the
 * file, all pages are closed.
 */
export const realPage = (url: () => string) =>
  startedOnce(async () => {
    const browser = await sharedBrowser()
    const open = await openRealPage(browser, url())
    const close = () => Promise.all(browser.contexts().map((context) => context.close()))
    return { ...open, browser, close }
  })

/** Fills in the login form and submits it. */
export async function submitLogin(
  page: Page,
  username: string,
  password = PASSWORD,
): Promise<void> {
  await page.getByLabel(en('auth.username')).fill(username)
  await page.getByRole('textbox', { name: en('auth.password'), exact: true }).fill(password)
  await page
    .getByRole('main')
    .getByRole('button', { name: en('shell.login'), exact: true })
    .click()
}

/** Waits as long as the page may take on a busy machine. */
export const eventually = <Value>(read: () => Value | Promise<Value>) => expect.poll(read)
