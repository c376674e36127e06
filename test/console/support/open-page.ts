import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'

export type Look = { theme?: 'light' | 'dark'; language?: 'zh' | 'en'; width?: number }

export type OpenPage = {
  page: Page
  /** Policy violations and uncaught errors. */
  faults: string[]
  close(): Promise<void>
}

const ARTIFACTS = resolve(import.meta.dirname, '../../.artifacts')

/** Opens a page in a clean profile and records policy violations. */
export async function openPage(browser: Browser, look: Look = {}): Promise<OpenPage> {
  const { theme = 'light', language = 'zh', width = 1280 } = look
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: theme,
    locale: language === 'zh' ? 'zh-CN' : 'en-US',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const faults: string[] = []
  page.on('console', (message) => {
    if (/Content Security|Trusted/i.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  return { page, faults, close: () => context.close() }
}

export const takesPictures = process.env.TEST_PICTURES !== undefined

/** Writes a screenshot to `.artifacts/` if `TEST_PICTURES` is set. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return
  mkdirSync(ARTIFACTS, { recursive: true })
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.screenshot({ path: resolve(ARTIFACTS, `${name}.png`) })
}
