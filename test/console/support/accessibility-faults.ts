import type { Page } from 'playwright-core'
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest'
import { axeFaults, faultsOfGroups, type RuleGroup } from './axe.ts'
import { takePicture, takesPictures } from './open-page.ts'

export const LANGUAGES = ['zh', 'en'] as const
export const WIDTHS = [1280, 390, 600] as const
/**
 * Additional widths at which the page must not scroll sideways. English needs more room than
 * Chinese, so of a screen in both languages only the English one is measured at these widths.
 */
const BETWEEN = [1024, 768, 360] as const
const HEIGHT = 860
/** The widest window in which lists are cards and the sidebar is a drawer. */
const NARROW = 600

/**
 * Returns the faults of the screen at every width, one line each: axe's rules in the light theme,
 * contrast also in the dark theme, and sideways scrolling of the page. Leaves the page as it was.
 * `part` is a selector that limits axe to a part of the page.
 * A test in both languages ends its `name` with the language. Each rule of axe then runs once for
 * all that its result depends on, because most of the time of these tests is spent in axe.
 */
export async function lookFaults(
  page: Page,
  name: string,
  widths: readonly number[] = WIDTHS,
  part?: string,
): Promise<string[]> {
  const faults: string[] = []
  const between = name.endsWith('-zh') ? [] : BETWEEN
  let theme: Theme = 'light'
  const show = async (next: Theme): Promise<void> => {
    if (next !== theme) await changeTheme(page, next)
    theme = next
  }
  for (const width of wideFirst([...widths, ...between])) {
    await page.setViewportSize({ width, height: HEIGHT })
    await settled(page)
    faults.push(...(await widthFaults(page, width)))
    if (!widths.includes(width)) continue
    const rules = rulesFor(name, width)
    // The theme of the previous width comes first, because a change of the theme is expensive.
    for (const next of theme === 'light' ? THEMES : THEMES.toReversed()) {
      if (rules[next].length === 0 && !takesPictures) continue
      await show(next)
      const found = await faultsOf(page, rules[next], part)
      faults.push(...found.map((fault) => `${width} ${next} ${fault}`))
      await takePicture(page, `${name}-${next}-${width}`)
    }
  }
  await show('light')
  await page.setViewportSize({ width: widths[0] ?? 1280, height: HEIGHT })
  return faults
}

const THEMES = ['light', 'dark'] as const
type Theme = (typeof THEMES)[number]

/**
 * Puts the widths of one layout one after the other, because a change of the layout renders the
 * whole page again.
 */
const wideFirst = (widths: readonly number[]): number[] => [
  ...widths.filter((width) => width > NARROW),
  ...widths.filter((width) => width <= NARROW),
]

const faultsOf = (page: Page, rules: 'all' | readonly RuleGroup[], part?: string) =>
  rules === 'all' ? axeFaults(page, part) : faultsOfGroups(page, rules, part)

type Rules = { readonly light: 'all' | readonly RuleGroup[]; readonly dark: readonly RuleGroup[] }

/** What has been checked of the screens of a test file. */
const checked = new WeakMap<RunnerTestFile, Set<string>>()

/**
 * Selects the rules that depend on something in which this look at a screen differs from the
 * earlier ones. Screens of one layout have the same elements and colors in both languages and at
 * all widths. Texts differ between languages, and places between widths: Chinese texts are the
 * shorter ones, so the targets of an English screen are not smaller.
 */
function rulesFor(name: string, width: number): Rules {
  const [, screen = name, language = ''] = /^(.*)-(zh|en)$/.exec(name) ?? []
  const layout = width <= NARROW ? 'narrow' : 'wide'
  if (!isFirstLook(`${name} ${width}`)) throw new Error(`two screens have the name ${name}`)
  const [isNewLayout, areNewTexts, areNewPlaces] = [
    isFirstLook(`${screen} ${layout}`),
    isFirstLook(`${screen} ${layout} ${language}`),
    isFirstLook(`${screen} at ${width}`),
  ]
  if (isNewLayout) return { light: 'all', dark: ['colors'] }
  const groups = { words: areNewTexts, places: areNewPlaces }
  const light = (['words', 'places'] as const).filter((group) => groups[group])
  return { light, dark: [] }
}

/** Reports whether the running test file has not yet looked at something, and remembers it. */
function isFirstLook(look: string): boolean {
  const { file } = TestRunner.getCurrentTest<RunnerTestCase>()
  const looks = checked.get(file) ?? new Set()
  checked.set(file, looks)
  const isFirst = !looks.has(look)
  looks.add(look)
  return isFirst
}

async function changeTheme(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme })
  await page.locator(`html[data-theme="${theme}"]`).waitFor()
  await settled(page)
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
