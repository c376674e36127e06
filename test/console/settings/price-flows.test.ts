import { describe, expect, it } from 'vitest'
import { startingWith, zh } from '#test/support/console-texts.ts'
import { OPTIONS } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok, refused } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { label } from './option-label.ts'
import { withPrices } from './site-with-prices.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls.filter((call) => call.method === method && call.path === path)
const saved = () =>
  new Map(
    sent('PUT', '/api/option/').map(({ body }) => {
      const { key, value } = body as { key: string; value: string }
      return [key, JSON.parse(value) as unknown]
    }),
  )
const open = async (path = '/admin/settings') => {
  withPrices(app.site)
  await app.openAsRoot(path)
}
const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const isInWindow = (row: Element): boolean => {
  const { top, bottom } = row.getBoundingClientRect()
  return top >= 0 && bottom <= window.innerHeight
}
const save = async () => {
  await button(zh('shared.saveSettings')).click()
  await app.page.getByText(zh('shared.saved')).waitFor()
}

describe('the price table', () => {
  it('rejects a duplicate name and an invalid price, renames and deletes models', async () => {
    await open()
    const { page } = app
    await button(zh('pricing.editModel', { name: 'o3' })).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.modelName')).fill('gpt-4o')
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('abc')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.getByText(zh('pricing.error.nameTaken')).waitFor()
    await drawer.getByText(zh('shared.error.notNumber')).waitFor()
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('0')
    await drawer.getByText(zh('pricing.error.zeroPrice')).waitFor()
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('3')
    await drawer.getByLabel(zh('pricing.modelName')).fill('o3-renamed')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await button(zh('pricing.deleteModel', { name: 'deepseek-chat' })).click()
    await save()
    expect(saved().get('ModelRatio')).toEqual({
      'gpt-4o': 1.25,
      'gpt-4o-mini': 0.075,
      'o3-renamed': 1.5,
    })
  })

  it('sends only the edited values, also when another user saves in the meantime', async () => {
    await open()
    const { page, site } = app
    await button(zh('pricing.editModel', { name: 'gpt-4o' })).click()
    const data = { key: 'CompletionRatio', value: '{"gpt-4o":8,"gpt-4o-mini":4}' }
    await page.request.put(`${site.url}/api/option/`, { data })
    await page.evaluate(() =>
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
    )
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.cacheRatio')).fill('0.25')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    const before = sent('PUT', '/api/option/').length
    await save()
    const puts = sent('PUT', '/api/option/').slice(before)
    expect(puts.map(({ body }) => (body as { key: string }).key)).toEqual(['CacheRatio'])
  })

  it('saves an output limit with the price, and shows the limit used without it', async () => {
    await open()
    const { page } = app
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^.*${name}`) })
    await row('o3').getByText('100,000').waitFor()
    await button(zh('pricing.editModel', { name: 'o3' })).click()
    const drawer = page.getByRole('dialog')
    const field = drawer.getByLabel(zh('pricing.maxOutputLabel'))
    await expect.poll(() => field.inputValue()).toBe('100000')
    await field.fill('1.5')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.getByText(zh('pricing.error.notCount')).waitFor()
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await field.fill('')
    await expect.poll(() => field.getAttribute('placeholder')).toBe('100,000')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await row('o3').getByText(zh('pricing.builtIn')).first().waitFor()
    await button(zh('pricing.addModel')).click()
    await drawer.getByLabel(zh('pricing.modelName')).fill('sim-small')
    await expect.poll(() => field.getAttribute('placeholder')).toBe('16,384')
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('2')
    await field.fill('8192')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await row('sim-small').getByText('8,192').waitFor()
    await page.getByLabel(label('DefaultMaxOutputTokens')).fill('4096')
    await save()
    const caps = saved().get('MaxOutputTokens') as Record<string, number>
    expect(caps).toMatchObject({ 'sim-small': 8192, 'gpt-4o': 16384 })
    expect(caps).not.toHaveProperty('o3')
    expect(saved().get('DefaultMaxOutputTokens')).toBe(4096)
  })

  it('says that a price is one of a second of a video, also in the form', async () => {
    const units = { ModelPrice: '{"dall-e-3":0.04,"sora-2-2025-12-08":0.1}' }
    app.site.routes['GET /api/option/'] = () =>
      ok(Object.entries({ ...OPTIONS, ...units }).map(([key, value]) => ({ key, value })))
    await open()
    const { page } = app
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    const [video, picture] = [row('sora-2-2025-12-08'), row('dall-e-3')]
    for (const text of ['ui.perSecond', 'pricing.perSecond'] as const) {
      await video.getByText(zh(text), { exact: true }).waitFor()
    }
    for (const text of ['ui.perCall', 'pricing.perCall'] as const) {
      await picture.getByText(zh(text), { exact: true }).waitFor()
      expect(await video.getByText(zh(text), { exact: true }).count()).toBe(0)
    }
    await button(zh('pricing.editModel', { name: 'sora-2-2025-12-08' })).click()
    const drawer = page.getByRole('dialog')
    const price = drawer.getByLabel(zh('pricing.perSecondLabel'))
    expect(await price.inputValue()).toBe('0.1')
    await drawer.getByLabel(zh('pricing.modelName')).fill('dall-e-2')
    await drawer.getByLabel(zh('pricing.perCallLabel')).waitFor()
  })

  it('takes the unit of a price from the channels, also for a name that tells none', async () => {
    const prices = { ModelPrice: '{"my-video":0.1,"kling-v2-6":0.2,"sora-2":0.3}' }
    app.site.routes['GET /api/option/'] = () =>
      ok(Object.entries({ ...OPTIONS, ...prices }).map(([key, value]) => ({ key, value })))
    app.site.routes['GET /api/option/price_units'] = () =>
      ok({ 'my-video': ['second'], 'kling-v2-6': ['call', 'second'], 'sora-2': ['call'] })
    await open()
    const { page } = app
    const shows = (name: string, text: string) =>
      page.getByRole('row').filter({ hasText: name }).getByText(text, { exact: true }).waitFor()
    await shows('my-video', zh('ui.perSecond'))
    await shows('my-video', zh('pricing.perSecond'))
    await shows('kling-v2-6', zh('ui.perCallOrSecond'))
    await shows('kling-v2-6', zh('pricing.perCallOrSecond'))
    await shows('sora-2', zh('ui.perCall'))
    await button(zh('pricing.editModel', { name: 'kling-v2-6' })).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.perCallOrSecondLabel')).waitFor()
    await drawer.getByText(zh('pricing.entryCallOrSecondHint')).waitFor()
    await drawer.getByLabel(zh('pricing.modelName')).fill('my-video')
    await drawer.getByLabel(zh('pricing.perSecondLabel')).waitFor()
  })

  it('shows the prices of audio and images, which the form does not change', async () => {
    const prices = { ModelRatio: '{"gpt-realtime-2":2,"o3":1}', ImageRatio: '{"gpt-realtime-2":3}' }
    app.site.routes['GET /api/option/'] = () =>
      ok(Object.entries({ ...OPTIONS, ...prices }).map(([key, value]) => ({ key, value })))
    await open()
    const { page } = app
    await button(zh('pricing.editModel', { name: 'gpt-realtime-2' })).click()
    const drawer = page.getByRole('dialog')
    const shows = (option: 'AudioRatio' | 'AudioCompletionRatio' | 'ImageRatio', price: string) =>
      drawer.getByText(zh(`pricing.mediaPrice.${option}`, { price })).waitFor()
    // The ratios of audio are built in, and the admin has set that of images.
    await shows('AudioRatio', '$32')
    await shows('AudioCompletionRatio', '$64')
    await shows('ImageRatio', '$12')
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('1')
    await shows('AudioRatio', '$8')
    await takePicture(page, 'price-drawer-media')
    await drawer.getByLabel(zh('pricing.modelName')).fill('o3-like')
    const hint = drawer.getByText(zh('pricing.mediaPriceHint'))
    await expect.poll(() => hint.count()).toBe(0)
  })

  it('claims no unit of a price while the units of the channels are unknown', async () => {
    const prices = { ModelPrice: '{"sora-2":0.3}' }
    app.site.routes['GET /api/option/'] = () =>
      ok(Object.entries({ ...OPTIONS, ...prices }).map(([key, value]) => ({ key, value })))
    app.site.routes['GET /api/option/price_units'] = () => refused('unavailable')
    await open()
    const row = app.page.getByRole('row').filter({ hasText: 'sora-2' })
    await row.getByText(zh('ui.perCallOrSecond'), { exact: true }).waitFor()
    await button(zh('pricing.editModel', { name: 'sora-2' })).click()
    const drawer = app.page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.perCallOrSecondLabel')).waitFor()
  })

  it('names the unit of one price for several models, or both units if they differ', async () => {
    const prices = { ModelPrice: '{"film":0.1,"trailer":0.2,"draw":0.3}' }
    app.site.routes['GET /api/option/'] = () =>
      ok(Object.entries({ ...OPTIONS, ...prices }).map(([key, value]) => ({ key, value })))
    app.site.routes['GET /api/option/price_units'] = () =>
      ok({ film: ['second'], trailer: ['second'] })
    await open()
    const { page } = app
    const select = (name: string) =>
      page.getByRole('row').filter({ hasText: name }).getByRole('checkbox').check()
    const drawer = page.getByRole('dialog')
    const openBulk = async (entry: string) => {
      await button(zh('pricing.bulkSet')).click()
      await drawer.getByText(entry, { exact: true }).click()
    }
    await select('film')
    await select('trailer')
    await openBulk(zh('pricing.entrySecond'))
    await drawer.getByLabel(zh('pricing.perSecondLabel')).fill('0.5')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.waitFor({ state: 'hidden' })
    await select('draw')
    await openBulk(zh('pricing.entryCallOrSecond'))
    await drawer.getByText(zh('pricing.bulkCallOrSecondHint')).waitFor()
    await drawer.getByLabel(zh('pricing.perCallOrSecondLabel')).waitFor()
  })

  it('fits 1 280 pixels with all of its columns', async () => {
    await open()
    const grid = app.page.getByRole('grid', { name: zh('pricing.priceGrid') })
    await grid.waitFor()
    await expect
      .poll(() => grid.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
      .toBe(0)
  })

  it('shows one line for a price per call on a phone, with a label that fits it', async () => {
    await open()
    const { page } = app
    await page.setViewportSize({ width: 390, height: 844 })
    const labels = (name: string) =>
      page.locator('.tg-card').filter({ hasText: name }).locator('dl dt').allInnerTexts()
    await page.locator('.tg-card').filter({ hasText: 'dall-e-3' }).waitFor()
    expect(await labels('dall-e-3')).toEqual([zh('pricing.price')])
    expect((await labels('gpt-4o-mini')).length).toBeGreaterThan(3)
  })

  it('shows the error of an invalid default output limit at its field', async () => {
    await open()
    const { page } = app
    const field = page.getByLabel(label('DefaultMaxOutputTokens'))
    await field.fill('0')
    await button(zh('shared.saveSettings')).click()
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    expect(saved().size).toBe(0)
  })

  it('scrolls to an added model, even if the model is on another page', async () => {
    const many = Array.from({ length: 25 }, (_, n) => [`model-${String(n).padStart(2, '0')}`, 1])
    const texts = { ModelRatio: JSON.stringify(Object.fromEntries(many)), CompletionRatio: '{}' }
    const options = Object.entries({ ...OPTIONS, ...texts, ModelPrice: '{}', CacheRatio: '{}' })
    app.site.routes['GET /api/option/'] = () => ok(options.map(([key, value]) => ({ key, value })))
    await open()
    const { page } = app
    await page.getByRole('searchbox', { name: zh('ui.searchModelNames') }).fill('model-0')
    await button(zh('pricing.addModel')).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.modelName')).fill('sim-small')
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('2')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    const row = page.getByRole('row', { name: /sim-small/ })
    await row.waitFor()
    await expect.poll(() => row.evaluate(isInWindow)).toBe(true)
    await expect.poll(() => row.getAttribute('class')).toContain('tg-grid-row-fresh')
    await expect.poll(() => page.getByRole('row', { name: /model-00/ }).count()).toBe(0)
  })

  it('applies a batch change only with a selection and a valid number', async () => {
    await open()
    const { page } = app
    await expect.poll(() => button(zh('pricing.bulkSet')).count()).toBe(0)
    await page
      .getByRole('row', { name: /gpt-4o-mini/ })
      .getByRole('checkbox')
      .check()
    await button(zh('pricing.bulkSet')).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await page.getByText(zh('pricing.bulkEmpty')).waitFor()
    await drawer.getByLabel(zh('shared.factor.completion')).fill('x')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.getByText(zh('shared.error.notNumber')).waitFor()
    await drawer.getByLabel(zh('shared.factor.completion')).fill('5')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await save()
    expect(saved().get('CompletionRatio')).toMatchObject({ 'gpt-4o-mini': 5, 'gpt-4o': 4 })
  })

  it('skips fixed prices per call in a batch change, unless the user unchecks that', async () => {
    await open()
    const { page } = app
    await page
      .getByRole('row', { name: /dall-e-3/ })
      .getByRole('checkbox')
      .check()
    await button(zh('pricing.bulkSet')).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.ratio')).fill('3')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await page.getByText(zh('pricing.bulkAllFixed')).waitFor()
    await drawer.getByLabel(zh('pricing.bulkSkipFixed', { count: 1 })).uncheck()
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await save()
    expect(saved().get('ModelPrice')).toEqual({})
    expect(saved().get('ModelRatio')).toMatchObject({ 'dall-e-3': 3 })
  })

  it('shows the history of one model, and that of all models by group', async () => {
    await open()
    const { page } = app
    await button(zh('pricing.historyOf', { name: 'gpt-4o' })).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.historyOf', { name: 'gpt-4o' }) })
    await drawer.getByRole('row', { name: /root.*gpt-4o/ }).waitFor()
    expect(sent('GET', '/api/option/price_history')[0]?.query.get('model')).toBe('gpt-4o')
    await page.keyboard.press('Escape')
    await button(zh('pricing.history')).click()
    const all = page.getByRole('dialog', { name: zh('pricing.history') })
    await all.getByText(`vip ${zh('pricing.usersCalling')} default`).waitFor()
    await all.getByText(zh('pricing.planned')).waitFor()
    await all.getByLabel(zh('ui.groupName')).selectOption('vip')
    await expect
      .poll(() => sent('GET', '/api/option/price_history').at(-1)?.query.get('group'))
      .toBe('vip')
    // The list is filtered while the user types. If no change matches, the list says so and offers
    // to clear the filters.
    const search = all.getByLabel(zh('pricing.historyAnyModel'))
    await search.fill('o3')
    await all.getByText(`vip ${zh('pricing.usersCalling')} default`).waitFor({ state: 'detached' })
    await search.fill('zz')
    await all.getByText(zh('pricing.historyNoMatch')).waitFor()
    await all.getByRole('button', { name: zh('ui.clearFilters') }).click()
    await all.getByText(`vip ${zh('pricing.usersCalling')} default`).waitFor()
    expect([
      await search.inputValue(),
      await all.getByLabel(zh('ui.groupName')).inputValue(),
    ]).toEqual(['', ''])
    await expect.poll(() => search.evaluate((box) => box === document.activeElement)).toBe(true)
    // On a phone, each change is a block of whole lines. Its time, for example, does not wrap.
    await page.setViewportSize({ width: 390, height: 844 })
    const heights = await all
      .locator('.tg-price-changes .tg-time')
      .evaluateAll((times) => times.map((time) => time.getClientRects().length))
    expect(new Set(heights)).toEqual(new Set([1]))
    await expect.poll(() => cutAmong(page, '.tg-drawer-body')).toEqual([])
  })
})

describe('price presets', () => {
  it('are merged into the drafts, and removed again; a failure shows a message', async () => {
    await open()
    const { page, site } = app
    const answer = site.routes['GET /api/option/preset_ratios']
    site.routes['GET /api/option/preset_ratios'] = () => refused('refused')
    await button(zh('pricing.presets')).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.presets') })
    await drawer.getByText(zh('pricing.fetchFailed')).waitFor()
    await drawer.getByRole('button', { name: zh('pricing.resetPresets') }).click()
    await page.getByText(zh('pricing.resetFailed')).waitFor()
    if (answer !== undefined) site.routes['GET /api/option/preset_ratios'] = answer
    await drawer.getByRole('button', { name: zh('ui.retry') }).click()
    await drawer.getByText(zh('pricing.presetChanged', { count: 1 })).waitFor()
    await drawer.getByText(zh('pricing.olderPrices_one', { count: 1, date: '2025-10' })).waitFor()
    await drawer.getByRole('button', { name: zh('pricing.getPresets') }).click()
    await save()
    expect(saved().get('ModelRatio')).toMatchObject({ 'gpt-4o': 1.25, 'gpt-5': 0.625, o3: 7 })
    expect(saved().get('MaxOutputTokens')).toMatchObject({ 'gpt-5': 128_000, o3: 50_000 })
    await button(zh('pricing.presets')).click()
    await drawer.getByText(zh('pricing.presetSame', { count: 3 })).waitFor()
    await drawer.getByRole('button', { name: zh('pricing.resetPresets') }).click()
    await save()
    // The toast of the previous save may still be visible.
    const kept = { 'gpt-4o-mini': 0.075, 'deepseek-chat': 0.14 }
    await expect.poll(() => saved().get('ModelRatio')).toEqual(kept)
  })

  it('come from the shipped list, with a message, when the fetch failed', async () => {
    await open()
    const { page, site } = app
    site.routes['GET /api/option/preset_ratios'] = () => ({
      body: {
        success: true,
        message: '',
        data: {
          source: 'flexible',
          origin: 'shipped',
          as_of: '2025-10',
          older: null,
          price_source: 'OpenAI, Anthropic',
          is_fetch_failed: true,
          prompt: { a: '1' },
          completion: {},
          max_output: {},
        },
      },
    })
    await button(zh('pricing.presets')).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.presets') })
    await drawer.getByText(zh('pricing.fetchFailed')).waitFor()
    const source = 'OpenAI, Anthropic'
    await drawer.getByText(zh('pricing.shippedAsOf', { date: '2025-10', source })).waitFor()
  })

  it.each([
    ['2026-11-02', 'fetchedAsOf'],
    ['', 'fetchedUndated'],
  ] as const)('tell their source and their date (%s)', async (date, text) => {
    await open()
    const source = 'prices.example.com'
    const lists = { prompt: { a: '1' }, completion: {}, max_output: {} }
    app.site.routes['GET /api/option/preset_ratios'] = () =>
      ok({
        ...{ source: 'flexible', origin: 'fetched', is_fetch_failed: false },
        ...{ as_of: date, older: null, price_source: source, ...lists },
      })
    await button(zh('pricing.presets')).click()
    const drawer = app.page.getByRole('dialog', { name: zh('pricing.presets') })
    await drawer.getByText(zh(`pricing.${text}`, { date, source })).waitFor()
  })

  it('include a reset of the model ratios, which requires a confirmation', async () => {
    await open()
    await button(zh('pricing.resetRatios')).click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.cancel') })
      .click()
    expect(sent('POST', '/api/option/rest_model_ratio')).toHaveLength(0)
    await button(zh('pricing.resetRatios')).click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('pricing.apply') })
      .click()
    await app.page.getByText(zh('pricing.resetRatiosDone')).waitFor()
  })
})

describe('drafts of prices', () => {
  const draft = async () => {
    const { page } = app
    await button(zh('pricing.editModel', { name: 'o3' })).click()
    await page.getByRole('dialog').getByLabel(zh('pricing.inputPriceLabel')).fill('5')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: zh('pricing.apply') })
      .click()
  }

  it('can be scheduled for a later time, and the schedule can be cancelled', async () => {
    await open()
    const { page } = app
    await button(zh('pricing.schedule')).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.bySystem') })
    await drawer.getByText(zh('pricing.scheduleNoDraft')).waitFor()
    // The drawer closes only once it has the focus.
    await expect
      .poll(() => page.keyboard.press('Escape').then(() => drawer.count()), { timeout: 60_000 })
      .toBe(0)
    await draft()
    await button(zh('pricing.schedule')).click()
    await drawer.getByRole('button', { name: zh('pricing.schedulePlan') }).click()
    await drawer.getByText(zh('pricing.scheduleAtPast')).waitFor()
    await drawer.getByLabel(zh('pricing.scheduleAt')).fill('2020-01-01T00:00')
    await drawer.getByRole('button', { name: zh('pricing.schedulePlan') }).click()
    const inDays = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16)
    await drawer.getByLabel(zh('pricing.scheduleAt')).fill(inDays(368))
    await drawer.getByText(zh('pricing.scheduleAtFar', { days: 366 })).waitFor()
    await drawer.getByRole('button', { name: zh('pricing.schedulePlan') }).click()
    expect(sent('POST', '/api/option/price_schedule')).toHaveLength(0)
    await drawer.getByLabel(zh('pricing.scheduleAt')).fill(inDays(90))
    await drawer.getByRole('button', { name: zh('pricing.schedulePlan') }).click()
    await drawer.getByText(zh('pricing.status.planned')).waitFor()
    expect(sent('POST', '/api/option/price_schedule')[0]?.body).toMatchObject({
      changes: [{ option: 'ModelRatio', name: 'o3', value: '2.5' }],
    })
    await drawer.getByRole('button', { name: zh('pricing.scheduleEdit'), exact: true }).click()
    await drawer.getByLabel(/^o3 · /).fill('x')
    await drawer.getByRole('button', { name: zh('pricing.scheduleSave') }).click()
    await drawer.getByText(zh('shared.error.notNumber')).waitFor()
    await drawer.getByLabel(/^o3 · /).fill('2.75')
    await drawer.getByRole('button', { name: zh('pricing.scheduleSave') }).click()
    await page.getByText(zh('pricing.scheduleEdited')).waitFor()
    const [planned, edited] = sent('POST', '/api/option/price_schedule').map(({ body }) => body)
    expect(edited).toEqual({
      at: (planned as { at: number }).at,
      changes: [{ option: 'ModelRatio', name: 'o3', value: '2.75' }],
      replaces: 2,
    })
    await drawer.getByRole('button', { name: zh('ui.cancel'), exact: true }).click()
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('pricing.scheduleCancelYes') })
      .click()
    await drawer.getByText(zh('pricing.status.cancelled'), { exact: true }).first().waitFor()
    await drawer.getByText(zh('pricing.status.planned')).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await page.getByText(zh('settings.noChanges')).waitFor()
  })

  it('close on Escape once scheduled, and cause no new read of the options', async () => {
    await open()
    const { page } = app
    const drawer = page.getByRole('dialog', { name: zh('pricing.bySystem') })
    const reads = () => sent('GET', '/api/option/').length
    await button(zh('pricing.schedule')).click()
    await drawer.getByText(zh('pricing.status.applied')).waitFor()
    const before = reads()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await draft()
    await button(zh('pricing.schedule')).click()
    const at = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 16)
    await drawer.getByLabel(zh('pricing.scheduleAt')).fill(at)
    await drawer.getByRole('button', { name: zh('pricing.schedulePlan') }).click()
    await drawer.getByText(zh('pricing.status.planned')).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(reads()).toBe(before)
  })

  it('have a preview that applies them to the last week, exact to the unit', async () => {
    await open()
    const { page } = app
    await draft()
    await button(zh('pricing.preview')).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.preview') })
    await drawer.getByText(zh('pricing.previewDraft_other', { count: 1 })).waitFor()
    await drawer.getByRole('button', { name: zh('pricing.previewRun') }).click()
    await drawer.getByRole('row', { name: /gpt-4o/ }).waitFor()
    await drawer.getByText('+$1.40', { exact: true }).first().waitFor()
    const body = sent('POST', '/api/option/price_preview')[0]?.body as {
      prices: Record<string, string>
      start_timestamp: number
      end_timestamp: number
    }
    expect(Object.keys(body.prices)).toEqual(['ModelRatio'])
    expect(body.end_timestamp - body.start_timestamp).toBe(7 * 86_400)
  })
})

describe('the group table', () => {
  it('validates a group when the user applies it, and saves only what changed', async () => {
    await open()
    const { page } = app
    await button(zh('pricing.groupAdd')).click()
    const drawer = page.getByRole('dialog', { name: zh('pricing.groupAdd') })
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.getByText(zh('pricing.groupError.nameMissing')).waitFor()
    await drawer.getByLabel(zh('pricing.groupName')).fill('vip')
    await drawer.getByText(zh('pricing.groupError.nameTaken')).waitFor()
    await drawer.getByLabel(startingWith(zh('ui.ratio'))).fill('x')
    await drawer.getByText(zh('shared.error.notNumber')).waitFor()
    await drawer.getByLabel(zh('pricing.groupRatioOverrides')).fill('nowhere=1')
    await drawer.getByText(zh('pricing.groupError.ratioOverrides')).waitFor()
    await drawer.getByLabel(zh('pricing.groupName')).fill('team')
    await drawer.getByLabel(startingWith(zh('ui.ratio'))).fill('0.7')
    await drawer.getByLabel(zh('pricing.groupRatioOverrides')).fill('default=0.9\nvip = 0.5')
    await drawer.getByLabel(zh('pricing.groupColor')).selectOption('purple')
    await drawer.getByLabel(zh('pricing.groupDesc')).fill('The team')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await save()
    expect(Object.fromEntries(saved())).toEqual({
      GroupRatio: { default: 1, vip: 0.8, team: 0.7 },
      UserUsableGroups: { default: 'Default', vip: 'VIP', team: 'The team' },
      GroupGroupRatio: { team: { default: 0.9, vip: 0.5 } },
      GroupColors: { team: 'purple' },
    })
  })

  it('keeps the default group, and deletes other groups completely', async () => {
    await open()
    const { page } = app
    await button(zh('pricing.groupDelete', { name: 'default' })).click()
    await page.getByText(zh('pricing.groupDefaultFixed')).waitFor()
    await button(zh('pricing.groupDelete', { name: 'vip' })).click()
    await save()
    expect(saved().get('GroupRatio')).toEqual({ default: 1 })
    expect(saved().get('UserUsableGroups')).toEqual({ default: 'Default' })
  })

  it('leaves invalid JSON as text with an error, and saves nothing', async () => {
    await open('/admin/settings?groups=json')
    const { page } = app
    await page.getByLabel(label('GroupGroupRatio')).fill('{"vip":')
    await page.getByLabel(label('GroupColors')).focus()
    await page.getByText(zh('shared.error.notJson')).first().waitFor()
    await button(zh('shared.saveSettings')).click()
    await page.getByText(zh('settings.checkInput')).waitFor()
    expect(saved().size).toBe(0)
  })
})
