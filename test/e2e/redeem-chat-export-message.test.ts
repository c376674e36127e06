import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { launchBrowser } from '#test/support/browser.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import {
  ALL_ROLES,
  addChannel,
  addUser,
  setOption,
  type TestProduct,
  testProduct,
} from '#test/support/test-product.ts'
import { eventually, type OpenPage, openRealPage, submitLogin } from './open-product-page.ts'

const WORTH = 2_000_000
/** The exact words of the simulated provider's answer. */
const ANSWER_TOKENS = 12

let browser: Browser
let product: TestProduct
let shopper: ConsoleClient
let opened: readonly [OpenPage, OpenPage]
let page: Page
let desk: Page

/** The consoles of a user and an admin, on a product with all roles. */
beforeAll(async () => {
  const provider = { answerTokens: ANSWER_TOKENS, gapMs: 5 }
  ;[browser, product] = await Promise.all([
    launchBrowser(),
    testProduct({ roles: ALL_ROLES, provider }),
  ])
  const { root, url } = product
  await addChannel(product, { models: 'sim-small,sim-large', group: 'default' })
  await setOption(root, 'ModelRatio', { 'sim-small': 3, 'sim-large': 6 })
  await setOption(root, 'CompletionRatio', { 'sim-small': 4 })
  shopper = (await addUser(root, 'shopper')).client
  await shopper.createToken({ name: 'phone', unlimited_quota: true })
  opened = [await openRealPage(browser, url), await openRealPage(browser, url)]
  ;[page, desk] = [opened[0].page, opened[1].page]
  await enter(page, 'shopper')
  await enter(desk, 'root')
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await product?.close()
})

async function enter(at: Page, username: string): Promise<void> {
  await at.goto(`${product.url}/login?returnTo=/app/wallet`)
  await submitLogin(at, username)
  await at.getByRole('heading', { level: 1, name: en('shell.wallet') }).waitFor()
}

const button = (at: Page, name: string) => at.getByRole('button', { name, exact: true })
const standing = async () => (await shopper.must<{ quota: number }>('GET', '/api/user/self')).quota

type Row = { quota: number; request_id: string; completion_tokens: number }
const ownCalls = async (query: string) =>
  (await shopper.must<{ items: Row[] }>('GET', `/api/log/self/?page_size=100&type=2${query}`)).items

describe.each(['zh', 'en'] as const)('a customer, in %s', (language) => {
  const text = TEXTS[language]

  beforeAll(async () => {
    for (const at of [page, desk]) {
      await at.evaluate((to) => localStorage.setItem('i18nextLng', to), language)
    }
  })

  it('redeems the code of a link once', async () => {
    const before = await standing()
    const code = { name: `gift ${language}`, quota: WORTH, count: 1 }
    const [key = ''] = await product.root.must<string[]>('POST', '/api/redemption/', code)
    await page.goto(`${product.url}/app/wallet?code=${key}`)
    const box = page.getByRole('textbox', { name: text('wallet.code') })
    await expect.poll(() => box.inputValue()).toBe(key)
    await button(page, text('wallet.redeemNow')).click()
    await page.getByText(text('wallet.quotaAdded', { amount: '$4.00' })).waitFor()
    expect(await standing()).toBe(before + WORTH)
    await box.fill(key)
    // A click is ignored while the form is still busy with the first redemption.
    const error = page.locator('.tg-field-error')
    const redeemAgain = async () => {
      const isRefused = (await error.count()) > 0
      if (!isRefused) await button(page, text('wallet.redeemNow')).click()
      return isRefused
    }
    await expect.poll(redeemAgain, { interval: 1_000 }).toBe(true)
    expect(await standing()).toBe(before + WORTH)
  })

  it('tries a model and sees the exact cost of the answer', async () => {
    await page.getByRole('link', { name: text('shell.playground') }).click()
    await page.getByLabel(text('ui.model')).selectOption('sim-small')
    if (language === 'en') await button(page, text('playground.newChat')).first().click()
    const before = await standing()
    await page.getByRole('textbox', { name: text('shared.message') }).fill('Hello there')
    await page.keyboard.press('Enter')
    const reply = page.locator('.tg-chat-message').last()
    await reply.locator('.tg-answer-cost').waitFor()
    await expect.poll(() => reply.getAttribute('data-status')).toBe('complete')
    await expect
      .poll(async () => (await reply.locator('.tg-prose').innerText()).split(' '))
      .toHaveLength(ANSWER_TOKENS)
    const [call] = await ownCalls('&token_name=playground')
    expect(call?.completion_tokens).toBe(ANSWER_TOKENS)
    expect(before - (await standing())).toBe(call?.quota)
    // 500 000 units are a dollar, so six decimals express every unit.
    const dollars = `$${((call?.quota ?? 0) / 500_000).toFixed(6).replace(/0+$/, '')}`
    await expect.poll(() => reply.locator('.tg-answer-cost').innerText()).toBe(dollars)
    await reply.locator('.tg-answer-cost').click()
    await page.getByRole('heading', { level: 1, name: text('shell.usageLog') }).waitFor()
    const rows = page.getByRole('grid', { name: text('usageLog.title') }).getByRole('row')
    await eventually(() => rows.filter({ hasText: 'sim-small' }).count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('request')).toBe(call?.request_id)
  })

  it('filters the log and exports a file whose costs add up to the listed costs', async () => {
    await page.goto(`${product.url}/app/logs/api-usage?token=playground`)
    await page.getByLabel(text('ui.model'), { exact: true }).fill('sim-small')
    await page.keyboard.press('Enter')
    await page.waitForURL(/model=sim-small/)
    const expectedCalls = await ownCalls('&token_name=playground&model_name=sim-small')
    const grid = page.getByRole('grid', { name: text('usageLog.title') })
    await eventually(() => grid.getByText('sim-small').count()).toBeGreaterThan(0)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: text('shared.export') }).click()
    await page.getByRole('menuitem', { name: text('usageLog.exportAs.csv') }).click()
    const file = readFileSync(await (await download).path(), 'utf8').replace('\ufeff', '')
    const [head = '', ...lines] = file.trimEnd().split('\r\n')
    const at = head.split(',').indexOf('quota')
    const exported = lines.map((line) => Number(line.split(',')[at]))
    expect(exported.toSorted()).toEqual(expectedCalls.map(({ quota }) => quota).toSorted())
  })

  it('sees an admin’s message at once, and the admin sees that it was read', async () => {
    const title = `News in ${language}`
    await desk.goto(`${product.url}/admin/messages`)
    await button(desk, text('messages.create')).first().click()
    const drawer = desk.getByRole('dialog')
    await drawer.getByLabel(text('messages.messageTitle')).fill(title)
    await drawer.getByLabel(text('messages.content')).fill('From **Monday** on.')
    await drawer.getByRole('checkbox', { name: /^shopper/ }).check()
    await drawer.getByRole('button', { name: text('shared.send') }).click()
    await desk.getByRole('row').filter({ hasText: title }).waitFor()
    // The open console receives the message without a reload.
    const unread = text('shell.inboxUnread', { number: '1' })
    await page.getByRole('link', { name: unread }).click()
    await page.getByRole('link', { name: new RegExp(title) }).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.frameLocator('iframe').first().locator('strong', { hasText: 'Monday' }).waitFor()
    await page.locator('.tg-bell-badge').waitFor({ state: 'detached' })
    await desk.getByText(title).click()
    const reader = drawer.getByRole('row').filter({ hasText: 'shopper' })
    await reader.waitFor()
    await expect.poll(() => reader.getByText(text('messages.notRead')).count()).toBe(0)
    await desk.keyboard.press('Escape')
  })
})

it('causes no policy violation, no console error and no refused request', () => {
  const faults = opened.flatMap((one) => one.faults)
  expect(faults.filter((fault) => !fault.includes('favicon'))).toEqual([])
})
