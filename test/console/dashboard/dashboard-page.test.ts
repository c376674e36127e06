import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { en, TEXTS, textPattern } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults, WIDTHS } from '../support/accessibility-faults.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { channelHealth } from '../support/channel-health-samples.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { ok, STATUS, startFakeSite } from '../support/fake-site.ts'
import { type Look, takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from '../usage-log/fake-usage-log.ts'

const PLAIN = { theme: 'light', language: 'en' } as const
const HOUR = 3_600
const USER = { ...ROOT_USER, role: 1 }

const spent = (quota: number) => ({ quota, count: quota / 1_000, token_used: quota / 10 })
const UNKNOWN = { cost: 0, costed_quota: 0 }
const SITE = {
  totals: {
    ...spent(900_000),
    ...{ cost: 360_000, costed_quota: 720_000, failed: 7, users: 2 },
    ...{ input_tokens: 6_000, cache_read_tokens: 1_500, cache_saved: 50_000 },
  },
  top_users: [
    { user_id: 7, username: 'alice', ...spent(600_000) },
    { user_id: 8, username: 'bob', ...spent(300_000) },
  ],
  top_models: [
    { model_name: 'gpt-4o', ...spent(720_000), cost: 360_000, costed_quota: 720_000 },
    { model_name: 'gpt-4o-mini', ...spent(180_000), ...UNKNOWN },
  ],
  top_channels: [
    { channel_id: 1, name: 'Main', ...spent(720_000), cost: 360_000, costed_quota: 720_000 },
    { channel_id: 2, name: 'Spare', ...spent(180_000), ...UNKNOWN },
  ],
  lag: { head: 500, behind: 12, read_model: 'call-log' },
}
const DAY = 24 * HOUR
const tokenPoints = (now: number) =>
  ['laptop', 'phone', ''].map((token_name, index) => ({
    created_at: now - (now % DAY) - index * DAY,
    ...{ token_id: token_name === '' ? 0 : index + 1, token_name, ...spent(10_000 * (index + 1)) },
  }))

const START = Math.floor(Date.now() / 1000 / HOUR) * HOUR
const POINTS = Array.from({ length: 20 }, (_, index) => ({
  created_at: START - (index + (index > 6 ? 3 : 0)) * HOUR,
  model_name: ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4'][index % 3] ?? '',
  count: 3 + index,
  quota: 20_000 + 3_375 * index,
  token_used: 1_500 * (index + 1),
}))

let balance = 5_000_000
let calls = 42
let recent = manyRows(5)

const app = siteFixture(() =>
  startFakeSite({
    ...logRoutes(() => recent),
    'GET /api/user/self': () =>
      ok({ ...ROOT_USER, quota: balance, used_quota: 141_750, request_count: calls }),
    'GET /api/data/self/': () => ok(POINTS),
    'GET /api/data/': () => ok(POINTS),
    'GET /api/data/self/tokens': () => ok(tokenPoints(START)),
    'GET /api/data/site': () => ok(SITE),
    'GET /api/channel/health': () =>
      ok({
        at: Date.now(),
        channels: [
          channelHealth({ id: 1 }),
          channelHealth({ id: 2, name: 'Spare', status: 3, status_reason: 'status-401' }),
        ],
      }),
  }),
)

async function open(siteReads: Look = PLAIN, user: object = ROOT_USER, path = '/app/dashboard') {
  const look = { ...PLAIN, ...siteReads }
  const opened = await app.openPage(look)
  const live = await fakeLive(opened.page)
  await enter(opened.page, `${app.site.url}${path}`, look, user)
  await opened.page.locator('.tg-dash-balance .tg-dash-value').getByText('$').waitFor()
  return { ...opened, live }
}

/** Returns the lowest contrast of the chart's texts. axe does not check texts of drawings. */
const chartContrast = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const numbers = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (color: string): number => {
      const [red = 0, green = 0, blue = 0] = numbers(color).map((part) => {
        const value = part / 255
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = (element: Element | null): string => {
      const color =
        element === null ? 'rgb(255, 255, 255)' : getComputedStyle(element).backgroundColor
      return numbers(color)[3] === 0 ? behind(element?.parentElement ?? null) : color
    }
    const ratios = [...document.querySelectorAll('.recharts-text')].map((text) => {
      const [fore, back] = [luminance(getComputedStyle(text).fill), luminance(behind(text))]
      return (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05)
    })
    return Math.min(...ratios)
  })

describe('the dashboard', () => {
  for (const language of LANGUAGES) {
    it(`has no accessibility fault at any width, in either theme: ${language}`, {
      timeout: 120_000,
    }, async () => {
      for (const [state, made, user] of [
        ['used', 42, ROOT_USER],
        ['new', 0, USER],
      ] as const) {
        calls = made
        const { page, faults, close } = await open({ language }, user)
        await page.locator('.recharts-surface, .tg-client-text').first().waitFor()
        const widths = made === 0 ? [1280, 390] : WIDTHS
        expect(await lookFaults(page, `dashboard-${state}-${language}`, widths)).toEqual([])
        expect(faults).toEqual([])
        await close()
      }
    })
  }

  it('the chart’s text has a contrast of at least 4.5 in both themes', async () => {
    calls = 42
    const { page, close } = await open()
    await page.locator('.recharts-text').first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor()
      expect(await chartContrast(page)).toBeGreaterThanOrEqual(4.5)
    }
    await close()
  })

  it('the balance falls by exactly what a call cost, as soon as the call ends', async () => {
    balance = 5_000_000
    calls = 42
    recent = [logRow(899, {}, { end: 'interrupted' })]
    const { page, live, close } = await open()
    const shown = page.locator('.tg-dash-balance .tg-dash-value')
    await expect.poll(() => shown.innerText()).toBe('$10.00')
    await expect.poll(() => live.connections()).toBe(1)
    balance -= 3_375
    live.sendCalls(logRow(900))
    await expect.poll(() => shown.innerText()).toBe('$9.99325')
    const cut = page.locator('.tg-dash-recent li', { hasText: en('usageLog.endShort.interrupted') })
    await cut.getByText('$0.00675').waitFor()
    await takePicture(page, 'dashboard-interrupted')
    await close()
  })

  it('says whether its figures are live, and offers to reconnect', async () => {
    calls = 1
    const { page, live, close } = await open()
    await page.getByText(en('dashboard.callsInTotal_one', { number: 1 })).waitFor()
    await page.locator('.tg-live-dot').getByText(en('shared.live.live'), { exact: true }).waitFor()
    await live.goAway()
    await page
      .locator('.tg-live-dot')
      .getByText(textPattern('en', 'shared.live.reconnecting'))
      .waitFor()
    live.acceptAgain()
    await page.getByRole('button', { name: en('shared.reconnectNow') }).click()
    await page.locator('.tg-live-dot').getByText(en('shared.live.live'), { exact: true }).waitFor()
    await close()
  })

  for (const language of ['en', 'zh'] as const) {
    it(`says in the summary what is counted: ${language}`, async () => {
      calls = 42
      const { page, close } = await open({ language }, ROOT_USER, '/app/dashboard?measure=count')
      const counted = (number: number | RegExp) =>
        textPattern(language, 'dashboard.countText_other', { number })
      const words = textPattern(language, 'dashboard.summary', {
        ...{
          range: TEXTS[language]('dashboard.24h'),
          total: counted(/\d+/),
          peakTotal: counted(22),
        },
      })
      await expect.poll(() => page.locator('.tg-dash-summary').innerText()).toMatch(words)
      await close()
    })
  }

  it('shows the chart as a table too, with a dash where nothing is recorded', async () => {
    calls = 42
    const { page, close } = await open()
    await page.getByRole('button', { name: en('shared.asTable') }).click()
    const cells = await page.getByRole('table').locator('tbody td:last-child').allInnerTexts()
    expect(cells.filter((text) => text === '–').length).toBeGreaterThanOrEqual(3)
    expect(cells).not.toContain('$0.00')
    await page.setViewportSize({ width: 390, height: 800 })
    const table = page.locator('.tg-dash-table')
    const row = table.locator('tbody tr').first()
    for (const [end, by] of [
      ['start', 0],
      ['end', 2_000],
    ] as const) {
      await table.locator('..').evaluate((box, left) => box.scrollTo({ left }), by)
      for (const cell of ['th', 'td:last-child']) {
        const isInside = async () => {
          const frame = await table.locator('..').boundingBox()
          const box = await row.locator(cell).boundingBox()
          if (frame === null || box === null) return false
          return box.x >= frame.x && box.x + box.width <= frame.x + frame.width + 1
        }
        await expect.poll(isInside, { message: `${cell} at the ${end}` }).toBe(true)
      }
    }
    await close()
  })

  it('zooms the chart by keys or dragging, keeps the range in the address, zooms out', async () => {
    calls = 42
    const { page, close } = await open()
    const bars = page.locator('.tg-dash-hits button')
    await bars.last().focus()
    for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) {
      await page.keyboard.press(key)
    }
    await page.waitForURL(/from=\d+.*to=\d+/)
    await expect.poll(() => bars.count()).toBe(3)
    await page.getByText(textPattern('en', 'dashboard.zoomed')).waitFor()
    await page.getByRole('button', { name: en('dashboard.zoomOut') }).click()
    await expect.poll(() => bars.count()).toBe(24)
    const [first, second] = [await bars.nth(4).boundingBox(), await bars.nth(9).boundingBox()]
    await page.mouse.move((first?.x ?? 0) + 2, (first?.y ?? 0) + 20)
    await page.mouse.down()
    await page.mouse.move((second?.x ?? 0) + 2, (second?.y ?? 0) + 20, { steps: 3 })
    await page.mouse.up()
    await expect.poll(() => bars.count()).toBe(6)
    await page.goBack()
    await expect.poll(() => bars.count()).toBe(24)
    await close()
  })

  it('starts with the site’s default step, and charts the user’s tokens separately', async () => {
    const week = { ...STATUS, data_export_default_time: 'week' }
    app.site.routes['GET /api/status'] = () => ok(week)
    const { page, close } = await open()
    const lead = en('dashboard.chartLead', { step: en('dashboard.step.week'), zone: 'UTC' })
    await page.getByText(lead).waitFor()
    await page.getByRole('button', { name: en('dashboard.byToken') }).click()
    await page.getByRole('button', { name: en('dashboard.24h') }).waitFor({ state: 'detached' })
    await page.getByText(lead).waitFor()
    await page.locator('.tg-dash-legend').getByText(en('dashboard.otherTokens')).waitFor()
    await expect.poll(() => page.locator('.tg-dash-legend li').count()).toBe(3)
    app.site.routes['GET /api/status'] = () => ok(STATUS)
    await close()
  })

  it('shows the figures of the whole site to admins only', async () => {
    const siteReads = () => app.site.calls.filter(({ path }) => path === '/api/data/site').length
    const before = siteReads()
    const own = await open(PLAIN, USER)
    await own.page.locator('.recharts-surface').waitFor()
    await expect.poll(() => own.page.getByText(en('dashboard.site')).count()).toBe(0)
    expect(siteReads()).toBe(before)
    await own.close()
    const { page, live, close } = await open()
    await page.getByText(en('dashboard.lagEvents_other', { number: 12 })).waitFor()
    const spare = new RegExp(`Spare.*${en('health.kind.autoDisabled')}`)
    await page.getByRole('row', { name: spare }).waitFor()
    const link = page.getByRole('link', { name: 'bob' })
    await expect
      .poll(() => link.getAttribute('href'))
      .toBe('/app/logs/api-usage?username=bob&range=24h')
    // Of $1.80, calls with known cost were charged $1.44. The providers' cost was $0.72.
    await page.getByText(en('dashboard.marginShare', { percent: '50%' })).waitFor()
    const cache = page.getByText(en('dashboard.cacheRead')).locator('..')
    await cache.getByText('25%').waitFor()
    await cache.getByText(en('dashboard.cacheSaved', { amount: '$0.10' })).waitFor()
    await page.getByText('$0.72', { exact: true }).waitFor()
    await page.getByText(en('dashboard.marginPartly', { percent: '80%' })).waitFor()
    await page.getByRole('row', { name: 'gpt-4o 720 $1.44 50%', exact: true }).waitFor()
    await page.getByRole('row', { name: 'Spare 180 $0.36 –', exact: true }).waitFor()
    app.site.routes['GET /api/data/site'] = () =>
      ok({ ...SITE, totals: { ...SITE.totals, ...UNKNOWN } })
    await page.getByRole('button', { name: en('dashboard.7d') }).click()
    await page.getByText(en('dashboard.marginUnknown')).waitFor()
    const channels = page.getByRole('link', { name: en('shared.toChannels') })
    await expect.poll(() => channels.getAttribute('href')).toBe('/admin/channels')
    await expect
      .poll(() => page.getByText(textPattern('en', 'dashboard.marginShare')).count())
      .toBe(0)
    app.site.routes['GET /api/data/site'] = () => ok(SITE)
    await page.getByText(en('dashboard.perSecondPeak', { peak: 0 })).waitFor()
    live.sendCalls(logRow(901))
    await page.getByText(en('dashboard.perSecondPeak', { peak: 1 })).waitFor()
    await page.getByRole('button', { name: en('dashboard.everybody') }).click()
    await page.getByText(en('dashboard.chartOfAll')).waitFor()
    await close()
  })
})
