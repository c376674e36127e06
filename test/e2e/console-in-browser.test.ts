import { beforeAll, describe, expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  ALL_ROLES,
  addChannel,
  addUser,
  chat,
  setOption,
  testProduct,
} from '#test/support/test-product.ts'
import { eventually, realPage, submitLogin } from './open-product-page.ts'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const open = realPage(() => product.url)
const keys = { root: '', alice: '' }

beforeAll(async () => {
  const { root, url } = product
  await addChannel(product, { models: 'sim-small,sim-large,sim-new', group: 'default,vip' })
  await setOption(root, 'ModelRatio', { 'sim-small': 1, 'sim-large': 2 })
  await setOption(root, 'GroupRatio', { default: 1, vip: 0.5 })
  await setOption(root, 'UserUsableGroups', { default: 'Standard', vip: 'Loyal' })
  keys.root = (await root.createToken({ name: 'desk', unlimited_quota: true })).key
  const alice = await addUser(root, 'alice', 1_000_000)
  const fields = { name: 'phone', unlimited_quota: true, group: 'vip' }
  keys.alice = (await alice.client.createToken(fields)).key
  await open.page.goto(`${url}/login`)
  await submitLogin(open.page, 'root')
  await open.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

/** One call each: root's sim-small and sim-large in `default`, alice's sim-small in `vip`. */
async function makeCalls(): Promise<void> {
  for (const [key, model] of [
    [keys.root, 'sim-small'],
    [keys.root, 'sim-large'],
    [keys.alice, 'sim-small'],
  ] as const) {
    expect((await chat(product.url, key, { model })).status).toBe(200)
  }
}

const rows = () =>
  open.page
    .getByRole('grid', { name: en('usageLog.title') })
    .getByRole('row')
    .filter({ hasText: en('usageLog.notStreamed') })

describe('filters of the usage log', () => {
  it.each([
    ['no filter', 'type=2', 3],
    ['a model', 'model=sim-small&type=2', 2],
    ['a token', 'token=phone&type=2', 1],
    ['a group', 'group=default&type=2', 2],
    ['a user', 'username=alice&type=2', 1],
    ['a part of a username, which is nobody', 'username=ali&type=2', 0],
    ['a user and another one’s token', 'username=alice&token=desk&type=2', 0],
    ['a channel', 'channel=1&type=2', 3],
    ['another channel', 'channel=2&type=2', 0],
    ['a type that calls are not', 'type=5', 0],
  ])('the live log shows the same calls as the server with %s', async (_name, query, each) => {
    await open.page.goto(`${product.url}/app/logs/api-usage?page_size=${PAGE_SIZE}&${query}`)
    await open.page.getByText(en('shared.live.live'), { exact: true }).waitFor()
    const before = await totalOf(query)
    await eventually(() => rows().count()).toBe(Math.min(PAGE_SIZE, before))
    await makeCalls()
    await eventually(() => totalOf(query)).toBe(before + each)
    await eventually(() => rows().count()).toBe(Math.min(PAGE_SIZE, before) + each)
    await open.page.reload()
    await eventually(() => rows().count()).toBe(Math.min(PAGE_SIZE, before + each))
  })
})

/** The page is so short that the list renders all rows, including those that arrive live. */
const PAGE_SIZE = 10

/** Returns the total of the server's list for the filters in the page's URL. */
async function totalOf(query: string): Promise<number> {
  const params = query.replace('model=', 'model_name=').replace('token=', 'token_name=')
  const path = `/api/log/?page_size=1&${params}`
  return (await product.root.must<{ total: number }>('GET', path)).total
}

describe('the settings page', () => {
  const save = async () => {
    await open.page.getByRole('button', { name: en('shared.saveSettings') }).click()
    await open.page.getByText(en('settings.noChanges')).waitFor()
  }

  it('a fallback price is saved, prices a call, and is cleared again', async () => {
    await open.page.goto(`${product.url}/admin/settings`)
    const panel = open.page.getByRole('region', { name: en('options.sectionTitle.fallback') })
    await panel.getByRole('switch', { name: en('settings.fallbackEnabled') }).check()
    await panel.getByLabel(en('pricing.perCallOrSecondLabel')).fill('0.002')
    await save()
    expect((await chat(product.url, keys.root, { model: 'sim-new' })).status).toBe(200)
    await panel.getByLabel(en('settings.fallbackInput')).fill('1.5')
    await panel.getByLabel(en('shared.factor.completion')).fill('3')
    await expect
      .poll(() => panel.getByLabel(en('pricing.perCallOrSecondLabel')).inputValue())
      .toBe('')
    await save()
    await open.page.reload()
    await expect.poll(() => panel.getByLabel(en('settings.fallbackInput')).inputValue()).toBe('1.5')
    await panel.getByLabel(en('settings.fallbackInput')).fill('')
    await panel.getByLabel(en('shared.factor.completion')).fill('')
    await panel.getByRole('switch', { name: en('settings.fallbackEnabled') }).uncheck()
    await save()
    const refused = await chat(product.url, keys.root, { model: 'sim-new' })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
  })

  it('a model without a price is listed, gets a price by one click, and disappears', async () => {
    await open.page.goto(`${product.url}/admin/settings?prices=unset`)
    const line = open.page.getByRole('listitem').filter({ hasText: 'sim-new' })
    await line.getByRole('button', { name: en('pricing.setPrice') }).click()
    const drawer = open.page.getByRole('dialog')
    await expect.poll(() => drawer.getByLabel(en('pricing.modelName')).inputValue()).toBe('sim-new')
    await drawer.getByLabel(en('pricing.inputPriceLabel')).fill('2')
    await open.page.getByRole('button', { name: en('timeRange.apply') }).click()
    await save()
    await open.page.getByText(en('pricing.allPricedTitle')).waitFor()
    expect((await chat(product.url, keys.root, { model: 'sim-new' })).status).toBe(200)
  })
})

describe('a new token', () => {
  it('can use a group that users may choose, and pays for calls at its ratio', async () => {
    await open.page.goto(`${product.url}/app/tokens`)
    await open.page
      .getByRole('button', { name: en('tokens.create') })
      .first()
      .click()
    const drawer = open.page.getByRole('dialog', { name: en('tokens.create') })
    await drawer.getByLabel(en('shared.name')).fill('loyal')
    await drawer.getByLabel(en('ui.groupName')).selectOption({ label: 'vip · Loyal · 0.5×' })
    await open.page.getByRole('button', { name: en('tokens.createAction') }).click()
    await open.page.getByRole('dialog', { name: en('tokens.createdTitle') }).waitFor()
    type Tokens = { items: { name: string; group: string }[] }
    const { items } = await product.root.must<Tokens>('GET', '/api/token/?p=0&size=10')
    expect(items.find(({ name }) => name === 'loyal')?.group).toBe('vip')
  })
})

describe('all visited pages', () => {
  it('cause no policy violation, no console error and no missing file', () => {
    expect(open.faults).toEqual([])
  })
})
