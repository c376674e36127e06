import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** The faults name elements by selectors. Their HTML, which axe would copy, is not needed. */
const SOURCE = [
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
  'axe.configure({ noHtml: true })',
].join('\n')
const WCAG_2 = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Groups of axe's rules by what their result depends on besides the elements of the page: the
 * texts, the colors, or the places. A rule may belong to two groups.
 */
const GROUPS = {
  words: /cat\.(name-role-value|text-alternatives|language|forms)|-name |^label-|^landmark-unique /,
  colors: /cat\.color/,
  places: /^(target-size|scrollable-region-focusable) /,
}

export type RuleGroup = keyof typeof GROUPS

/** Returns the violations of all rules of WCAG 2 A and AA, one line each. */
export const axeFaults = (page: Page, part?: string): Promise<string[]> =>
  violations(page, part, [''])

/** Returns the violations of the rules of some groups. `part` is a CSS selector. */
export const faultsOfGroups = (
  page: Page,
  groups: readonly RuleGroup[],
  part?: string,
): Promise<string[]> =>
  violations(
    page,
    part,
    groups.map((group) => GROUPS[group].source),
  )

/**
 * Runs the rules of which an identifier with tags matches a pattern. Sends axe to the page once,
 * because sending axe for each check costs four times the check.
 */
async function violations(
  page: Page,
  part = 'html',
  patterns: readonly string[],
): Promise<string[]> {
  if (patterns.length === 0) return []
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const found = await page.evaluate(
    async ([part, tags, patterns]) => {
      const names = window.axe
        .getRules(tags)
        .map(({ ruleId, tags }) => `${ruleId} ${tags.join(' ')}`)
        .filter((name) => !/ (experimental|deprecated)\b/.test(name))
      const selected = names.filter((name) => patterns.some((one) => new RegExp(one).test(name)))
      const values = selected.map((name) => name.split(' ', 1)[0] ?? '')
      const runOnly = { type: 'rule', values } as const
      const options = { runOnly, iframes: false, resultTypes: ['violations' as const] }
      return (await window.axe.run(part, options)).violations
    },
    [part, WCAG_2, patterns] as const,
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
