import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en, textPattern } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { type FakeSite, ok, startFakeSite } from '../support/fake-site.ts'
import { type Look, takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-usage-log.ts'

const PLAIN = { theme: 'light', language: 'en' } as const
const PATH = '/app/logs/api-usage'

const app = siteFixture(() => startFakeSite(logRoutes(() => rows)))
let rows: LogEntry[] = []

async function open(path = PATH, asked: Look = PLAIN, user: object = ROOT_USER) {
  const look = { ...PLAIN, ...asked }
  const opened = await app.openPage(look)
  const live = await fakeLive(opened.page)
  await enter(opened.page, app.site.url + path, look, user)
  await opened.page.getByText('gpt-4o').first().waitFor()
  return { ...opened, live }
}

describe('the usage log', () => {
  it.each(LANGUAGES)(
    'has no accessibility fault at any width, in either theme: %s',
    { timeout: 120_000 },
    async (language) => {
      rows = manyRows(45)
      const { page, faults, close } = await open(PATH, { language })
      await page.locator('.tg-grid-expander').first().click()
      await page.locator('.tg-log-verdict').waitFor()
      expect(await lookFaults(page, `usage-log-${language}`)).toEqual([])
      expect(faults).toEqual([])
      await close()
    },
  )

  it('explains a price with terms that add up to the charged quota', async () => {
    rows = manyRows(2)
    const { page, close } = await open()
    await page.locator('.tg-grid-expander').first().click()
    const table = page.locator('.tg-log-table')
    await table.waitFor()
    const amounts = await table.locator('tbody tr:not(.tg-log-sum) td:last-child').allInnerTexts()
    expect(
      amounts
        .map((text) => Number(text.replaceAll(',', '')))
        .reduce((sum, amount) => sum + amount, 0),
    ).toBe(3375)
    await page.getByText(en('logDetails.price.exact')).waitFor()
    await close()
  })

  it('shows a video at its listed price, and does not lead to the playground', async () => {
    const ratios = { factor_1080p: '2.4', price: '0.24', group: '0.5' }
    const video = {
      price: { mode: 'call', list: '7', per: 'second', ...ratios },
      model_price: 0.24,
    }
    const usage = { calls: 1, seconds: 5 }
    rows = [logRow(2, { model_name: 'my-video', quota: 300_000 }, { ...video, usage }), logRow(1)]
    app.site.routes['GET /api/user/models'] = () => ok(['my-video', 'gpt-4o', 'gpt-4o-mini'])
    const { page, close } = await open()
    await page.locator('.tg-grid-expander').nth(0).click()
    await page.getByText(en('logDetails.price.exact')).waitFor()
    const factors = await page.locator('.tg-log-factors > span').allInnerTexts()
    expect(factors.map((text) => text.replace(/\s+/g, ' '))).toEqual([
      `× 0.1 ${en('shared.factor.pricePerSecond')}`,
      `× 2.4 ${en('shared.priceProperty.resolution', { name: '1080p' })}`,
      `× 500,000 ${en('shared.factor.quotaPerDollar')}`,
      `× 0.5 ${en('shared.factor.group')}`,
    ])
    await takePicture(page, 'log-video')
    const link = page.getByRole('link', { name: en('logDetails.toPlayground') })
    expect(await link.count()).toBe(0)
    await page.locator('.tg-grid-expander').nth(1).click()
    await expect.poll(() => link.count()).toBe(1)
    await close()
  })

  it('shows the cost of the provider and the margin only when they are known', async () => {
    rows = [logRow(2, {}, { cost: 2025, cost_ratio: '0.6' }), logRow(1)]
    const { page, close } = await open()
    const expanders = page.locator('.tg-grid-expander')
    await expanders.nth(0).click()
    const costs = page.locator('.tg-log-cost')
    await costs.first().waitFor()
    const lines = (await costs.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(lines).toEqual([
      `${en('logDetails.price.cost', { ratio: '0.6' })} 2,025 $0.004050`,
      `${en('shared.margin')} 1,350 $0.002700`,
    ])
    await expanders.nth(1).click()
    await page.locator('.tg-log-table').nth(1).waitFor()
    await expect.poll(() => costs.count()).toBe(2)
    await close()
  })

  it('marks a charge that was corrected, and says when and why', async () => {
    const correction = {
      ...{ correction_id: 'c1', amount: -1_687, charge: 3_375, corrected: 1_688 },
      ...{ created_at: 1_763_000_000, requested_by: { id: 1, name: 'root' } },
      reason: 'twice too high',
    }
    const other = { corrected_by: [correction], batch_id: 'batch_7', batch_lines: 3 }
    rows = [logRow(1, {}, other)]
    const { page, close } = await open()
    await page
      .getByTitle(en('usageLog.correctedTo', { amount: '$0.003376' }))
      .first()
      .waitFor()
    await page.locator('.tg-grid-expander').first().click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.getByText('twice too high').waitFor()
    await facts.getByText(en('logDetails.batchLines_other', { lines: '3' })).waitFor()
    await close()
  })

  it('lets a user check the charge of a batch, which has no speed and no playground', async () => {
    const batch = {
      ...{ batch_id: 'batch_7', batch_lines: 10_000, batch_lines_billed: 9_000 },
      batch_lines_estimated: 12,
      ...{ batch_ratio: '0.5', model_ratio: 0.5, completion_ratio: 1, cache_ratio: 1 },
      ...{ price: undefined, usage: { inputUncached: 540_000, output: 90_000 } },
    }
    rows = [logRow(2, { quota: 162_000, completion_tokens: 90_000 }, batch), logRow(4)]
    const { page, close } = await open()
    const ratios = page.getByText('0.5 / 1 / 1 / 0.5', { exact: true })
    await ratios.first().waitFor()
    const title = await ratios.first().getAttribute('title')
    expect(title).toContain(`${en('shared.factor.batch')} 0.5`)
    for (const n of [0, 1]) await page.locator('.tg-grid-expander').nth(n).click()
    const prices = page.getByRole('region', { name: en('logDetails.price.title') }).first()
    await prices.getByText(en('logDetails.price.roundingOfLines')).waitFor()
    const text = (await prices.innerText()).replace(/\s+/g, ' ')
    for (const part of ['157,500', '+4,500', '162,000', en('logDetails.price.exact')]) {
      expect(text).toContain(part)
    }
    expect(text).toContain(en('logDetails.price.lines_other', { lines: '9,000' }))
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    const counts = { billed: '9,000', lines: '10,000' }
    await facts.first().getByText(en('logDetails.batchLinesBilled_other', counts)).waitFor()
    const estimated = { estimated: '12', lines: '9,000' }
    await facts.first().getByText(en('logDetails.source.estimatedLines_other', estimated)).waitFor()
    await facts
      .first()
      .getByText(en('logDetails.batchPrice', { ratio: '0.5' }))
      .waitFor()
    // The call below the batch shows that both are loaded.
    const link = en('logDetails.toPlayground')
    await facts.nth(1).getByRole('link', { name: link }).waitFor()
    await facts.nth(1).getByText(en('logDetails.fact.speed')).waitFor()
    expect(await facts.first().getByRole('link', { name: link }).count()).toBe(0)
    expect(await facts.first().getByText(en('logDetails.fact.speed')).count()).toBe(0)
    await close()
  })

  it('shows what limited a call, an anomaly in its usage, and its attempts', async () => {
    const used = { inputUncached: 1000, cacheRead: 234, output: 98_765, reasoning: 5 }
    const other = { output_limit: 4096, unpaid_usage: used, anomaly: 'absurd' }
    app.site.routes['GET /api/channel/2'] = () => ok({ id: 2, name: 'Azure (backup)' })
    rows = [logRow(1, { is_stream: false }, other)]
    const { page, close } = await open()
    await page.getByText(en('usageLog.notStreamed'), { exact: true }).first().waitFor()
    await page.locator('.tg-grid-expander').first().click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.getByText(en('logDetails.limitedTo', { limit: '4,096' })).waitFor()
    const counts = { input: '1,234', output: '98,765' }
    await facts.getByText(en('logDetails.totalUsage', counts)).waitFor()
    await facts.getByText(en('logDetails.anomaly.absurd')).waitFor()
    const attempts = page.getByRole('region', { name: en('logDetails.attempts.title') })
    await attempts.getByRole('link', { name: 'Azure (backup)' }).waitFor()
    const links = await attempts
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]))
    expect(links).toEqual([
      ['Azure (backup)', '/channel/edit/2'],
      ['OpenAI main', '/channel/edit/1'],
    ])
    await close()
  })

  it('shows the reasoning effort, and links chat models to the playground', async () => {
    const other = { reasoning_effort: 'high' }
    rows = [logRow(2, {}, other), logRow(1, { model_name: 'mj_imagine' }, other)]
    const { page, close } = await open()
    const expanders = page.locator('.tg-grid-expander')
    await expanders.nth(0).click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.getByText(en('logDetails.fact.effort')).waitFor()
    await expect.poll(() => facts.getByText('high', { exact: true }).count()).toBe(1)
    const link = facts.getByRole('link', { name: en('logDetails.toPlayground') })
    await expect
      .poll(() => link.getAttribute('href'))
      .toBe('/playground?model=gpt-4o&group=default')
    await expanders.nth(1).click()
    await expect.poll(() => facts.count()).toBe(2)
    await expect.poll(() => link.count()).toBe(1)
    await close()
  })

  it('shows what the provider did not get of a batch or a call', async () => {
    const batch = { batch_id: 'b', batch_lines: 2, dropped_members: ['service_tier', 'container'] }
    rows = [logRow(2, {}, batch), logRow(1, {}, { conversion_loss: ['answer (citations)'] })]
    const { page, close } = await open()
    for (const n of [0, 1]) await page.locator('.tg-grid-expander').nth(n).click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.first().getByText(en('logDetails.fact.dropped')).waitFor()
    await facts.first().getByText('service_tier, container').waitFor()
    await facts.nth(1).getByText(en('logDetails.fact.losses')).waitFor()
    await facts.nth(1).getByText('answer (citations)').waitFor()
    expect(await facts.nth(1).getByText(en('logDetails.fact.dropped')).count()).toBe(0)
    await close()
  })

  it('shows the requested model and group if another served the call', async () => {
    rows = [logRow(2, {}, { requested: { model: 'gpt-old', group: 'auto' } }), logRow(1, {}, {})]
    const { page, close } = await open()
    for (const n of [0, 1]) await page.locator('.tg-grid-expander').nth(n).click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.first().getByText(en('logDetails.fact.requested')).waitFor()
    await facts.first().getByText('gpt-old · auto').waitFor()
    expect(await facts.nth(1).getByText(en('logDetails.fact.requested')).count()).toBe(0)
    await close()
  })

  it('shows how much of the input came from the cache, and what that saved', async () => {
    rows = [
      logRow(2, {}, { cache_hit_rate: 0.625, cache_saved: 1234 }),
      logRow(1, {}, { cache_hit_rate: 0, cache_saved: -50 }),
    ]
    const { page, close } = await open()
    for (const n of [0, 1]) await page.locator('.tg-grid-expander').nth(n).click()
    const facts = page.getByRole('region', { name: en('logDetails.fact.title') })
    await facts.getByText(en('logDetails.cacheSaved', { rate: '62.5%', quota: '1,234' })).waitFor()
    await facts.getByText(en('logDetails.cacheCost', { rate: '0%', quota: '50' })).waitFor()
    await close()
  })

  it('keeps filters after a reload, and Back undoes the last one', async () => {
    rows = manyRows(30)
    const { page, close } = await open()
    await page.getByRole('combobox', { name: en('usageLog.typeFilter') }).selectOption('6')
    await page.waitForURL(/type=6/)
    await page.getByRole('combobox', { name: en('ui.model') }).fill('gpt-4o-mini')
    await page.getByRole('combobox', { name: en('ui.model') }).press('Enter')
    await page.waitForURL(/type=6.*model=gpt-4o-mini|model=gpt-4o-mini.*type=6/)
    await page.reload()
    await expect
      .poll(() => page.getByRole('combobox', { name: en('ui.model') }).inputValue())
      .toBe('gpt-4o-mini')
    await page.goBack()
    await page.waitForURL((url) => !url.search.includes('model'))
    await expect
      .poll(() => page.getByRole('combobox', { name: en('ui.model') }).inputValue())
      .toBe('')
    await expect
      .poll(() => page.getByRole('combobox', { name: en('usageLog.typeFilter') }).inputValue())
      .toBe('6')
    await close()
  })

  it('recovers without a user action once the server answers again', async () => {
    rows = manyRows(3)
    const gone = { status: 503, body: { success: false, message: 'away', code: 'Fault' } }
    const away: FakeSite['routes'] = {
      'GET /api/log/': () => gone,
      'GET /api/log/stat': () => gone,
    }
    const { page, close } = await open()
    const before = { ...app.site.routes }
    Object.assign(app.site.routes, away)
    await page.getByRole('combobox', { name: en('usageLog.typeFilter') }).selectOption('2')
    const again = page.locator('.tg-log-list').getByRole('button', { name: en('ui.retry') })
    await again.waitFor()
    const asked = () => app.site.calls.filter(({ path }) => path === '/api/log/').length
    const tries = asked()
    await page.waitForRequest('**/api/log/stat**')
    expect(asked()).toBe(tries)
    Object.assign(app.site.routes, before)
    await again.waitFor({ state: 'detached' })
    await page.getByText('gpt-4o').first().waitFor()
    await close()
  })

  it('hides channels and other users from users who are no admins', async () => {
    rows = manyRows(3)
    const user = { ...ROOT_USER, id: 5, role: 1 }
    const { page, close } = await open(
      `${PATH}?columns=time,channel,username,retry,model`,
      PLAIN,
      user,
    )
    const titles = await page.getByRole('columnheader').allInnerTexts()
    expect(titles.map((title) => title.trim()).filter(Boolean)).toEqual([
      en('ui.expandRow'),
      en('shared.time'),
      en('ui.model'),
    ])
    expect(app.site.calls.some(({ path }) => path === '/api/log/self/')).toBe(true)
    await close()
  })

  it('exports the listed calls through the server, with the same filters', async () => {
    rows = manyRows(250)
    const { page, close } = await open(`${PATH}?type=2&range=7d`)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: en('shared.export'), exact: true }).click()
    await page.getByRole('menuitem', { name: en('usageLog.exportAs.csv') }).click()
    const file = await download
    const expectedRows = rows.filter(({ type }) => type === 2)
    const lines = expectedRows.map((row) => `${row.id},${row.quota}\r\n`)
    expect(readFileSync(await file.path(), 'utf8')).toBe(`id,quota\r\n${lines.join('')}`)
    expect(file.suggestedFilename()).toBe('usage-7d.csv')
    await page.getByText(en('usageLog.exported_other', { rows: expectedRows.length })).waitFor()
    const asked = (path: string) => app.site.calls.findLast((call) => call.path === path)?.query
    const [exported, listed] = [asked('/api/log/export'), asked('/api/log/')]
    expect(exported?.get('format')).toBe('csv')
    expect(exported?.get('type')).toBe('2')
    const span = Number(exported?.get('start_timestamp')) - Number(listed?.get('start_timestamp'))
    expect(Math.abs(span)).toBeLessThan(60)
    expect(exported?.has('columns')).toBe(false)
    await close()
  })

  it('exports the selected columns, and remembers them in this browser', async () => {
    rows = manyRows(3)
    const { page, close } = await open()
    const menu = () => page.getByRole('button', { name: en('shared.export'), exact: true }).click()
    await menu()
    await page.getByRole('menuitem', { name: en('usageLog.exportColumns') }).click()
    const drawer = page.getByRole('dialog', { name: en('logExport.title') })
    await drawer.getByText(en('logExport.selectedCount', { selected: 24, all: 24 })).waitFor()
    await drawer.getByRole('button', { name: en('logExport.selectNone') }).click()
    const write = drawer.getByRole('button', { name: en('usageLog.exportAs.csv') })
    await expect.poll(() => write.isDisabled()).toBe(true)
    for (const name of [en('usageLog.column.cost'), en('shared.time')])
      await drawer.getByRole('checkbox', { name }).first().check()
    expect(await lookFaults(page, 'export-columns', [1280, 390], '.tg-export-columns')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 860 })
    const asked = () => app.site.calls.findLast(({ path }) => path === '/api/log/export')?.query
    const download = page.waitForEvent('download')
    await write.click()
    await download
    expect(asked()?.get('columns')).toBe('time,cost_usd')
    await drawer.waitFor({ state: 'detached' })
    await page.reload()
    await menu()
    const again = page.waitForEvent('download')
    await page
      .getByRole('menuitem', { name: en('usageLog.exportSome', { selected: 2, all: 24 }) })
      .click()
    await again
    expect(asked()?.get('columns')).toBe('time,cost_usd')
    await close()
  })

  it('keeps the scroll position and loses no row while 500 rows a second arrive', async () => {
    rows = manyRows(50)
    const { page, live, close } = await open(`${PATH}?page_size=50`)
    await expect.poll(() => live.connections()).toBe(1)
    await page.getByRole('grid').hover()
    await page.mouse.wheel(0, 400)
    const place = () =>
      page.evaluate(() => {
        const grid = document.querySelector('.tg-grid')?.getBoundingClientRect()
        const seen = document.elementFromPoint((grid?.left ?? 0) + 120, (grid?.top ?? 0) + 200)
        const row = seen?.closest('.tg-grid-item')
        return { text: row?.textContent, top: row?.getBoundingClientRect().top }
      })
    await page.getByText(en('shared.live.reading')).waitFor()
    await page.waitForFunction(() => document.querySelector('.tg-grid')?.scrollTop === 400)
    const before = await place()
    for (let second = 0; second < 50; second += 1) {
      live.sendCalls(
        ...Array.from({ length: 50 }, (_, index) => logRow(1001 + second * 50 + index)),
      )
      await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)))
    }
    await page.getByRole('button', { name: en('usageLog.newRows', { text: '2,500' }) }).waitFor()
    expect(await place()).toEqual(before)
    await page.getByRole('button', { name: en('usageLog.newRows', { text: '2,500' }) }).click()
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-rowcount'))
      .toBe(String(2_550 + 1))
    await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
    await close()
  })

  it('shows new rows at once when the user is not reading, if the filters match', async () => {
    rows = manyRows(5)
    const { page, live, close } = await open(`${PATH}?model=gpt-4o`)
    await expect.poll(() => live.connections()).toBe(1)
    live.sendCalls(logRow(100), logRow(101), logRow(102))
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('5')
    await close()
  })

  it('keeps rows during a pause and a broken connection, and shows them later', async () => {
    rows = manyRows(5)
    const { page, live, close } = await open()
    await expect.poll(() => live.connections()).toBe(1)
    await page.keyboard.press('p')
    await page.getByText(en('shared.live.paused'), { exact: true }).waitFor()
    live.sendCalls(logRow(100))
    await live.goAway()
    await page.getByText(textPattern('en', 'shared.live.reconnecting')).waitFor()
    live.acceptAgain()
    await expect.poll(() => live.connections()).toBe(2)
    live.sendCalls(logRow(100), logRow(101))
    await page.getByRole('button', { name: en('usageLog.newRows', { text: 2 }) }).waitFor()
    await page.keyboard.press('p')
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('8')
    await close()
  })
})
