import { expect, it } from 'vitest'
import { textPattern, zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { refused } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls
    .filter((call) => call.method === method && call.path === path)
    .map(({ body }) => body)
const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const boxes = () => app.page.getByRole('checkbox', { name: zh('ui.selectRow') })
const choose = async (...rows: number[]) => {
  for (const row of rows) await boxes().nth(row).click()
}
const openSelection = async () => {
  await app.openAsRoot('/admin/channels')
  await button(zh('channels.bulkMode')).click()
  await boxes().first().waitFor()
}
const undo = () => button(zh('shared.undo')).last().click()

it('the list offers batch actions only while channels are selected', async () => {
  await openSelection()
  for (const name of [
    zh('shared.deleteSelected'),
    zh('shared.setTag'),
    zh('shared.disableSelected'),
    zh('shared.enableSelected'),
  ]) {
    await expect.poll(() => button(name).count(), { message: name }).toBe(0)
  }
  await choose(0)
  await button(zh('shared.deleteSelected')).waitFor()
  await choose(0)
  await expect.poll(() => button(zh('shared.deleteSelected')).count()).toBe(0)
})

it('one tag is set for all selected channels and undone; an empty tag is refused', async () => {
  const { page } = app
  await openSelection()
  await choose(0, 2)
  await page.getByText(zh('ui.selectedCount', { count: 2 })).waitFor()
  await button(zh('shared.setTag')).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: zh('shared.setTag') }).click()
  await dialog.getByText(zh('channelForm.error.tagMissing')).waitFor()
  await dialog.getByLabel(zh('channels.tag')).fill('east')
  await page.keyboard.press('Enter')
  await page.getByText(zh('channels.taggedMany', { count: 2, tag: 'east' })).waitFor()
  await expect.poll(() => page.getByText(textPattern('zh', 'ui.selectedCount')).count()).toBe(0)
  await undo()
  await expect
    .poll(() => sent('POST', '/api/channel/batch/tag'))
    .toEqual([
      { ids: [1, 3], tag: 'east' },
      { ids: [1], tag: 'primary' },
      { ids: [3], tag: null },
    ])
})

it('Shift selects a range, one call disables it, and undo enables what it changed', async () => {
  const { page } = app
  await openSelection()
  await choose(0)
  await boxes()
    .nth(3)
    .click({ modifiers: ['Shift'] })
  await page.getByText(zh('ui.selectedCount', { count: 4 })).waitFor()
  await button(zh('shared.disableSelected')).click()
  await page.getByText(zh('channels.disabledMany', { count: 3 })).waitFor()
  await undo()
  await expect
    .poll(() => sent('POST', '/api/channel/batch/status'))
    .toEqual([
      { ids: [1, 2, 3, 4], status: 2 },
      { ids: [1, 2], status: 1 },
    ])
})

it('a refused batch action shows the reason and keeps the selection', async () => {
  const { page, site } = app
  site.routes['POST /api/channel/batch/status'] = () => refused('The channel has expired')
  await openSelection()
  await choose(3)
  await button(zh('shared.enableSelected')).click()
  await page.getByText('The channel has expired').waitFor()
  await page.getByText(zh('ui.selectedCount', { count: 1 })).waitFor()
})

it('the selected channels are deleted after a confirmation that states their number', async () => {
  const { page } = app
  await openSelection()
  await choose(1, 3)
  await button(zh('shared.deleteSelected')).click()
  const question = page.getByRole('alertdialog', {
    name: zh('channels.deleteManyTitle', { count: 2 }),
  })
  await question.getByRole('button', { name: zh('ui.cancel') }).click()
  await question.waitFor({ state: 'detached' })
  expect(sent('POST', '/api/channel/batch')).toEqual([])
  await button(zh('shared.deleteSelected')).click()
  await question.getByRole('button', { name: zh('shared.delete') }).click()
  await page.getByText(zh('channels.deleted', { count: 2 })).waitFor()
  await page.getByRole('link', { name: 'DeepSeek' }).waitFor({ state: 'detached' })
  expect(sent('POST', '/api/channel/batch')).toEqual([{ ids: [2, 4] }])
})

it('the menu repairs the model index, and deletes and counts all disabled channels', async () => {
  const { page } = app
  await openAsRoot(page, app.site, '/admin/channels')
  const fromMenu = async (name: string) => {
    await button(zh('channels.moreActions')).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await fromMenu(zh('channels.repairModelIndex'))
  await page.getByText(zh('channels.modelIndexRepaired')).waitFor()
  expect(sent('POST', '/api/channel/fix')).toHaveLength(1)
  await fromMenu(zh('channels.deleteDisabled'))
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: zh('shared.delete') })
    .click()
  await page.getByText(zh('channels.deleted', { count: 2 })).waitFor()
  await page.getByText('Backup').waitFor({ state: 'detached' })
})

it('a channel’s row disables it, enables it by undo, duplicates it and deletes it', async () => {
  const { page } = app
  await openAsRoot(page, app.site, '/admin/channels')
  await page.getByRole('switch', { name: zh('shared.enableNamed', { name: 'DeepSeek' }) }).click()
  await page.getByText(zh('shared.disabledNamed', { name: 'DeepSeek' })).waitFor()
  await undo()
  await expect
    .poll(() => sent('PUT', '/api/channel/'))
    .toEqual([
      { id: 2, status: 2 },
      { id: 2, status: 1 },
    ])
  const fromRow = async (name: string) => {
    await button(zh('shared.moreActions', { name: 'DeepSeek' })).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await fromRow(zh('channels.duplicate'))
  await page.getByText(zh('channels.duplicated', { name: 'DeepSeek' })).waitFor()
  await fromRow(zh('shared.delete'))
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: zh('shared.delete') })
    .click()
  await page.getByText(zh('channels.deleted', { count: 1 })).waitFor()
})

it('a weight edited in its row can be undone; an invalid weight is not sent', async () => {
  const { page } = app
  await openAsRoot(page, app.site, '/admin/channels')
  const weight = page.getByLabel(zh('channels.weightOf', { name: 'DeepSeek' }))
  await weight.fill('-1')
  await expect.poll(() => weight.getAttribute('aria-invalid')).toBe('true')
  await weight.press('Enter')
  await expect.poll(() => weight.inputValue()).toBe('5')
  await weight.fill('9')
  await weight.press('Enter')
  await page.getByText(zh('channels.weightChanged', { name: 'DeepSeek', value: 9 })).waitFor()
  await undo()
  await expect
    .poll(() => sent('PUT', '/api/channel/'))
    .toEqual([
      { id: 2, weight: 9 },
      { id: 2, weight: 5 },
    ])
})

it('unfinished work is named, and the channel deleted only if that is confirmed', async () => {
  const { page } = app
  const queries: string[] = []
  const remove = app.site.routes['DELETE /api/channel/1/']
  app.site.routes['DELETE /api/channel/1/'] = (sentCall) => {
    const force = sentCall.query.get('force')
    queries.push(String(force))
    if (force === 'true' && remove !== undefined) return remove(sentCall)
    const body = { success: false, message: 'tasks: 3', code: 'WorkInFlight', data: null }
    return { status: 409, body }
  }
  await openSelection()
  await choose(0)
  const deleteOnce = async (answer: string) => {
    await button(zh('shared.deleteSelected')).click()
    const first = page.getByRole('alertdialog')
    await first.getByRole('button', { name: zh('shared.delete'), exact: true }).click()
    const second = page.getByRole('alertdialog', { name: zh('channels.forceDeleteTitle') })
    await second.getByText('tasks: 3').waitFor()
    await second.getByRole('button', { name: answer, exact: true }).click()
    await second.waitFor({ state: 'detached' })
  }
  await deleteOnce(zh('ui.cancel'))
  expect(queries).toEqual(['null'])
  await page.getByText(zh('ui.selectedCount', { count: 1 })).waitFor()
  await deleteOnce(zh('channels.forceDelete'))
  await page.getByText(zh('channels.deleted', { count: 1 })).waitFor()
  expect(queries).toEqual(['null', 'null', 'true'])
})
