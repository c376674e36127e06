import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import { spawnNode } from '#test/support/child-process.ts'
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

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const app = realPage(() => product.url)
const folder = mkdtempSync(join(tmpdir(), 'downloads-'))
afterAll(() => rmSync(folder, { recursive: true }))
let user: ConsoleClient
let userId: number
let requestId: string

beforeAll(async () => {
  const { root } = product
  await setOption(root, 'ModelRatio', { 'sim-small': 10 })
  await addChannel(product, { name: 'main', models: 'sim-small' })
  const added = await addUser(root, 'customer', 100_000_000)
  user = added.client
  userId = added.id
  const { key } = await user.createToken({ name: 'phone', unlimited_quota: true })
  const answer = await chat(product.url, key, { model: 'sim-small', max_tokens: 4 })
  expect(answer.status).toBe(200)
  requestId = answer.requestId
  await app.page.goto(`${product.url}/login`)
  await submitLogin(app.page, 'root')
  await app.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

it('an auditor goes from a call to its receipt, its owner’s ledger and the history', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/logs/api-usage?request=${requestId}`)
  await page.getByRole('link', { name: requestId }).click()
  await page.getByText(en('audit.call.exact')).waitFor()
  await page.getByText('CallSettled').first().waitFor()
  await page.goto(`${product.url}/app/audit/ledgers/${userId}`)
  await page.getByRole('grid').getByText(requestId).waitFor()
  await page.getByRole('tab', { name: en('audit.ledger.tab.statement') }).click()
  await page.getByRole('table', { name: en('audit.ledger.byDay') }).waitFor()
  await page.goto(`${product.url}/app/audit/ledgers`)
  await page.getByRole('table', { name: en('audit.siteMonth.byChannel') }).waitFor()
  await page.goto(`${product.url}/app/audit/history?object=prices:site`)
  await page.getByText('ModelRatio › sim-small').first().waitFor()
  await page.goto(`${product.url}/app/audit/events?stream=account-${userId}`)
  await page.getByText('CallSettled').first().waitFor()
  expect(faults).toEqual([])
})

it('a verification of everything finds nothing', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/proofs`)
  await page.getByRole('button', { name: en('audit.verify.full') }).click()
  await page.getByText(/no findings/).waitFor({ timeout: 60_000 })
  expect(faults).toEqual([])
})

it('the audit log shows a changed option with its values', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/log`)
  const grid = page.getByRole('grid', { name: en('shell.auditLog') })
  await grid.getByRole('row').filter({ hasText: 'ModelRatio' }).first().click()
  await grid
    .getByRole('row', { name: /sim-small/ })
    .first()
    .waitFor()
  expect(faults).toEqual([])
})

it('the latest signed checkpoint is shown to anybody', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/proofs?tab=checkpoints`)
  await page.getByRole('table', { name: en('audit.log.checkpoints') }).waitFor()
  await page.goto(`${product.url}/proof`)
  await page.getByText(/^— \S+ [A-Za-z0-9+/=]{60,}$/m).waitFor({ timeout: 30_000 })
  expect(faults).toEqual([])
})

/** Downloads the file to which a link or a button leads, and returns its path. */
async function download(control: Locator, name: string): Promise<string> {
  const started = app.page.waitForEvent('download')
  await control.click()
  const path = join(folder, name)
  await (await started).saveAs(path)
  return path
}

/** Runs the offline verifier as a process of its own, which knows nothing of the site. */
async function verify(verifier: string, receipt: string, key: string) {
  const child = spawnNode(verifier, '--receipt', receipt, '--key', key)
  let text = ''
  child.stdout.on('data', (piece: Buffer) => {
    text += String(piece)
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, text }
}

it('a receipt found from a row of the log verifies offline unless it is changed', async () => {
  const { page, faults } = app
  const status = await fetch(`${product.url}/api/transparency-log/status`)
  const { data } = (await status.json()) as { data: LogStatus }
  await page.goto(`${product.url}/app/logs/api-usage`)
  await page.getByRole('row').filter({ hasText: 'sim-small' }).first().click()
  await page.getByRole('link', { name: requestId }).click()
  await page.waitForURL(`**/app/calls/${requestId}`)
  const signed = page.getByText(en('audit.receipt.state.siteOnly'), { exact: true })
  await expect.poll(() => signed.count()).toBeGreaterThan(1)
  const save = page.getByRole('button', { name: en('audit.receipt.download') })
  const receipt = await download(save, 'receipt.json')
  await page.getByText(en('audit.receipt.check')).click()
  const link = page.getByRole('link', { name: en('audit.receipt.verifier') })
  const verifier = await download(link, 'verify.mjs')
  const key = data.key ?? ''
  const intact = await verify(verifier, receipt, key)
  expect(intact).toMatchObject({ code: 0, text: expect.stringContaining('Nothing was found') })
  const text = readFileSync(receipt, 'utf8')
  // The charge is in the text of an event, within the JSON of the receipt.
  const at = text.search(/\\"charge\\":\d/) + '\\"charge\\":'.length
  const digit = text[at] === '9' ? '8' : '9'
  const changed = join(folder, 'changed.json')
  writeFileSync(changed, text.slice(0, at) + digit + text.slice(at + 1))
  expect(await verify(verifier, changed, key)).toMatchObject({ code: 1 })
  expect(faults).toEqual([])
})

it('a refill by an admin is in the audit log with before, after and reason', async () => {
  const { page, faults } = app
  const { quota: before } = await user.must<{ quota: number }>('GET', '/api/user/self')
  await page.goto(`${product.url}/admin/users`)
  const actions = page.getByRole('button', {
    name: en('shared.moreActions', { name: 'customer' }),
  })
  await actions.click()
  await page.getByRole('menuitem', { name: en('users.adjust') }).click()
  const dialog = page.getByRole('dialog', { name: en('users.adjustTitle', { name: 'customer' }) })
  await dialog.getByLabel(en('users.amountInDollars')).fill('2.5')
  await dialog.getByLabel(en('users.reason')).fill('refund of invoice 18')
  await dialog.getByRole('button', { name: en('users.adjustAction.add') }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${product.url}/app/audit/log`)
  const grid = page.getByRole('grid', { name: en('shell.auditLog') })
  await grid.getByRole('row').filter({ hasText: 'refund of invoice 18' }).first().click()
  const changes = grid.getByRole('table', { name: en('audit.history.changes') })
  const balance = changes.getByRole('row').filter({ hasText: String(before) })
  await balance.filter({ hasText: String(before + 1_250_000) }).waitFor()
  const facts = await changes.locator('xpath=..').textContent()
  expect(facts).toContain('refund of invoice 18')
  expect(faults).toEqual([])
})
