import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type Language, openTab, type Tab } from './tab.ts'

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
