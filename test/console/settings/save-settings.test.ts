import { describe, expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { refused } from '../support/fake-site.ts'
import { label } from './option-label.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls.filter((call) => call.method === method && call.path === path)

describe('the settings page', () => {
  it('sends a price that was set in dollars as exact ratios, and nothing else', async () => {
    await app.openAsRoot('/admin/settings')
    await app.page.getByRole('button', { name: zh('pricing.addModel') }).click()
    const drawer = app.page.getByRole('dialog')
    await drawer.getByLabel(zh('pricing.modelName')).fill('gpt-4o')
    await drawer.getByLabel(zh('pricing.inputPriceLabel')).fill('0.3')
    await drawer.getByLabel(zh('pricing.outputPriceLabel')).fill('1.2')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await drawer.getByText(zh('pricing.error.nameTaken')).waitFor()
    await drawer.getByLabel(zh('pricing.modelName')).fill('mine')
    await drawer.getByRole('button', { name: zh('pricing.apply') }).click()
    await app.page.getByText(zh('settings.changes', { count: 2 })).waitFor()
    await app.page.getByRole('button', { name: zh('shared.saveSettings') }).click()
    await app.page.getByText(zh('shared.saved')).waitFor()
    const saved = sent('PUT', '/api/option/').map(({ body }) => body as Record<string, string>)
    expect(saved.map(({ key }) => key).sort()).toEqual(['CompletionRatio', 'ModelRatio'])
    const ratios = saved.find(({ key }) => key === 'ModelRatio')?.value ?? ''
    expect(Object.entries(JSON.parse(ratios)).at(-1)).toEqual(['mine', 0.15])
    await app.page.getByText(zh('settings.noChanges')).waitFor()
  })

  it('says when nothing has changed, and keeps a change that the server refused', async () => {
    await app.openAsRoot('/admin/settings?tab=models')
    await app.page.getByRole('button', { name: zh('shared.saveSettings') }).click()
    await app.page.getByText(zh('shared.unchanged')).waitFor()
    await app.page.getByLabel(label('RetryTimes')).fill('2')
    await app.page.getByRole('tab', { name: zh('settings.tab.other') }).click()
    await app.page.getByLabel(label('SystemName')).fill('Mine')
    const put = app.site.routes['PUT /api/option/']
    app.site.routes['PUT /api/option/'] = (call) =>
      (call.body as { key: string }).key === 'SystemName' || put === undefined
        ? refused('Name not available')
        : put(call)
    await app.page.getByRole('button', { name: zh('shared.saveSettings') }).click()
    await app.page.getByText(zh('settings.partlyFailed')).waitFor()
    await app.page.getByText('Name not available').waitFor()
    await app.page.getByText(zh('settings.changes', { count: 1 })).waitFor()
    await expect.poll(() => app.page.getByLabel(label('SystemName')).inputValue()).toBe('Mine')
  })

  it('shows an error for broken JSON when the field loses focus, and never sends it', async () => {
    await app.openAsRoot('/admin/settings?prices=json')
    await app.page.getByLabel(zh('pricing.ratio')).fill('{"a":')
    await app.page.getByLabel(zh('pricing.cacheRatio')).focus()
    await app.page.getByText(zh('shared.error.notJson')).waitFor()
    await app.page.getByRole('button', { name: zh('shared.saveSettings') }).click()
    await app.page.getByText(zh('settings.checkInput')).waitFor()
    expect(sent('PUT', '/api/option/')).toHaveLength(0)
  })

  it('asks for confirmation before the user leaves with unsaved changes', async () => {
    await app.openAsRoot('/admin/settings?tab=models')
    await app.page.getByLabel(label('RetryTimes')).fill('2')
    await app.page.getByRole('link', { name: zh('shell.tokens') }).click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.unsavedStay') })
      .click()
    expect(new URL(app.page.url()).pathname).toBe('/admin/settings')
  })
})
