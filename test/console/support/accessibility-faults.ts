import type { Page } from 'playwright-core'
import { axeFaults, contrastFaults } from './axe.ts'
import { takePicture, takesPictures } from './open-page.ts'

export const LANGUAGES = ['zh', 'en'] as const
export const WIDTHS = [1280, 600, 390] as const
/** Additional widths at which the page must not scroll sideways. */
const BETWEEN = [1024, 768, 360] as const
const HEIGHT = 860

/**
 * Returns the faults of the screen at every width, one line each: axe's rules in the light theme,
 * contrast also in the dark theme, and sideways scrolling of the page. Leaves the page as it was.
 * `part` is a selector that limits axe to a part of the page.
 * A test in both languages ends its `name` with the language. Contrast is then checked only in
 * Chinese, because colors do not depend on the language.
 */
export async function lookFaults(
  page: Page,
  name: string,
  widths: readonly number[] = WIDTHS,
  part?: string,
): Promise<string[]> {
  const checksContrast = !name.endsWith('-en')
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT })
    await settled(page)
    const found = await axeFaults(page, { part, checksContrast })
    faults.push(...found.map((fault) => `${width} ${fault}`))
    await takePicture(page, `${name}-light-${width}`)
    if (checksContrast || takesPictures) {
      const dark = await darkFaults(page, `${name}-dark-${width}`, part)
      faults.push(...dark.map((fault) => `${width} dark ${fault}`))
    }
    faults.push(...(await widthFaults(page, width)))
  }
  for (const width of BETWEEN) {
    await page.setViewportSize({ width, height: HEIGHT })
    await settled(page)
    faults.push(...(await widthFaults(page, width)))
  }
  await page.setViewportSize({ width: widths[0] ?? 1280, height: HEIGHT })
  return faults
}

async function darkFaults(page: Page, name: string, part?: string): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-theme="dark"]').waitFor()
  await settled(page)
  const faults = await contrastFaults(page, part)
  await takePicture(page, name)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html[data-theme="light"]').waitFor()
  return faults
}

async function widthFaults(page: Page, width: number): Promise<string[]> {
  const drawn = await page.evaluate(() => document.documentElement.scrollWidth)
  return drawn > width ? [`${width} scrolls sideways: ${drawn}`] : []
}

/**
 * Waits for the end of every timed animation and for two frames that draw effects of resizing. An
 * animation that follows scrolling never ends.
 */
const settled = (page: Page): Promise<unknown> =>
  page
    .waitForFunction(() =>
      document.getAnimations().every(({ timeline }) => !(timeline instanceof DocumentTimeline)),
    )
    .then(() =>
      page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      ),
    )
