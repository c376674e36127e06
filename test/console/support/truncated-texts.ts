import type { Page } from 'playwright-core'

/** What is wider than its place among these: the texts, and by how much. */
export const cutAmong = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.scrollWidth > cell.clientWidth)
        .map((cell) => `${cell.textContent} ${cell.scrollWidth}/${cell.clientWidth}`),
    )
