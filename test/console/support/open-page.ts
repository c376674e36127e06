import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { BLANK_PATH } from './fake-site.ts'

type Language = 'zh' | 'en'

/** A tab of a separate profile. Tests, also of several files, use it one after the other. */
type Tab = {
  readonly page: Page
  readonly language: Language
  /**
   * Undoes what a test did to the tab and its profile; the HTTP cache, and with it compiled code,
   * is kept. Returns false, and closes the tab, if something remains that cannot be undone.
   */
  reset(siteUrl: string): Promise<boolean>
}

type SocketHandler = Parameters<Page['routeWebSocket']>[1]
type InitScript = Awaited<ReturnType<Page['addInitScript']>>

const EVENTS = ['console', 'pageerror', 'request', 'response', 'websocket', 'dialog'] as const

async function openTab(browser: Browser, language: Language): Promise<Tab> {
  const context = await browser.newContext({ locale: language === 'zh' ? 'zh-CN' : 'en-US' })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const devTools = await context.newCDPSession(page)
  const removeInitScripts = recordInitScripts(page)
  const removeSocketHandlers = replaceSocketHandlers(page)
  const origins = new Set<string>()
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) origins.add(new URL(frame.url()).origin)
  })

  async function undo(siteUrl: string): Promise<boolean> {
    // A test that uses another tab leaves this one blank.
    const isBlank = origins.size === 0 && page.url().endsWith(BLANK_PATH)
    for (const event of EVENTS) page.removeAllListeners(event)
    removeSocketHandlers()
    const popups = context.pages().filter((other) => other !== page)
    // The context's settings can't be changed while a page of it is closing.
    await Promise.all(popups.map((popup) => popup.close()))
    await Promise.all([
      page.unrouteAll({ behavior: 'ignoreErrors' }),
      context.unrouteAll({ behavior: 'ignoreErrors' }),
      context.setOffline(false),
      context.clearPermissions(),
      removeInitScripts(),
    ])
    // A site has several origins if its host has several names.
    const { port } = new URL(siteUrl)
    origins.delete(siteUrl)
    const others = [...origins].filter((origin) => origin.endsWith(`:${port}`))
    // A later file may start a site at the address of another site, whose storage is not cleared.
    let isUnchanged = [...origins].every((origin) => origin === 'null' || others.includes(origin))
    for (const origin of [...others, siteUrl]) {
      // The page's last handlers run while it is left, so its storage is cleared afterwards.
      isUnchanged &&=
        (isBlank || (await isOpened(page, origin + BLANK_PATH))) &&
        (await page.evaluate(clearStorage))
    }
    origins.clear()
    await Promise.all([
      context.clearCookies(),
      page.mouse.move(-1, -1),
      devTools.send('Page.resetNavigationHistory'),
    ])
    return isUnchanged
  }

  return {
    page,
    language,
    reset: async (siteUrl) => {
      const isReset = !page.isClosed() && (await undo(siteUrl))
      if (!isReset) await context.close()
      return isReset
    },
  }
}

const OPEN_ATTEMPTS = 5

/** Reports whether the address was opened. A page that is loading may interrupt this repeatedly. */
async function isOpened(page: Page, address: string): Promise<boolean> {
  for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt += 1) {
    const response = await page.goto(address).catch(() => null)
    if (response !== null) return true
  }
  return false
}

/** Runs in the page. Returns whether it has the clock of the machine, and not one of a test. */
function clearStorage(): boolean {
  localStorage.clear()
  sessionStorage.clear()
  window.name = ''
  return String(setTimeout).includes('[native code]')
}

/** Returns a function that removes the scripts that were added to the page. */
function recordInitScripts(page: Page): () => Promise<unknown> {
  const add = page.addInitScript.bind(page)
  let scripts: InitScript[] = []
  page.addInitScript = async (...given: Parameters<typeof add>) => {
    const script = await add(...given)
    scripts.push(script)
    return script
  }
  return () => {
    const added = scripts
    scripts = []
    return Promise.all(added.map((script) => script.dispose()))
  }
}

/**
 * Makes the socket handlers of the page removable, and returns a function that removes them.
 * Playwright removes none, so each address gets one lasting handler, which calls the latest one.
 */
function replaceSocketHandlers(page: Page): () => void {
  const route = page.routeWebSocket.bind(page)
  const handlers = new Map<string, SocketHandler | null>()
  page.routeWebSocket = async (url, handler) => {
    const address = String(url)
    const isRouted = handlers.has(address)
    handlers.set(address, handler)
    if (isRouted) return
    await route(url, (socket) => {
      const current = handlers.get(address)
      if (current) return current(socket)
      socket.connectToServer()
    })
  }
  return () => {
    for (const address of handlers.keys()) handlers.set(address, null)
  }
}

export type Look = {
  theme?: 'light' | 'dark'
  language?: Language
  width?: number
  /** Whether the page opens in a profile whose HTTP cache is empty. */
  isFirstVisit?: boolean
}

export type OpenPage = {
  page: Page
  /** Policy violations and uncaught errors. */
  faults: string[]
  close(): Promise<void>
}

const ARTIFACTS = resolve(import.meta.dirname, '../../.artifacts')

/** Tabs of closed pages. Test files of one worker hand them on together with the browser. */
const idle: Tab[] = []
const IDLE_TABS_MAX = 4

/**
 * Returns a function that opens a page in one look and in a clean profile, and notes every
 * violation of the page's policy. A closed page leaves its tab to a later page of its language:
 * a new profile would have to read and compile the console again, which takes half of its load.
 */
export function pageOpener(
  browser: () => Browser,
  siteUrl: () => string,
): (look?: Look) => Promise<OpenPage> {
  return async ({ theme = 'light', language = 'zh', width = 1280, isFirstVisit = false } = {}) => {
    const index = isFirstVisit ? -1 : findIdle(language)
    const tab = idle.splice(index, index < 0 ? 0 : 1)[0] ?? (await openTab(browser(), language))
    const { page } = tab
    await page.setViewportSize({ width, height: 860 })
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce', forcedColors: null })
    const faults: string[] = []
    page.on('console', (message) => {
      if (/Content Security|Trusted/i.test(message.text())) faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    let isOpen = true
    const close = async () => {
      if (!isOpen) return
      isOpen = false
      if (!(await tab.reset(siteUrl()))) return
      idle.push(tab)
      if (idle.length > IDLE_TABS_MAX) await idle.shift()?.page.context().close()
    }
    return { page, faults, close }
  }
}

const findIdle = (language: Language): number =>
  idle.findLastIndex((tab) => tab.language === language && !tab.page.isClosed())

/** Closes all contexts that a test file left open, so that they do not slow down later files. */
export async function closeLeftPages(browser: Browser): Promise<void> {
  const kept = new Set(idle.map(({ page }) => page.context()))
  const left = browser.contexts().filter((context) => !kept.has(context))
  await Promise.all(left.map((context) => context.close()))
}

export const takesPictures = process.env.TEST_PICTURES !== undefined

/** Writes a screenshot to `.artifacts/` if `TEST_PICTURES` is set. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return
  mkdirSync(ARTIFACTS, { recursive: true })
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.screenshot({ path: resolve(ARTIFACTS, `${name}.png`) })
}
