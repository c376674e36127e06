import { describe, expect, it } from 'vitest'
import { en, textPattern } from '#test/support/console-texts.ts'
import { axeFaults } from '../support/axe.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { contrast } from '../support/contrast.ts'
import { startFakeSite } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'
const NOW = Math.floor(Date.now() / 1000)
const rows = Array.from({ length: 60 }, (_, index) =>
  logRow(60 - index, { created_at: NOW - Math.floor(index / 5) * 3_600 }),
)

const app = siteFixture(() => startFakeSite(logRoutes(() => rows)))

async function open(query: string) {
  const opened = await app.openPage({ language: 'en' })
  await enter(opened.page, `${app.site.url}${PATH}?${query}`, { language: 'en' })
  await opened.page.locator('.tg-grid-item').first().waitFor()
  return opened
}

describe('the chart above the usage log', () => {
  it('counts calls by hour, and a click on a bar narrows the list to its hour', async () => {
    const { page, faults, close } = await open('range=24h')
    const chart = page.getByRole('region', { name: en('usageLog.chart.title') })
    const bars = chart.getByRole('button', { name: textPattern('en', 'usageLog.chart.bar_other') })
    await expect.poll(() => bars.count()).toBe(25)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'log-chart')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-theme="dark"]').waitFor()
    await takePicture(page, 'log-chart-dark')
    const last = bars.last()
    await expect
      .poll(() => last.getAttribute('aria-label'))
      .toMatch(textPattern('en', 'usageLog.chart.bar_other', { number: 5, cost: /\$/ }))
    await last.focus()
    await page.keyboard.press('ArrowLeft')
    await expect
      .poll(() => bars.nth(23).evaluate((bar) => bar === document.activeElement))
      .toBe(true)
    await page.keyboard.press('Enter')
    const hour = NOW - (NOW % 3_600) - 3_600
    await page.waitForURL(new RegExp(`range=${hour}-${hour + 3_599}`))
    await page.goBack()
    await page.waitForURL(/range=24h/)
    expect(faults).toEqual([])
    await close()
  })

  it('has times below the bars, and the largest count at its top left', async () => {
    const { page, close } = await open('range=24h')
    await page.locator('.tg-log-axis').waitFor()
    const texts = await page.locator('.tg-log-axis span').allInnerTexts()
    expect(texts).toHaveLength(7)
    for (const text of texts) expect(text).toMatch(/^\d\d:00$/)
    await expect.poll(() => page.locator('.tg-log-scale span').allInnerTexts()).toEqual(['5', '0'])
    const [plot, most, ...ticks] = await page
      .locator('.tg-log-plot, .tg-log-scale span:first-child, .tg-log-axis span')
      .evaluateAll((parts) =>
        parts
          .toSorted((a, b) => Number(b.matches('.tg-log-plot')) - Number(a.matches('.tg-log-plot')))
          .map((part) => {
            const { left, right, top, bottom } = part.getBoundingClientRect()
            return { left, right, top, bottom }
          }),
      )
    if (plot === undefined || most === undefined) throw new Error('not drawn')
    expect(most.right).toBeLessThan(plot.left)
    expect(Math.abs(most.top - plot.top)).toBeLessThan(8)
    for (const [index, tick] of ticks.entries()) {
      expect(tick.top).toBeGreaterThanOrEqual(plot.bottom)
      expect(tick.left).toBeGreaterThanOrEqual(ticks[index - 1]?.right ?? plot.left)
      expect(tick.right).toBeLessThanOrEqual(plot.right)
    }
    await close()
  })

  it.each(['light', 'dark'] as const)(
    'has an axis and bars with enough contrast: %s',
    async (colorScheme) => {
      const { page, close } = await open('range=24h')
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor()
      const colors = await page.locator('.tg-log-chart').evaluate((chart) => {
        const of = (part: string) => getComputedStyle(chart.querySelector(part) ?? chart)
        return {
          ground: getComputedStyle(chart).backgroundColor,
          bar: of('.tg-log-plot button span').backgroundColor,
          texts: ['.tg-log-axis', '.tg-log-scale', 'p'].map((part) => of(part).color),
        }
      })
      expect(contrast(colors.bar, colors.ground)).toBeGreaterThanOrEqual(3)
      for (const text of colors.texts) {
        expect(contrast(text, colors.ground)).toBeGreaterThanOrEqual(4.5)
      }
      await close()
    },
  )

  it('can be shown as a table with the same counts', async () => {
    const { page, close } = await open('range=24h&model=gpt-4o')
    await page.getByRole('button', { name: en('usageLog.chart.asTable') }).click()
    const cells = page.locator('.tg-log-bar-table tbody tr td:nth-child(2)')
    const counts = (await cells.allInnerTexts()).map(Number)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'log-chart-table')
    await close()
  })

  it('is hidden when it would count something else than the list', async () => {
    const { page, close } = await open('range=24h&token=production')
    await expect.poll(() => page.locator('.tg-log-chart').count()).toBe(0)
    await close()
  })
})
