import { expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'

const app = pageFixture()
const NEW_MODELS = ['command-a-03-2025', 'house-model']

/** The start page of a new site: a channel serves models that have no prices. */
function withoutPrices(): void {
  const { routes } = app.site
  routes['GET /api/user/self'] = () => ok({ ...ROOT_USER, quota: 0, request_count: 0 })
  routes['GET /api/user/models'] = () => ok([])
  routes['GET /api/channel/models_enabled'] = () => ok(['gpt-4o', ...NEW_MODELS])
  routes['GET /api/option/preset_ratios'] = () =>
    ok({
      prompt: { 'command-a-03-2025': '1.25' },
      completion: { 'command-a-03-2025': '4' },
      max_output: { 'command-a-03-2025': '8192' },
    })
}

it('the price step offers presets for unpriced models, then returns to the start', async () => {
  const { page } = app
  withoutPrices()
  await app.openAsRoot('/app/start')
  await page.getByRole('link', { name: en('dashboard.steps.price.action'), exact: true }).click()
  const step = page.getByRole('dialog', {
    name: en('channelForm.unpricedTitle_other', { count: NEW_MODELS.length }),
  })
  await step.getByRole('row', { name: /command-a-03-2025 \$2\.5 \$10/ }).waitFor()
  await step
    .getByRole('row', { name: /house-model/ })
    .getByRole('link')
    .waitFor()
  await step
    .getByRole('button', { name: en('channelForm.usePresets_one', { count: 1 }), exact: true })
    .click()
  await page.waitForURL('**/app/start')
  const saved = app.bodies('PUT /api/option/') as { key: string; value: string }[]
  expect(saved.map(({ key }) => key)).toEqual(['CompletionRatio', 'MaxOutputTokens', 'ModelRatio'])
  expect(JSON.parse(saved.at(-1)?.value ?? '')).toMatchObject({ 'command-a-03-2025': 1.25 })
})

it('the price dialog opened by its address closes to the list of channels', async () => {
  const { page } = app
  withoutPrices()
  await app.openAsRoot('/admin/channels?unpriced=1')
  const step = page.getByRole('dialog')
  await step.getByRole('button', { name: en('channelForm.unpricedLater') }).click()
  await step.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
  expect(app.bodies('PUT /api/option/')).toEqual([])
})

const stepOf = (count: number) =>
  app.page.getByRole('dialog', {
    name: en(count === 1 ? 'channelForm.unpricedTitle_one' : 'channelForm.unpricedTitle_other', {
      count,
    }),
  })

async function setPrice(model: string): Promise<void> {
  const { page } = app
  await page
    .getByRole('row', { name: new RegExp(model) })
    .getByRole('link', { name: en('channelForm.setPrice') })
    .click()
  const form = page.getByRole('dialog', { name: en('pricing.priceAddTitle') })
  await form.getByLabel(en('pricing.inputPriceLabel')).fill('3')
  await form.getByRole('button', { name: en('pricing.apply'), exact: true }).click()
  await page.getByRole('button', { name: en('shared.saveSettings') }).click()
}

it('setting a price returns to the unpriced models, setting the last to the start', async () => {
  const { page } = app
  withoutPrices()
  app.site.routes['GET /api/option/preset_ratios'] = () =>
    ok({ prompt: {}, completion: {}, max_output: {} })
  await app.openAsRoot('/app/start')
  await page.getByRole('link', { name: en('dashboard.steps.price.action'), exact: true }).click()
  await stepOf(2).waitFor()
  await setPrice('house-model')
  await page.waitForURL('**/admin/channels?unpriced=1')
  await stepOf(1)
    .getByRole('row', { name: /command-a/ })
    .waitFor()
  await setPrice('command-a-03-2025')
  await page.waitForURL('**/app/start')
})

it('cancelling a price returns to the unpriced models, closing those to the start', async () => {
  const { page } = app
  withoutPrices()
  await app.openAsRoot('/app/start')
  await page.getByRole('link', { name: en('dashboard.steps.price.action'), exact: true }).click()
  await stepOf(2)
    .getByRole('link', { name: en('channelForm.setPrice') })
    .click()
  const form = page.getByRole('dialog', { name: en('pricing.priceAddTitle') })
  await form.getByRole('button', { name: en('ui.cancel'), exact: true }).click()
  await page.waitForURL('**/admin/channels?unpriced=1')
  await stepOf(2)
    .getByRole('button', { name: en('channelForm.unpricedLater') })
    .click()
  await page.waitForURL('**/app/start')
  expect(app.bodies('PUT /api/option/')).toEqual([])
})
