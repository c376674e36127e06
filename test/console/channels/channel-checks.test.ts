import { expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok, refused } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })

const callsTo = (path: string) => app.site.calls.filter((call) => call.path === path)
const fromList = async (name: string) => {
  await app.page.getByRole('button', { name: zh('channels.moreActions'), exact: true }).click()
  await app.page.getByRole('menuitem', { name }).click()
}
const testedIn = (speed: 'fast' | 'verySlow', seconds: string) =>
  `${zh(`channels.speed.${speed}`)} · ${zh('channels.seconds', { seconds })}`
const testsOf = async (name: string) => {
  await app.openAsRoot('/admin/channels')
  await app.page.getByRole('button', { name: zh('shared.moreActions', { name }) }).click()
  await app.page.getByRole('menuitem', { name: zh('channels.test') }).click()
  return app.page.getByRole('dialog', { name: zh('channelTests.title', { name }) })
}

it('the test dialog shows why a model’s test failed or how many seconds it took', async () => {
  const { page, site } = app
  const dialog = await testsOf('OpenAI main')
  site.routes['GET /api/channel/test/1'] = () => refused('401 invalid key')
  const search = dialog.getByLabel(zh('shared.searchModels'))
  await search.fill('nothing like it')
  await dialog.getByText(zh('ui.noModelMatches')).waitFor()
  await expect
    .poll(() =>
      dialog.getByRole('button', { name: zh('channelTests.testFound', { count: 0 }) }).isDisabled(),
    )
    .toBe(true)
  await search.fill('o3')
  await dialog
    .getByRole('button', { name: zh('channelTests.testModel', { model: 'o3' }), exact: true })
    .click()
  await dialog.getByText('401 invalid key').waitFor()
  site.routes['GET /api/channel/test/1'] = ({ query }) =>
    ok({ model: query.get('model'), time: query.get('model') === 'o3' ? 5.5 : 0.42, reason: '' })
  await search.fill('')
  await dialog.getByRole('button', { name: zh('channelTests.testFound', { count: 3 }) }).click()
  await dialog.getByText(testedIn('verySlow', '5.50')).waitFor()
  await expect.poll(() => dialog.getByText(testedIn('fast', '0.42')).count()).toBe(2)
  const models = callsTo('/api/channel/test/1').map(({ query }) => query.get('model'))
  expect(models).toEqual(['o3', 'gpt-4o', 'gpt-4o-mini', 'o3'])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

it('a test of all channels shows progress and results; a second start is refused', async () => {
  const { page, site } = app
  const run = { run: 'r1', total: 4, started_time: 1, ended_time: 0 }
  let progress = { ...run, is_running: false, tested: 0, failed: 0 }
  site.routes['GET /api/channel/test/progress'] = () => ok(progress)
  site.routes['GET /api/channel/test'] = () => {
    if (progress.is_running) return refused('A test is already running')
    progress = { ...progress, is_running: true }
    return ok(progress)
  }
  await openAsRoot(page, site, '/admin/channels')
  await fromList(zh('channels.testAll'))
  await page.getByText(zh('channelTests.progress', { tested: 0, total: 4, failed: 0 })).waitFor()
  await fromList(zh('channels.testAll'))
  await page.getByText('A test is already running').waitFor()
  progress = { ...progress, tested: 3, failed: 1 }
  await page.getByText(zh('channelTests.progress', { tested: 3, total: 4, failed: 1 })).waitFor()
  await expect
    .poll(() =>
      page
        .getByRole('progressbar', { name: zh('channelTests.progressLabel') })
        .getAttribute('value'),
    )
    .toBe('3')
  progress = { ...progress, is_running: false, tested: 4, ended_time: 9 }
  await page.getByText(zh('channelTests.allDone', { tested: 4, failed: 1 })).waitFor()
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
  await page.getByRole('button', { name: zh('channelTests.showResults') }).click()
  const results = page.getByRole('dialog', { name: zh('channelTests.resultsTitle') })
  await results
    .getByRole('heading', { name: zh('channelTests.resultsFailed', { count: 1 }) })
    .waitFor()
  const lines = await results.getByRole('listitem').allInnerTexts()
  const reason = zh('health.reason.status', { status: 401 })
  expect(lines.map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
    `Backup gpt-4o ${reason} ${zh('channels.seconds', { seconds: '0.42' })}`,
    `OpenAI main gpt-4o ${testedIn('fast', '0.42')}`,
  ])
  await results.getByRole('link', { name: 'Backup' }).click()
  await page.getByRole('dialog', { name: zh('channelForm.editPending') }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/channel/edit/3')
})

it('a channel’s row, or its card on a phone, shows that its test failed and why', async () => {
  const { page, site } = app
  const reason = JSON.stringify({ status_reason: 'invalid_api_key', status_time: 1_700_000_000 })
  const broken = { name: 'Broken', response_time: 0, test_failure: 'status-401' }
  Object.assign(site.routes, channelRoutes([channel({ ...broken, status: 3, other_info: reason })]))
  await openAsRoot(page, site, '/admin/channels')
  const row = page.getByRole('row', { name: 'Broken' })
  await row
    .getByRole('button', {
      name: `${zh('shared.failed')}: ${zh('health.reason.status', { status: 401 })}`,
    })
    .waitFor()
  await expect.poll(() => row.getByText(zh('channels.speed.untested')).count()).toBe(0)
  await row.getByRole('button', { name: zh('shared.moreActions', { name: 'Broken' }) }).click()
  await page.getByRole('menuitem', { name: zh('channels.timeline') }).click()
  await page.waitForURL('**/admin/health?peek=1')
  await page.setViewportSize({ width: 390, height: 844 })
  await openAsRoot(page, site, '/admin/channels')
  const card = page.getByRole('article')
  await card
    .getByText(zh('shared.testFailed', { reason: zh('health.reason.status', { status: 401 }) }))
    .waitFor()
  await card.getByText(zh('health.reason.invalid_api_key')).waitFor()
})

it('the balance of one or all channels is refreshed, and a failure is reported', async () => {
  const { page, site } = app
  await openAsRoot(page, site, '/admin/channels')
  const cell = page.getByRole('row', { name: 'DeepSeek' })
  await cell.getByText('$41.50').waitFor()
  site.routes['GET /api/channel/update_balance/2/'] = () =>
    refused('The balance could not be read: 401')
  const refresh = cell.getByRole('button', {
    name: zh('channels.refreshBalance', { name: 'DeepSeek' }),
  })
  await refresh.click()
  await page.getByText('The balance could not be read: 401').waitFor()
  // The button ignores clicks until the list has been read again.
  await expect.poll(() => refresh.getAttribute('aria-busy')).toBe('false')
  site.routes['GET /api/channel/update_balance/2/'] = () => ok({ balance: 40 })
  await refresh.click()
  await page.getByText(zh('channels.balanceUpdated', { name: 'DeepSeek' })).waitFor()
  site.routes['GET /api/channel/update_balance'] = () => ok({ updated: 2, failed: 1, left: 0 })
  await fromList(zh('channels.updateBalances'))
  await page.getByText(zh('channels.balancesUpdated', { updated: 2, failed: 1 })).waitFor()
  // A channel whose type has no balance query has no button.
  const local = page.getByRole('row', { name: 'Local' })
  await expect
    .poll(() =>
      local.getByRole('button', { name: zh('channels.refreshBalance', { name: 'Local' }) }).count(),
    )
    .toBe(0)
})

it('the address holds filters and sort; an empty result offers to clear the filters', async () => {
  const { page, site } = app
  await openAsRoot(page, site, '/admin/channels?status=3&sort=priority&order=asc')
  await page.getByRole('link', { name: 'Backup' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'DeepSeek' }).count()).toBe(0)
  const last = () => callsTo('/api/channel/').at(-1)?.query
  expect(Object.fromEntries(last() ?? [])).toMatchObject({
    status: '3',
    sort: 'priority',
    order: 'asc',
  })
  await page.getByRole('button', { name: zh('channelForm.priority'), exact: true }).click()
  await expect.poll(() => last()?.get('sort')).toBeNull()
  await page.getByLabel(zh('channels.searchKeyword')).fill('nothing')
  await page.getByText(zh('shared.noChannelMatches')).waitFor()
  expect(new URL(page.url()).searchParams.get('keyword')).toBe('nothing')
  await page
    .getByRole('button', { name: zh('ui.clearFilters') })
    .last()
    .click()
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('button', { name: zh('channels.idSort') }).click()
  await expect.poll(() => last()?.get('id_sort')).toBe('true')
  await page.reload()
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  expect(last()?.get('id_sort')).toBe('true')
})

it('the list says that a refresh failed, and the form says that models are missing', async () => {
  const { page, site } = app
  await openAsRoot(page, site, '/admin/channels')
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  site.routes['GET /api/channel/'] = () => refused('broken')
  await page.getByRole('button', { name: zh('ui.refresh') }).click()
  await page.getByText(zh('shared.refreshFailed')).waitFor()
  site.routes['GET /api/channel/models'] = () => refused('broken')
  site.routes['GET /api/channel/models_enabled'] = () => refused('broken')
  await page.getByRole('button', { name: zh('shared.newChannel') }).click()
  await page
    .getByText(`${zh('channels.modelsFailed')} ${zh('channels.enabledModelsFailed')}`)
    .waitFor()
})
