import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG_2 = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Extent = { readonly part?: string | undefined; readonly checksContrast?: boolean }

/** Returns the violations of WCAG 2 A and AA, one line each. `part` is a CSS selector. */
export const axeFaults = (
  page: Page,
  { part, checksContrast = true }: Extent = {},
): Promise<string[]> =>
  violations(
    page,
    { runOnly: { type: 'tag', values: WCAG_2 }, ...contrastRule(checksContrast) },
    part,
  )

const contrastRule = (enabled: boolean): RunOptions => ({
  rules: { 'color-contrast': { enabled } },
})

export const contrastFaults = (page: Page, part?: string): Promise<string[]> =>
  violations(page, { runOnly: { type: 'rule', values: ['color-contrast'] } }, part)

/** Sends axe to the page once, because sending axe for each check costs four times the check. */
async function violations(page: Page, extent: RunOptions, part = 'html'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const options: RunOptions = { ...extent, iframes: false, resultTypes: ['violations'] }
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
