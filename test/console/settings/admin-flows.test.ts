import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
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
    await page.getByRole('button', { name: '添加模型' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel('模型名称').fill('gpt-4o')
    await drawer.getByLabel('输入价格（$ / 百万 tokens）').fill('0.3')
    await drawer.getByLabel('输出价格（$ / 百万 tokens）').fill('1.2')
    await drawer.getByRole('button', { name: '确定' }).click()
    await drawer.getByText('模型名称已存在').waitFor()
    await drawer.getByLabel('模型名称').fill('mine')
    await drawer.getByRole('button', { name: '确定' }).click()
    await page.getByText('2 项未保存的修改').waitFor()
    await page.getByRole('button', { name: '保存设置' }).click()
    await page.getByText('保存成功').waitFor()
    const saved = sent('PUT', '/api/option/').map(({ body }) => body as Record<string, string>)
    expect(saved.map(({ key }) => key).sort()).toEqual(['CompletionRatio', 'ModelRatio'])
    const ratios = saved.find(({ key }) => key === 'ModelRatio')?.value ?? ''
    expect(Object.entries(JSON.parse(ratios)).at(-1)).toEqual(['mine', 0.15])
    await page.getByText('所有修改均已保存').waitFor()
  })

  it('nothing changed is said, and a partial failure keeps what failed', async () => {
    await openAsRoot(page, site, '/admin/settings?tab=models')
    await page.getByRole('button', { name: '保存设置' }).click()
    await page.getByText('没有任何修改！').waitFor()
    await page.getByLabel('失败重试次数').fill('2')
    await page.getByRole('tab', { name: '其他设置' }).click()
    await page.getByLabel('系统名称').fill('Mine')
    const put = site.routes['PUT /api/option/']
    site.routes['PUT /api/option/'] = (call) =>
      (call.body as { key: string }).key === 'SystemName' || put === undefined
        ? refused('名称不可用')
        : put(call)
    await page.getByRole('button', { name: '保存设置' }).click()
    await page.getByText('部分保存失败，请重试').waitFor()
    await page.getByText('名称不可用').waitFor()
    await page.getByText('1 项未保存的修改').waitFor()
    expect(await page.getByLabel('系统名称').inputValue()).toBe('Mine')
  })

  it('broken JSON is told on leaving the field and never sent', async () => {
    await openAsRoot(page, site, '/admin/settings?prices=json')
    await page.getByLabel('模型倍率').fill('{"a":')
    await page.getByLabel('缓存倍率').focus()
    await page.getByText('不是合法的 JSON 字符串').waitFor()
    await page.getByRole('button', { name: '保存设置' }).click()
    await page.getByText('请检查输入').waitFor()
    expect(sent('PUT', '/api/option/')).toHaveLength(0)
  })

  it('leaving with unsaved changes asks first', async () => {
    await openAsRoot(page, site, '/admin/settings?tab=models')
    await page.getByLabel('失败重试次数').fill('2')
    await page.getByRole('link', { name: 'API 令牌' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '继续编辑' }).click()
    expect(new URL(page.url()).pathname).toBe('/admin/settings')
  })
})
