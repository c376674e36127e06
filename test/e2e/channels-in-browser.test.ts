import { beforeAll, expect, it } from 'vitest'
import type { Channel } from '#read-api/contract/channels.ts'
import { en, textPattern } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ALL_ROLES, addChannel, testProduct } from '#test/support/test-product.ts'
import { eventually, realPage, submitLogin } from './open-product-page.ts'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const open = realPage(() => product.url)

beforeAll(async () => {
  await addChannel(product, { name: 'first', priority: 1 })
  await open.page.goto(`${product.url}/login`)
  await submitLogin(open.page, 'root')
  await open.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

const button = (name: string) => open.page.getByRole('button', { name, exact: true })
const drawer = () => open.page.getByRole('dialog')
const field = (name: string) => drawer().getByRole('textbox', { name, exact: true })
const closed = () => drawer().waitFor({ state: 'detached' })
const said = (text: string | RegExp) => open.page.getByText(text).first().waitFor()
const row = (name: string) => open.page.getByRole('row').filter({ hasText: name })
const fromMenu = async (opener: string, entry: string) => {
  await button(opener).click()
  await open.page.getByRole('menuitem', { name: entry }).click()
}

async function stored(): Promise<Channel[]> {
  type Page = { items: Channel[] }
  return (await product.root.must<Page>('GET', '/api/channel/?page_size=100&id_sort=true')).items
}
const named = async (name: string) => (await stored()).find((channel) => channel.name === name)

it('several keys create one channel each, and then one channel that rotates its keys', async () => {
  await open.page.goto(`${product.url}/channel/add`)
  await field(en('shared.name')).fill('fleet')
  await field(en('shared.baseUrl')).fill(product.provider.url)
  await drawer()
    .getByRole('radio', { name: en('channelForm.mode.batch') })
    .check()
  await field(en('shared.key')).fill('sk-1\nsk-2')
  await drawer()
    .getByRole('combobox', { name: en('shared.models') })
    .fill('sim-small,sim-large,')
  await button(en('channelForm.createAction')).click()
  await said(en('channelForm.createdMany', { count: 2 }))
  // The dialog offers to set prices for models without a price.
  await button(en('channelForm.unpricedLater')).click()
  await closed()
  expect((await stored()).length).toBe(3)
  await button(en('shared.newChannel')).click()
  await field(en('shared.name')).fill('many')
  await field(en('shared.baseUrl')).fill(product.provider.url)
  await drawer()
    .getByRole('radio', { name: en('channelForm.mode.multi_to_single') })
    .check()
  await drawer()
    .getByRole('radio', { name: en('channelForm.keyChoice.polling') })
    .check()
  await field(en('shared.key')).fill('sk-3\nsk-4\nsk-5')
  await drawer()
    .getByRole('combobox', { name: en('shared.models') })
    .fill('sim-small,')
  await button(en('channelForm.createAction')).click()
  await said(en('channelForm.created'))
  await button(en('channelForm.unpricedLater')).click()
  await closed()
  const many = await named('many')
  expect([many?.multi_key_mode, many?.key_count]).toEqual(['polling', 3])
})

it('an edit saves limits, expiry and another key; a new address requires the key', async () => {
  await open.page.getByRole('link', { name: 'many' }).click()
  await button(`${en('channelForm.routing')} ${en('channelForm.routingLead')}`).click()
  await field(en('channelForm.maxConcurrency')).fill('4')
  await field(en('channelForm.maxRpm')).fill('60')
  await drawer().getByLabel(en('shared.expires')).fill('2031-05-06T07:08')
  await drawer()
    .getByRole('radio', { name: en('channelForm.mode.append') })
    .check()
  await field(en('shared.key')).fill('sk-6')
  await button(en('shared.saveChanges')).click()
  await said(en('shared.saved'))
  await closed()
  expect(await named('many')).toMatchObject({ max_concurrency: 4, max_rpm: 60, key_count: 4 })
  await open.page.getByRole('link', { name: 'many' }).click()
  await expect.poll(() => drawer().getByLabel(en('shared.expires')).count()).toBe(0)
  await field(en('shared.baseUrl')).fill('https://elsewhere.example')
  await button(en('shared.saveChanges')).click()
  await drawer().getByText(en('channelForm.error.keyMissing')).waitFor()
  await open.page.keyboard.press('Escape')
  await button(en('ui.unsavedLeave')).click()
  await closed()
})

it('selected channels get a tag, which is opened and edited; disabling it is undone', async () => {
  await button(en('channels.bulkMode')).click()
  await open.page.getByRole('checkbox', { name: en('ui.selectAll') }).click()
  await said(en('ui.selectedCount', { count: 4 }))
  await button(en('shared.setTag')).click()
  await drawer().getByLabel(en('channels.tag')).fill('east')
  await open.page.keyboard.press('Enter')
  await said(en('channels.taggedMany', { tag: 'east', count: 4 }))
  await closed()
  await button(en('channels.tagMode')).click()
  await row('east')
    .getByText(en('channels.tagEnabled', { count: 4, total: 4 }))
    .waitFor()
  await fromMenu(en('channels.moreTag', { tag: 'east' }), en('channels.editTag'))
  await drawer().getByLabel(en('channelForm.priority')).fill('9')
  await drawer().getByLabel(en('channelTags.newTag')).fill('west')
  await button(en('shared.saveChanges')).click()
  await said(en('channelTags.saved', { count: 4 }))
  await closed()
  expect((await stored()).map(({ tag, priority }) => [tag, priority])).toEqual(
    Array(4).fill(['west', 9]),
  )
  await fromMenu(en('channels.moreTag', { tag: 'west' }), en('channels.disableAll'))
  await row('west')
    .getByText(en('channels.tagEnabled', { count: 0, total: 4 }))
    .waitFor()
  await said(en('channels.tagDisabledDone', { tag: 'west', count: 4 }))
  await button(en('shared.undo')).last().click()
  await row('west')
    .getByText(en('channels.tagEnabled', { count: 4, total: 4 }))
    .waitFor()
  await button(en('channels.tagMode')).click()
})

it('a channel is tested and copied, and its models are fetched', async () => {
  await row('first').waitFor()
  await open.page.waitForLoadState('networkidle')
  await fromMenu(en('shared.moreActions', { name: 'first' }), en('channels.test'))
  await button(en('channelTests.testFound', { count: 2 })).click()
  await eventually(() => drawer().getByText(/ s$/).count()).toBe(2)
  await open.page.keyboard.press('Escape')
  await closed()
  await fromMenu(en('shared.moreActions', { name: 'first' }), en('channels.duplicate'))
  await said(en('channels.duplicated', { name: 'first' }))
  await eventually(async () => (await stored()).length).toBe(5)
  await open.page.getByRole('link', { name: 'first', exact: true }).click()
  await button(en('channelForm.fetchModels')).click()
  const picker = open.page.getByRole('dialog', { name: en('channelForm.selectModelsTitle') })
  await picker.getByText('sim-small').waitFor()
  await open.page.keyboard.press('Escape')
  await picker.waitFor({ state: 'detached' })
  await open.page.keyboard.press('Escape')
  await closed()
})

it('a test of all channels reports its end; repair and removal work too', async () => {
  await fromMenu(en('channels.moreActions'), en('channels.testAll'))
  await said(textPattern('en', 'channelTests.allDone', { tested: 5 }))
  await fromMenu(en('channels.moreActions'), en('channels.repairModelIndex'))
  await said(en('channels.modelIndexRepaired'))
  await fromMenu(en('channels.moreActions'), en('channels.updateBalances'))
  await said(textPattern('en', 'channels.balancesUpdated'))
  await open.page
    .getByRole('checkbox', { name: en('ui.selectRow') })
    .nth(0)
    .click()
  await button(en('shared.disableSelected')).click()
  await said(en('channels.disabledMany', { count: 1 }))
  await fromMenu(en('channels.moreActions'), en('channels.deleteDisabled'))
  await open.page
    .getByRole('alertdialog')
    .getByRole('button', { name: en('shared.delete') })
    .click()
  await said(en('channels.deleted', { count: 1 }))
  await eventually(async () => (await stored()).length).toBe(4)
})

it('the server sorts by every sortable column, and filters narrow the list', async () => {
  const headers = open.page.locator('.tg-grid-sort')
  const count = await headers.count()
  expect(count).toBeGreaterThan(6)
  for (let index = 0; index < count; index += 1) {
    const answered = open.page.waitForResponse((response) => response.url().includes('sort='))
    await headers.nth(index).click()
    expect((await answered).status()).toBe(200)
  }
  await open.page.goto(`${product.url}/admin/channels?status=2`)
  await said(en('shared.noChannelMatches'))
  await open.page.goto(`${product.url}/admin/channels?type=1&keyword=many`)
  await open.page.getByRole('link', { name: 'many' }).waitFor()
  await expect.poll(() => open.page.getByRole('row').count()).toBe(2)
})

it('no page causes a policy violation, a console error or a missing file', () => {
  expect(open.faults).toEqual([])
})
