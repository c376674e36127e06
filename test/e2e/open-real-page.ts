import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'

export type OpenPage = {
  page: Page
  /** Policy violations, errors in the console, failed requests: none are allowed. */
  faults: string[]
  /** While it runs, errors in the console are no faults: the server is away. */
  whileAway(act: () => Promise<void>): Promise<void>
}

/** A page in English on the real product, in a clean profile, that notes all that goes wrong. */
export async function openRealPage(browser: Browser, url: string): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1600, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const faults: string[] = []
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
    whileAway: async (act) => {
      isAway = true
      await act()
      isAway = false
    },
  }
}

/** Waits as long as the page itself may take on a busy machine. */
export const eventually = <Value>(read: () => Value | Promise<Value>) => expect.poll(read)
