import type { Page } from 'playwright-core'

/** Returns truncated texts with their full and visible widths (px). */
export const cutAmong = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.scrollWidth > cell.clientWidth)
        .map((cell) => `${cell.textContent} ${cell.scrollWidth}/${cell.clientWidth}`),
    )
