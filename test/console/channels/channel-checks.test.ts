import { expect, it } from 'vitest'
import { openAsRoot } from '../support/admin-site.ts'
import { adminSuite } from '../support/admin-suite.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { ok, refused } from '../support/fake-site.ts'

const admin = adminSuite({ language: 'zh' })

const asked = (path: string) => admin.site.calls.filter((call) => call.path === path)
const fromList = async (name: string) => {
  await admin.page.getByRole('button', { name: '更多操作', exact: true }).click()
  await admin.page.getByRole('menuitem', { name }).click()
}
const testsOf = async (name: string) => {
  await openAsRoot(admin.page, admin.site, '/admin/channels')
  await admin.page.getByRole('button', { name: `${name} 的更多操作` }).click()
  await admin.page.getByRole('menuitem', { name: '测试模型' }).click()
  return admin.page.getByRole('dialog', { name: `测试渠道「${name}」` })
}

it('a model is picked and tested: why it failed, or how many seconds it took', async () => {
  const { page, site } = admin
  const dialog = await testsOf('OpenAI main')
  site.routes['GET /api/channel/test/1'] = () => refused('401 invalid key')
  const search = dialog.getByLabel('搜索模型')
  await search.fill('nothing like it')
  await dialog.getByText('没有匹配的模型').waitFor()
  expect(await dialog.getByRole('button', { name: '全部测试（0）' }).isDisabled()).toBe(true)
  await search.fill('o3')
  await dialog.getByRole('button', { name: '测试 o3', exact: true }).click()
  await dialog.getByText('401 invalid key').waitFor()
  site.routes['GET /api/channel/test/1'] = ({ query }) =>
    ok({ model: query.get('model'), time: query.get('model') === 'o3' ? 5.5 : 0.42, reason: '' })
  await search.fill('')
  await dialog.getByRole('button', { name: '全部测试（3）' }).click()
  await dialog.getByText('很慢 · 5.50 秒').waitFor()
  await expect.poll(() => dialog.getByText('快 · 0.42 秒').count()).toBe(2)
  const models = asked('/api/channel/test/1').map(({ query }) => query.get('model'))
  expect(models).toEqual(['o3', 'gpt-4o', 'gpt-4o-mini', 'o3'])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

it('all are tested with progress, a second start is refused, and the end is told', async () => {
  const { page, site } = admin
  const run = { run: 'r1', total: 4, started_time: 1, ended_time: 0 }
  let progress = { ...run, is_running: false, tested: 0, failed: 0 }
  site.routes['GET /api/channel/test/progress'] = () => ok(progress)
  site.routes['GET /api/channel/test'] = () => {
    if (progress.is_running) return refused('测试已在运行中')
    progress = { ...progress, is_running: true }
    return ok(progress)
  }
  await openAsRoot(page, site, '/admin/channels')
  await fromList('测试所有渠道')
  await page.getByText('正在测试所有渠道：0/4，失败 0').waitFor()
  await fromList('测试所有渠道')
  await page.getByText('测试已在运行中').waitFor()
  progress = { ...progress, tested: 3, failed: 1 }
  await page.getByText('正在测试所有渠道：3/4，失败 1').waitFor()
  expect(await page.getByRole('progressbar', { name: '测试进度' }).getAttribute('value')).toBe('3')
  progress = { ...progress, is_running: false, tested: 4, ended_time: 9 }
  await page.getByText('已测试 4 个渠道，失败 1 个').waitFor()
  await page.getByRole('progressbar').waitFor({ state: 'detached' })

  const result = { model: 'gpt-4o', duration: 420, reason: '' }
  site.routes['GET /api/channel/test/results'] = () =>
    ok({
      run: 'r1',
      results: [
        { ...result, id: 3, name: 'Backup', reason: 'status-401' },
        { ...result, id: 1, name: 'OpenAI main' },
      ],
    })
  await page.getByRole('button', { name: '查看结果' }).click()
  const results = page.getByRole('dialog', { name: '全部测试的结果' })
  await results.getByRole('heading', { name: '失败（1）' }).waitFor()
  const [failed, passed] = await results.getByRole('listitem').allInnerTexts()
  expect(failed).toMatch(/Backup\s+gpt-4o\s+上游返回 401\s+0.42 秒/)
  expect(passed).toMatch(/OpenAI main\s+gpt-4o\s+快 ·\s+0.42 秒/)
  await results.getByRole('link', { name: 'Backup' }).click()
  await page.getByRole('dialog', { name: '编辑渠道' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/channel/edit/3')
})

it('a failed test is said in the row, with its reason; on phones without a hover', async () => {
  const { page, site } = admin
  const reason = JSON.stringify({ status_reason: 'invalid_api_key', status_time: 1_700_000_000 })
  const broken = { name: 'Broken', response_time: 0, test_failure: 'status-401' }
  Object.assign(site.routes, channelRoutes([channel({ ...broken, status: 3, other_info: reason })]))
  await openAsRoot(page, site, '/admin/channels')
  const row = page.getByRole('row', { name: 'Broken' })
  await row.getByRole('button', { name: /^失败: .*401/ }).waitFor()
  expect(await row.getByText('未测试').count()).toBe(0)
  await row.getByRole('button', { name: 'Broken 的更多操作' }).click()
  await page.getByRole('menuitem', { name: '健康与时间线' }).click()
  await page.waitForURL('**/admin/health?peek=1')
  await page.setViewportSize({ width: 390, height: 844 })
  await openAsRoot(page, site, '/admin/channels')
  const card = page.getByRole('article')
  await card.getByText(/测试失败：.*401/).waitFor()
  await card.getByText(/密钥/).waitFor()
})

it('a balance is asked for anew, one or all; a failure is told', async () => {
  const { page, site } = admin
  await openAsRoot(page, site, '/admin/channels')
  const cell = page.getByRole('row', { name: 'DeepSeek' })
  await cell.getByText('$41.50').waitFor()
  site.routes['GET /api/channel/update_balance/2/'] = () => refused('查询余额失败：401')
  await cell.getByRole('button', { name: '更新 DeepSeek 的余额' }).click()
  await page.getByText('查询余额失败：401').waitFor()
  site.routes['GET /api/channel/update_balance/2/'] = () => ok({ balance: 40 })
  await cell.getByRole('button', { name: '更新 DeepSeek 的余额' }).click()
  await page.getByText('「DeepSeek」的余额已更新').waitFor()
  site.routes['GET /api/channel/update_balance'] = () => ok({ updated: 2, failed: 1, left: 0 })
  await fromList('更新所有余额')
  await page.getByText('已更新 2 个渠道的余额，1 个未能更新').waitFor()
  // A type that does not tell it has no button.
  const local = page.getByRole('row', { name: 'Local' })
  expect(await local.getByRole('button', { name: /余额/ }).count()).toBe(0)
})

it('filters, sort and page live in the address; what they hide is said, and cleared', async () => {
  const { page, site } = admin
  await openAsRoot(page, site, '/admin/channels?status=3&sort=priority&order=asc')
  await page.getByRole('link', { name: 'Backup' }).waitFor()
  expect(await page.getByRole('link', { name: 'DeepSeek' }).count()).toBe(0)
  const last = () => asked('/api/channel/').at(-1)?.query
  expect(Object.fromEntries(last() ?? [])).toMatchObject({
    status: '3',
    sort: 'priority',
    order: 'asc',
  })
  await page.getByRole('button', { name: '优先级', exact: true }).click()
  await expect.poll(() => last()?.get('sort')).toBeNull()
  await page.getByLabel('搜索 ID、名称、地址或标签').fill('nothing')
  await page.getByText('没有匹配的渠道').waitFor()
  expect(new URL(page.url()).searchParams.get('keyword')).toBe('nothing')
  await page.getByRole('button', { name: '清除筛选' }).last().click()
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('button', { name: 'ID 排序' }).click()
  await expect.poll(() => last()?.get('id_sort')).toBe('true')
  await page.reload()
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  expect(last()?.get('id_sort')).toBe('true')
})

it('a list that can’t be refreshed says so, and models that can’t be had too', async () => {
  const { page, site } = admin
  await openAsRoot(page, site, '/admin/channels')
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  site.routes['GET /api/channel/'] = () => refused('坏了')
  await page.getByRole('button', { name: '刷新' }).click()
  await page.getByText('刷新失败').waitFor()
  site.routes['GET /api/channel/models'] = () => refused('坏了')
  site.routes['GET /api/channel/models_enabled'] = () => refused('坏了')
  await page.getByRole('button', { name: '新建渠道' }).click()
  await page.getByText('获取模型列表失败 获取启用模型失败').waitFor()
})
