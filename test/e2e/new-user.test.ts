import { describe, expect, it } from 'vitest'
import { startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { en, textPattern } from '#test/support/console-texts.ts'
import { startProductProcess } from '#test/support/product-process.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { chat, PASSWORD } from '#test/support/test-product.ts'
import { eventually, realPage } from './open-product-page.ts'

const UNITS_PER_DOLLAR = 500_000n

const product = startedOnce(startProductProcess)
const provider = startedOnce(() => startSimulatedProvider({ firstByteMs: 60, gapMs: 10 }))
const open = realPage(() => product.url)
let key = ''

const button = (name: string) => open.page.getByRole('button', { name })
const heading = (name: string) => open.page.getByRole('heading', { level: 1, name })

async function setUp(): Promise<void> {
  await open.page.getByLabel(en('auth.name')).fill('root')
  await open.page.getByRole('textbox', { name: en('auth.password'), exact: true }).fill(PASSWORD)
  await open.page.getByRole('textbox', { name: en('setup.confirmPassword') }).fill(PASSWORD)
  await button(en('setup.submit')).click()
}

async function goTo(link: string): Promise<void> {
  await open.page
    .getByRole('navigation', { name: en('shell.navigation') })
    .getByText(link, { exact: true })
    .click()
  await heading(link).waitFor()
}

/** Returns the exact amount of a figure of the dashboard in quota units. */
async function balanceUnits(): Promise<bigint> {
  const text = await open.page
    .locator('dl > div', { has: open.page.getByText(en('shared.balance'), { exact: true }) })
    .getByText(/^\$[\d,.]+$/)
    .textContent()
  return unitsOf(text ?? '')
}

/** Converts `$199.982892` to quota units. Every displayed amount is a whole number of them. */
function unitsOf(dollars: string): bigint {
  const [whole = '0', fraction = ''] = dollars.replace(/[$,]/g, '').split('.')
  const scaled = BigInt(`${whole}${fraction.padEnd(9, '0')}`) * UNITS_PER_DOLLAR
  expect(scaled % 1_000_000_000n).toBe(0n)
  return scaled / 1_000_000_000n
}

const rows = () => open.page.getByRole('grid', { name: en('usageLog.title') }).getByRole('row')
const rowOf = (text: string) => rows().filter({ has: open.page.getByText(text, { exact: true }) })

describe('a new user, from the first visit to the first bill', () => {
  it('is refused from another machine without the token that the start printed', async () => {
    await open.page.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.9' })
    await open.page.goto(`${product.url}/setup`)
    await setUp()
    await open.page.getByRole('alert').getByText('requires the one-time token').waitFor()
  })

  it('is led from any address to the setup, creates root and is signed in', async () => {
    await open.page.goto(`${product.url}/app/tokens`)
    await open.page.waitForURL('**/setup')
    const [, path = ''] = /(\/setup\?token=\S+)/.exec(product.output) ?? []
    await open.page.goto(product.url + path)
    await setUp()
    await open.page.waitForURL('**/app/start')
    await heading(en('dashboard.start')).waitFor()
  })

  it('adds a channel', async () => {
    await goTo(en('shell.channels'))
    await button(en('shared.newChannel')).first().click()
    const drawer = open.page.getByRole('dialog', { name: en('shared.newChannel') })
    await drawer.getByLabel(en('shared.name')).fill('Simulated')
    await drawer.getByLabel(en('shared.baseUrl')).fill(provider.url)
    await drawer
      .getByRole('textbox', { name: en('shared.key') })
      .fill('sk-provider-secret-0123456789')
    await drawer.getByRole('combobox', { name: en('shared.models') }).fill('sim-small,')
    await button(en('channelForm.createAction')).click()
    const prices = open.page.getByRole('dialog', {
      name: en('channelForm.unpricedTitle_one', { count: 1 }),
    })
    await prices.getByText(en('channelForm.presetMissing')).waitFor()
    await prices.getByRole('button', { name: en('channelForm.unpricedLater') }).click()
    await prices.waitFor({ state: 'detached' })
    await open.page
      .getByRole('row')
      .filter({ hasText: 'Simulated' })
      .getByText(en('shared.state.enabled'))
      .waitFor()
  })

  it('sets a price', async () => {
    await goTo(en('shell.settings'))
    await button(en('pricing.addModel')).click()
    const drawer = open.page.getByRole('dialog', { name: en('pricing.priceAddTitle') })
    await drawer.getByLabel(en('pricing.modelName')).fill('sim-small')
    await drawer.getByLabel(en('pricing.inputPriceLabel')).fill('1.5')
    await drawer.getByLabel(en('pricing.outputPriceLabel')).fill('6')
    await drawer.getByText(en('pricing.equalsRatio', { ratio: '0.75', completion: 4 })).waitFor()
    await button(en('pricing.apply')).click()
    await button(en('shared.saveSettings')).click()
    await open.page.getByText(en('settings.noChanges')).waitFor()
  })

  it('creates a token and copies its key', async () => {
    await goTo(en('shell.tokens'))
    await button(en('tokens.create')).first().click()
    const drawer = open.page.getByRole('dialog', { name: en('tokens.create') })
    await drawer.getByLabel(en('shared.name')).fill('first')
    await button(en('tokens.createAction')).click()
    const ready = open.page.getByRole('dialog', { name: en('tokens.createdTitle') })
    await ready.getByRole('button', { name: en('tokens.copyKey', { name: 'first' }) }).click()
    await ready.getByRole('button', { name: en('ui.copied') }).waitFor()
    key = await open.page.evaluate(() => navigator.clipboard.readText())
    expect(key).toMatch(/^sk-\w{40,}$/)
    await button(en('shared.done')).click()
  })

  it('sees each call arrive live with its exact cost, and the balance fall by it', async () => {
    await goTo(en('shell.dashboard'))
    await button('cURL').waitFor()
    const before = await balanceUnits()
    await goTo(en('shell.usageLog'))
    await open.page.getByText(en('shared.live.live'), { exact: true }).waitFor()
    const plain = await chat(product.url, key, { model: 'sim-small' })
    expect(plain.status, plain.text).toBe(200)
    await rowOf(en('usageLog.notStreamed')).waitFor()
    const streamed = await chat(product.url, key, { model: 'sim-small', stream: true })
    expect(streamed.text).toContain('[DONE]')
    await rowOf(en('usageLog.stream')).waitFor()
    const { usage } = JSON.parse(plain.text) as { usage: Record<string, number> }
    const charged = costOf(usage)
    await checkRow(en('usageLog.notStreamed'), usage, charged)
    await checkRow(en('usageLog.stream'), usage, charged)
    await explains(en('usageLog.stream'), usage, charged)
    await goTo(en('shell.dashboard'))
    await eventually(balanceUnits).toBe(before - 2n * charged)
  })

  it('finds everything as it was after kill -9 of the whole process tree', async () => {
    await goTo(en('shell.dashboard'))
    const balance = await balanceUnits()
    await goTo(en('shell.usageLog'))
    // The page must have loaded before the kill. Otherwise, it would correctly report a failed
    // request.
    await eventually(() => rowOf('sim-small').count()).toBe(2)
    await open.whileAway(async () => {
      expect(await product.kill()).toBeGreaterThan(3)
      await open.page.getByText(textPattern('en', 'shared.live.reconnecting')).waitFor()
      await product.start()
      await open.page
        .getByText(en('shared.live.live'), { exact: true })
        .waitFor({ timeout: 90_000 })
    })
    await eventually(() => rowOf('sim-small').count()).toBe(2)
    await chat(product.url, key, { model: 'sim-small' })
    await eventually(() => rowOf('sim-small').count()).toBe(3)
    await open.page.reload()
    await eventually(() => rowOf('sim-small').count()).toBe(3)
    await goTo(en('shell.channels'))
    await open.page.getByRole('row').filter({ hasText: 'Simulated' }).waitFor()
    await goTo(en('shell.dashboard'))
    await eventually(balanceUnits).toBeLessThan(balance)
  })

  it('causes no policy violation, no console error and no missing file', () => {
    expect(open.faults).toEqual([])
  })
})

/** Model ratio 0.75 and completion ratio 4, rounded half up to whole units. */
function costOf({ prompt_tokens: input = 0, completion_tokens: output = 0 }): bigint {
  return (BigInt(input) * 75n + BigInt(output) * 300n + 50n) / 100n
}

async function checkRow(mode: string, usage: Record<string, number>, units: bigint): Promise<void> {
  const row = rowOf(mode)
  const cells = await row.getByRole('gridcell').allTextContents()
  expect(cells).toContain('sim-small')
  expect(cells).toContain('first')
  expect(cells).toContain(String(usage.prompt_tokens))
  expect(cells).toContain(String(usage.completion_tokens))
  expect(cells.map((cell) => (/^\$[\d.]+$/.test(cell) ? unitsOf(cell) : null))).toContain(units)
  expect(cells.join(' ')).toContain('0.75 / 4 / 1')
  expect(cells.join(' ')).toMatch(mode === en('usageLog.stream') ? /\d m?s\s*\d+ m?s/ : /\d m?s/)
}

async function explains(mode: string, usage: Record<string, number>, units: bigint): Promise<void> {
  await rowOf(mode)
    .getByRole('button', { name: en('ui.expandRow') })
    .click()
  const price = open.page.getByRole('region', { name: en('logDetails.price.title') })
  await price.getByText(en('logDetails.price.exact')).waitFor()
  const amounts = await price
    .locator('tbody tr')
    .evaluateAll((lines) =>
      lines.map((line) => [...line.querySelectorAll('td')].map((cell) => cell.textContent ?? '')),
    )
  const amountOf = (name: string) => Number(amounts.find(([first]) => first === name)?.at(-1) ?? 0)
  expect(amountOf(en('logDetails.term.input'))).toBe((usage.prompt_tokens ?? 0) * 0.75)
  expect(amountOf(en('logDetails.term.output'))).toBe((usage.completion_tokens ?? 0) * 3)
  expect(amountOf(en('logDetails.price.sum')) + amountOf(en('logDetails.price.rounding'))).toBe(
    Number(units),
  )
  await expect.poll(() => price.locator('tfoot strong').textContent()).toBe(String(units))
  const facts = open.page.getByRole('region', { name: en('logDetails.fact.title') })
  await facts.getByText(en('shared.firstToken'), { exact: true }).waitFor()
  await facts.getByText(en('usageLog.end.done')).waitFor()
  await open.page.mouse.move(0, 0)
}
