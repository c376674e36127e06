import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en, startingWith, TEXTS } from '#test/support/console-texts.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { ok, startFakeSite } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'
const FIRST_OF_45 = en('ui.rangeOf', { from: 1, to: 20, total: 45 })

const app = siteFixture(() => startFakeSite(logRoutes(() => rows)))
let rows: LogEntry[] = []

async function open(path = PATH) {
  const opened = await app.openPage({ language: 'en' })
  await enter(opened.page, app.site.url + path, { language: 'en' })
  await opened.page.locator('.tg-grid-item, .tg-empty').first().waitFor()
  return opened
}

/** Waits until a popover has closed, and for the frames in which it would move the focus. */
async function untilPopoverIsGone(page: Page): Promise<void> {
  await page.locator('.tg-popover').waitFor({ state: 'detached' })
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  )
}

describe('the filters of the usage log', () => {
  it('rename the spent amount when the list shows entries that are not calls', async () => {
    rows = manyRows(3)
    const { page, close } = await open()
    const names = () => page.locator('.tg-log-summary dt').allInnerTexts()
    expect((await names()).slice(0, 2)).toEqual([en('usageLog.cost'), en('shared.calls')])
    await page.goto(`${app.site.url}${PATH}?type=1`)
    await expect
      .poll(async () => (await names()).slice(0, 2))
      .toEqual([en('usageLog.amount'), en('usageLog.entries')])
    await close()
  })

  it('do not move the focus back after Escape when the user has moved it', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    await page.getByRole('button', { name: startingWith(en('shared.timeRange')) }).click()
    await page.waitForFunction(() => document.activeElement?.closest('.tg-popover') !== null)
    await page.keyboard.press('Escape')
    const model = page.getByRole('combobox', { name: en('ui.model') })
    await model.click()
    await page.keyboard.type('s')
    await untilPopoverIsGone(page)
    await page.keyboard.type('im')
    await expect.poll(() => model.inputValue()).toBe('sim')
    await expect.poll(() => model.evaluate((box) => box === document.activeElement)).toBe(true)
    await close()
  })

  it('return the focus to their button after Escape', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    const button = page.getByRole('button', { name: startingWith(en('shared.timeRange')) })
    await button.click()
    await page.waitForFunction(() => document.activeElement?.closest('.tg-popover') !== null)
    await page.keyboard.press('Escape')
    await expect.poll(() => button.evaluate((box) => box === document.activeElement)).toBe(true)
    await untilPopoverIsGone(page)
    await expect.poll(() => button.evaluate((box) => box === document.activeElement)).toBe(true)
    await close()
  })

  it('return the focus to their button after a selection', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    const button = page.getByRole('button', { name: startingWith(en('shared.timeRange')) })
    await button.click()
    await page.getByRole('button', { name: en('timeRange.span.7d') }).click()
    await page.locator('.tg-popover').waitFor({ state: 'detached' })
    await expect.poll(() => button.evaluate((box) => box === document.activeElement)).toBe(true)
    await close()
  })

  it('keep the page size in the URL, so that another user sees the same rows', async () => {
    rows = manyRows(45)
    const { page, close } = await open()
    await page.getByRole('combobox', { name: en('ui.pageSize') }).selectOption('20')
    await page.waitForURL(/page_size=20/)
    await page.getByText(FIRST_OF_45).waitFor()
    await page.goto(app.site.url + PATH)
    await page.waitForURL(/page_size=20/)
    const copied = page.url()
    await close()
    const other = await open(copied.slice(app.site.url.length))
    await other.page.getByText(FIRST_OF_45).waitFor()
    await other.close()
  })

  it('report an invalid page size, and use the default', async () => {
    rows = manyRows(45)
    const { page, close } = await open(`${PATH}?page_size=7`)
    await page.getByText(/page_size/).waitFor()
    await page.getByText(FIRST_OF_45).waitFor()
    await page.waitForURL(/page_size=20/)
    await close()
  })

  it('wait for the whole model name, and say that it must match exactly', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    await page.clock.install()
    await page.reload()
    await page.locator('.tg-grid-item').first().waitFor()
    const model = page.getByRole('combobox', { name: en('ui.model') })
    const isAskedBy = (name: string) =>
      app.site.calls.some(({ query }) => query.get('model_name') === name)
    await model.click()
    await page.keyboard.type('gpt')
    await page.clock.runFor(5_000)
    expect(['g', 'gp', 'gpt'].filter(isAskedBy)).toEqual([])
    await expect.poll(() => page.locator('.tg-grid-item').count()).toBe(9)
    await page.keyboard.press('Enter')
    await page.getByText(en('usageLog.emptyExactBody')).waitFor()
    expect(isAskedBy('gpt')).toBe(true)
    await expect.poll(() => page.locator('datalist option[value="gpt-4o-mini"]').count()).toBe(1)
    await close()
  })

  it('show an error for a channel ID that is not a number', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    const channel = page.getByRole('textbox', { name: en('shared.channelId') })
    await channel.fill('abc')
    await channel.press('Enter')
    await page.getByRole('alert').getByText(en('shared.channelIdInvalid')).waitFor()
    await expect.poll(() => channel.inputValue()).toBe('abc')
    await expect.poll(() => channel.getAttribute('aria-invalid')).toBe('true')
    expect(page.url()).not.toContain('channel=')
    await takePicture(page, 'log-channel-fault')
    await channel.fill('1')
    await channel.press('Enter')
    await page.waitForURL(/channel=1/)
    await expect
      .poll(() => page.getByRole('alert').getByText(en('shared.channelIdInvalid')).count())
      .toBe(0)
    await close()
  })
})

describe('the filter of failed attempts on a channel', () => {
  const LINK = `${PATH}?failed_channel=2&range=24h`
  const attempts = { failed_channels: [3], admin_info: { use_channel: [3], attempts: [] } }
  const given = () => {
    const elsewhere = logRow(2, { token_name: 'elsewhere' }, attempts)
    const flawless = logRow(1, { token_name: 'flawless' }, { failed_channels: undefined })
    rows = [logRow(3, { token_name: 'retried' }), elsewhere, flawless]
    app.site.routes['GET /api/channel/2'] = () => ok({ id: 2, name: 'Azure East US 2 backup' })
  }
  const chip = (page: Page, words = en) => {
    const filter = words('usageLog.failedOn', { name: 'Azure East US 2 backup' })
    return page.getByRole('button', { name: words('usageLog.removeFilter', { filter }) })
  }

  it('lists calls that another channel answered, also live, and names its channel', async () => {
    given()
    const opened = await app.openPage({ language: 'en' })
    const live = await fakeLive(opened.page)
    const { page, close } = opened
    await enter(page, app.site.url + LINK, { language: 'en' })
    await page.getByText('retried').first().waitFor()
    await expect.poll(() => page.locator('.tg-grid-item').count()).toBe(1)
    await chip(page).waitFor()
    await expect.poll(() => live.connections()).toBe(1)
    live.sendCalls(logRow(4, { token_name: 'not this' }, attempts))
    live.sendCalls(logRow(5, { token_name: 'failed again' }))
    await page.getByText('failed again').first().waitFor()
    await expect.poll(() => page.getByText('not this').count()).toBe(0)
    await close()
  })

  it('can be removed without the other filters', async () => {
    given()
    const { page, close } = await open(LINK)
    await chip(page).click()
    await page.getByText('flawless').first().waitFor()
    await expect.poll(() => chip(page).count()).toBe(0)
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('failed_channel'), searchParams.get('range')]).toEqual([null, '24h'])
    await close()
  })

  it('has no effect in the log of a user', async () => {
    given()
    const { page, close } = await app.openPage({ language: 'en' })
    const user = { ...ROOT_USER, id: 1, role: 1 }
    await enter(page, app.site.url + LINK, { language: 'en' }, user)
    await page.getByText('flawless').first().waitFor()
    await expect.poll(() => chip(page).count()).toBe(0)
    const queries = app.site.calls.filter(({ path }) => path.startsWith('/api/log/self/'))
    expect(queries.length).toBeGreaterThan(0)
    expect(queries.some(({ query }) => query.has('failed_channel'))).toBe(false)
    await close()
  })

  for (const language of ['en', 'zh'] as const) {
    for (const theme of ['light', 'dark'] as const) {
      it(`is visible in wide and narrow windows: ${language} ${theme}`, async () => {
        given()
        rows = [...manyRows(30).map((row) => ({ ...row, id: row.id + 10 })), ...rows]
        const { page, close } = await app.openPage({ language, theme })
        await page.setViewportSize({ width: 1280, height: 800 })
        await enter(page, app.site.url + LINK, { language })
        await chip(page, TEXTS[language]).waitFor()
        await page.locator('.tg-grid-item').nth(10).waitFor()
        await takePicture(page, `log-failed-channel-${language}-${theme}-1280`)
        await page.setViewportSize({ width: 390, height: 844 })
        await page.locator('.tg-card').first().waitFor()
        await chip(page, TEXTS[language]).waitFor()
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
        await takePicture(page, `log-failed-channel-${language}-${theme}-390`)
        await close()
      })
    }
  }
})
