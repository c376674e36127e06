import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { launchBrowser } from '#test/support/browser.ts'
import { en } from '#test/support/words.ts'
import { axeFaults } from '../support/axe.ts'
import { type FakeSite, ok, startFakeSite } from '../support/fake-site.ts'
import { type OpenPage, openPage, takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-log.ts'

const PATH = '/app/logs/api-usage'
const MONTH_SECONDS = 31 * 86_400
const OLD = logRow(900, {
  request_id: '0191aa00-1b2c-7000-8000-0123456789ab',
  created_at: Math.floor(Date.now() / 1_000) - 3 * MONTH_SECONDS,
  model_name: 'o4-mini',
})

let browser: Browser
let site: FakeSite
let open: OpenPage
let page: Page

beforeAll(async () => {
  browser = await launchBrowser()
  const rows = [...manyRows(30), OLD]
  site = await startFakeSite(logRoutes(() => rows))
  const listed = site.routes['GET /api/log/']
  site.routes['GET /api/log/'] = (call) => {
    const sought = call.query.get('request_id')
    if (sought === null) return listed?.(call) ?? ok(null)
    const isInTime = (row: LogEntry) =>
      row.created_at >= Number(call.query.get('start_timestamp') ?? 0)
    const items = rows.filter((row) => row.request_id.startsWith(sought)).filter(isInTime)
    return ok({ items: items.slice(0, 10), page: 0, total: items.length })
  }
})
afterAll(async () => {
  await browser.close()
  await site.close()
})
beforeEach(async () => {
  open = await openPage(browser, { language: 'en' })
  page = open.page
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
})
afterEach(async () => {
  expect(open.faults).toEqual([])
  await open.close()
})

const openLog = async (query = '') => {
  await enter(page, `${site.url}${PATH}${query}`, { language: 'en' })
  await page.locator('.tg-grid-item, .tg-empty').first().waitFor()
}
const search = () => page.getByRole('searchbox', { name: en('usageLog.findRequest') })
const rows = () =>
  page
    .getByRole('grid')
    .getByRole('row')
    .filter({ has: page.locator('time') })
const details = () => page.getByRole('region', { name: en('logDetails.fact.title') })

/** Pastes as a reader does: whole, in one step. */
async function paste(text: string): Promise<void> {
  await page.evaluate((value) => navigator.clipboard.writeText(value), text)
  await page.keyboard.press('Control+v')
}

describe('the search of the usage log', () => {
  it('leads from a pasted header to its call, whatever range is set', async () => {
    await openLog('?range=1h')
    await page.keyboard.press('/')
    await paste(`X-Request-Id: ${OLD.request_id.toUpperCase()}`)
    await details().getByText(OLD.request_id).waitFor()
    await expect.poll(() => rows().count()).toBe(1)
    expect(await search().inputValue()).toBe(OLD.request_id)
    expect(await page.getByRole('button', { name: en('usageLog.anyTime') }).isDisabled()).toBe(true)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'log-find-call')
    await search().fill('')
    await expect.poll(() => rows().count()).toBeGreaterThan(1)
    await page.getByRole('button', { name: /^Time range/ }).waitFor()
  })

  it('lists the calls that begin alike, and says what it takes', async () => {
    await openLog()
    await search().fill('0199a')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('at least its first 8 characters').waitFor()
    await search().fill('0199aa00')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows().count()).toBe(10)
    expect(await details().count()).toBe(0)
  })

  it('says that there is no such call', async () => {
    await openLog()
    await search().fill('0199ffff-0000')
    await page.keyboard.press('Enter')
    await page.getByText(en('usageLog.noRequest')).waitFor()
    await takePicture(page, 'log-find-call-none')
    await page
      .getByRole('button', { name: /^Clear/ })
      .last()
      .click()
    await expect.poll(() => rows().count()).toBeGreaterThan(1)
  })
})

describe('the command palette', () => {
  it('opens a call by its pasted request id, with its details', async () => {
    await enter(page, `${site.url}${PATH}?range=1h`, { language: 'en' })
    await rows().first().waitFor()
    await page.keyboard.press('Control+k')
    await page
      .getByRole('dialog', { name: en('commands.palette') })
      .getByRole('combobox')
      .waitFor()
    await paste(OLD.request_id)
    const option = page.getByRole('option', { name: 'Open call 0191aa00-1b2c…89ab (o4-mini,' })
    await option.waitFor()
    await takePicture(page, 'palette-find-call')
    await page.keyboard.press('Enter')
    await details().getByText(OLD.request_id).waitFor()
    expect(new URL(page.url()).searchParams.get('request')).toBe(OLD.request_id)
  })
})

describe('the channel of a call', () => {
  it('is named in its details, and leads to its form', async () => {
    await openLog(`?request=${OLD.request_id}`)
    const link = details().getByRole('link', { name: 'OpenAI main' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe('/channel/edit/1')
  })
})
