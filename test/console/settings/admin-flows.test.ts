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

describe('tokens', () => {
  it('a token is made with the defaults, and its first call stands ready', async () => {
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('button', { name: '新建令牌' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: '创建令牌' }).click()
    await drawer.getByText('请输入名称').waitFor()
    expect(sent('POST', '/api/token/')).toHaveLength(0)
    await drawer.getByLabel('名称').fill('ci')
    await drawer.getByRole('button', { name: '$10', exact: true }).click()
    await drawer.getByRole('button', { name: '创建令牌' }).click()
    await page.getByRole('dialog', { name: '令牌已就绪' }).waitFor()
    expect(sent('POST', '/api/token/').map(({ body }) => body)).toMatchObject([
      { name: 'ci', remain_quota: 5_000_000, expired_time: -1, unlimited_quota: false },
    ])
    const code = await page.getByRole('dialog').locator('pre').innerText()
    expect(code).toContain(`${site.url}/v1/chat/completions`)
    expect(code).not.toContain('q'.repeat(40))
  })

  it('further tokens of a batch get a suffix, and a closed drawer asks first', async () => {
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('button', { name: '新建令牌' }).click()
    await page.getByRole('textbox', { name: '名称', exact: true }).fill('ci')
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').getByRole('button', { name: '继续编辑' }).click()
    await page.getByLabel('创建数量').fill('3')
    await page.getByRole('button', { name: '创建令牌' }).click()
    await page.getByRole('dialog', { name: '已创建 3 个令牌' }).waitFor()
    const names = sent('POST', '/api/token/').map(({ body }) => (body as { name: string }).name)
    expect(names[0]).toBe('ci')
    for (const name of names.slice(1)) expect(name).toMatch(/^ci-[A-Za-z0-9]{6}$/)
  })

  it('a switch is undone by one press, and taken back when it is refused', async () => {
    await openAsRoot(page, site, '/app/tokens')
    const toggle = page.getByRole('switch', { name: '启用 production' })
    await toggle.click()
    await page.getByRole('button', { name: '撤销' }).click()
    await expect
      .poll(() => sent('PUT', '/api/token/').map(({ body }) => body))
      .toEqual([
        { id: 1, status: 2 },
        { id: 1, status: 1 },
      ])
    site.routes['PUT /api/token/'] = () => refused('令牌不可用')
    await toggle.click()
    await page.getByText('令牌不可用').waitFor()
    await expect.poll(() => toggle.isChecked()).toBe(true)
  })

  it('nothing selected is said, not sent', async () => {
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('button', { name: '删除所选' }).click()
    await page.getByText('请至少选择一个令牌！').waitFor()
  })
})

describe('channels', () => {
  it('a channel is made; an address with /v1 is asked about', async () => {
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('button', { name: '新建渠道' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: '创建渠道' }).click()
    await drawer.getByText('请填写渠道名称和渠道密钥！').first().waitFor()
    await drawer.getByLabel('名称').fill('Mine')
    await drawer.getByLabel('密钥').fill('sk-upstream')
    await drawer.getByLabel('接口地址').fill('https://models.example/v1/')
    await drawer.getByLabel('模型').fill('gpt-4o, o3,')
    await drawer.getByRole('button', { name: '创建渠道' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '仍然保存' }).click()
    await page.getByText('渠道创建成功').waitFor()
    expect(sent('POST', '/api/channel/')[0]?.body).toMatchObject({
      name: 'Mine',
      type: 1,
      key: 'sk-upstream',
      base_url: 'https://models.example/v1',
      models: 'gpt-4o,o3',
      group: 'default',
      auto_ban: 1,
      priority: 0,
      weight: 0,
    })
  })

  it('another address asks for the key again; an edit sends only what changed', async () => {
    await openAsRoot(page, site, '/admin/channels')
    await page.getByText('DeepSeek').first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel('接口地址').fill('https://elsewhere.example')
    await drawer.getByRole('button', { name: '保存修改' }).click()
    await drawer.getByText('请填写密钥').waitFor()
    await drawer.getByLabel('接口地址').fill('https://api.deepseek.com/')
    await drawer.getByLabel('名称').fill('DeepSeek 2')
    await drawer.getByRole('button', { name: '保存修改' }).click()
    await page.getByText('保存成功').waitFor()
    expect(sent('PUT', '/api/channel/')[0]?.body).toEqual({ id: 2, name: 'DeepSeek 2' })
  })

  it('filters live in the address', async () => {
    await openAsRoot(page, site, '/admin/channels?keyword=Deep&group=vip')
    await page.getByText('DeepSeek').first().waitFor()
    expect(sent('GET', '/api/channel/search')[0]?.query.toString()).toContain('group=vip')
    await page.getByLabel('搜索 ID、名称或地址').fill('Back')
    await expect.poll(() => new URL(page.url()).searchParams.get('keyword')).toBe('Back')
  })
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
    await page.getByRole('tab', { name: '系统设置' }).click()
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
