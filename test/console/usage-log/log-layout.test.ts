import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { usageLog } from '#console/i18n/en/usage-log.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en, startingWith, TEXTS, zh } from '#test/support/console-texts.ts'
import { LANGUAGES } from '../support/accessibility-faults.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { startFakeSite } from '../support/fake-site.ts'
import { type Look, takePicture } from '../support/open-page.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'
/** The width that a scroll bar needs. The test browser hides scroll bars. */
const SCROLL_BAR_PX = 15
const ESSENTIAL = [
  ...[
    en('shared.time'),
    en('shared.token'),
    en('ui.model'),
    en('usageLog.column.prompt'),
    en('usageLog.column.completion'),
  ],
  ...[
    en('shared.duration'),
    en('shared.firstToken'),
    en('usageLog.column.cost'),
    en('shared.status'),
  ],
]
const PLAIN_USER = { ...ROOT_USER, id: 5, role: 1 }

const app = siteFixture(() => startFakeSite(logRoutes(() => rows)))
let rows: LogEntry[] = []

async function open(look: Look = {}, user: object = ROOT_USER, query = '') {
  const shownLook = { language: 'en', ...look } as const
  const opened = await app.openPage(shownLook)
  const live = await fakeLive(opened.page)
  await enter(opened.page, app.site.url + PATH + query, shownLook, user)
  await opened.page.getByText('gpt-4o').first().waitFor()
  return { ...opened, live }
}

const boxOf = async (place: Locator) => {
  const box = await place.boundingBox()
  if (box === null) throw new Error('not drawn')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

const failedRow = (page: Page): Locator =>
  page.locator('.tg-grid-row-muted').filter({ visible: true }).first()

describe('the layout of the usage log', () => {
  for (const [name, user, own] of [
    ['an admin', ROOT_USER, [en('shared.user'), en('shared.channel')]],
    ['a user', PLAIN_USER, [en('usageLog.ratios')]],
  ] as const) {
    it(`shows ${name} the main columns and failures at 1280 px without scrolling`, async () => {
      rows = manyRows(9)
      const { page, close } = await open({}, user)
      const rightOf = async (place: Locator) => (await boxOf(place)).right
      const gridRight = () => rightOf(page.getByRole('grid'))
      const last = page.getByRole('columnheader', { name: en('shared.status') })
      const lastFits = async () => (await rightOf(last)) <= (await gridRight()) - SCROLL_BAR_PX
      await expect.poll(lastFits).toBe(true)
      for (const title of [...ESSENTIAL, ...own]) {
        const header = page.getByRole('columnheader', { name: title }).first()
        const isBeforeLast = async () => (await rightOf(header)) <= (await rightOf(last))
        await expect.poll(isBeforeLast, { message: title }).toBe(true)
      }
      const cells = page.locator('.tg-grid-body .tg-grid-cell')
      const cutBefore = (right: number) =>
        cells.evaluateAll((all, end) => {
          const seen = all.filter((cell) => cell.getBoundingClientRect().right <= end)
          return seen
            .filter((cell) => cell.scrollWidth > cell.clientWidth)
            .map((cell) => cell.textContent)
        }, right)
      await expect.poll(async () => cutBefore(await rightOf(last))).toEqual([])
      const channels = page.locator('.tg-grid-body .tg-log-channel > :first-child')
      await expect.poll(() => channels.count()).toBe(user === ROOT_USER ? 9 : 0)
      const cutNames = () =>
        channels.evaluateAll((names) =>
          names.filter((name) => name.scrollWidth > name.clientWidth || name.clientWidth === 0),
        )
      await expect.poll(cutNames).toEqual([])
      const failed = failedRow(page).getByText(en('shared.failed'))
      const failedFits = async () => (await rightOf(failed)) <= (await gridRight())
      await expect.poll(failedFits).toBe(true)
      await expect.poll(() => failed.locator('.tg-mark').count()).toBe(1)
      await expect.poll(() => failedRow(page).locator('.tg-log-pace-good').count()).toBe(0)
      await close()
    })
  }

  for (const [name, query] of [
    ['of today', ''],
    ['of a chosen time', '?range=24h'],
  ] as const) {
    it(`shows at least twelve calls in a window of 1280 × 800: ${name}`, async () => {
      rows = manyRows(45)
      const { page, close } = await open({}, ROOT_USER, query)
      await page.setViewportSize({ width: 1280, height: 800 })
      const wholeRows = () =>
        page.evaluate(() => {
          const grid = document.querySelector('.tg-grid')
          const box = grid?.getBoundingClientRect()
          if (grid === null || box === undefined) return 0
          // A horizontal scroll bar covers the end of the box.
          const end = Math.min(box.top + grid.clientTop + grid.clientHeight, window.innerHeight)
          const head = grid.querySelector('.tg-grid-head')?.getBoundingClientRect().bottom ?? 0
          return [...grid.querySelectorAll('.tg-grid-item')].filter((row) => {
            const { top, bottom } = row.getBoundingClientRect()
            return top >= head - 1 && bottom <= end
          }).length
        })
      await expect.poll(wholeRows).toBeGreaterThanOrEqual(12)
      await takePicture(page, 'log-rows')
      await close()
    })
  }

  it.each(LANGUAGES)('cuts no count and no end of a call at 1280 px, in %s', async (language) => {
    const ends = Object.keys(usageLog.endShort)
    rows = [
      logRow(40, { prompt_tokens: 99_999, completion_tokens: 100_000 }),
      logRow(39, { prompt_tokens: 1_234_567, completion_tokens: 123_456 }, { anomaly: 'absurd' }),
      ...ends.map((end, index) => logRow(30 - index, {}, { end })),
    ]
    const { page, close } = await open({ language })
    const number = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-US')
    await page.getByTitle(number.format(1_234_567)).waitFor()
    const columns = ['prompt', 'completion', 'type'].map((id) => `[data-column="${id}"]`)
    await expect
      .poll(() => cutAmong(page, `.tg-grid-body :is(${columns.join(', ')}, .tg-tag)`))
      .toEqual([])
    await takePicture(page, `log-ends-${language}`)
    await close()
  })

  it('marks that more columns follow, and keeps the time visible during the scroll', async () => {
    rows = manyRows(9)
    const { page, close } = await open()
    const grid = page.locator('.tg-grid')
    const time = page.getByRole('columnheader', { name: en('shared.time') })
    const before = await boxOf(time)
    await expect.poll(() => grid.getAttribute('data-more')).toBe('')
    await grid.evaluate((box) => box.scrollTo({ left: box.scrollWidth }))
    await expect.poll(() => grid.getAttribute('data-more')).toBeNull()
    const details = startingWith(en('usageLog.column.details'))
    const { x, right } = await boxOf(page.getByRole('columnheader', { name: details }))
    await expect.poll(async () => (await boxOf(time)).x).toBe(before.x)
    expect(right).toBeLessThanOrEqual((await boxOf(grid)).right)
    expect(x).toBeGreaterThan(before.right)
    await takePicture(page, 'log-scrolled')
    await close()
  })

  it('shows dates or relative times, as the user selected, and remembers it', async () => {
    rows = [logRow(1, { created_at: Math.floor(Date.now() / 1_000) - 7_200 })]
    const { page, close } = await open()
    const first = page.locator('.tg-grid-row time').first()
    await expect.poll(() => first.innerText()).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\d$/)
    await page.getByRole('button', { name: en('ui.columns'), exact: true }).press('Enter')
    const times = page.getByRole('group', { name: en('ui.timeFormat') })
    await times.getByRole('button', { name: en('ui.timeFormatRelative') }).press('Enter')
    await expect.poll(() => first.innerText()).toBe('2 hr. ago')
    await expect.poll(() => first.getAttribute('title')).toMatch(/\d{4}/)
    await page.keyboard.press('Escape')
    await page.reload()
    await expect.poll(() => first.innerText()).toBe('2 hr. ago')
    await close()
  })

  it('keeps the pagination inside the window at any height', async () => {
    rows = manyRows(45)
    const { page, close } = await open()
    for (const height of [720, 800, 1000]) {
      await page.setViewportSize({ width: 1280, height })
      const pager = page.locator('.tg-pagination')
      await expect.poll(async () => (await boxOf(pager)).bottom).toBeLessThanOrEqual(height)
      await takePicture(page, `log-height-${height}`)
    }
    await close()
  })

  it('does not cover the first row with the number of new rows', async () => {
    rows = manyRows(20)
    const { page, live, close } = await open()
    await expect.poll(() => live.connections()).toBe(1)
    await page.getByRole('grid').hover()
    await page.getByText(en('shared.live.reading')).waitFor()
    live.sendCalls(logRow(100))
    const pill = await boxOf(
      page.getByRole('button', { name: en('usageLog.newRows', { text: 1 }) }),
    )
    const first = await boxOf(page.locator('.tg-grid-item').first())
    expect(pill.bottom).toBeLessThanOrEqual(first.y)
    await page.mouse.click(pill.x + pill.width / 2, pill.y + 4)
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('22')
    await close()
  })

  for (const width of [620, 900, 1280]) {
    it(`does not move under the pointer when the user reads the list: ${width}`, async () => {
      rows = manyRows(20)
      const { page, live, close } = await open({ width })
      await expect.poll(() => live.connections()).toBe(1)
      await page.getByText(en('shared.live.live'), { exact: true }).waitFor()
      const before = await boxOf(page.getByRole('grid'))
      await page.locator('.tg-grid-head').hover()
      await page.getByText(en('shared.live.reading')).waitFor()
      await expect.poll(async () => (await boxOf(page.getByRole('grid'))).y).toBe(before.y)
      await close()
    })
  }

  it('gives the time range menu equal margins on every side', async () => {
    rows = manyRows(3)
    const { page, close } = await open()
    await page.getByRole('button', { name: startingWith(en('shared.timeRange')) }).click()
    const panel = await boxOf(page.locator('.tg-popover'))
    const list = await boxOf(page.locator('.tg-range ul'))
    const apply = await boxOf(page.getByRole('button', { name: en('timeRange.apply') }))
    const field = await boxOf(page.getByLabel(en('timeRange.from')))
    expect(field.right).toBeLessThanOrEqual(apply.right)
    const [left, right] = [list.x - panel.x, panel.right - apply.right]
    const [top, bottom] = [list.y - panel.y, panel.bottom - apply.bottom]
    for (const side of [right, top]) expect(Math.abs(side - left)).toBeLessThanOrEqual(1)
    expect(bottom).toBeGreaterThanOrEqual(left - 1)
    await takePicture(page, 'log-range')
    await close()
  })
})

describe('the usage log on a phone', () => {
  for (const width of [360, 390]) {
    it(`shows calls in short cards after little scrolling: ${width}`, async () => {
      rows = manyRows(20)
      const { page, close } = await open({ width })
      const card = await boxOf(page.locator('.tg-card').first())
      expect(card.y).toBeLessThanOrEqual(400)
      expect(card.height).toBeLessThanOrEqual(140)
      await expect
        .poll(() => page.locator('.tg-card').getByText(en('shared.failed')).count())
        .toBeGreaterThan(0)
      await takePicture(page, `log-phone-${width}`)
      await close()
    })

    it(`shows the price of a video instead of tokens that it does not have: ${width}`, async () => {
      const price = { mode: 'call', price: '0.056', per: 'second', group: '0.8' }
      const ofVideo = { model_price: 0.056, model_ratio: undefined, completion_ratio: undefined }
      const tokens = { prompt_tokens: 0, completion_tokens: 0, is_stream: false }
      const other = { ...ofVideo, price, usage: { seconds: 5 }, frt: undefined }
      rows = [logRow(2, { ...tokens, model_name: 'kling-v1-6' }, other), logRow(1)]
      const { page, close } = await open({ width })
      const card = page.locator('.tg-card').filter({ hasText: 'kling-v1-6' })
      await card.getByText(en('usageLog.column.secondPrice')).waitFor()
      const shown = await card.innerText()
      expect(shown).toContain('$0.056 / 0.8')
      for (const name of ['prompt', 'completion'] as const) {
        expect(shown).not.toContain(en(`usageLog.column.${name}`))
      }
      expect(shown).not.toContain(en('usageLog.notStreamed'))
      await expect
        .poll(() => page.locator('.tg-card').nth(1).innerText())
        .toContain(en('usageLog.column.prompt'))
      await takePicture(page, `log-phone-video-${width}`)
      await close()
    })

    it(`fits every total and every button into the window: ${width}`, async () => {
      rows = manyRows(20)
      const { page, close } = await open({ width })
      await page.getByText('18,000').waitFor()
      const parts = page.locator('.tg-log-chip, .tg-page-head button')
      await expect.poll(() => parts.count()).toBe(12)
      for (const part of await parts.all()) {
        expect((await boxOf(part)).right).toBeLessThanOrEqual(width)
      }
      const cut = page
        .locator('.tg-log-chip dd')
        .evaluateAll(
          (values) => values.filter((value) => value.scrollWidth > value.clientWidth).length,
        )
      expect(await cut).toBe(0)
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      await close()
    })
  }

  it('folds the filters, and shows how many are active', async () => {
    rows = manyRows(20)
    const { page, close } = await open({ width: 390 })
    const model = page.getByRole('combobox', { name: en('ui.model') })
    await expect.poll(() => model.isVisible()).toBe(false)
    await page.getByRole('button', { name: en('ui.filters') }).click()
    await model.fill('gpt-4o')
    await model.press('Enter')
    const fold = page.getByRole('button', {
      name: en('shared.filtersCount', { count: 1 }),
      exact: true,
    })
    await takePicture(page, 'log-phone-filters')
    await fold.click()
    await expect.poll(() => model.isVisible()).toBe(false)
    await close()
  })

  it('keeps the live indicator round when its label has two lines', async () => {
    rows = manyRows(3)
    const { page, close } = await open({ width: 390 })
    await page.locator('.tg-card-more').first().click()
    const reading = page.locator('.tg-live-dot-reading')
    await reading.waitFor()
    const width = await reading.evaluate((mark) => getComputedStyle(mark, '::before').width)
    expect(width).toBe('8px')
    await close()
  })

  it('does not break words of the cost table', async () => {
    rows = manyRows(3)
    const { page, close } = await open({ width: 360, language: 'zh' })
    await page.locator('.tg-card-more').first().click()
    for (const word of [
      zh('shared.item'),
      zh('logDetails.term.input'),
      zh('logDetails.term.output'),
    ]) {
      const cell = page.locator('.tg-log-table').getByText(word, { exact: true })
      const lines = await cell.evaluate((element) => {
        const text = document.createRange()
        text.selectNodeContents(element)
        return new Set([...text.getClientRects()].map(({ top }) => top)).size
      })
      expect(lines, word).toBe(1)
    }
    await takePicture(page, 'log-phone-details')
    await close()
  })
})

it('a failed call shows the reason, and that its hold was returned', async () => {
  const released = { price: undefined, usage: undefined, end: 'no-channel', hold: 1250 }
  const error = { error_code: 'no_channel', status_code: 503 }
  rows = [
    logRow(9, { type: 6, quota: 0 }, { ...released, ...error }),
    logRow(8, {}, { hold: 4000 }),
  ]
  const { page, close } = await open()
  await page.locator('.tg-grid-expander').first().click()
  const why = page.getByRole('region', { name: en('logDetails.failure.title') })
  for (const text of [
    en('usageLog.end.no-channel'),
    en('logDetails.attempts.status', { status: 503 }),
    'no_channel',
    '1,250',
    '-1,250',
  ]) {
    await why.getByText(text, { exact: true }).waitFor()
  }
  await expect
    .poll(() => why.getByRole('row').last().innerText())
    .toMatch(new RegExp(`^${en('logDetails.price.total')}\\s+0\\s`))
  await takePicture(page, 'log-failed')
  await page.locator('.tg-grid-expander').last().click()
  await page.getByText(en('logDetails.holdReturned', { hold: '4,000', back: 625 })).waitFor()
  await close()
})

describe('the message of the provider for a failed call', () => {
  const failed = (message: string) => {
    const end = { price: undefined, usage: undefined, end: 'upstream-error' }
    return logRow(9, { type: 6, quota: 0 }, { ...end, status_code: 502, provider_message: message })
  }
  const quote = (page: Page) =>
    page.getByRole('figure', { name: en('logDetails.failure.providerMessage') })

  for (const width of [1280, 390]) {
    it(`is quoted in full, wrapped and selectable: ${width}`, async () => {
      const url = `https://provider.example/${'a'.repeat(200)}`
      rows = [failed(`The model is overloaded.\nSee ${url}`)]
      const { page, close } = await open({ width })
      await page.locator('.tg-grid-expander, .tg-card-more').first().click()
      const text = quote(page).locator('blockquote')
      await expect.poll(() => text.innerText()).toBe(`The model is overloaded.\nSee ${url}`)
      const look = await text.evaluate((element) => ({
        isCut: element.scrollWidth > element.clientWidth,
        select: getComputedStyle(element).userSelect,
      }))
      expect(look).toEqual({ isCut: false, select: 'text' })
      await takePicture(page, `log-provider-message-${width}`)
      await close()
    })
  }

  it('has at most 500 characters, and is omitted when it is unknown', async () => {
    rows = [failed('€'.repeat(600)), logRow(8, { type: 6, quota: 0 }, { price: undefined })]
    const { page, close } = await open()
    const expanders = page.locator('.tg-grid-expander')
    await expanders.first().click()
    const text = await quote(page).locator('blockquote').innerText()
    expect(text).toBe(`${'€'.repeat(499)}…`)
    await expanders.last().click()
    await expect.poll(() => page.locator('.tg-log-failure').count()).toBe(2)
    await expect.poll(() => quote(page).count()).toBe(1)
    await close()
  })
})

for (const language of ['en', 'zh'] as const) {
  it(`the column of ratios names the three ratios that it shows: ${language}`, async () => {
    rows = manyRows(3)
    const { page, close } = await open({ language })
    const words = TEXTS[language]('usageLog.column.ratios')
    const hint = page.getByRole('columnheader').getByRole('button', { name: words })
    await hint.focus()
    await page.locator('.tg-tooltip').getByText(words).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.locator('.tg-card-more').first().click()
    await page.locator('.tg-card dt').getByText(words).waitFor()
    await close()
  })
}
