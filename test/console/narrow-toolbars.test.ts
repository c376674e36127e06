import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES } from './support/accessibility-faults.ts'
import { openAsRoot } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { startWholeSite } from './support/site-with-data-on-every-page.ts'

const app = siteFixture(() => startWholeSite(0))

/** Returns the lines of a toolbar: for each, how many controls it has, and the space at its end. */
const linesOf = (toolbar: Locator) =>
  toolbar.evaluate((element) => {
    const end = element.getBoundingClientRect().right
    const padding = Number.parseFloat(getComputedStyle(element).paddingRight)
    const lines = new Map<number, number[]>()
    for (const control of element.querySelectorAll('button, input, select')) {
      const { top, bottom, right, width } = control.getBoundingClientRect()
      if (width === 0) continue
      const middle = Math.round((top + bottom) / 10)
      lines.set(middle, [...(lines.get(middle) ?? []), right])
    }
    return [...lines.values()].map((rights) => ({
      controls: rights.length,
      space: Math.round(end - padding - Math.max(...rights)),
    }))
  })

describe.each(LANGUAGES)('toolbars at 390 pixels, in %s', (language) => {
  it.each([
    ['/app/audit/log', 2],
    ['/app/audit/events', 3],
    ['/app/logs/tasks', 2],
    ['/app/logs/drawing', 2],
  ])('%s fills its lines, and has no line for buttons alone', async (path, count) => {
    const { page, faults, close } = await app.openPage({ language, width: 390 })
    await openAsRoot(page, app.site, path)
    const toolbar = page.getByRole('search', { name: TEXTS[language]('ui.filters') })
    await toolbar.waitFor()
    await expect.poll(async () => (await linesOf(toolbar)).length).toBe(count)
    await expect
      .poll(async () => (await linesOf(toolbar)).map(({ space }) => space))
      .toEqual(Array(count).fill(0))
    expect(faults).toEqual([])
    await close()
  })
})
