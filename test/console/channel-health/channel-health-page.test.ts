import { describe, expect, it } from 'vitest'
import type { HistoryRange } from '#read-api/contract/channel-health.ts'
import { en, textPattern } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, openByLink } from '../support/admin-site.ts'
import { HEALTH_CHANNELS, healthHistory, TIMELINE } from '../support/channel-health-samples.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'

function withHealth(site: FakeSite): void {
  site.routes['GET /api/channel/health'] = () => ok({ at: Date.now(), channels: HEALTH_CHANNELS })
  site.routes['GET /api/channel/2/health_history'] = ({ query }) =>
    ok(healthHistory(query.get('range') as HistoryRange))
  site.routes['GET /api/channel/2/timeline'] = ({ query }) =>
    ok({
      items: TIMELINE,
      page: 0,
      total: TIMELINE.length,
      state_at: query.has('at')
        ? { at: Number(query.get('at')) * 1_000, state: 'circuit-open', because: TIMELINE[0] }
        : null,
    })
}

describe('the health board', () => {
  const admin = pageFixture()
  const open = async (path = '/admin/health') => {
    withHealth(admin.site)
    await openAsRoot(admin.page, admin.site, path)
    await admin.page.getByRole('grid', { name: en('shell.health') }).waitFor()
    return admin.page
  }

  it('opens by the keys g h, and lists channels in trouble first, with cause and end', async () => {
    withHealth(admin.site)
    const { page } = admin
    await openAsRoot(page, admin.site, '/admin/channels')
    await page.getByRole('grid').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.getByRole('heading', { level: 1, name: en('shell.health') }).waitFor()
    const rows = page.getByRole('grid', { name: en('shell.health') }).getByRole('row')
    await expect
      .poll(() => rows.nth(1).textContent())
      .toContain(en('health.reason.invalid_api_key'))
    const end = `${textPattern('en', 'health.timeLeft').source}|${en('health.probeDue')}`
    await expect
      .poll(() => rows.nth(2).textContent())
      .toMatch(new RegExp(`${en('health.kind.open')}.*(${end}).*503`))
    await expect.poll(() => rows.nth(3).textContent()).toContain(en('health.kind.healthy'))
  })

  it('has a dash, not a zero, where nothing is known', async () => {
    const page = await open('/admin/health?keyword=New')
    const row = page.getByRole('grid').getByRole('row').nth(1)
    const text = (await row.textContent()) ?? ''
    expect(text).toContain(en('health.kind.idle'))
    expect(text).not.toMatch(/\b0\b|0%|0 ms/)
  })

  it('counts the answers of another model or at a higher cost in the time range', async () => {
    const [one, ...rest] = HEALTH_CHANNELS
    const figures = { ...one?.figures, h1: one?.figures.h1 && { ...one.figures.h1, anomalies: 3 } }
    withHealth(admin.site)
    admin.site.routes['GET /api/channel/health'] = () =>
      ok({ at: Date.now(), channels: [{ ...one, figures }, ...rest] })
    await openAsRoot(admin.page, admin.site, '/admin/health')
    const badge = admin.page.getByText(en('health.anomalyCount_other', { number: 3 }))
    await badge.waitFor()
    const hint = en('health.anomalies_other', { number: 3, window: en('health.window.h1') })
    await expect.poll(() => badge.locator('..').getAttribute('title')).toBe(hint)
    await admin.page.getByRole('button', { name: en('health.window.m5') }).click()
    await badge.waitFor({ state: 'detached' })
  })

  it('keeps the time range and the filter for channels in trouble in the address', async () => {
    const page = await open()
    await page.getByRole('button', { name: en('health.shown.troubled') }).click()
    const rows = page.getByRole('grid').getByRole('row')
    await expect.poll(() => rows.count()).toBe(3)
    await page.getByRole('button', { name: en('health.window.d1') }).click()
    expect(page.url()).toContain('shown=troubled')
    expect(page.url()).toContain('window=d1')
  })

  it('fits 1 280 pixels: no column is hidden, no heading, figure or reason is cut', async () => {
    const page = await open()
    const cut = await page.getByRole('grid').evaluate((grid) => {
      const isCut = (element: Element) => element.scrollWidth > element.clientWidth
      const cells = [...grid.querySelectorAll('[role="columnheader"], [role="gridcell"]')]
      const parts = cells.flatMap((cell) => [...cell.querySelectorAll('*')])
      const texts = parts.filter((part) => isCut(part)).map(({ textContent }) => textContent)
      return { isWide: isCut(grid), texts }
    })
    expect(cut).toEqual({ isWide: false, texts: [] })
  })

  it('opens a channel on a phone by a click or by Enter on the head of its card', async () => {
    const page = await open('/admin/health?keyword=Azure')
    await page.setViewportSize({ width: 390, height: 844 })
    const head = page.getByRole('article').getByRole('button', { name: en('shared.details') })
    const size = async () => {
      const box = await head.boundingBox()
      return Math.min(box?.width ?? 0, (box?.height ?? 0) * 6)
    }
    await expect.poll(size).toBeGreaterThan(320)
    const drawer = page.getByRole('dialog', { name: 'Azure East US 2, second deployment' })
    for (const perform of [() => head.click(), () => head.press('Enter')]) {
      await perform()
      await drawer.waitFor()
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('opens a channel by keyboard, with its circuits, models and state at any time', async () => {
    const page = await open('/admin/health?keyword=Azure')
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Azure East US 2, second deployment' })
    await drawer
      .getByText(en('health.opened_other', { count: 5, round: 2 }))
      .first()
      .waitFor()
    await drawer.getByText(en('health.entry.circuit-closed')).first().waitFor()
    const fields = [
      en('channelForm.priority'),
      en('shared.models'),
      en('channelForm.maxConcurrency'),
    ]
    await drawer.getByText(fields.join(en('health.listSeparator'))).waitFor()
    await expect
      .poll(() => drawer.getByText(en('health.key', { key: 2 }), { exact: false }).count())
      .toBe(2)
    // A channel with problems that stays enabled shows the reason, but only if no other channel
    // serves its models.
    const lastStays = page.getByText(en('health.lastChannelKept'))
    await expect.poll(() => lastStays.count()).toBe(1)
    await drawer.getByLabel(en('health.stateAt')).fill('2026-11-20T14:03:00')
    await drawer.getByRole('button', { name: en('shared.view'), exact: true }).click()
    await drawer.getByText(en('health.stateThen.circuit-open')).waitFor()
    expect(page.url()).toMatch(/peek=2&at=\d+/)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('peek=')
    const channels = HEALTH_CHANNELS.map((channel) => ({ ...channel, is_last: false }))
    admin.site.routes['GET /api/channel/health'] = () => ok({ at: Date.now(), channels })
    await openAsRoot(page, admin.site, '/admin/health?peek=2')
    await drawer
      .getByText(en('health.opened_other', { count: 5, round: 2 }))
      .first()
      .waitFor()
    await expect.poll(() => lastStays.count()).toBe(0)
  })

  it('folds consecutive entries of one circuit, but not the actions of a person', async () => {
    const page = await open('/admin/health?peek=2')
    const timeline = page.getByRole('dialog').getByRole('region', { name: en('health.timeline') })
    const line = timeline
      .getByRole('listitem')
      .filter({ hasText: en('health.entryGroup.span_other', { count: 7, span: '22 min' }) })
    await line.getByText(en('health.entryGroup.opened_other', { count: 4 })).waitFor()
    await line.getByText('gpt-4o').waitFor()
    await expect
      .poll(() => timeline.getByText(en('health.entry.circuit-half-opened')).count())
      .toBe(0)
    await timeline.getByText(`gpt-4o · ${en('health.entry.byHand')}`).waitFor()
    await line
      .getByRole('button', { name: en('health.entryGroup.expand_other', { count: 7 }) })
      .click()
    await expect.poll(() => line.getByRole('listitem').count()).toBe(7)
    await expect
      .poll(() => timeline.getByText(en('health.entry.circuit-half-opened')).count())
      .toBe(3)
    await line
      .getByRole('button', { name: en('health.entryGroup.collapse_other', { count: 7 }) })
      .click()
    await expect
      .poll(() => timeline.getByText(en('health.entry.circuit-half-opened')).count())
      .toBe(0)
  })

  it('tests a channel and says how long it took, or why it failed', async () => {
    const { site } = admin
    site.routes['GET /api/channel/test/2'] = () => ok({ success: true, time: 0.81 })
    const page = await open('/admin/health?peek=2')
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: en('shared.test'), exact: true }).click()
    await drawer.getByText(en('health.actions.passed', { duration: '810 ms' })).waitFor()
    const failure = { success: false, message: 'Provider answered 503', code: 'TestFailed' }
    site.routes['GET /api/channel/test/2'] = () => ({ status: 200, body: failure })
    await drawer.getByRole('button', { name: en('shared.test'), exact: true }).click()
    await drawer.getByText(en('shared.testFailed', { reason: 'Provider answered 503' })).waitFor()
  })

  it('closes a channel’s circuits, and no longer offers this when all are closed', async () => {
    const { site } = admin
    const page = await open('/admin/health?peek=2')
    const drawer = page.getByRole('dialog')
    site.routes['POST /api/channel/2/circuit/close'] = () => {
      const channels = HEALTH_CHANNELS.map((channel) => ({ ...channel, circuits: [] }))
      site.routes['GET /api/channel/health'] = () => ok({ at: Date.now(), channels })
      return ok(3)
    }
    const close = drawer.getByRole('button', {
      name: en('health.actions.close_other', { count: 3 }),
    })
    await close.click()
    await page.getByText(en('health.actions.closed_other', { count: 3 })).waitFor()
    await drawer.locator('.tg-health-circuits').waitFor({ state: 'detached' })
    for (const key of ['health.actions.close_one', 'health.actions.close_other'] as const) {
      const offer = drawer.getByRole('button', { name: textPattern('en', key) })
      await expect.poll(() => offer.count(), { message: key }).toBe(0)
    }
    await drawer.getByRole('button', { name: en('shared.test'), exact: true }).waitFor()
  })

  it('links to the failed calls of a channel and to its form, which leads back', async () => {
    const page = await open('/admin/health?window=d1&peek=2')
    const drawer = page.getByRole('dialog')
    const failing = drawer.getByRole('link', { name: en('health.actions.failedCalls') })
    await expect
      .poll(() => failing.getAttribute('href'))
      .toBe('/app/logs/api-usage?failed_channel=2&range=24h')
    await drawer.getByRole('link', { name: en('ui.editRow') }).click()
    await page.waitForURL('**/channel/edit/2')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: en('ui.close'), exact: true })
      .click()
    await page.waitForURL('**/admin/health?window=d1&peek=2')
    await drawer
      .getByText(en('health.opened_other', { count: 5, round: 2 }))
      .first()
      .waitFor()
  })

  it('says why it failed to load, and loads after a retry', async () => {
    const { page, site } = admin
    site.routes['GET /api/channel/health'] = () => ({
      status: 400,
      body: { success: false, message: 'broken', code: 'Broken' },
    })
    await openAsRoot(page, site, '/admin/health')
    await page.getByText('broken').waitFor()
    withHealth(site)
    await page.getByRole('button', { name: en('ui.retry') }).click()
    await page.getByRole('grid', { name: en('shell.health') }).waitFor()
  })
})

describe.each(LANGUAGES)('the health board and its drawer in %s', (language) => {
  const admin = pageFixture({ language })

  it('have no accessibility fault at any width, in any theme', async () => {
    const { page, site } = admin
    withHealth(site)
    await openAsRoot(page, site, '/admin/health')
    await page.locator('.tg-health-spark').first().waitFor()
    expect(await lookFaults(page, `health-${language}`)).toEqual([])
    await openByLink(page, site, '/admin/health?peek=2&at=1795240000')
    await page.locator('.tg-health-then').waitFor()
    await page.locator('.recharts-line').nth(2).waitFor()
    const part = '[role="dialog"]'
    const found = await lookFaults(page, `health-drawer-${language}`, [1280, 390], part)
    expect(found).toEqual([])
  }, 240_000)
})
