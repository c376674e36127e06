import type { Route } from 'playwright-core'
import { expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls
    .filter((call) => call.method === method && call.path === path)
    .map(({ body }) => body)
const row = (name: string) => app.page.getByRole('row', { name })
const openTags = async () => {
  await app.openAsRoot('/admin/channels')
  await app.page.getByRole('button', { name: zh('channels.tagMode') }).click()
  await app.page.getByRole('treegrid').waitFor()
}
const fromTag = async (name: string) => {
  await app.page.getByRole('button', { name: zh('channels.moreTag', { tag: 'primary' }) }).click()
  await app.page.getByRole('menuitem', { name }).click()
}

it('a tag sums up its channels and opens by key or click; tag mode is remembered', async () => {
  const { page, site } = app
  await openTags()
  const tag = row('primary')
  await tag.getByText(zh('channels.childCount', { count: 2 })).waitFor()
  await tag.getByText(zh('channels.tagEnabled', { count: 2, total: 2 })).waitFor()
  await expect
    .poll(() => tag.getByLabel(zh('channels.priorityOfTag', { tag: 'primary' })).inputValue())
    .toBe('')
  await expect
    .poll(() => tag.getByLabel(zh('channels.weightOfTag', { tag: 'primary' })).inputValue())
    .toBe('5')
  await tag
    .getByText(`${zh('channels.speed.fair')} · ${zh('channels.seconds', { seconds: '1.67' })}`)
    .waitFor()
  await expect.poll(() => tag.getAttribute('aria-expanded')).toBe('false')
  await page.getByRole('treegrid').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowRight')
  await row('DeepSeek').waitFor()
  await expect.poll(() => row('DeepSeek').getAttribute('aria-level')).toBe('2')
  await page.keyboard.press('ArrowLeft')
  await row('DeepSeek').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: zh('channels.showChildren', { tag: 'primary' }) }).click()
  await row('DeepSeek').waitFor()
  await page.reload()
  await page.getByRole('treegrid').waitFor()
  const reads = () => site.calls.filter(({ path }) => path === '/api/channel/').at(-1)
  await expect.poll(() => reads()?.query.get('tag_mode')).toBe('true')
})

it('a tag’s channels are fetched when it opens; if that fails, the tag closes again', async () => {
  const { page, site } = app
  await openTags()
  const reads = () => site.calls.filter(({ query }) => query.get('tag') === 'primary').length
  const list = site.calls.findLast(({ query }) => query.get('tag_mode') === 'true')
  expect(list?.query.get('children')).toBe('false')
  expect(reads()).toBe(0)
  const broken = async (route: Route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'The channels cannot be read' } })
  await page.route('**/api/channel/?*tag=primary*', broken)
  await page.getByRole('button', { name: zh('channels.showChildren', { tag: 'primary' }) }).click()
  await page.getByText('The channels cannot be read').waitFor()
  await expect.poll(() => row('primary').getAttribute('aria-expanded')).toBe('false')
  await page.unroute('**/api/channel/?*tag=primary*', broken)
  await page.getByRole('button', { name: zh('channels.showChildren', { tag: 'primary' }) }).click()
  await row('DeepSeek').waitFor()
  expect(reads()).toBe(1)
})

it('a tag’s checkbox stands for all its channels, even while the tag is closed', async () => {
  const { page } = app
  await openTags()
  await page.getByRole('button', { name: zh('channels.bulkMode') }).click()
  await row('primary').getByRole('checkbox').click()
  await page.getByText(zh('ui.selectedCount', { count: 2 })).waitFor()
  await page.getByRole('button', { name: zh('channels.showChildren', { tag: 'primary' }) }).click()
  await row('DeepSeek').getByRole('checkbox').click()
  await page.getByText(zh('ui.selectedCount', { count: 1 })).waitFor()
  await expect.poll(() => row('primary').getByRole('checkbox').isChecked()).toBe(false)
})

it('the tag editor refuses invalid values, sends changes, and asks before it closes', async () => {
  const { page } = app
  await openTags()
  await fromTag(zh('channels.editTag'))
  const editor = page.getByRole('dialog', { name: zh('channelTags.title', { tag: 'primary' }) })
  const save = editor.getByRole('button', { name: zh('shared.saveChanges') })
  await save.click()
  await page.getByText(zh('shared.unchanged')).waitFor()
  await editor.getByLabel(zh('channelForm.priority')).fill('1.5')
  await editor.getByLabel(zh('channelForm.weight')).fill('-1')
  await save.click()
  await editor.getByText(zh('shared.error.notInteger')).waitFor()
  await editor.getByText(zh('channelForm.error.notNatural')).waitFor()
  await page.keyboard.press('Escape')
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: zh('ui.unsavedStay') })
    .click()
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await editor.getByLabel(zh('channelForm.priority')).fill('7')
  await editor.getByLabel(zh('channelForm.weight')).fill('5')
  await editor.getByLabel(zh('channelTags.newTag')).fill('east')
  await editor.getByRole('combobox', { name: zh('ui.model'), exact: true }).fill('gpt-4o,')
  await save.click()
  await page.getByText(zh('channelTags.saved', { count: 2 })).waitFor()
  await editor.waitFor({ state: 'detached' })
  expect(sent('PUT', '/api/channel/tag')).toEqual([
    { tag: 'primary', new_tag: 'east', models: 'gpt-4o', priority: 7 },
  ])
})

it('one action disables all channels of a tag, and undo enables them again', async () => {
  const { page } = app
  await openTags()
  await fromTag(zh('channels.disableAll'))
  await page.getByText(zh('channels.tagDisabledDone', { tag: 'primary', count: 2 })).waitFor()
  await row('primary')
    .getByText(zh('channels.tagEnabled', { count: 0, total: 2 }))
    .waitFor()
  await page.getByRole('button', { name: zh('shared.undo') }).click()
  await row('primary')
    .getByText(zh('channels.tagEnabled', { count: 2, total: 2 }))
    .waitFor()
  expect(sent('POST', '/api/channel/tag/disabled')).toEqual([{ tag: 'primary' }])
  expect(sent('POST', '/api/channel/batch/status')).toEqual([{ ids: [1, 2], status: 1 }])
  await fromTag(zh('channels.enableAll'))
  await page.getByText(zh('channels.nothingToEnable')).waitFor()
})

it('enabling a tag skips its expired channels, in the count and in undo as well', async () => {
  const { page, site } = app
  const off = { tag: 'primary', status: 2 }
  const rows = [channel({ ...off }), channel({ ...off, id: 2, name: 'late', expired_time: 9 })]
  Object.assign(site.routes, channelRoutes(rows))
  await openTags()
  await fromTag(zh('channels.enableAll'))
  await page.getByText(zh('channels.tagEnabledDone', { tag: 'primary', count: 1 })).waitFor()
  await page.getByRole('button', { name: zh('shared.undo') }).click()
  await row('primary')
    .getByText(zh('channels.tagEnabled', { count: 0, total: 2 }))
    .waitFor()
  expect(sent('POST', '/api/channel/batch/status')).toEqual([{ ids: [1], status: 2 }])
})

it('enabling a tag enables a channel that the gateway disabled, and offers no undo', async () => {
  const { page, site } = app
  const rows = [channel({ tag: 'primary', status: 3 }), channel({ id: 2, tag: 'primary' })]
  Object.assign(site.routes, channelRoutes(rows))
  await openTags()
  await fromTag(zh('channels.enableAll'))
  await page.getByText(zh('channels.tagEnabledDone', { tag: 'primary', count: 1 })).waitFor()
  await expect.poll(() => page.getByRole('button', { name: zh('shared.undo') }).count()).toBe(0)
})

it('a priority for a whole tag needs a confirmation if its channels differ', async () => {
  const { page } = app
  await openTags()
  const priority = page.getByLabel(zh('channels.priorityOfTag', { tag: 'primary' }))
  await priority.fill('4')
  await priority.press('Enter')
  const question = page.getByRole('alertdialog')
  await question.getByRole('button', { name: zh('ui.cancel') }).click()
  await question.waitFor({ state: 'detached' })
  expect(sent('PUT', '/api/channel/tag')).toEqual([])
  await priority.fill('4')
  await priority.press('Enter')
  await question.getByRole('button', { name: zh('ui.confirm') }).click()
  await page.getByText(zh('channels.priorityChanged', { name: 'primary', value: 4 })).waitFor()
  expect(sent('PUT', '/api/channel/tag')).toEqual([{ tag: 'primary', priority: 4 }])
})
