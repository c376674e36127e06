import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { en, startingWith } from '#test/support/console-texts.ts'
import { startProductProcess } from '#test/support/product-process.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { chat, PASSWORD } from '#test/support/test-product.ts'
import { realPage } from './open-product-page.ts'

/** A model of the shipped price list that has no price in a new installation. */
const MODEL = 'command-a-03-2025'
const CLICKS_MAX = 10

const product = startedOnce(startProductProcess)
const provider = startedOnce(() => startSimulatedProvider({ firstByteMs: 30 }))
const open = realPage(() => product.url)
let clicks = 0
let key = ''

beforeAll(async () => {
  await open.page.exposeFunction('countClick', () => {
    clicks += 1
  })
  await open.page.addInitScript(() => {
    // Every press of the pointer counts, even beside a button. Keys do not count.
    const { countClick } = window as unknown as { countClick: () => void }
    document.addEventListener('pointerdown', () => countClick(), { capture: true })
  })
})

const button = (name: string | RegExp) => open.page.getByRole('button', { name })
const step = (name: string) => open.page.getByRole('listitem').filter({ hasText: name })
const stepLink = (name: string) => open.page.getByRole('main').getByRole('link', { name })

/** Clicks a field, which counts as a click, and types. */
async function type(name: string, text: string, within: Page | Locator): Promise<void> {
  await within
    .getByRole('textbox', { name: startingWith(name) })
    .first()
    .click()
  await open.page.keyboard.type(text)
}

/** Moves to the field by Tab, which is no click, and types. */
async function tabTo(name: string, text: string): Promise<void> {
  for (let tries = 0; tries < 12; tries += 1) {
    await open.page.keyboard.press('Tab')
    const label = await open.page.evaluate(() => {
      const { activeElement: element } = document
      return element instanceof HTMLInputElement ? (element.labels?.[0]?.textContent ?? '') : ''
    })
    if (!label.startsWith(name)) continue
    await open.page.keyboard.press('Control+a')
    await open.page.keyboard.type(text)
    return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

describe(`the first call needs ${CLICKS_MAX} clicks at most`, () => {
  it('the setup ends with the user signed in, on the list of steps', async () => {
    await open.page.goto(`${product.url}/setup`)
    await type(en('auth.name'), 'root', open.page)
    await tabTo(en('auth.password'), PASSWORD)
    await tabTo(en('setup.confirmPassword'), PASSWORD)
    await open.page.keyboard.press('Enter')
    await open.page.waitForURL('**/app/start')
    await open.page.getByRole('heading', { level: 1, name: en('dashboard.start') }).waitFor()
  })

  it('the first step opens the form of a channel, which offers the missing price', async () => {
    await stepLink(en('dashboard.steps.channel.title')).click()
    const drawer = open.page.getByRole('dialog', { name: en('shared.newChannel') })
    await type(en('shared.name'), 'Simulated', drawer)
    await tabTo(en('shared.baseUrl'), provider.url)
    await tabTo(en('shared.key'), 'sk-provider-secret-0123456789')
    await tabTo(en('shared.models'), `${MODEL},`)
    await button(en('channelForm.createAction')).click()
    const prices = open.page.getByRole('dialog', {
      name: en('channelForm.unpricedTitle_one', { count: 1 }),
    })
    await prices.getByRole('rowheader', { name: MODEL }).waitFor()
    await prices
      .getByRole('button', { name: en('channelForm.usePresets_one', { count: 1 }) })
      .click()
    await open.page.waitForURL('**/app/start')
    for (const name of [en('dashboard.steps.channel.title'), en('dashboard.steps.price.title')]) {
      await step(name).getByText(en('shared.done'), { exact: true }).waitFor()
    }
  })

  it('the token step opens its form, and ends with a snippet that works', async () => {
    await stepLink(en('dashboard.steps.token.title')).click()
    const form = open.page.getByRole('dialog', { name: en('tokens.create') })
    await type(en('shared.name'), 'first', form)
    await open.page.keyboard.press('Enter')
    const ready = open.page.getByRole('dialog', { name: en('tokens.createdTitle') })
    await ready.getByRole('button', { name: en('shared.done') }).click()
    await open.page.waitForURL('**/app/start')
    // The dialog, which has the same text and button, is closed some frames after the URL changes.
    await ready.waitFor({ state: 'hidden' })
    const checklist = open.page.getByRole('main')
    await checklist.getByText(en('shared.keyMasked')).waitFor()
    await checklist.getByRole('button', { name: en('clientSetup.copyText') }).click()
    const snippet = await open.page.evaluate(() => navigator.clipboard.readText())
    expect(snippet).toContain(`${product.url}/v1/chat/completions`)
    expect(snippet).toContain(MODEL)
    key = /Bearer (sk-\w{40,})"/.exec(snippet)?.[1] ?? ''
    expect(key).not.toBe('')
  })

  it('the call is shown as done without a reload, and appears in the usage log', async () => {
    await open.page.getByText(en('dashboard.waitingForCall')).waitFor()
    const answer = await chat(product.url, key, { model: MODEL })
    expect(answer.status, answer.text).toBe(200)
    await open.page.getByRole('heading', { name: en('dashboard.startDone') }).waitFor()
    await stepLink(en('dashboard.steps.call.action')).click()
    await open.page.getByRole('grid').getByRole('row').filter({ hasText: MODEL }).waitFor()
    console.info(`clicks from /setup to the first call’s row: ${clicks}`)
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX)
  })
})

describe('after the setup is complete', () => {
  it('the list of steps stays available in the account menu and the palette', async () => {
    await button(startingWith(en('shell.account'))).click()
    await open.page.getByRole('menuitem', { name: en('shell.start') }).click()
    await open.page.getByRole('heading', { name: en('dashboard.startDone') }).waitFor()
    await open.page.goto(`${product.url}/app/tokens`)
    await open.page.getByRole('grid').waitFor()
    await open.page.keyboard.press('Control+k')
    await open.page
      .getByRole('dialog', { name: en('commands.palette') })
      .getByRole('combobox')
      .fill('getting')
    await open.page
      .getByRole('option', { name: en('commands.goTo', { page: en('shell.start') }) })
      .waitFor()
    await open.page.keyboard.press('Enter')
    await open.page.getByRole('heading', { name: en('dashboard.startDone') }).waitFor()
  })

  it('the price list shows the output limit that the preset contains', async () => {
    await open.page.goto(`${product.url}/admin/settings`)
    await open.page.getByRole('searchbox', { name: en('shared.searchModels') }).fill(MODEL)
    const row = open.page.getByRole('row').filter({ hasText: MODEL })
    await row.getByText('8,192', { exact: true }).waitFor()
  })

  it('no page causes a policy violation, a console error or a missing file', () => {
    expect(open.faults).toEqual([])
  })
})
