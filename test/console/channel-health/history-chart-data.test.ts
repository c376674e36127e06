import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { historyChartData } from '#console/features/channel-health/history-chart-data.ts'
import type { HistoryRange } from '#read-api/contract/channel-health.ts'
import { en, textPattern } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { HEALTH_CHANNELS, healthHistory, TIMELINE } from '../support/channel-health-samples.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'

describe('the history of a channel', () => {
  const none = { successes: 0, failures: 0, latency_ms: null, first_token_ms: null }

  it('has no rate for a step without calls, and names the newest of the worst steps', () => {
    const failed = { ...none, failures: 4 }
    const answered = { ...none, successes: 8, latency_ms: { p50: 400, p95: 900 } }
    const points = [failed, failed, none, answered].map((point, n) => ({ at: n * 1_800, ...point }))
    const data = historyChartData({ range: '24h', step: 1_800, points })
    expect(data.steps.map(({ successRate }) => successRate)).toEqual([0, 0, null, 1])
    expect(data.steps.map(({ p50 }) => p50)).toEqual([null, null, null, 400])
    expect(data).toMatchObject({
      attempts: 16,
      successRate: 0.5,
      lowestStep: { at: 1_800, successRate: 0 },
    })
  })

  it('has neither a rate nor a worst step if there were no calls', () => {
    const points = [{ at: 0, ...none }]
    const data = historyChartData({ range: '1h', step: 120, points })
    expect(data).toMatchObject({ attempts: 0, successRate: null, lowestStep: null })
  })
})

describe('the chart of a channel’s history', () => {
  const admin = pageFixture()
  const title = en('health.history.title')

  function withSite(): void {
    const { routes } = admin.site
    routes['GET /api/channel/health'] = () => ok({ at: Date.now(), channels: HEALTH_CHANNELS })
    routes['GET /api/channel/2/timeline'] = () =>
      ok({ items: TIMELINE, page: 0, total: TIMELINE.length, state_at: null })
    routes['GET /api/channel/2/health_history'] = ({ query }) =>
      ok(healthHistory(query.get('range') as HistoryRange))
  }
  const section = (page: Page) =>
    page.getByRole('dialog').getByRole('region', { name: title }).first()
  const summary = (params: Record<string, string | RegExp>) =>
    textPattern('en', 'health.history.summary_other', params)
  /** Returns the position of the part below the chart within the drawer's content. */
  const below = (page: Page) =>
    page.getByRole('heading', { name: textPattern('en', 'health.byModel') }).evaluate((heading) => {
      const body = heading.closest('.tg-drawer-body')
      return heading.getBoundingClientRect().top + (body?.scrollTop ?? 0)
    })

  it('draws success and both percentiles, and sums them up in a sentence', async () => {
    const { page } = admin
    withSite()
    await openAsRoot(page, admin.site, '/admin/health?peek=2&window=d1')
    await page.locator('.recharts-line').nth(2).waitFor()
    await section(page)
      .getByText(summary({ lowest: '30%', time: /\d\d:\d\d/ }))
      .waitFor()
    // Where no calls were made, the curves are interrupted and do not cross the gap.
    const curve = page.locator('.recharts-line-curve').first()
    const path = (await curve.getAttribute('d')) ?? ''
    expect(path.split('M').length - 1).toBeGreaterThan(2)
  })

  it('requests the range in the address from the server', async () => {
    const { page, site } = admin
    withSite()
    await openAsRoot(page, site, '/admin/health?peek=2&history=7d')
    await section(page)
      .getByText(summary({ time: /\d\d-\d\d \d\d:\d\d/ }))
      .waitFor()
    await section(page)
      .getByRole('button', { name: en('health.window.h1') })
      .click()
    await expect.poll(() => page.url()).toContain('history=1h')
    const ranges = () =>
      site.calls
        .filter(({ path }) => path === '/api/channel/2/health_history')
        .map(({ query }) => query.get('range'))
    await expect.poll(ranges).toEqual(['7d', '1h'])
  })

  it('covers the period of the board until a range is chosen', async () => {
    const { page, site } = admin
    withSite()
    await openAsRoot(page, site, '/admin/health?peek=2')
    const selected = section(page).locator('button[aria-pressed="true"]')
    await expect.poll(() => selected.textContent()).toBe(en('health.history.range.1h'))
    await openAsRoot(page, site, '/admin/health?peek=2&window=d1')
    await expect.poll(() => selected.textContent()).toBe(en('health.history.range.24h'))
  })

  it('says that no latency was measured instead of drawing an empty chart', async () => {
    const { page, site } = admin
    withSite()
    const at = Date.now()
    const point = { at, successes: 0, failures: 3, latency_ms: null }
    site.routes['GET /api/channel/2/health_history'] = () =>
      ok({ range: '1h', step: 120, points: [point] })
    await openAsRoot(page, site, '/admin/health?peek=2')
    await section(page).getByText(en('health.history.noLatency')).waitFor()
    await expect.poll(() => section(page).locator('.recharts-surface').count()).toBe(1)
  })

  it('can be shown as a table, with a dash where no call was tried', async () => {
    const { page } = admin
    withSite()
    await openAsRoot(page, admin.site, '/admin/health?peek=2&window=d1')
    await section(page)
      .getByRole('button', { name: en('shared.asTable') })
      .click()
    const table = section(page).getByRole('table')
    await expect.poll(() => table.locator('tbody tr').count()).toBe(48)
    const gap = table.locator('tbody tr', { hasText: /^\d\d:\d\d–{4}$/ })
    await expect.poll(() => gap.count()).toBeGreaterThan(3)
    await table.locator('tbody tr', { hasText: '30%' }).waitFor()
    await section(page)
      .getByRole('button', { name: en('shared.asChart') })
      .click()
    await page.locator('.recharts-line').nth(2).waitFor()
  })

  it('keeps the same height while it loads, is empty or has failed', async () => {
    const { page, site } = admin
    withSite()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    site.routes['GET /api/channel/2/health_history'] = async () => {
      await held
      return ok(healthHistory())
    }
    await openAsRoot(page, site, '/admin/health?peek=2')
    await section(page).waitFor()
    const whileLoading = await below(page)
    release()
    await page.locator('.recharts-line').nth(2).waitFor()
    expect(await below(page)).toBe(whileLoading)
    const points = healthHistory().points.map(({ at }) => ({
      ...{ at, successes: 0, failures: 0 },
      ...{ latency_ms: null, first_token_ms: null },
    }))
    site.routes['GET /api/channel/2/health_history'] = () =>
      ok({ range: '24h', step: 1_800, points })
    await openAsRoot(page, site, '/admin/health?peek=2')
    await section(page).getByText(en('health.history.none')).waitFor()
    expect(await below(page)).toBe(whileLoading)
    site.routes['GET /api/channel/2/health_history'] = () => ({
      status: 400,
      body: { success: false, message: 'broken', code: 'Broken' },
    })
    await openAsRoot(page, site, '/admin/health?peek=2')
    await section(page).getByText('broken').waitFor()
    expect(await below(page)).toBe(whileLoading)
  })
})
