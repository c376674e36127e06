import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PricedModel } from '#read-api/contract/pricing.ts'
import { en, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from '../support/fake-site.ts'
import { type Look, takePicture } from '../support/open-page.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { byCall, byTokens, pricing } from './models.ts'

const USER = { id: 7, username: 'eve', display_name: '', role: 1, status: 1, group: 'vip' }
const MODELS = [
  byTokens('gpt-4o-mini'),
  byTokens('claude-sonnet-4-5', {
    ...{ owner_by: 'Anthropic', model_ratio: 1.5, completion_ratio: 5, cache_ratio: 0.1 },
    enable_groups: ['vip'],
  }),
  byTokens('text-embedding-3-small', { model_ratio: 0.01, completion_ratio: 1, cache_ratio: 1 }),
  byCall('dall-e-3', 0.04),
  byTokens('house-blend', { owner_by: '', model_ratio: 0.50025, completion_ratio: 1 }),
]
const MANY = Array.from({ length: 2_000 }, (_, n) =>
  byTokens(`bulk-${String(n).padStart(4, '0')}`, { model_ratio: n / 100 }),
)

const app = siteFixture(() =>
  startFakeSite({
    'GET /api/status': () => ok(STATUS),
  }),
)

beforeEach(() => {
  app.site.routes['GET /api/pricing'] = () => pricing(MODELS)
})

async function open(search = '', look: Look = {}, user: object | null = null) {
  const opened = await app.openPage(look)
  await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  if (user !== null) {
    const text = JSON.stringify(user)
    await opened.page.addInitScript((stored) => localStorage.setItem('user', stored), text)
  }
  await opened.page.goto(`${app.site.url}/pricing${search}`)
  await opened.page.getByRole('grid').waitFor()
  return opened
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const names = async (page: Page): Promise<string[]> =>
  (await page.locator('.tg-grid-body .tg-price-model .tg-mono').allInnerTexts()).sort()
const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

it('the top bar leads a visitor to both kinds of price in the default group', async () => {
  const { page, faults, close } = await app.openPage()
  await page.goto(`${app.site.url}/about`)
  await page.getByRole('link', { name: zh('pricing.title') }).click()
  await page.getByRole('heading', { name: zh('pricing.title'), level: 1 }).waitFor()
  const mini = row(page, 'gpt-4o-mini')
  for (const price of ['$0.150', '$0.600', '$0.075']) await mini.getByText(price).waitFor()
  await row(page, 'dall-e-3').getByText('$0.040').waitFor()
  await row(page, 'house-blend').getByText('$1.001').first().waitFor()
  await expect.poll(() => row(page, 'claude').innerText()).toContain(zh('pricing.isUnavailable'))
  await expect.poll(() => page.getByRole('complementary').count()).toBe(0)
  await page.getByRole('radio', { name: /vip/ }).click()
  await row(page, 'gpt-4o-mini').getByText('$0.120').waitFor()
  await row(page, 'dall-e-3').getByText('$0.032').waitFor()
  await expect
    .poll(() => row(page, 'claude').innerText())
    .not.toContain(zh('pricing.isUnavailable'))
  expect(new URL(page.url()).search).toBe('?group=vip')
  await page.goBack()
  await row(page, 'gpt-4o-mini').getByText('$0.150').waitFor()
  expect(faults).toEqual([])
  await close()
})

it('a price per second of a video is not shown as a price per call', async () => {
  const video = byCall('sora-2', 0.1, { price_per: 'second' })
  app.site.routes['GET /api/pricing'] = () => pricing([...MODELS, video])
  const { page, faults, close } = await open('', {}, null)
  for (const text of ['$0.100', zh('ui.perSecond'), zh('pricing.bySecond')]) {
    await row(page, 'sora-2').getByText(text).waitFor()
  }
  await row(page, 'dall-e-3').getByText(zh('ui.perCall')).waitFor()
  await row(page, 'sora-2').getByRole('button').first().click()
  await page.getByRole('columnheader', { name: zh('pricing.perSecondPrice') }).waitFor()
  expect(faults).toEqual([])
  await close()
})

it('the price of batches is shown for models that take batches', async () => {
  const models = [byTokens('in-batches', { batch_ratio: 0.5 }), byTokens('only-calls')]
  app.site.routes['GET /api/pricing'] = () => pricing([...MODELS, ...models])
  const { page, faults, close } = await open('', { language: 'en' })
  for (const name of ['in-batches', 'only-calls']) {
    await row(page, name)
      .getByRole('button', { name: en('ui.expandRow') })
      .click()
  }
  const details = page.locator('.tg-price-details')
  await expect.poll(() => details.count()).toBe(2)
  expect(await details.getByText(en('pricing.batchPrice', { ratio: '0.5' })).count()).toBe(1)
  expect(faults).toEqual([])
  await close()
})

it('both units of a price are shown where channels differ, and one where they agree', async () => {
  const units: Record<string, ('call' | 'second')[]> = {
    ...{ default: ['call', 'second'], vip: ['second'] },
  }
  const video = byCall('my-video', 0.1, { price_units: units })
  app.site.routes['GET /api/pricing'] = () => pricing([...MODELS, video])
  const { page, faults, close } = await open('', { language: 'en' })
  const shown = (text: string) => row(page, 'my-video').getByText(text, { exact: true }).first()
  for (const text of [en('ui.perCallOrSecond'), en('pricing.byCallOrSecond')]) {
    await shown(text).waitFor()
  }
  await row(page, 'my-video')
    .getByRole('button', { name: en('ui.expandRow') })
    .click()
  const details = page.locator('.tg-price-details')
  await details.getByRole('columnheader', { name: en('pricing.perCallOrSecondPrice') }).waitFor()
  const cellOf = (group: string) => details.getByRole('row').filter({ hasText: group })
  expect(await cellOf('default').innerText()).toContain(`$0.100 ${en('ui.perCallOrSecond')}`)
  expect(await cellOf('vip').innerText()).toContain(`$0.080 ${en('ui.perSecond')}`)
  await takePicture(page, 'pricing-units')
  await page.getByRole('radio', { name: /vip/ }).click()
  await shown(en('pricing.bySecond')).waitFor()
  await shown(en('ui.perSecond')).waitFor()
  expect(faults).toEqual([])
  await close()
})

it.each(LANGUAGES)('the details of a video show what each kind costs: %s', async (language) => {
  const text = language === 'en' ? en : zh
  const video_ratios = {
    resolutions: { '480p': 1, '720p': 1.6666666667, '1080p': 3 },
    ...{ options: { audio: 2 }, default: { resolution: '1080p', options: [], ratio: 3 } },
  }
  const video = byCall('wan2.5-t2v-preview', 0.05, { price_per: 'second', video_ratios })
  app.site.routes['GET /api/pricing'] = () => pricing([video])
  const { page, faults, close } = await open('', { language })
  await page.getByRole('button', { name: text('ui.expandRow') }).click()
  const details = page.locator('.tg-price-details')
  const rowOf = (name: string) => details.getByRole('row').filter({ hasText: name })
  const perSecond = text('ui.perSecond')
  for (const [name, ratio, price] of [
    ['480p', '×1', '$0.050'],
    ['1080p', '×3', '$0.150'],
    [text('pricing.videoKind.audio'), '×6', '$0.300'],
  ] as const) {
    const shown = await rowOf(name).innerText()
    for (const part of [ratio, price, perSecond]) expect(shown).toContain(part)
    const mark = rowOf(name).getByText(text('pricing.isDefault'), { exact: true })
    expect(await mark.count()).toBe(name === '1080p' ? 1 : 0)
  }
  // The ratio 5/3 has four digits, and the tooltips have the exact ratio and price.
  const [ratio, price] = [rowOf('720p').getByText('×1.667'), rowOf('720p').getByText('$0.08333')]
  await expect.poll(() => ratio.getAttribute('title')).toBe('×1.6666666667')
  await expect.poll(() => price.getAttribute('title')).toBe('$0.083333333')
  expect(await lookFaults(page, `video-prices-${language}`, [1280, 390])).toEqual([])
  expect(faults).toEqual([])
  await close()
})

it.each(LANGUAGES)('the details show the prices of audio and images: %s', async (language) => {
  const text = language === 'en' ? en : zh
  const media = {
    ...{ image_ratio: 1.25, image_completion_ratio: 100 },
    ...{ audio_ratio: 8, audio_completion_ratio: 2 },
  }
  const model = byTokens('gpt-realtime', { model_ratio: 2, completion_ratio: 4, ...media })
  app.site.routes['GET /api/pricing'] = () => pricing([model, byTokens('gpt-4o-mini')])
  const { page, faults, close } = await open('?group=vip', { language })
  await page.getByText(text('pricing.noteMedia')).waitFor()
  for (const name of ['gpt-4o-mini', 'gpt-realtime']) {
    await row(page, name)
      .getByRole('button', { name: text('ui.expandRow') })
      .click()
  }
  await expect.poll(() => page.locator('.tg-price-details').count()).toBe(2)
  const table = page.getByRole('table').filter({ hasText: text('pricing.mediaPrices') })
  const rowOf = (medium: 'audio' | 'image') =>
    table
      .getByRole('row')
      .filter({ hasText: text(`pricing.mediumName.${medium}`) })
      .last()
  for (const price of ['$25.600', '$51.200']) {
    expect(await rowOf('audio').innerText()).toContain(price)
  }
  for (const price of ['$4.000', '$320.000']) {
    expect(await rowOf('image').innerText()).toContain(price)
  }
  expect(await table.count()).toBe(1)
  expect(await page.getByText(text('pricing.onlyText')).count()).toBe(1)
  expect(await lookFaults(page, `media-prices-${language}`, [1280, 390])).toEqual([])
  expect(faults).toEqual([])
  await close()
})

it('on a phone, a price per second has one line with a label that fits its unit', async () => {
  const video = byCall('sora-2', 0.1, { price_per: 'second' })
  app.site.routes['GET /api/pricing'] = () => pricing([...MODELS, video])
  const { page, close } = await app.openPage({ width: 390, language: 'en' })
  await page.goto(`${app.site.url}/pricing`)
  const card = (name: string) => page.locator('.tg-card').filter({ hasText: name })
  const labels = (name: string) => card(name).locator('dl').first().locator('dt').allInnerTexts()
  await card('sora-2').getByText('$0.100').waitFor()
  const [owner, available] = [en('pricing.owner'), en('pricing.available')]
  expect(await labels('sora-2')).toEqual([owner, en('pricing.price'), available])
  const ofTokens = [en('pricing.input'), en('ui.outputPrice')]
  expect(await labels('gpt-4o-mini')).toEqual([owner, ...ofTokens, available])
  await takePicture(page, 'pricing-cards')
  await close()
})

it('a visitor sees texts and no keys, without the texts of the console', async () => {
  const { page, close } = await open('', { isFirstVisit: true })
  const names = await page
    .locator('[aria-label], [placeholder], [title]')
    .evaluateAll((all) =>
      all.flatMap((element) =>
        ['aria-label', 'placeholder', 'title'].map((name) => element.getAttribute(name) ?? ''),
      ),
    )
  const texts = [await page.locator('body').innerText(), ...names]
  expect(texts.filter((text) => /\b(?:shared|ui|pricing|commands)\.[a-z]/.test(text))).toEqual([])
  await close()
})

it('a logged-in user sees the prices of the own group and what a call costs', async () => {
  app.site.routes['GET /api/pricing'] = () => pricing(MODELS, 'vip')
  const { page, faults, close } = await open('', { language: 'en' }, USER)
  await expect.poll(() => page.getByRole('radio', { name: /vip/ }).isChecked()).toBe(true)
  await page.getByRole('navigation', { name: en('shell.navigation') }).waitFor()
  await row(page, 'gpt-4o-mini')
    .getByRole('button', { name: en('ui.expandRow') })
    .click()
  const details = page.locator('.tg-price-details')
  await details.getByText('$0.00036', { exact: true }).waitFor()
  await details.getByLabel(en('pricing.completion')).fill('0')
  await details.getByText('$0.00012', { exact: true }).waitFor()
  await takePicture(page, 'pricing-details')
  await details.getByLabel(en('pricing.prompt')).fill('x')
  await details.getByText(en('pricing.wholeNumbers')).waitFor()
  expect(faults).toEqual([])
  await close()
})

it('the URL searches, filters and sorts the prices, and users can copy model names', async () => {
  const { page, close } = await open('?group=zzz&owner=OpenAI&sort=input&order=desc')
  await page.getByText(zh('ui.droppedParams', { names: 'group' })).waitFor()
  expect(new URL(page.url()).search).toBe('?owner=OpenAI&sort=input&order=desc')
  const drawn = page.locator('.tg-grid-body .tg-price-model .tg-mono')
  await expect.poll(() => drawn.count()).toBe(3)
  await expect
    .poll(() => drawn.allInnerTexts())
    .toEqual(['dall-e-3', 'gpt-4o-mini', 'text-embedding-3-small'])
  await page
    .getByRole('button', {
      name: zh('taskLogs.copyText', { name: `${zh('pricing.modelName')}: gpt-4o-mini` }),
    })
    .click()
  await expect.poll(() => copied(page)).toBe('gpt-4o-mini')
  for (const name of ['dall-e-3', 'text-embedding']) {
    await row(page, name).getByRole('checkbox').check()
  }
  await page
    .getByRole('group', { name: zh('pricing.selection') })
    .getByText(zh('pricing.copyName'))
    .click()
  await expect.poll(() => copied(page)).toBe('text-embedding-3-small,dall-e-3')
  await page.getByRole('button', { name: zh('ui.clearFilters') }).click()
  await page.getByRole('combobox', { name: zh('pricing.available') }).selectOption('1')
  await expect.poll(() => names(page)).not.toContain('claude-sonnet-4-5')
  await page.getByRole('combobox', { name: zh('ui.billing') }).selectOption('call')
  await expect.poll(() => names(page)).toEqual(['dall-e-3'])
  await page.getByRole('searchbox').fill('nothing like it')
  await page.getByText(zh('ui.noModelMatches')).waitFor()
  await close()
})

it('the price list draws only the visible rows of 2 000, and explains an empty list', async () => {
  app.site.routes['GET /api/pricing'] = () => pricing(MANY)
  const { page, close } = await open()
  await page
    .getByText(zh('pricing.models_one', { count: 2000 }))
    .first()
    .waitFor()
  await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThan(60)
  await page.getByRole('searchbox').fill('bulk-1999')
  await row(page, 'bulk-1999').getByText('$39.980').waitFor()
  app.site.routes['GET /api/pricing'] = () => pricing([])
  await page.goto(`${app.site.url}/pricing`)
  await page.getByText(zh('pricing.none')).waitFor()
  await close()
})

describe.each(LANGUAGES)('in %s, the names of models', (language) => {
  const long = ['wan2.2-kf2v-flash', 'wan2.5-i2i-preview', 'gemini-2.5-flash-lite-preview']
  const wide = { price_per: 'second', owner_by: 'Black Forest Labs' } as const
  const ofBoth: Partial<PricedModel> = { price_units: { vip: ['call', 'second'] } }
  const others = [byCall('my-video', 0.1, ofBoth), byCall('far', 1, { enable_groups: ['default'] })]
  const models = [...MODELS, ...long.map((name) => byCall(name, 0.5, wide)), ...others]

  it('are shown in full on a small screen, also when logged in', async () => {
    app.site.routes['GET /api/pricing'] = () => pricing(models, 'vip')
    const { page, faults, close } = await open('', { language, width: 1280 }, USER)
    await row(page, 'wan2.2-kf2v-flash').waitFor()
    const cells = '.tg-grid-body :is(.tg-mono, .tg-price-owner, .tg-tag, .tg-amount)'
    await expect.poll(() => cutAmong(page, cells)).toEqual([])
    const clamped = page.locator('.tg-grid-body :is(.tg-price-model > .tg-mono, .tg-price-owner)')
    await expect
      .poll(() =>
        clamped.evaluateAll((all) =>
          all
            .filter((one) => one.scrollHeight > one.clientHeight + 1)
            .map((one) => one.textContent),
        ),
      )
      .toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-head .tg-grid-title')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid')).toEqual([])
    await takePicture(page, `pricing-names-${language}`)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.locator('.tg-card').first().waitFor()
    await takePicture(page, `pricing-names-${language}-390`)
    expect(faults).toEqual([])
    await close()
  })
})

it.each(LANGUAGES)('the price list has no accessibility fault in %s', async (language) => {
  const { page, faults, close } = await open('?group=vip', { language })
  await row(page, 'gpt-4o-mini').waitFor()
  expect(await lookFaults(page, `pricing-${language}`)).toEqual([])
  expect(faults).toEqual([])
  await close()
})
