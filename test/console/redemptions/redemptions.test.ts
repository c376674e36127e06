import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { oneOf, startingWith, TEXTS, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { startAdminSite } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { ok, refused, refusedField, STATUS } from '../support/fake-site.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { user } from '../support/user-routes.ts'
import { GAINS, REDEMPTIONS } from './redemption-routes.ts'

const ROOT = user({ id: 1, username: 'root', display_name: 'Root', role: 100 })
const OWN = { ...ROOT, quota: 12_345_678, used_quota: 61_250_000, request_count: 128_423 }
const MANY = Array.from({ length: 40 }, (_, at) => `${at}`.padStart(32, 'K'))
const KEYS = ['AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH', 'QQQQRRRRSSSSTTTTUUUUVVVVWWWWXXXX']

const list = () => ok({ items: REDEMPTIONS, page: 0, total: REDEMPTIONS.length })
const app = siteFixture(() =>
  startAdminSite({
    'GET /api/status': () => ok({ ...STATUS, setup: true }),
    'GET /api/user/self': () => ok(OWN),
    'GET /api/redemption/': list,
    'GET /api/redemption/search': list,
    'GET /api/redemption/count-by-name': () => ok(2),
    'DELETE /api/redemption/delete-by-name': () => ok(2),
    'PUT /api/redemption/batch-disable': () => ok(3),
    'PUT /api/redemption/': () => ok(null),
    'POST /api/redemption/': () => ok(KEYS),
    'POST /api/user/topup': () => ok({ quota: 5_000_000, is_gift: true }),
    'GET /api/log/self/': ({ query }) => {
      const type = Number(query.get('type'))
      const items = GAINS.filter((gain) => gain.type === type)
      return ok({ items, page: 0, total: items.length })
    },
  }),
)

async function open(path: string, language: 'zh' | 'en' = 'zh') {
  const opened = await app.openPage({ language })
  await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await opened.page.addInitScript((me) => localStorage.setItem('user', me), JSON.stringify(ROOT))
  await opened.page.goto(`${app.site.url}${path}`)
  return opened
}

/** Returns the body of the last request to this route. */
const lastBody = (route: string): unknown =>
  app.site.calls.findLast(({ method, path }) => `${method} ${path}` === route)?.body

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click()
const closed = (page: Page) => expect.poll(() => page.getByRole('dialog').count()).toBe(0)

describe('the redemption pages at 1280 and 390 pixels, in either theme', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault: ${language}`, async () => {
      const { page, faults, close } = await open('/admin/coupons', language)
      const text = TEXTS[language]
      await page.getByText('welcome').first().waitFor()
      await page.getByText(startingWith(text('redemptions.expiredAt'))).waitFor()
      await expect
        .poll(() => cutAmong(page, '.tg-grid-cell:has(.tg-redemption-validity)'))
        .toEqual([])
      const look = (name: string, part?: string) =>
        lookFaults(page, `${name}-${language}`, [1280, 390], part)
      expect.soft(await look('redemptions')).toEqual([])
      await press(page, text('redemptions.create'))
      await page.getByRole('switch', { name: text('redemptions.isGift'), exact: true }).click()
      await press(page, text('redemptions.createAction'))
      await page.locator('.tg-field-error').waitFor()
      expect.soft(await look('redemption-form', 'form.tg-form')).toEqual([])
      await page.getByRole('textbox', { name: startingWith(text('shared.name')) }).fill('spring')
      await press(page, text('redemptions.createAction'))
      await page.getByText(KEYS[1] ?? '').waitFor()
      expect.soft(await look('redemptions-ready', '.tg-ready-keys')).toEqual([])
      await page.goto(`${app.site.url}/app/wallet?code=WELCOME`)
      await page.getByText('Redeemed a code').waitFor()
      expect.soft(await look('wallet')).toEqual([])
      expect(faults).toEqual([])
      await close()
    })
  }
})

describe('the list of redemption codes', () => {
  it('selects, copies, downloads and disables codes', async () => {
    const { page, close } = await open('/admin/coupons')
    await page.getByText('welcome').first().waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: zh('redemptions.disableSelected') }).count())
      .toBe(0)
    await page.getByRole('checkbox').first().click()
    await page.setViewportSize({ width: 390, height: 844 })
    const actions = page.getByRole('button', {
      name: oneOf(
        zh('redemptions.copySelected'),
        zh('redemptions.downloadCsv'),
        zh('redemptions.disableSelected'),
      ),
    })
    const tops = () =>
      actions.evaluateAll((all) => all.map((perform) => perform.getBoundingClientRect().y))
    const counts = (all: number[]): number[] => [all.length, new Set(all).size]
    // A busy machine renders the narrow list some time after the window becomes narrow.
    await expect.poll(async () => counts(await tops())).toEqual([3, 1])
    await page.setViewportSize({ width: 1280, height: 860 })
    await press(page, zh('redemptions.copySelected'))
    await page.getByText(zh('redemptions.keysCopied', { count: 8 })).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.split('\n')).toEqual(REDEMPTIONS.map(({ key }) => key))
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      press(page, zh('redemptions.downloadCsv')),
    ])
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines).toHaveLength(9)
    expect(lines[2]).toContain(',welcome,5000000,true,50,,')
    await press(page, zh('redemptions.disableSelected'))
    await page.getByText(zh('redemptions.disabledMany', { count: 3 })).waitFor()
    expect(lastBody('PUT /api/redemption/batch-disable')).toEqual({
      ids: REDEMPTIONS.map(({ id }) => id),
    })
    await close()
  })

  it('leads to the acts on a code in the audit log', async () => {
    const { page, close } = await open('/admin/coupons')
    await page.getByText('welcome').first().waitFor()
    await press(page, zh('shared.moreActions', { name: 'welcome' }))
    await page.getByRole('menuitem', { name: zh('shared.history') }).click()
    await page.waitForURL(/\/app\/audit\/log\?object=redemption%3A\d+&range=all/)
    await close()
  })

  it('deletes codes by name after it has shown how many there are', async () => {
    const { page, close } = await open('/admin/coupons')
    await page.getByText('welcome').first().waitFor()
    await press(page, zh('redemptions.moreActions'))
    await page.getByRole('menuitem', { name: zh('redemptions.deleteByName') }).click()
    await page.getByRole('textbox', { name: zh('shared.name') }).fill('spring')
    await press(page, zh('redemptions.countFirst'))
    await page.getByText(zh('redemptions.deleteNamedBody', { count: 2 })).waitFor()
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('shared.delete') })
      .click()
    await page.getByText(zh('redemptions.deleted', { count: 2 })).waitFor()
    await closed(page)
    await close()
  })

  it('disables a code with its switch, and enables it again on Undo', async () => {
    const { page, close } = await open('/admin/coupons?status=1')
    await page.getByText('welcome').first().waitFor()
    await page.getByRole('switch', { name: zh('redemptions.toggle', { name: 'welcome' }) }).click()
    await page.getByText(zh('redemptions.disabled', { name: 'welcome' })).waitFor()
    expect(lastBody('PUT /api/redemption/')).toEqual({ id: 8, status: 2 })
    await press(page, zh('shared.undo'))
    await page.getByText(zh('redemptions.enabled', { name: 'welcome' })).waitFor()
    expect(lastBody('PUT /api/redemption/')).toEqual({ id: 8, status: 1 })
    await close()
  })
})

describe('the form for new redemption codes', () => {
  it('reuses the idempotency key after a lost answer, and only then', async () => {
    const { page, close } = await open('/admin/coupons')
    const keys: (string | undefined)[] = []
    await page.route('**/api/redemption/', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      keys.push(route.request().headers()['idempotency-key'])
      await (keys.length === 1 ? route.abort() : route.fallback())
    })
    const create = async (name: string) => {
      await page.getByRole('textbox', { name: startingWith(zh('shared.name')) }).fill(name)
      await press(page, zh('redemptions.createAction'))
    }
    await press(page, zh('redemptions.create'))
    await page.getByLabel(zh('redemptions.validUntil')).fill('2020-01-01T00:00')
    await create('spring')
    await page.getByText(zh('redemptions.error.datePast')).waitFor()
    expect(keys).toEqual([])
    await page.getByLabel(zh('redemptions.validUntil')).fill('')
    await create('spring')
    await expect.poll(() => keys).toHaveLength(1)
    await page.getByRole('button', { name: zh('redemptions.createAction'), exact: true }).click()
    await page.getByText(KEYS[1] ?? '').waitFor()
    await page.keyboard.press('Escape')
    await closed(page)
    await press(page, zh('redemptions.create'))
    app.site.routes['POST /api/redemption/'] = () => ok(MANY)
    await create('spring')
    await expect.poll(() => keys).toHaveLength(3)
    // The drawer scrolls as a whole, and the buttons for all keys stay visible.
    await page.getByText(MANY.at(-1) ?? '').scrollIntoViewIfNeeded()
    const list = page.locator('.tg-ready-keys')
    await expect.poll(() => list.evaluate((all) => all.scrollHeight - all.clientHeight)).toBe(0)
    const copyAll = page.locator('.tg-redemption-ready').getByRole('button').first()
    expect((await copyAll.boundingBox())?.y).toBeGreaterThan(0)
    await page.setViewportSize({ width: 390, height: 844 })
    const tall = () => list.evaluate((all) => all.firstElementChild?.clientHeight ?? 0)
    await expect.poll(tall).toBeLessThan(50)
    app.site.routes['POST /api/redemption/'] = () => ok(KEYS)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false])
    await close()
  })
})

it('Escape in the closing form closes the new codes, and does not ask about the form', async () => {
  const { page, close } = await open('/admin/coupons')
  await press(page, zh('redemptions.create'))
  await page.getByRole('textbox', { name: startingWith(zh('shared.name')) }).fill('spring')
  // The form takes a moment to close. The key is pressed in it as soon as the codes are shown.
  await page.evaluate(() => {
    const form = document.querySelector<HTMLElement>('[role="dialog"] input')
    const observer = new MutationObserver(() => {
      if (document.querySelector('.tg-redemption-ready') === null) return
      observer.disconnect()
      form?.focus()
      form?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
      document.body.dataset.isPressed = `${document.activeElement === form}`
    })
    observer.observe(document.body, { childList: true, subtree: true })
  })
  await press(page, zh('redemptions.createAction'))
  await expect.poll(() => page.evaluate(() => document.body.dataset.isPressed)).toBe('true')
  await closed(page)
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  await close()
})

it('a refused custom redemption key shows the error at its field', async () => {
  const { page, close } = await open('/admin/coupons')
  await press(page, zh('redemptions.create'))
  await page.getByRole('textbox', { name: startingWith(zh('shared.name')) }).fill('spring')
  const key = page.getByRole('textbox', { name: zh('redemptions.customKey') })
  for (const [typed, words, refusal] of [
    ['HELLO', 'the code exists', refused('the code exists', 'RedemptionKeyTaken')],
    ['=HELLO', 'invalid characters', refusedField('key', 'invalid characters')],
  ] as const) {
    app.site.routes['POST /api/redemption/'] = () => refusal
    await key.fill(typed)
    await press(page, zh('redemptions.createAction'))
    await page.getByRole('dialog').getByText(words, { exact: true }).waitFor()
    await page.locator('[aria-invalid="true"][aria-describedby]:focus').waitFor()
    await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
  }
  await key.fill('')
  await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(0)
  await key.fill('x'.repeat(65))
  await press(page, zh('redemptions.createAction'))
  await page.getByText(zh('redemptions.error.keyInvalid'), { exact: true }).waitFor()
  await expect.poll(() => key.inputValue()).toHaveLength(65)
  app.site.routes['POST /api/redemption/'] = () => ok(KEYS)
  await close()
})

describe('the wallet', () => {
  it('redeems the code of a link, and requires a code when the field is empty', async () => {
    const { page, close } = await open('/app/wallet?code=HELLO-2026')
    const box = page.getByRole('textbox', { name: zh('redemptions.key') })
    await expect.poll(() => box.inputValue()).toBe('HELLO-2026')
    await press(page, zh('wallet.redeemNow'))
    await page.getByText(zh('wallet.giftAdded', { amount: '$10.00' })).waitFor()
    expect(lastBody('POST /api/user/topup')).toEqual({ key: 'HELLO-2026' })
    expect(new URL(page.url()).search).toBe('')
    await expect.poll(() => box.inputValue()).toBe('')
    await press(page, zh('wallet.redeemNow'))
    await page.getByText(zh('wallet.codeRequired')).waitFor()
    await press(page, zh('wallet.getCode'))
    await page.getByText(zh('wallet.noTopUpLink')).waitFor()
    await close()
  })

  it('shows no price for an invalid amount', async () => {
    const routes = app.site.routes['GET /api/status']
    const priced = { body: { success: true, message: 'success', data: '36.50', currency: 'CNY' } }
    const paid = { enable_online_topup: true, topup_methods: ['zfb'] }
    app.site.routes['GET /api/status'] = () => ok({ ...STATUS, setup: true, ...paid })
    app.site.routes['POST /api/user/amount'] = () => priced
    const { page, close } = await open('/app/wallet')
    const amount = page.getByRole('textbox', { name: startingWith(zh('wallet.amount')) })
    await amount.fill('5')
    const price = page.locator('.tg-topup-price')
    await expect.poll(() => price.innerText()).toMatch(/36\.50[\s\S]*\$5/)
    await amount.fill('abc')
    await page.getByText(zh('wallet.amountNotWhole')).waitFor()
    await expect.poll(async () => (await price.locator('dd').allInnerTexts()).join()).toBe('–,–')
    await close()
    if (routes !== undefined) app.site.routes['GET /api/status'] = routes
  })
})
