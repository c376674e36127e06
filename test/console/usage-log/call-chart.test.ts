import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { en } from '#test/support/words.ts'
import { axeFaults } from '../support/axe.ts'
import { type FakeSite, startFakeSite } from '../support/fake-site.ts'
import { openPage, takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow } from './fake-log.ts'

const PATH = '/app/logs/api-usage'
const NOW = Math.floor(Date.now() / 1000)
const rows = Array.from({ length: 60 }, (_, index) =>
  logRow(60 - index, { created_at: NOW - Math.floor(index / 5) * 3_600 }),
)

let browser: Browser
let site: FakeSite

beforeAll(async () => {
  browser = await launchBrowser()
  site = await startFakeSite(logRoutes(() => rows))
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

async function open(query: string) {
  const opened = await openPage(browser, { language: 'en' })
  await enter(opened.page, `${site.url}${PATH}?${query}`, { language: 'en' })
  await opened.page.locator('.tg-grid-item').first().waitFor()
  return opened
}

describe('the chart above the log', () => {
  it('counts calls by hour, and a bar narrows the list to its own', async () => {
    const { page, faults, close } = await open('range=24h')
    const chart = page.getByRole('region', { name: 'Charged calls over time' })
    const bars = chart.getByRole('button', { name: / calls, / })
    expect(await bars.count()).toBe(25)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'log-chart')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-theme="dark"]').waitFor()
    await takePicture(page, 'log-chart-dark')
    const last = bars.last()
    expect(await last.getAttribute('aria-label')).toMatch(/: 5 calls, \$/)
    await last.focus()
    await page.keyboard.press('ArrowLeft')
    expect(await bars.nth(23).evaluate((bar) => bar === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    const hour = NOW - (NOW % 3_600) - 3_600
    await page.waitForURL(new RegExp(`range=${hour}-${hour + 3_599}`))
    await page.goBack()
    await page.waitForURL(/range=24h/)
    expect(faults).toEqual([])
    await close()
  })

  it('has the same as a table', async () => {
    const { page, close } = await open('range=24h&model=gpt-4o')
    await page.getByRole('button', { name: en('usageLog.chart.asTable') }).click()
    const cells = page.locator('.tg-log-bar-table tbody tr td:nth-child(2)')
    const counts = (await cells.allInnerTexts()).map(Number)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'log-chart-table')
    await close()
  })

  it('is not there where it would count something else than the list', async () => {
    const { page, close } = await open('range=24h&token=production')
    expect(await page.locator('.tg-log-chart').count()).toBe(0)
    await close()
  })
})
