import type { Page } from 'playwright-core'
import { axeFaults, contrastFaults } from './axe.ts'
import { takePicture } from './open-page.ts'

export const LANGUAGES = ['zh', 'en'] as const
export const WIDTHS = [1280, 600, 390] as const
/** Between those, and narrower: nothing is to lie beside the page. */
const BETWEEN = [1024, 768, 360] as const
const HEIGHT = 860

/**
 * What is wrong with the screen as it is now, at every width and in both themes, one line each:
 * all of axe's rules in light, contrast again in dark (the only rule that a theme can change), and
 * anything that makes the page itself scroll sideways. Leaves the page as it was. `part`, a
 * selector: what alone is looked at, as a dialog over a page that was looked at before.
 */
export async function lookFaults(
  page: Page,
  name: string,
  widths: readonly number[] = WIDTHS,
  part?: string,
): Promise<string[]> {
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT })
    await settled(page)
    faults.push(...(await axeFaults(page, part)).map((fault) => `${width} ${fault}`))
    await takePicture(page, `${name}-light-${width}`)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-theme="dark"]').waitFor()
    await settled(page)
    faults.push(...(await contrastFaults(page, part)).map((fault) => `${width} dark ${fault}`))
    await takePicture(page, `${name}-dark-${width}`)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('html[data-theme="light"]').waitFor()
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

async function widthFaults(page: Page, width: number): Promise<string[]> {
  const drawn = await page.evaluate(() => document.documentElement.scrollWidth)
  return drawn > width ? [`${width} scrolls sideways: ${drawn}`] : []
}

/**
 * Waits until every animation that runs with time is over, then two more frames, by which effects
 * of a change of size are drawn. An animation that follows scrolling never ends.
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
