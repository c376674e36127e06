import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { zh } from '#test/support/words.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { type FakeSite, refused } from '../support/fake-site.ts'
import { type OpenPage, openPage } from '../support/open-page.ts'

let browser: Browser
let site: FakeSite
let opened: OpenPage
let page: Page

const sent = (method: string, path: string) =>
  site.calls.filter((call) => call.method === method && call.path === path)

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startAdminSite()
  opened = await openPage(browser, { language: 'zh' })
  page = opened.page
})
afterEach(async () => {
  expect(opened.faults).toEqual([])
  await opened.close()
  await site.close()
})

describe('settings', () => {
  it('a price is set in dollars and sent as ratios, exactly and alone', async () => {
    await openAsRoot(page, site, '/admin/settings')
    await page.getByRole('button', { name: zh('settings.addModel') }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel(zh('settings.modelName')).fill('gpt-4o')
    await drawer.getByLabel(zh('settings.inputPriceLabel')).fill('0.3')
    await drawer.getByLabel(zh('settings.outputPriceLabel')).fill('1.2')
    await drawer.getByRole('button', { name: zh('settings.apply') }).click()
    await drawer.getByText(zh('settings.fault.nameTaken')).waitFor()
    await drawer.getByLabel(zh('settings.modelName')).fill('mine')
    await drawer.getByRole('button', { name: zh('settings.apply') }).click()
    await page.getByText(zh('settings.changes', { count: 2 })).waitFor()
    await page.getByRole('button', { name: zh('settings.save') }).click()
    await page.getByText(zh('settings.saved')).waitFor()
    const saved = sent('PUT', '/api/option/').map(({ body }) => body as Record<string, string>)
    expect(saved.map(({ key }) => key).sort()).toEqual(['CompletionRatio', 'ModelRatio'])
    const ratios = saved.find(({ key }) => key === 'ModelRatio')?.value ?? ''
    expect(Object.entries(JSON.parse(ratios)).at(-1)).toEqual(['mine', 0.15])
    await page.getByText(zh('settings.noChanges')).waitFor()
  })

  it('nothing changed is said, and a partial failure keeps what failed', async () => {
    await openAsRoot(page, site, '/admin/settings?tab=models')
    await page.getByRole('button', { name: zh('settings.save') }).click()
    await page.getByText(zh('settings.nothingChanged')).waitFor()
    await page.getByLabel('失败重试次数').fill('2')
    await page.getByRole('tab', { name: zh('settings.tab.other') }).click()
    await page.getByLabel('系统名称').fill('Mine')
    const put = site.routes['PUT /api/option/']
    site.routes['PUT /api/option/'] = (call) =>
      (call.body as { key: string }).key === 'SystemName' || put === undefined
        ? refused('名称不可用')
        : put(call)
    await page.getByRole('button', { name: zh('settings.save') }).click()
    await page.getByText(zh('settings.partlyFailed')).waitFor()
    await page.getByText('名称不可用').waitFor()
    await page.getByText(zh('settings.changes', { count: 1 })).waitFor()
    expect(await page.getByLabel('系统名称').inputValue()).toBe('Mine')
  })

  it('broken JSON is told on leaving the field and never sent', async () => {
    await openAsRoot(page, site, '/admin/settings?prices=json')
    await page.getByLabel(zh('settings.ratio')).fill('{"a":')
    await page.getByLabel(zh('settings.cacheRatio')).focus()
    await page.getByText(zh('settings.notJson')).waitFor()
    await page.getByRole('button', { name: zh('settings.save') }).click()
    await page.getByText(zh('settings.checkInput')).waitFor()
    expect(sent('PUT', '/api/option/')).toHaveLength(0)
  })

  it('leaving with unsaved changes asks first', async () => {
    await openAsRoot(page, site, '/admin/settings?tab=models')
    await page.getByLabel('失败重试次数').fill('2')
    await page.getByRole('link', { name: zh('shell.tokens') }).click()
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.unsavedStay') })
      .click()
    expect(new URL(page.url()).pathname).toBe('/admin/settings')
  })
})
