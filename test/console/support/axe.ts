import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOnly, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG_2 = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Violations of WCAG 2 A and AA, each in one line. `part`, a selector: what alone is looked at. */
export const axeFaults = (page: Page, part?: string): Promise<string[]> =>
  violations(page, { type: 'tag', values: WCAG_2 }, part)

/** Where text is hard to tell from what is behind it. */
export const contrastFaults = (page: Page, part?: string): Promise<string[]> =>
  violations(page, { type: 'rule', values: ['color-contrast'] }, part)

/**
 * Asked of axe itself, which the document keeps once it was given: its builder for browser tests
 * hands it over at each question, and costs four times what axe does.
 */
async function violations(page: Page, runOnly: RunOnly, part = 'html'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const options: RunOptions = { runOnly, iframes: false, resultTypes: ['violations'] }
  const found = await page.evaluate(
    async ([part, options]) => (await window.axe.run(part, options)).violations,
    [part, options] as const,
  )
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join('; ')}`,
  )
}

declare global {
  interface Window {
    axe: typeof import('axe-core')
  }
}
