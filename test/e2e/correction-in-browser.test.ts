import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
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
import { realPage, submitLogin } from './open-product-page.ts'

const MODEL = 'sim-small'
const PATH = '/app/audit/reconciliation'
const REASON = 'The ratio was entered twice too high'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const app = realPage(() => product.url)
let user: ConsoleClient
let userId: number
let requestId: string

beforeAll(async () => {
  const { root } = product
  // The ratio should have been 5.
  await setOption(root, 'ModelRatio', { [MODEL]: 10 })
  await addChannel(product, { name: 'main', models: MODEL })
  const added = await addUser(root, 'customer', 100_000_000)
  user = added.client
  userId = added.id
  const { key } = await user.createToken({ name: 'phone', unlimited_quota: true })
  const answer = await chat(product.url, key, { model: MODEL, max_tokens: 4 })
  expect(answer.status).toBe(200)
  requestId = answer.requestId
  await app.page.goto(`${product.url}/login`)
  await submitLogin(app.page, 'root')
  await app.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

const button = (name: string) => app.page.getByRole('button', { name, exact: true })

it('a recomputation of the period finds no difference', async () => {
  await app.page.goto(`${product.url}${PATH}`)
  await button(en('reconciliation.recompute.run')).click()
  await app.page.getByText(en('reconciliation.recompute.clean_one', { calls: '1' })).waitFor()
  expect(app.faults).toEqual([])
})

it('a wrong price is computed again, and its charges are corrected', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}${PATH}?tab=whatIf`)
  await page.getByRole('combobox', { name: en('reconciliation.whatIf.model') }).fill(MODEL)
  await button(en('reconciliation.whatIf.add')).click()
  const draft = page.getByRole('textbox', { name: `${MODEL}: ${en('shared.factor.model')}` })
  await draft.waitFor()
  await expect.poll(() => draft.inputValue()).toBe('10')
  await draft.fill('5')
  await button(en('reconciliation.whatIf.run')).click()
  await page.getByRole('link', { name: requestId }).waitFor()
  const toCorrection = en('reconciliation.whatIf.correctModel', { model: MODEL })
  await page.getByRole('link', { name: toCorrection }).click()
  await page.getByText(en('reconciliation.correction.newLead')).waitFor()
  const ratio = page.getByRole('textbox', { name: en('shared.factor.model'), exact: true })
  await expect.poll(() => ratio.inputValue()).toBe('5')
  await button(en('shared.preview')).click()
  await page
    .getByRole('table', { name: en('reconciliation.correction.calls') })
    .getByRole('link', { name: requestId })
    .waitFor()
  await button(en('reconciliation.correction.apply')).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByRole('textbox').fill(REASON)
  await dialog.getByRole('button', { name: en('reconciliation.correction.applySubmit') }).click()
  await page.getByRole('grid').getByText(en('reconciliation.correction.finished')).waitFor()
  expect(faults).toEqual([])
})

it('the call and its row in the usage log show the correction', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/calls/${requestId}`)
  const corrections = page.getByRole('table', { name: en('audit.call.corrections') })
  await corrections.getByRole('cell', { name: REASON }).waitFor()
  await page.getByText(en('audit.call.isCorrected'), { exact: true }).first().waitFor()
  await page.goto(`${product.url}/app/logs/api-usage?request=${requestId}`)
  const [before = ''] = en('usageLog.correctedTo', { amount: '|' }).split('|')
  await page.getByRole('grid').getByTitle(before).first().waitFor()
  expect(faults).toEqual([])
})

it('the ledger has the compensating movement, and lacks it as of the event before', async () => {
  const { page, faults } = app
  const { items } = await user.must<{ items: LedgerItem[] }>('GET', '/api/ledger/self')
  const [movement, call] = items
  expect([movement?.type, call?.type]).toEqual(['correction', 'call'])
  expect(movement?.amount).toBeGreaterThan(0)
  const ledger = `${product.url}/app/audit/ledgers/${userId}`
  const row = page.getByRole('grid').getByText(en('audit.movement.correction'), { exact: true })
  await page.goto(ledger)
  await row.click()
  const table = page.getByRole('table', { name: en('audit.ledger.correctedCalls') })
  await table.getByRole('link', { name: requestId }).waitFor()
  await page.goto(`${ledger}?at=${(movement?.position ?? 0) - 1}`)
  await page.getByRole('grid').getByText(en('audit.movement.call'), { exact: true }).waitFor()
  await expect.poll(() => row.count()).toBe(0)
  expect(faults).toEqual([])
})

it('the audit log has the correction with its price and its reason', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/log?act=correction-started`)
  await page.getByRole('row').filter({ hasText: REASON }).click()
  const changes = page.getByRole('table', { name: en('audit.history.changes') })
  const row = changes.getByRole('row').filter({ hasText: 'price › model' })
  await row.getByText('5', { exact: true }).waitFor()
  await page.getByRole('link', { name: /^#\d+$/ }).click()
  await page.getByText('"CorrectionStarted"').waitFor()
  expect(faults).toEqual([])
})

it('an invoice of the provider is imported and compared', async () => {
  const { page, faults } = app
  const day = new Date().toISOString().slice(0, 10)
  const csv = `date,model,cost,tokens\n${day},${MODEL},0.5,8\n${day},never-called,1.25,100\n`
  await page.goto(`${product.url}${PATH}?tab=invoices`)
  await button(en('reconciliation.invoice.import')).click()
  const drawer = page.getByRole('dialog')
  await drawer
    .getByLabel(en('reconciliation.invoice.file'))
    .setInputFiles({ name: 'invoice.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await drawer.getByRole('table', { name: en('reconciliation.invoice.sample') }).waitFor()
  await drawer.getByLabel(en('shared.channelId')).fill('1')
  await drawer.getByRole('button', { name: en('reconciliation.invoice.import') }).click()
  const days = page.getByRole('grid', { name: en('reconciliation.invoice.byDay') })
  const unknown = days.getByRole('row').filter({ hasText: 'never-called' })
  await unknown.getByText(en('reconciliation.invoice.of.only_theirs')).waitFor()
  await button(en('shared.delete')).click()
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: en('shared.delete') })
    .click()
  await page.getByText(en('reconciliation.invoice.noneLead')).waitFor()
  expect(faults).toEqual([])
})
